"""Completed tables as frames: rows, kinds, types and kept columns as published."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import betalike
from betalike.errors import CertificateError, ParameterError

PATHS = [["Ulm", "north", "*"], ["Kiel", "north", "*"], ["Rom", "south", "*"], ["Bari", "south", "*"]]


def people(n: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    day = datetime.date(2024, 1, 1)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "income": pl.Series([Decimal(int(x)) / 100 for x in rng.integers(0, 10**5, n)], dtype=pl.Decimal(12, 2)),
            "weight": rng.normal(70, 10, n),
            "day": [day + datetime.timedelta(days=int(d)) for d in rng.integers(0, 300, n)],
            "city": rng.choice(["Ulm", "Kiel", "Rom", "Bari"], n),
            "ill": rng.choice([1, 2, 3], n),
            "row": np.arange(n),
        }
    )


PEOPLE = people()
NAMES = ["age", "income", "weight", "day", "city"]
ASKED: dict[str, Any] = {
    "quasi_identifiers": NAMES,
    "sensitive": "ill",
    "hierarchies": {"city": PATHS},
    "keep": ["row"],
    "keep_identifiers": True,
}


@pytest.mark.parametrize("is_opened", [False, True])
def test_a_completed_table_has_the_rows_of_the_release_and_values_within_their_labels(
    tmp_path: Path, is_opened: bool
) -> None:
    release = betalike.publish(PEOPLE, **ASKED, beta=2, scheme="lmondrian", out=tmp_path / "out", seed=1)
    source = betalike.open_release(tmp_path / "out") if is_opened else release
    first, second = source.draws(2, seed=1)
    assert first.columns == [*NAMES, "ill", "row"]
    types = [first.schema[name] for name in (*NAMES, "ill")]
    assert types == [pl.Int64, pl.Float64, pl.Float64, pl.Date, pl.String, pl.Int64]
    assert first["row"].cast(pl.Int64).to_list() == release.frame["row"].to_list()
    assert first["ill"].to_list() == release.frame["ill"].to_list()
    assert not first.equals(second)
    for name in ("age", "income", "weight", "day"):
        ends = release.frame[name].str.strip_chars("[]").str.split(", ")
        low, high = (
            end.str.to_date(strict=False) if name == "day" else end.cast(pl.Float64, strict=False)
            for end in (ends.list.first(), ends.list.last())
        )
        assert low.null_count() < first.height
        assert ((low <= first[name]) & (first[name] <= high)).fill_null(value=True).all()
    inside = {leaf: set(path) for leaf, *path in PATHS}
    for leaf, label in zip(first["city"], release.frame["city"], strict=True):
        assert leaf == label or label in inside[leaf]
    assert (first["income"] * 100).round(6).eq((first["income"] * 100).round(0)).all()


def test_frames_are_of_the_kind_that_came_in_and_repeat_for_a_seed() -> None:
    frame = PEOPLE.select("age", "city", "ill").to_pandas()
    release = betalike.publish(frame, quasi_identifiers=["age", "city"], sensitive="ill", beta=1, seed=1)
    one, other = release.draws(1, seed=4)[0], release.draws(1, seed=4)[0]
    assert isinstance(one, pd.DataFrame)
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("is_opened", [False, True])
@pytest.mark.parametrize("scheme", ["perturb", "baseline"])
def test_sensitive_values_that_were_hidden_are_drawn_and_rows_stay(
    tmp_path: Path, scheme: str, is_opened: bool
) -> None:
    release = betalike.publish(PEOPLE, **ASKED, beta=1, scheme=scheme, out=tmp_path / "out", seed=1)
    (drawn,) = (betalike.open_release(tmp_path / "out") if is_opened else release).draws(1, seed=2)
    drawn = drawn.with_columns(pl.col("row").cast(pl.Int64))
    assert drawn["income"].equals(release.frame["income"].cast(pl.Float64))
    assert drawn.select("age", "city", "day", "row").equals(release.frame.select("age", "city", "day", "row"))
    assert set(drawn["ill"]) == {1, 2, 3}
    counts = drawn["ill"].value_counts(sort=True)["count"]
    assert counts.sum() == 600
    assert counts.min() > 100


def test_missing_values_stay_missing_or_within_a_label_that_hides_them() -> None:
    frame = PEOPLE.with_columns(age=pl.when(pl.col("row") % 3 == 0).then(None).otherwise(pl.col("age")))
    asked = {"quasi_identifiers": ["age", "city"], "sensitive": "ill", "hierarchies": {"city": PATHS}}
    release = betalike.publish(frame, **asked, beta=1, seed=1)
    (drawn,) = release.draws(1, seed=1)
    published = release.frame["age"].cast(pl.String)
    assert drawn["age"].filter(published.is_null()).null_count() == published.null_count()
    assert drawn["age"].filter(published.is_not_null() & (published != "*")).null_count() == 0


def test_absurd_numbers_and_releases_of_several_secrets_are_refused() -> None:
    release = betalike.publish(PEOPLE, **ASKED, beta=1, scheme="perturb", seed=1)
    for absurd in (0, -1, 1.5, True, 10**9):
        with pytest.raises(ParameterError, match="draws is"):
            release.draws(absurd)  # type: ignore[arg-type]
    several = betalike.publish(PEOPLE, quasi_identifiers=["age"], sensitive=["ill", "city"], beta=4, seed=1)
    with pytest.raises(CertificateError, match="several sensitive columns"):
        several.draws(2)


@pytest.mark.parametrize("scheme", ["perturb", "baseline"])
def test_exact_values_in_any_form_are_drawn_as_what_they_mean(scheme: str, tmp_path: Path) -> None:
    rows, meant = ["born;score;price;illness"], []
    for i in range(240):
        day, score, cents = datetime.date(1960, 1, 1) + datetime.timedelta(days=31 * i), i % 7 - 3, i * 7 % 400
        meant.append((day, score, cents / 100))
        price = f"{cents // 100},{cents % 100:02}"
        shown = f"{score:+d}" if i % 2 else str(score)  # one value in two forms
        rows.append(f"{day:%d.%m.%Y};{shown};{price.removesuffix('0') if i % 3 else price};{'abc'[i * i % 3]}")
    table = tmp_path / "table.csv"
    table.write_text("\n".join(rows))
    asked = {"quasi_identifiers": ["born", "score", "price"], "sensitive": "illness", "beta": 2, "scheme": scheme}
    made = betalike.publish(table, out=tmp_path / "out", **asked, seed=1)
    for release in (made, betalike.open_release(tmp_path / "out")):
        drawn = release.draws(1)[0]
        assert sorted(drawn.select("born", "score", "price").rows()) == sorted(meant)


def test_fractions_are_drawn_within_what_labels_show_if_the_domain_is_hidden() -> None:
    """The greatest number is in a class with a missing one, which is published as `*`."""
    weight = [None, 40.5, 99.5, *[60.0 + i / 2 for i in range(27)]]
    table = pl.DataFrame({"weight": weight, "city": ["Ulm"] * 3 + ["Rom"] * 27, "ill": ["flu", "gout", "cough"] * 10})
    asked: dict[str, Any] = {"quasi_identifiers": ["weight", "city"], "sensitive": "ill", "scheme": "lmondrian"}
    release = betalike.publish(table, **asked, beta=0.5, seed=1)
    assert release.certificate["table"]["columns"][0]["domain"] is None
    assert release.frame["weight"].eq("*").any()
    for drawn in release.draws(5, seed=1):
        assert drawn["weight"].drop_nulls().is_between(40.5, 73).all()
    assert release.count("weight BETWEEN 40.5 AND 73").count == pytest.approx(30, abs=1)
