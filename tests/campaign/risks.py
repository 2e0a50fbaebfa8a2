"""The field `risk` of a certificate, computed again from the sizes of the classes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .outcome import Outcome
from .promises import Judged, is_near

THRESHOLDS = ("0.05", "0.09", "0.2")
NEAR_PROMISE = 0.9
ROUNDED = 1e-11  # of what a class uses, as a floating-point number
FIELDS = ["surest_guess", "near_promise", "prosecutor_maximum", "prosecutor_average", "above", "unique"]


def check_risk(
    told: dict[str, Any], surest: float, sizes: np.ndarray | None, judged: Judged | None, outcome: Outcome
) -> None:
    """Compare every risk; without classes there is only the surest guess."""
    outcome.expect(list(told) == FIELDS, "figure", "names under risk")
    outcome.expect(is_near(told["surest_guess"], surest), "figure", "risk.surest_guess")
    if sizes is None or judged is None:
        outcome.expect(all(told[name] is None for name in FIELDS[1:]), "figure", "risks of classes that do not exist")
        return
    rows, found = int(sizes.sum()), [int(size) for size in sizes]
    alike = {limit: sum(n for n in found if Fraction(1, n) > Fraction(limit)) for limit in THRESHOLDS}
    truth: dict[str, Any] = {
        "prosecutor_maximum": max(Fraction(1, n) for n in found),
        "prosecutor_average": Fraction(len(found), rows),
        "unique": Fraction(found.count(1), rows),
    }
    for name, figure in truth.items():
        outcome.expect(is_near(told[name], figure), "figure", f"risk.{name}")
    is_same = list(told["above"]) == list(THRESHOLDS)
    is_same = is_same and all(is_near(told["above"][limit], Fraction(n, rows)) for limit, n in alike.items())
    outcome.expect(is_same, "figure", "risk.above")
    # A class at 90 % but for the last digit may count or not.
    fewest, most = (int(sizes[judged.used >= NEAR_PROMISE - gap].sum()) for gap in (ROUNDED, 2e-9))
    outcome.expect(fewest <= told["near_promise"] <= most, "figure", "risk.near_promise")
