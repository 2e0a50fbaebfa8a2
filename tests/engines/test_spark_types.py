"""Types on Spark: the values decide as they do elsewhere, in CSV files, Parquet files and Spark frames."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from contract import quick_session

import betalike

pytestmark = pytest.mark.xdist_group("spark")
KINDS = {
    "zip": "categorical",
    "born": "date",
    "seen": "date",
    "joined": "month",
    "height": "integer",
    "weight": "real",
    "stays": "integer",
}
ASKED: dict[str, Any] = {
    "quasi_identifiers": list(KINDS),
    "sensitive": "illness",
    "beta": 4,
    "seed": 1,
    "missing": ["NA", "-9"],
    "scheme": "lmondrian",
}


def people(n_rows: int = 200) -> pl.DataFrame:
    rng = random.Random(3)
    days = [datetime.date(1940, 1, 1) + datetime.timedelta(days=rng.randrange(9000)) for _ in range(n_rows)]
    return pl.DataFrame(
        {
            "zip": [rng.choice(["02110", "60645"]) for _ in days],
            "born": [day.strftime("%d.%m.%Y") for day in days],
            "seen": [day.isoformat() for day in days],
            "joined": [day.isoformat()[:7] for day in days],
            "height": [float(rng.choice([-9, 160, 170, 180])) for _ in days],
            "weight": [f"{rng.randrange(40, 90)},5" for _ in days],
            "stays": [rng.choice(["1", "2", "NA"]) for _ in days],
            "illness": [rng.choice(["flu", "gout", "cough"]) for _ in days],
        }
    )


@pytest.mark.parametrize("source", ["CSV", "frame", pytest.param("Parquet", marks=pytest.mark.long)])
def test_spark_takes_columns_for_what_one_machine_does(source: str, tmp_path: Path) -> None:
    quick_session()
    local = betalike.publish(people(), **ASKED).certificate
    people().write_csv(tmp_path / "t.csv")
    people().write_parquet(tmp_path / "t.parquet")
    table: Any = tmp_path / ("t.csv" if source == "CSV" else "t.parquet")
    if source == "frame":
        table = quick_session().read.parquet(table.as_uri())
    release = betalike.publish(table, **ASKED, engine="spark", out=tmp_path / "out").certificate
    assert {column["name"]: column["kind"] for column in release["table"]["columns"]} == KINDS
    assert release["table"]["columns"] == local["table"]["columns"]
    assert release["release"]["loss"] == pytest.approx(local["release"]["loss"])
    assert betalike.verify(tmp_path / "out", original=people(), missing=["NA", "-9"]).holds
