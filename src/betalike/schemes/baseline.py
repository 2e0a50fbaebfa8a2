"""The baseline: exact quasi-identifiers, and of the sensitive values only how often each occurs. Paper: 6.3."""

from __future__ import annotations

from dataclasses import dataclass, field

from betalike.runtime.randomness import Randomness, SystemRandomness


@dataclass(frozen=True)
class Baseline:
    """Publishes rows without their sensitive value, beside the overall distribution, in the way of Anatomy."""

    randomness: Randomness = field(default_factory=SystemRandomness)

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "baseline"
