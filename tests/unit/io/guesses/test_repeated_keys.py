"""Keys whose values repeat: people, households, and codes that are neither."""

from __future__ import annotations

import tomllib

import numpy as np
import polars as pl

import betalike
from betalike.io.guesses.keys import find_followers

RNG = np.random.default_rng(3)
N_PEOPLE, N_ROWS = 300, 900


def visits(**names: str) -> pl.DataFrame:
    people = pl.DataFrame(
        {
            "key": RNG.permutation(10_000)[:N_PEOPLE],
            "sex": RNG.choice(["f", "m"], N_PEOPLE),
            "region": RNG.integers(1, 20, N_PEOPLE),
        }
    )
    rows = people[RNG.integers(0, N_PEOPLE, N_ROWS)]
    return rows.with_columns(ward=pl.Series(RNG.choice(list("ABCD"), N_ROWS)), flu=pl.lit("no")).rename(names)


def meanings(frame: pl.DataFrame) -> dict[str, str]:
    return {column.name: str(column.meaning) for column in betalike.describe(frame).columns}


def test_followers_agree_within_a_key_and_differ_between_keys() -> None:
    assert find_followers(visits(), "key", ["sex", "region", "ward", "flu"]) == {"sex", "region"}
    assert find_followers(visits(), "ward", ["sex", "region", "key"]) == set()


def test_followers_in_a_large_table_are_found_from_some_keys() -> None:
    assert find_followers(pl.concat([visits()] * 40), "key", ["sex", "region", "ward"]) == {"sex", "region"}


def test_a_key_without_a_telling_name_is_a_person_key() -> None:
    assert meanings(visits(key="x17"))["x17"] == "person key"


def test_a_key_whose_place_agrees_but_not_the_person_is_a_household_key() -> None:
    frame = visits(key="x17").with_columns(sex=pl.Series(RNG.choice(["f", "m"], N_ROWS)))
    assert meanings(frame)["x17"] == "household key"


def test_a_key_is_found_where_no_name_says_anything() -> None:
    frame = visits(key="x1", sex="x2", region="x3", ward="x4", flu="x5")
    assert meanings(frame)["x1"] == "person key"


def test_a_number_that_names_a_person_and_repeats_is_a_person_key() -> None:
    frame = visits(key="patient_id").drop("sex", "region")
    assert meanings(frame)["patient_id"] == "person key"


def test_of_two_person_keys_one_is_chosen() -> None:
    frame = visits(key="patient_id")
    frame = frame.with_columns(mrn=pl.col("patient_id") + 5_000_000)
    found = meanings(frame)
    assert sorted((found["patient_id"], found["mrn"])) == ["identifier", "person key"]


def test_what_identifies_is_counted_in_people_not_in_rows() -> None:
    people = RNG.permutation(N_PEOPLE) // 1.25  # a few have the same name
    texts = {key: f"Ann{person:.0f} Ek" for key, person in zip(range(N_PEOPLE), people, strict=True)}
    frame = visits(key="patient_id").with_columns(pl.col("patient_id").rank("dense").cast(pl.Int64) - 1)
    named = frame.with_columns(
        pl.col("patient_id").replace_strict(texts, default="Ann Ek").alias("who"),
        (pl.col("patient_id") * 7919 + 100_000).alias("hospital_number"),
    )
    found = meanings(named)
    assert (found["who"], found["hospital_number"]) == ("identifier", "identifier")
    assert found["region"] == "quasi-identifier"


def test_a_code_of_a_place_is_no_key() -> None:
    assert meanings(visits())["region"] == "quasi-identifier"


def test_a_name_with_a_line_break_stays_in_its_comment() -> None:
    described = betalike.describe(visits(sex='sex\nrole = "kept"'))
    assert "agree in sex role" in described.to_toml()
    assert tomllib.loads(described.to_toml())["columns"]["key"]["role"] == "person"
