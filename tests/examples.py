"""How many examples Hypothesis tries: `make test` some of the number that a law states, `make test-long` many more."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
FACTORS = {"ci": 0.2, "long": 2, "explore": 10}
FACTOR = FACTORS[PROFILE]
USUAL = 50


def load_profile() -> None:
    """Have `make test` try the same examples in every run, so that a run can be repeated; `explore` tries new ones."""
    common: dict[str, Any] = {
        "deadline": None,  # kernels are compiled when first used
        "print_blob": True,
        "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
    }
    for name, factor in FACTORS.items():
        settings.register_profile(name, derandomize=name != "explore", max_examples=round(USUAL * factor), **common)
    settings.load_profile(PROFILE)


def examples(number: int) -> settings:
    """Return settings for this number of examples, times the factor of the profile."""
    return settings(max_examples=max(1, round(number * FACTOR)))
