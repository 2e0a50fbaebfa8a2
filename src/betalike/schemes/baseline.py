"""The baseline: exact quasi-identifiers, and only the overall counts of the sensitive values. Paper: 6.3."""

from __future__ import annotations

from dataclasses import dataclass, field

from betalike.runtime.randomness import Randomness, SystemRandomness


@dataclass(frozen=True)
class Baseline:
    """Publishes rows without their sensitive value, and the overall distribution beside them, like Anatomy."""

    randomness: Randomness = field(default_factory=SystemRandomness)

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "baseline"
