"""Axes: what a range of codes loses, how it is written, and that the two tell the same."""

from __future__ import annotations

import datetime
import itertools
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.exact_numbers import as_numbers, format_values, parse_values
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

DAY = 86_400_000_000  # microseconds

AXES = {
    "integers": OrderedAxis("x", Kind.INTEGER, np.array([-3, 0, 4, 9]), (-3.0, 9.0)),
    "integers with missing": OrderedAxis("x", Kind.INTEGER, np.array([2, 5, 6]), (2.0, 6.0), has_missing=True),
    "wider domain": OrderedAxis("x", Kind.INTEGER, np.array([30, 45]), (0.0, 100.0), True, is_domain_declared=True),
    "reals": OrderedAxis("x", Kind.REAL, np.array([0.1, 0.25, 1e9]), (0.1, 1e9), has_missing=True),
    "dates": OrderedAxis("x", Kind.DATE, np.array([-400, 0, 18_000]), (-400.0, 18_000.0), has_missing=True),
    "moments": OrderedAxis("x", Kind.DATETIME, np.array([-1, DAY // 2, DAY]), (-1.0, float(DAY)), has_missing=True),
}


def all_ranges(axis: Axis) -> tuple[np.ndarray, np.ndarray]:
    pairs = itertools.combinations_with_replacement(range(axis.size), 2)
    low, high = np.array(list(pairs), dtype=np.int64).T
    return low, high


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_loss_of_codes_is_the_width_of_the_range_over_that_of_the_domain(axis: OrderedAxis) -> None:
    low, high = all_ranges(axis)
    width = axis.domain[1] - axis.domain[0]
    missing = len(axis.values)
    for a, b, loss in zip(low, high, axis.losses(low, high), strict=True):
        expected = 0.0 if a == b else 1.0 if b == missing else (axis.values[b] - axis.values[a]) / width
        assert loss == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_labels_of_ordered_axes_lose_what_their_codes_lose(axis: OrderedAxis) -> None:
    low, high = all_ranges(axis)
    assert axis.label_losses(axis.labels(low, high)) == pytest.approx(axis.losses(low, high), abs=1e-12)


def test_labels_read_as_people_write() -> None:
    integers = AXES["integers with missing"]
    assert integers.labels(np.array([0, 0, 1, 3]), np.array([0, 2, 3, 3])) == ["2", "[2, 6]", "*", None]
    dates = AXES["dates"]
    assert dates.labels(np.array([0, 1]), np.array([1, 1])) == ["[1968-11-27, 1970-01-01]", "1970-01-01"]
    moments = AXES["moments"]
    assert moments.labels(np.array([1]), np.array([2])) == ["[1970-01-01 12:00:00, 1970-01-02 00:00:00]"]
    reals = AXES["reals"]
    assert reals.labels(np.array([0]), np.array([1])) == ["[0.1, 0.25]"]


@pytest.mark.parametrize("has_missing", [False, True])
def test_a_single_value_loses_the_same_in_codes_and_in_labels(has_missing: bool) -> None:
    axis = OrderedAxis("x", Kind.INTEGER, np.array([30]), (30.0, 30.0), has_missing)
    low, high = all_ranges(axis)
    assert axis.label_losses(axis.labels(low, high)).tolist() == axis.losses(low, high).tolist()


def test_only_missing_values_lose_nothing() -> None:
    axis = OrderedAxis("x", Kind.REAL, np.array([], dtype=np.float64), (0.0, 0.0), has_missing=True)
    nothing = np.array([0])
    assert axis.losses(nothing, nothing).tolist() == [0.0]
    assert axis.labels(nothing, nothing) == [None]
    assert axis.label_losses([None]).tolist() == [0.0]


def test_the_widest_range_of_64_bits_loses_everything() -> None:
    ends = np.array([-(2**63) + 1, 2**63 - 1])
    axis = OrderedAxis("x", Kind.INTEGER, ends, (float(ends[0]), float(ends[1])))
    assert axis.losses(np.array([0]), np.array([1])) == pytest.approx([1.0])


EPOCH = datetime.datetime(1970, 1, 1)
FIRST, LAST = ((day - EPOCH) // datetime.timedelta(microseconds=1) for day in (EPOCH.min, EPOCH.max))
NUMBERS = {
    Kind.INTEGER: st.integers(-(2**70), 2**70),
    Kind.DECIMAL: st.decimals(-(10**30), 10**30, places=8),
    Kind.REAL: st.floats(allow_nan=False, allow_infinity=False),
    Kind.DATE: st.integers(FIRST // DAY, LAST // DAY),
    Kind.DATETIME: st.integers(FIRST, LAST),
}


@pytest.mark.parametrize("kind", NUMBERS)
@given(st.data())
def test_parsing_is_the_inverse_of_formatting(kind: Kind, data: st.DataObject) -> None:
    values = data.draw(st.lists(NUMBERS[kind], max_size=5))
    texts = format_values(values, kind)
    assert parse_values(texts, kind).tolist() == values


@pytest.mark.parametrize("label", ["thirty", "[1, x]", "[1; 2]", "", "[]"])
def test_a_label_that_is_no_range_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        AXES["integers"].label_losses([label])


def eq_3(rows: list[list[str]], leaves: set[str]) -> float:
    """Leaves under the lowest common node over all leaves, 0 for a single leaf, by trying every level."""
    if len(leaves) == 1:
        return 0.0
    members = [row for row in rows if row[0] in leaves]
    level = min(level for level in range(len(rows[0])) if len({tuple(row[level:]) for row in members}) == 1)
    return sum(row[level:] == members[0][level:] for row in rows) / len(rows)


@given(rng=st.randoms(use_true_random=False), n_leaves=st.integers(1, 8))
def test_loss_along_a_hierarchy_is_eq_3_of_any_set_with_these_ends(
    random_rows: Callable[[random.Random, int], list[list[str]]], rng: random.Random, n_leaves: int
) -> None:
    rows = random_rows(rng, n_leaves)
    axis = HierarchyAxis("x", Hierarchy.from_rows(rows))
    low, high = all_ranges(axis)
    losses = axis.losses(low, high)
    for a, b, loss in zip(low.tolist(), high.tolist(), losses, strict=True):
        between = rng.sample(range(a, b + 1), rng.randint(0, b - a + 1))
        assert loss == pytest.approx(eq_3(rows, {axis.hierarchy.leaves[code] for code in {a, b, *between}}))
    assert axis.label_losses(axis.labels(low, high)) == pytest.approx(losses)


@given(rng=st.randoms(use_true_random=False), n_leaves=st.integers(1, 8))
def test_labels_of_hierarchies_with_a_missing_value_lose_what_their_codes_lose(
    random_rows: Callable[[random.Random, int], list[list[str]]], rng: random.Random, n_leaves: int
) -> None:
    axis = HierarchyAxis("x", Hierarchy.from_rows(random_rows(rng, n_leaves)), has_missing=True)
    low, high = all_ranges(axis)
    labels = axis.labels(low, high)
    assert axis.label_losses(labels) == pytest.approx(axis.losses(low, high))
    for a, b, label in zip(low.tolist(), high.tolist(), labels, strict=True):
        if b == n_leaves:
            assert label == (None if a == b else "*")


def test_everything_present_and_the_missing_value_is_published_and_lost_as_everything() -> None:
    axis = HierarchyAxis("x", Hierarchy.flat(["a", "b"]), has_missing=True)
    low, high = np.array([0, 0, 2]), np.array([1, 2, 2])
    assert axis.labels(low, high) == ["*", "*", None]
    assert axis.losses(low, high).tolist() == [1.0, 1.0, 0.0]


def test_a_label_that_the_hierarchy_lacks_is_refused() -> None:
    with pytest.raises(KeyError):
        HierarchyAxis("x", Hierarchy.flat(["a", "b"])).label_losses(["c"])


@pytest.mark.parametrize(
    "axis",
    [
        *AXES.values(),
        HierarchyAxis("x", Hierarchy.flat("abc")),
        HierarchyAxis("x", Hierarchy.flat("abc"), has_missing=True),
    ],
)
def test_positions_ascend_within_the_unit_interval(axis: Axis) -> None:
    positions = axis.positions
    assert len(positions) == axis.size
    assert (np.diff(positions) >= 0).all()
    assert positions[0] >= 0
    assert positions[-1] <= 1


def test_two_values_sit_at_the_two_ends() -> None:
    assert HierarchyAxis("gender", Hierarchy.flat(["f", "m"])).positions.tolist() == [0.0, 1.0]
    assert OrderedAxis("gender", Kind.INTEGER, np.array([1, 2]), (1.0, 2.0)).positions.tolist() == [0.0, 1.0]


def test_a_lone_value_has_a_position() -> None:
    assert HierarchyAxis("x", Hierarchy.flat(["a"])).positions.tolist() == [0.0]
    assert OrderedAxis("x", Kind.INTEGER, np.array([7]), (7.0, 7.0)).positions.tolist() == [0.0]


def slow_loss(low: object, high: object, domain: tuple[object, object]) -> Fraction:
    """Eq. 2 with fractions: the width of a range over that of the domain."""
    width = Fraction(domain[1]) - Fraction(domain[0])
    return (Fraction(high) - Fraction(low)) / width if width else Fraction(0)


LARGE = {
    "2^53": st.integers(2**53 - 4, 2**53 + 40),
    "-2^53": st.integers(-(2**53) - 40, -(2**53) + 4),
    "2^63": st.integers(2**63 - 40, 2**63 + 40),
    "-2^63": st.integers(-(2**63) - 40, -(2**63) + 40),
    "all 64 bits": st.integers(-(2**63), 2**63 - 1),
    "128 bits": st.integers(-(2**127), 2**127 - 1),
    "decimals": st.decimals(-(10**20), 10**20, places=6),
    "far decimals": st.decimals(10**19, 10**19 + 1, places=15),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("numbers", LARGE)
@given(st.data())
def test_large_numbers_lose_and_show_what_fractions_say(numbers: str, data: st.DataObject) -> None:
    """Losses, labels and domain are exact wherever floats are not."""
    values = sorted(data.draw(st.sets(LARGE[numbers], min_size=1, max_size=6)))
    kind = Kind.DECIMAL if "decimals" in numbers else Kind.INTEGER
    wider = data.draw(st.integers(0, 3))
    domain = (values[0] - wider, values[-1] + wider) if wider and kind is Kind.INTEGER else (values[0], values[-1])
    axis = OrderedAxis("x", kind, as_numbers(values), domain)
    low, high = all_ranges(axis)
    truth = [float(slow_loss(values[a], values[b], domain)) for a, b in zip(low, high, strict=True)]
    assert axis.losses(low, high) == pytest.approx(truth, rel=1e-15)
    assert axis.label_losses(axis.labels(low, high)) == pytest.approx(truth, rel=1e-15)
    assert [Fraction(end) for end in axis.domain_texts] == [Fraction(end) for end in domain]
    ends = (label.strip("[]").split(", ") for label in axis.labels(low, high))
    for a, b, shown in zip(low, high, ends, strict=True):
        assert [Fraction(shown[0]), Fraction(shown[-1])] == [Fraction(values[a]), Fraction(values[b])]


@given(st.sets(st.integers(-(2**61), 2**61), min_size=1, max_size=5))
def test_nanoseconds_are_shown_and_measured(nanoseconds: set[int]) -> None:
    values = sorted(nanoseconds)
    axis = OrderedAxis(
        "x", Kind.DATETIME, as_numbers([Decimal(n) / 1000 for n in values]), (Decimal(values[0]) / 1000,) * 2
    )
    labels = axis.labels(np.arange(len(values)), np.arange(len(values)))
    assert [np.datetime64(label.replace(" ", "T"), "ns").astype(np.int64) for label in labels] == values
    assert [low * 1000 for low, _ in axis.meanings(labels)] == values


@pytest.mark.parametrize("label", ["1e999999999", "1" * 500, "-" + "9" * 4000, "nan", "1e-999999999"])
@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.DECIMAL])
def test_numbers_of_no_reasonable_size_are_refused_at_once(kind: Kind, label: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_values([label], kind)


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_labels_at_the_ends_of_the_domain_are_those_whose_numbers_are(axis: OrderedAxis) -> None:
    labels = axis.labels(*all_ranges(axis))
    ends = zip(labels, axis.meanings(labels), strict=True)
    assert axis.read_labels(labels)[1] == {a for a, b in ends if isinstance(b, tuple) and {*b} & {*axis.domain}}


def test_whole_numbers_at_the_ends_of_the_domain_are_not_rounded() -> None:
    axis = OrderedAxis("x", Kind.INTEGER, np.array([2**53 + 1, 2**60]), (2.0**53, 2.0**61))
    assert axis.read_labels([str(2**53 + 1), str(2**53), "[1, 9007199254740992]", "*", None])[1] == {
        str(2**53),
        "[1, 9007199254740992]",
    }
