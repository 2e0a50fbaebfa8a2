"""Sampling weights, and weights of people and things: told apart by names, by sums, and by the columns beside."""

from __future__ import annotations

import random

import polars as pl
import pytest

import betalike
from betalike.io.description import ColumnGuess
from betalike.io.guesses.meanings import Meaning


def numbers(low: float, high: float, digits: int = 3) -> list[float]:
    draw = random.Random(3)
    return [round(draw.uniform(low, high), digits) for _ in range(400)]


def guessed(name: str, values: list[float], **others: list[object]) -> ColumnGuess:
    """What a column is taken for in a survey."""
    draw = random.Random(1)
    survey = pl.DataFrame(
        {
            "age": [draw.randint(18, 90) for _ in values],
            "sex": [draw.choice("fm") for _ in values],
            "diagnosis": [draw.choice(["flu", "gout", "none"]) for _ in values],
            **others,
            name: values,
        }
    )
    return next(column for column in betalike.describe(survey).columns if column.name == name)


@pytest.mark.parametrize("name", ["pweight", "wgt", "fnlwgt", "sampling_weight", "hh_wt", "region_wt", "SURVEY_WT"])
@pytest.mark.parametrize("values", [numbers(0.2, 3), numbers(14, 879), [1.5, 2.5, 3.5, 4.5] * 100])
def test_a_name_that_says_so_is_enough(name: str, values: list[float]) -> None:
    found = guessed(name, values)
    assert (found.meaning, str(found.role)) == (Meaning.SAMPLING_WEIGHT, "unused")


@pytest.mark.parametrize("name", ["weight", "Weight", "gewicht", "poids"])
def test_the_weights_of_a_survey_sum_up_to_many_more_than_its_rows(name: str) -> None:
    assert guessed(name, numbers(14, 879)).meaning is Meaning.SAMPLING_WEIGHT
    assert guessed(name, numbers(14, 39)).meaning is Meaning.SAMPLING_WEIGHT
    assert guessed(name, numbers(5, 32)).meaning is Meaning.QUASI_IDENTIFIER


@pytest.mark.parametrize("beside", ["height", "height_cm", "bmi", "BMI", "unit", "weight_unit"])
def test_beside_a_height_or_a_unit_it_is_a_persons_weight(beside: str) -> None:
    found = guessed("weight", numbers(45, 120), **{beside: [150 + i % 40 for i in range(400)]})
    assert (found.meaning, str(found.role)) == (Meaning.QUASI_IDENTIFIER, "quasi-identifier")
    assert "if it is a sampling weight, make it unused" in found.role_reason


@pytest.mark.parametrize("name", ["weight_kg", "weight_lb", "birth_wt", "body_wt", "wt_kg", "body_weight"])
def test_a_name_with_a_unit_or_a_body_is_no_sampling_weight(name: str) -> None:
    assert guessed(name, numbers(45, 120)).meaning is Meaning.QUASI_IDENTIFIER


def test_the_draft_asks_where_it_does_not_know() -> None:
    survey = pl.DataFrame({"sex": ["f", "m"] * 200, "job": list("abcd") * 100, "weight": numbers(2, 9)})
    assert (
        'role = "quasi-identifier"  # its name suggests a weight; if it is a sampling weight, make it unused'
        in betalike.describe(survey).to_toml()
    )
