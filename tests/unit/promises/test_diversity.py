"""l-diversity in three forms, and k-anonymity: the border itself, and tables that cannot have them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promise_twins
from betalike.errors import ParameterError
from betalike.promises import Anonymity, Diversity, Variety
from betalike.promises.diversity import has_entropy
from betalike.promises.rule import is_allowed
from betalike.table.axis import HierarchyAxis
from betalike.table.hierarchy import Hierarchy
from promise_cases import class_counts

AXIS = HierarchyAxis("s", Hierarchy.flat("abcdefgh"))
COUNTS = np.full(8, 1000)


def holds(model: Diversity | Anonymity, *rows: list[int]) -> bool:
    padded = [[*row, *[0] * (8 - len(row))] for row in rows]
    return model.judge(class_counts(padded), COUNTS, AXIS).holds


def test_distinct_values_are_counted_however_rare() -> None:
    assert holds(Diversity(3), [98, 1, 1])
    assert not holds(Diversity(4), [98, 1, 1])
    assert not holds(Diversity(3), [98, 1, 1], [50, 50])


@pytest.mark.parametrize("scale", [1, 3, 10_000, 10**8])
def test_the_entropy_of_equally_frequent_values_is_worth_just_their_number(scale: int) -> None:
    for n in range(1, 9):
        assert holds(Diversity(n, Variety.ENTROPY), [scale] * n)
        assert not holds(Diversity(math.nextafter(n, 9), Variety.ENTROPY), [scale] * n)


@pytest.mark.parametrize("scale", [1, 3, 1000])
def test_an_entropy_that_just_reaches_the_limit_is_enough(scale: int) -> None:
    """Half of one value and an eighth of four others have 2 bits, as four equally frequent values."""
    row = [4 * scale, scale, scale, scale, scale]
    assert holds(Diversity(4, Variety.ENTROPY), row)
    assert not holds(Diversity(math.nextafter(4, 5), Variety.ENTROPY), row)
    assert not holds(Diversity(4, Variety.ENTROPY), [row[0] + 1, *row[1:]])


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
    st.fractions(1, 6, max_denominator=50) | st.integers(1, 6).map(Fraction),
)
def test_entropies_are_compared_exactly(counts: list[int], least: Fraction) -> None:
    assert has_entropy(counts, least) is promise_twins.has_entropy(counts, least)


def test_what_logarithms_cannot_decide_is_decided_by_whole_numbers() -> None:
    """A limit that is e to the entropy but for one part in 10^50."""
    row = [4, 1, 1, 1, 1]
    tiny = Fraction(1, 10**50)
    assert has_entropy(row, Fraction(4))
    assert has_entropy(row, 4 - tiny)
    assert not has_entropy(row, 4 + tiny)


def test_recursive_diversity_compares_the_top_with_the_tail() -> None:
    """(c, l): with l = 3 the tail is all but the two most frequent values; it must be more than top / c."""
    assert holds(Diversity(3, Variety.RECURSIVE, 2), [9, 6, 4, 1])
    assert not holds(Diversity(3, Variety.RECURSIVE, 2), [10, 6, 4, 1])
    assert holds(Diversity(3, Variety.RECURSIVE, 2.01), [10, 6, 4, 1])
    assert not holds(Diversity(5, Variety.RECURSIVE, 1000), [10, 6, 4, 1])
    assert not holds(Diversity(1, Variety.RECURSIVE, 1), [10])
    assert holds(Diversity(1, Variety.RECURSIVE, 1), [10, 1])


def test_a_ratio_of_millions_in_a_table_of_millions_is_still_exact() -> None:
    """c * tail * denominator does not fit 63 bits here."""
    n_rows = 3 * 10**9
    counts = np.array([n_rows - 3, 2, 1])
    axis = HierarchyAxis("s", Hierarchy.flat("abc"))
    for c, expected in ((1234567.123456789, False), (2999999997, False), (2999999997.5, True), (1e18, True)):
        model = Diversity(3, Variety.RECURSIVE, c)
        assert model.judge(class_counts([counts.tolist()]), counts, axis).holds is expected
        even = np.full(3, n_rows // 3)
        assert model.judge(class_counts([even.tolist()]), counts, axis).holds
        assert is_allowed(model.rule(counts, axis), even, n_rows)


def test_a_table_without_enough_values_is_refused_with_a_reason() -> None:
    counts = np.array([90, 9, 1, 0, 0, 0, 0, 0])
    for model, advice in (
        (Diversity(4), "l 4, so no release"),
        (Diversity(2, Variety.ENTROPY), "l 2, so no release"),
        (Diversity(2, Variety.RECURSIVE, 3), "l 2 and c 3, so no release .* or a larger c"),
    ):
        with pytest.raises(ParameterError, match=advice):
            model.check_feasible(counts, AXIS)
    Diversity(3).check_feasible(counts, AXIS)
    Diversity(1.4, Variety.ENTROPY).check_feasible(counts, AXIS)
    Diversity(2, Variety.RECURSIVE, 9.1).check_feasible(counts, AXIS)


@pytest.mark.parametrize("variety", Variety)
@pytest.mark.parametrize("l", [0, 0.99, -2, math.nan, math.inf, True, "3", None])
def test_l_is_a_number_of_1_or_more(l: object, variety: Variety) -> None:  # noqa: E741
    with pytest.raises(ParameterError, match="l is"):
        Diversity(l, variety)  # type: ignore[arg-type]


def test_only_an_entropy_can_be_worth_a_broken_number() -> None:
    assert Diversity(2.5, Variety.ENTROPY).parameters == {"l": 2.5}
    for variety in (Variety.DISTINCT, Variety.RECURSIVE):
        with pytest.raises(ParameterError, match=r"l is 2\.5; it must be a whole number"):
            Diversity(2.5, variety)
    assert Diversity(2.0).parameters == {"l": 2.0}


@pytest.mark.parametrize("c", [0, -1, math.nan, True, "1", None])
def test_c_is_a_number_greater_than_zero(c: object) -> None:
    with pytest.raises(ParameterError, match="c is"):
        Diversity(3, Variety.RECURSIVE, c)  # type: ignore[arg-type]


def test_names_and_parameters() -> None:
    assert [Diversity(3, variety).name for variety in Variety] == [
        "distinct-l-diversity",
        "entropy-l-diversity",
        "recursive-l-diversity",
    ]
    assert Diversity(3, Variety.RECURSIVE, 2).parameters == {"l": 3.0, "c": 2.0}
    assert (Anonymity(5).name, Anonymity(5).parameters, Anonymity(5).beta) == ("k-anonymity", {}, None)


def test_k_anonymity_counts_rows_alone() -> None:
    assert holds(Anonymity(5), [5], [3, 2])
    assert not holds(Anonymity(5), [5], [3, 1])


@pytest.mark.parametrize("k", [0, 1, -1, 2.5, True, None])
def test_k_anonymity_needs_a_k_of_2_or_more(k: object) -> None:
    with pytest.raises(ParameterError, match="k is"):
        Anonymity(k)  # type: ignore[arg-type]


def test_k_rows_are_asked_for_besides_any_l() -> None:
    for variety in Variety:
        assert holds(Diversity(2, variety, 2, k=4), [2, 2])
        assert not holds(Diversity(2, variety, 2, k=5), [2, 2])
