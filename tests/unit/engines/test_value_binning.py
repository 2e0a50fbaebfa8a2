"""Binned sensitive columns: published as ranges, verified against the original, refused where there are no numbers."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import betalike
from betalike.errors import ParameterError, SchemaError

N_ROWS, BINS = 600, 12
ASKED: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "beta": 4, "seed": 1}


def people() -> pl.DataFrame:
    rng = random.Random(2)
    days = [datetime.date(1980, 1, 1) + datetime.timedelta(days=rng.randrange(9000)) for _ in range(N_ROWS)]
    return pl.DataFrame(
        {
            "age": [rng.randrange(20, 60) for _ in range(N_ROWS)],
            "sex": [rng.choice("fm") for _ in range(N_ROWS)],
            "pay": [rng.randrange(10**6) for _ in range(N_ROWS)],
            "rate": [rng.random() for _ in range(N_ROWS)],
            "hired": [day.strftime("%m/%d/%Y") for day in days],
            "city": [rng.choice(["Ulm", "Rom"]) for _ in range(N_ROWS)],
        }
    )


def ends(label: str) -> tuple[str, str]:
    low, _, high = label.strip("[]").partition(", ")
    return low, high or low


@pytest.mark.some(3)
@pytest.mark.parametrize("column", ["pay", "rate", "hired"])
@pytest.mark.parametrize("scheme", ["whole", "seam", "perturb", "baseline"])
def test_a_binned_release_is_verified_with_its_original(column: str, scheme: str, tmp_path: Path) -> None:
    table = people()
    table.write_csv(tmp_path / "t.csv")
    release = betalike.publish(
        tmp_path / "t.csv", **ASKED, sensitive=column, scheme=scheme, bins={column: BINS}, out=tmp_path / "out"
    )
    labels = release.certificate["prior_counts"]
    assert len(labels) == BINS
    assert sum(labels.values()) == N_ROWS
    assert max(labels.values()) - min(labels.values()) <= 4  # values hardly repeat, so ranges are even
    assert betalike.verify(release, original=table).holds
    other = table.with_columns(pl.col(column).reverse())
    assert not betalike.verify(release, original=other).holds or scheme in ("perturb", "baseline")


def test_ranges_hold_the_rows_that_they_count() -> None:
    table = people()
    release = betalike.publish(table, **ASKED, sensitive="pay", bins={"pay": BINS})
    for label, count in release.certificate["prior_counts"].items():
        low, high = map(int, ends(label))
        assert table["pay"].is_between(low, high).sum() == count
    assert set(release.frame["pay"]) == set(release.certificate["prior_counts"])


def test_bins_lose_less_and_answer_queries(tmp_path: Path) -> None:
    table = people()
    exact = betalike.publish(table, **ASKED, sensitive="pay")
    release = betalike.publish(table, **ASKED, sensitive="pay", bins={"pay": BINS}, out=tmp_path / "out")
    assert release.certificate["release"]["average_loss"] < exact.certificate["release"]["average_loss"] / 2
    label = next(iter(release.certificate["prior_counts"]))
    low, high = map(int, ends(label))
    assert release.count(f"pay = '{label}'").count == pytest.approx(table["pay"].is_between(low, high).sum())
    named: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": "pay", "beta": 4}
    assert betalike.audit(release, **named, original=table).holds
    assert betalike.workload(release, original=table, queries=20, predicates=1, seed=1).to_dict()["queries"] == 20
    assert betalike.attack(release, original=table, attacks=["skewness"], seed=1)


def test_missing_values_stay_missing_and_several_columns_may_be_binned(tmp_path: Path) -> None:
    table = people().with_columns(pay=pl.when(pl.col("age") > 25).then("pay"))
    release = betalike.publish(
        table,
        **{**ASKED, "quasi_identifiers": ["age"]},
        sensitive=["pay", "rate"],
        scheme="seam",
        missing_sensitive="value",
        bins={"pay": 4, "rate": 3},
        out=tmp_path / "out",
    )
    assert release.frame["pay"].null_count() == table["pay"].null_count()
    assert betalike.verify(release, original=table).holds


def test_a_specification_may_ask_for_bins(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "t.csv")
    (tmp_path / "release.toml").write_text(
        'table = "t.csv"\n[promise]\nbeta = 4\n[columns.age]\nrole = "quasi-identifier"\n'
        '[columns.pay]\nrole = "sensitive"\nbins = 5\n'
    )
    assert len(betalike.publish(spec=tmp_path / "release.toml", seed=1).certificate["prior_counts"]) == 5


@pytest.mark.parametrize("number", [1, 0, -3, 2.5, True, 10**9])
def test_the_number_of_bins_is_a_whole_number(number: Any) -> None:
    with pytest.raises(ParameterError, match="bins of 'pay'"):
        betalike.publish(people(), **ASKED, sensitive="pay", bins={"pay": number})


def test_text_cannot_be_binned() -> None:
    with pytest.raises(SchemaError, match="holds no numbers or dates"):
        betalike.publish(people(), **ASKED, sensitive="city", bins={"city": 5})
    with pytest.raises(SchemaError, match="not one of the columns named"):
        betalike.publish(people(), **ASKED, sensitive="city", bins={"age": 5})
