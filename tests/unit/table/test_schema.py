"""Schemas: one role for each column, weights that can be used, columns that exist."""

from __future__ import annotations

import math

import pytest

from betalike.errors import ParameterError, SchemaError
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Attribute, Kind, Role, Schema, check_columns

AGE = Attribute("age", Role.QUASI_IDENTIFIER)
ZIP = Attribute("zip", Role.QUASI_IDENTIFIER, weight=0.0)
ILLNESS = Attribute("illness", Role.SENSITIVE)
NOTE = Attribute("note", Role.KEPT)


def test_names_are_all_columns_that_are_read() -> None:
    schema = Schema((AGE, ZIP), ILLNESS, (NOTE,))
    assert schema.names == ("age", "zip", "illness", "note")
    assert schema.weights == (1.0, 0.0)


def test_only_categories_are_without_order() -> None:
    assert [kind for kind in Kind if not kind.is_ordered] == [Kind.CATEGORICAL]


def test_a_release_needs_a_quasi_identifier() -> None:
    with pytest.raises(SchemaError, match="no quasi-identifier"):
        Schema((), ILLNESS)


def test_a_column_has_one_role() -> None:
    with pytest.raises(SchemaError, match=r"'age' is named twice, as quasi-identifier and as kept"):
        Schema((AGE,), ILLNESS, (Attribute("age", Role.KEPT),))


def test_weights_that_are_all_zero_are_refused() -> None:
    with pytest.raises(ParameterError, match="all 0"):
        Schema((ZIP,), ILLNESS)


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_is_a_number_of_zero_or_more(weight: float) -> None:
    with pytest.raises(ParameterError, match="weight of 'age'"):
        Attribute("age", Role.QUASI_IDENTIFIER, weight=weight)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind.is_ordered])
def test_an_ordered_column_has_no_hierarchy(kind: Kind) -> None:
    with pytest.raises(SchemaError, match=f"'age' is of type {kind} and has a hierarchy"):
        Attribute("age", Role.QUASI_IDENTIFIER, kind=kind, hierarchy=Hierarchy.flat(["1"]))


def test_a_categorical_column_may_have_a_hierarchy() -> None:
    tree = Hierarchy.flat(["1"])
    assert Attribute("age", Role.QUASI_IDENTIFIER, kind=Kind.CATEGORICAL, hierarchy=tree).hierarchy is tree


def test_a_column_that_is_not_there_is_named_with_the_likeliest_one() -> None:
    with pytest.raises(SchemaError, match=r"no column 'illness'\. It has: age, zip, ilness\. Did you mean 'ilness'\?"):
        Schema((AGE, ZIP), ILLNESS).check_columns(["age", "zip", "ilness"])


def test_names_are_not_shown_unless_most_of_the_wanted_ones_are_there() -> None:
    with pytest.raises(SchemaError, match=r"no column 'illness'.*It has 2 columns.*header line") as refusal:
        Schema((AGE,), ILLNESS).check_columns(["age", "ilness"])
    assert "ilness" not in str(refusal.value)


def test_a_long_list_of_columns_is_cut() -> None:
    with pytest.raises(SchemaError, match=r"c29, \.\.\.\.$"):
        check_columns(["xyzzy", "c1", "c2"], [f"c{i}" for i in range(31)])
