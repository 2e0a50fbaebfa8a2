"""Recipes for hierarchies: each builder against an obvious definition of its groups, and what is refused."""

from __future__ import annotations

import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import HierarchyError, InputError, ParameterError
from betalike.table.hierarchy import Hierarchy
from betalike.table.hierarchy_recipes import DateLevel, make_recipe


def built(recipe: dict[str, Any], values: list[str], rows: int = 3) -> Hierarchy:
    return make_recipe(recipe, "column").build(dict.fromkeys(values, rows))


def paths(tree: Hierarchy) -> dict[str, tuple[str, ...]]:
    return {path[0]: path[1:] for path in tree.paths}


CODES = st.lists(st.text("AB12.", min_size=1, max_size=5), min_size=1, max_size=30, unique=True)


@given(CODES, st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True))
def test_codes_share_a_node_exactly_when_they_begin_alike(codes: list[str], lengths: list[int]) -> None:
    ancestors = paths(built({"prefix": lengths}, codes))
    assert sorted(ancestors) == sorted(codes)
    for level, length in enumerate(sorted(lengths, reverse=True)):
        for a in codes:
            for b in codes:
                assert (ancestors[a][level] == ancestors[b][level]) == (a[:length] == b[:length])


def test_prefixes_are_marked_and_a_code_that_nothing_continues_keeps_its_name() -> None:
    ancestors = paths(built({"prefix": [3, 1]}, ["E11", "E11.9", "E12", "02110"]))
    assert ancestors == {
        "02110": ("021*", "0*", "*"),
        "E11": ("E11*", "E*", "*"),
        "E11.9": ("E11*", "E*", "*"),
        "E12": ("E12", "E*", "*"),
    }


MOMENTS = st.lists(st.datetimes().map(lambda moment: moment.isoformat(sep=" ")), min_size=1, max_size=20, unique=True)


