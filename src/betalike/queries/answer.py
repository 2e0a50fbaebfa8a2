"""Answers: an estimated count, its standard error, an interval, and bounds that always hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from betalike.errors import ParameterError
from betalike.runtime.arrays import Floats
from betalike.runtime.display import Row, Shown

SLACK = 1e-6  # rounding error of a whole number
RELATION = 1.3  # standard deviation of a selection's log-odds of sensitive values from those of its surroundings


@dataclass(frozen=True)
class Estimates:
    """Estimates of many counts, each with a standard error and with bounds that always hold."""

    count: Floats
    standard_error: Floats
    at_least: Floats
    at_most: Floats

    def clipped(self) -> Estimates:
        """Return the estimates with each count moved inside its bounds."""
        return Estimates(
            np.clip(self.count, self.at_least, self.at_most), self.standard_error, self.at_least, self.at_most
        )

    def added(self, owner: Sequence[int], n_owners: int) -> Estimates:
        """Add up the estimates of parts for each owner; their errors are added as if all had the same sign."""
        parts = (self.count, self.standard_error, self.at_least, self.at_most)
        owners = np.asarray(owner, dtype=np.int64)
        return Estimates(*(np.asarray(np.bincount(owners, part, n_owners), dtype=np.float64) for part in parts))


@dataclass(frozen=True, repr=False)
class Answer(Shown):
    """An estimated count; the interval holds the exact count with about the stated confidence."""

    count: float
    standard_error: float
    low: float
    high: float
    confidence: float
    at_least: int
    at_most: int
    method: str

    def __float__(self) -> float:
        return self.count

    def _summary(self) -> Row:
        interval = f"{self.low:,.4g} to {self.high:,.4g} ({self.confidence:.0%})"
        certain = f"{self.at_least:,} to {self.at_most:,}"
        return {"count": self.count, "interval": interval, "certainly": certain, "method": self.method}

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `query --json`."""
        plain = asdict(self)
        interval = [plain.pop("low"), plain.pop("high")]
        return {
            "count": plain.pop("count"),
            "standard_error": plain.pop("standard_error"),
            "interval": interval,
            **plain,
        }


def to_answers(estimates: Estimates, confidence: float, method: str) -> list[Answer]:
    """Turn estimates into answers, with intervals that stay within the bounds."""
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence is {confidence}; it must be between 0 and 1, such as 0.95.")
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * estimates.standard_error
    # counts are whole numbers: an interval without a whole number would never hold
    low = np.minimum(np.floor(estimates.count - reach + SLACK), estimates.count)
    high = np.maximum(np.ceil(estimates.count + reach - SLACK), estimates.count)
    low, high = (np.clip(end, estimates.at_least, estimates.at_most) for end in (low, high))
    figures = (estimates.count, estimates.standard_error, low, high, estimates.at_least, estimates.at_most)
    return [
        Answer(count, error, start, end, confidence, round(least), round(most), method)
        for count, error, start, end, least, most in zip(*(figure.tolist() for figure in figures), strict=True)
    ]
