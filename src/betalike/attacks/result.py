"""The result of an attack: its success rate, that of a guess without the release, and that of a control."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from betalike.runtime.display import Row, Shown

CONFIDENCE = 0.95
RATES = ("success", "baseline", "control")
Z = 1.959963984540054  # of a normal distribution, for this confidence


@dataclass(frozen=True)
class Rate:
    """A share of rows, and its 95 % confidence interval."""

    rate: float
    low: float
    high: float

    @staticmethod
    def of(n_right: float, n_rows: float) -> Rate:
        """Return the share of rows that were guessed right, with Wilson's interval.

        >>> Rate.of(50, 100)
        Rate(rate=0.5, low=0.4038..., high=0.5961...)
        """
        if n_rows <= 0:
            return Rate(0.0, 0.0, 1.0)
        rate = n_right / n_rows
        middle = rate + Z**2 / (2 * n_rows)
        reach = Z * math.sqrt(rate * (1 - rate) / n_rows + Z**2 / (4 * n_rows**2))
        scale = 1 + Z**2 / n_rows
        return Rate(rate, max((middle - reach) / scale, 0.0), min((middle + reach) / scale, 1.0))


@dataclass(frozen=True)
class AttackResult:
    """What one attack achieves; if it does not apply to a release, only `refusal` is set and says why.

    `people` says on how many rows it was tried: attacks count every row as a person. `success` is the share of rows
    whose sensitive value (or group of values) is guessed right. `baseline` is the same
    for anyone who knows only what is public, `control` for the same attack where there is nothing to find. `details`
    holds what else the attack found. No figure is about a single person.
    """

    name: str
    people: int = 0
    success: Rate | None = None
    baseline: Rate | None = None
    control: Rate | None = None
    sentence: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    refusal: str | None = None

    @property
    def gain(self) -> float | None:
        """How much more often it succeeds than the better of baseline and control."""
        if self.success is None or self.baseline is None or self.control is None:
            return None
        return self.success.rate - max(self.baseline.rate, self.control.rate)

    @property
    def is_significant(self) -> bool:
        """Whether it succeeds significantly more often than both baseline and control."""
        if self.success is None or self.baseline is None or self.control is None:
            return False
        return self.success.low > max(self.baseline.high, self.control.high)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of this attack in `attack --json`."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class AttackReport(Shown):
    """The results of several attacks on one release."""

    scheme: str
    n_rows: int
    results: list[AttackResult]

    def __getitem__(self, name: str) -> AttackResult:
        return next(result for result in self.results if result.name == name)

    def _summary(self) -> Row:
        return {"scheme": self.scheme, "rows": self.n_rows, "attacks": [result.name for result in self.results]}

    def _parts(self) -> list[Row]:
        return [
            {
                "attack": result.name,
                "rows": result.people,
                **{name: getattr(result, name) and getattr(result, name).rate for name in RATES},
                "refusal": result.refusal,
            }
            for result in self.results
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `attack --json`."""
        return {
            "scheme": self.scheme,
            "rows": self.n_rows,
            "confidence": CONFIDENCE,
            "attacks": [result.to_dict() for result in self.results],
        }


def in_percent(rate: Rate) -> str:
    """Format a rate for a sentence: `4.84 %`."""
    return f"{100 * rate.rate:.3g} %"


def compared(success: Rate, baseline: Rate, control: Rate) -> str:
    """Return the end of a sentence that compares a rate with its baseline and control."""
    return (
        f"for {in_percent(success)} of the rows, against {in_percent(baseline)} without the release and "
        f"{in_percent(control)} where there is nothing to find"
    )