@given(MOMENTS, st.lists(st.sampled_from(list(DateLevel)), min_size=1, unique=True))
def test_dates_share_a_node_exactly_when_they_fall_into_the_same_span(texts: list[str], levels: list[str]) -> None:
    keys = {
        "day": lambda d: (d.year, d.month, d.day),
        "month": lambda d: (d.year, d.month),
        "quarter": lambda d: (d.year, (d.month - 1) // 3),
        "year": lambda d: d.year,
        "decade": lambda d: d.year // 10,
    }
    moments = {text: datetime.datetime.fromisoformat(text) for text in texts}
    ancestors = paths(built({"dates": levels}, texts))
    for level, name in enumerate(level for level in keys if level in levels):
        for a in texts:
            for b in texts:
                assert (ancestors[a][level] == ancestors[b][level]) == (
                    keys[name](moments[a]) == keys[name](moments[b])
                )


def test_dates_are_named_as_people_write_them() -> None:
    tree = built({"dates": ["day", "month", "quarter", "year", "decade"]}, ["2021-03-05 10:22:00"])
    assert paths(tree)["2021-03-05 10:22:00"] == ("2021-03-05", "2021-03", "2021-Q1", "2021", "2020s", "*")


@given(
    st.lists(st.decimals(-1000, 1000, places=1).map(str), min_size=1, max_size=20, unique_by=Decimal),
    st.sampled_from([[5], [5, 10, 20], [0.5, 2], [1, 7]]),
    st.sampled_from([None, -30.5, 0, 18]),
    st.sampled_from([None, 65, 90.5]),
)
def test_numbers_share_a_node_exactly_when_they_lie_in_the_same_round_interval(
    texts: list[str], widths: list[float], bottom: float | None, top: float | None
) -> None:
    def place(text: str, width: float) -> object:
        number = Decimal(text)
        if bottom is not None and number <= Decimal(str(bottom)):
            return "low"
        if top is not None and number >= Decimal(str(top)):
            return "high"
        return (number / Decimal(str(width))).to_integral_value("ROUND_FLOOR")

    recipe = {"intervals": widths, "bottom": bottom, "top": top}
    ancestors = paths(built(recipe, texts))
    for level, width in enumerate(widths):
        for a in texts:
            for b in texts:
                assert (ancestors[a][level] == ancestors[b][level]) == (place(a, width) == place(b, width))


@given(st.lists(st.integers(-200, 200), min_size=1, max_size=20, unique=True), st.sampled_from([(2, 10), (5, 10, 50)]))
def test_whole_numbers_lie_between_the_ends_of_their_intervals(numbers: list[int], widths: tuple[int, ...]) -> None:
    for text, above in paths(built({"intervals": list(widths)}, [str(number) for number in numbers])).items():
        for label, width in zip(above, widths, strict=False):
            low, high = map(int, label[1:-1].split(", "))
            assert low <= int(text) <= high
            assert (low % width, high - low) == (0, width - 1)


def test_ends_are_clamped_and_named() -> None:
    tree = built({"intervals": [5, 10], "bottom": 18, "top": 90}, ["5", "18", "19", "37", "88", "90", "101"])
    assert paths(tree) == {
        "5": ("<= 18", "<= 18", "*"),
        "18": ("<= 18", "<= 18", "*"),
        "19": ("19", "19", "*"),
        "37": ("[35, 39]", "[30, 39]", "*"),
        "88": ("[85, 89]", "[80, 89]", "*"),
        "90": ("90+", "90+", "*"),
        "101": ("90+", "90+", "*"),
    }


def test_leaves_of_numbers_and_dates_are_in_order() -> None:
    assert built({"intervals": [5]}, ["100", "9", "-3"]).leaves == ("-3", "9", "100")
    days = built({"dates": ["year"]}, ["2021-03-05", "1999-12-31", "2021-01-01"]).leaves
    assert all(a < b for a, b in pairwise(days))


def test_rare_values_are_other_by_rows_and_by_share() -> None:
    counts = {"a": 60, "b": 30, "c": 6, "other": 4}
    for least in (10, 0.1):
        ancestors = paths(make_recipe({"frequency": least}, "x").build(counts))
        assert ancestors == {
            "a": ("a", "*"),
            "b": ("b", "*"),
            "c": ("other (rare)", "*"),
            "other": ("other (rare)", "*"),
        }


def test_groups_are_as_given_in_their_order() -> None:
    tree = built({"groups": {"west": ["OR", "CA"], "east": ["MA", "NY"]}}, ["CA", "MA", "OR"])
    assert tree.paths == (("OR", "west", "*"), ("CA", "west", "*"), ("MA", "east", "*"))


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({}, "0 builders"),
        ({"prefix": [3], "dates": ["year"]}, "2 builders"),
        ({"prefixes": [3]}, "Did you mean 'prefix'?"),
        ({"prefix": [0]}, "whole numbers of 1 or more"),
        ({"prefix": "3"}, "whole numbers of 1 or more"),
        ({"prefix": [3], "top": 3}, "has the option 'top'"),
        ({"dates": ["week"]}, "'week'"),
        ({"dates": []}, "has no level"),
        ({"intervals": [5, 12]}, "multiple"),
        ({"intervals": [0]}, "greater than 0"),
        ({"intervals": [float("inf")]}, "greater than 0"),
        ({"intervals": [5], "bottom": 9, "top": 3}, "exchange them"),
        ({"intervals": [5], "top": "x"}, "must be numbers"),
        ({"frequency": 0}, "number of rows"),
        ({"groups": {}}, "table of labels"),
        ({"groups": {"west": "CA"}}, "no list of values"),
        ({"groups": {"west": ["CA"], "east": ["CA"]}}, "under 'west' and 'east'"),
    ],
)
def test_wrong_recipes_are_refused(recipe: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        make_recipe(recipe, "zip")


@pytest.mark.parametrize(
    ("recipe", "good", "message"),
    [
        ({"dates": ["year"]}, "2021-01-01", "2 of 3 values of the column are not a date"),
        ({"intervals": [5]}, "7", "2 of 3 values of the column are not a number"),
        ({"groups": {"one": ["7"]}}, "7", "Add the other 2"),
    ],
)
def test_values_that_a_builder_cannot_take_are_counted_and_not_shown(
    recipe: dict[str, Any], good: str, message: str
) -> None:
    with pytest.raises(HierarchyError, match=message) as caught:
        built(recipe, ["secret-cell", "other-cell", good])
    assert "secret" not in str(caught.value)


def test_the_root_is_no_value() -> None:
    with pytest.raises((HierarchyError, ParameterError), match="root"):
        built({"prefix": [1]}, ["*", "a"])
