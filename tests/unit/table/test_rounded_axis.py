"""An axis of bins: labels name its ranges, and lose what its codes lose."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from betalike.table.axis import OrderedAxis
from betalike.table.date_units import Unit
from betalike.table.exact_numbers import as_numbers
from betalike.table.rounded_axis import RoundedAxis, round_axis, split_label
from betalike.table.rounding import Rounding
from betalike.table.schema import Kind


def make_axis(rounding: Rounding, values: list[Any], declared: Any = None, has_missing: bool = True) -> RoundedAxis:
    domain = rounding.domain(declared, (values[0], values[-1]))
    axis = OrderedAxis("x", rounding.kind, as_numbers(values), domain, has_missing, declared is not None)
    return round_axis(axis, rounding)[0]


AGES, MONEY = [3, 18, 19, 24, 37, 38, 89, 90, 104], [-4.5, 0.0, 0.5, 1000.0, 1999.5, 7000.0]
AXES = {
    "ages": make_axis(Rounding(Kind.INTEGER, 5), AGES),
    "coded ages": make_axis(Rounding(Kind.INTEGER, 5, 18, 90), AGES),
    "coded ages of a wider domain": make_axis(Rounding(Kind.INTEGER, 5, 18, 90), AGES, (0, 120)),
    "only codes": make_axis(Rounding(Kind.INTEGER, None, 18, 90), AGES, has_missing=False),
    "money": make_axis(Rounding(Kind.REAL, 1000.0), MONEY),
    "money above 0": make_axis(Rounding(Kind.REAL, 1000.0, 0.0), MONEY),
    "days": make_axis(Rounding(Kind.DATE, Unit.MONTH, -400), [-900, -31, -1, 0, 31]),
}


def all_ranges(axis: RoundedAxis) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.array(list(itertools.combinations_with_replacement(range(axis.size), 2)), dtype=np.int64).T
    return low, high


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_labels_lose_what_their_codes_lose(axis: RoundedAxis) -> None:
    low, high = all_ranges(axis)
    assert axis.label_losses(axis.labels(low, high)) == pytest.approx(axis.losses(low, high), abs=1e-12)


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_loss_is_the_width_of_the_bins_over_that_of_the_domain(axis: RoundedAxis) -> None:
    low, high = all_ranges(axis)
    width = Fraction(axis.domain[1]) - Fraction(axis.domain[0])
    for a, b, loss in zip(low.tolist(), high.tolist(), axis.losses(low, high).tolist(), strict=True):
        if b == len(axis.values):
            assert loss == (0.0 if a == b else 1.0)
            continue
        begin, end = axis.values.tolist()[a], axis.highs.tolist()[b]
        begin = axis.domain[0] if begin == axis.rounding.bottom else begin
        end = axis.domain[1] if end == axis.rounding.top else end
        assert loss == pytest.approx(float((Fraction(end) - Fraction(begin)) / width), abs=1e-15)


def test_labels_of_coded_ages() -> None:
    axis = AXES["coded ages"]
    names = dict(zip(map(tuple, np.transpose(all_ranges(axis)).tolist()), axis.labels(*all_ranges(axis)), strict=True))
    last = len(axis.values) - 1
    assert [names[i, i] for i in range(axis.size)] == ["<= 18", "[19, 24]", "[35, 39]", "[85, 89]", "90+", None]
    assert names[0, 1] == "<= 24"
    assert names[1, last] == "19+"
    assert names[1, 2] == "[19, 39]"
    assert names[0, last] == names[1, last + 1] == "*"


def test_values_of_one_bin_have_one_code() -> None:
    axis = OrderedAxis("x", Kind.INTEGER, np.array(AGES), (3, 104), has_missing=True)
    rounded, bins = round_axis(axis, Rounding(Kind.INTEGER, 5, 18, 90))
    assert bins.tolist() == [0, 0, 1, 1, 2, 2, 3, 4, 4, 5]
    assert rounded.size == 6


@pytest.mark.parametrize("label", ["37", "[35, 38]", "<= 20", "89+", "[15, 24]", "[35, 39, 44]", "<= x", "[35 39]"])
def test_labels_that_do_not_end_at_bins_are_refused(label: str) -> None:
    with pytest.raises(ValueError, match=r"range|invalid literal"):
        AXES["coded ages"].label_losses([label])


def test_distance_of_positions_is_the_loss_beyond_that_of_one_bin() -> None:
    axis = make_axis(Rounding(Kind.INTEGER, 5), list(range(100)), has_missing=False)
    low, high = all_ranges(axis)  # type: ignore[arg-type]
    beyond = axis.losses(low, high) - axis.losses(low, low)
    assert axis.positions[high] - axis.positions[low] == pytest.approx(beyond, abs=1e-12)


def test_open_labels_need_codes() -> None:
    assert split_label("<= 24", Rounding(Kind.INTEGER, 5, 18)) == ("18", "24")
    assert split_label("85+", Rounding(Kind.INTEGER, 5, None, 90)) == ("85", "90")
    assert split_label("<= 24", None) == ("<= 24", "<= 24")
