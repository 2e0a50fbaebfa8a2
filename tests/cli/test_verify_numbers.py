"""Releases of numbers that a floating-point number cannot hold: published, verified, with domains of any size."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import betalike
from betalike.errors import ParameterError

DISEASES = ["flu", "cough", "ulcer", "gout", "asthma"]
NUMBERS: dict[str, tuple[Any, list[Any]]] = {
    "decimal": (pl.Decimal(10, 2), [Decimal("1.10"), Decimal("2.25"), Decimal("10.00"), Decimal("-3.50"), None]),
    "large decimal": (pl.Decimal(38, 2), [Decimal("90071992547409.93"), Decimal("90071992547409.94")]),
    "unsigned": (pl.UInt64, [2**64 - 1, 2**64 - 2, 2**63, 0, None]),
    "128 bits": (pl.Int128, [2**100, 2**100 + 1, -(2**90)]),
    "64 bits": (pl.Int64, [2**63 - 1, -(2**63), 2**53, 2**53 + 1]),
}


def table_of(name: str) -> pl.DataFrame:
    dtype, numbers = NUMBERS[name]
    rows = range(120)
    return pl.DataFrame(
        {
            "number": pl.Series([numbers[i * i % 7 % len(numbers)] for i in rows], dtype=dtype),
            "gender": ["M" if i % 3 else "F" for i in rows],
            "disease": [DISEASES[(i * i + i // 7) % 5] for i in rows],
        }
    )


def publish(table: pl.DataFrame, out: Path, **options: Any) -> Any:
    return betalike.publish(
        table, quasi_identifiers=["number", "gender"], sensitive="disease", beta=0.5, out=out, **options, seed=1
    )


@pytest.mark.some(6)
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"format": "parquet"},
        {"scheme": "perturb"},
        {"scheme": "baseline"},
    ],
    ids=["labels", "parquet", "perturb", "baseline"],
)
def test_a_release_is_verified(tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    table = table_of(name)
    publish(table, tmp_path / "out", **options)
    table.write_csv(tmp_path / "table.csv")
    for original in (None, table, tmp_path / "table.csv"):
        checked = betalike.verify(tmp_path / "out", original=original)
        assert checked.holds, checked.explanations


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_shifted_by_the_least_step_are_noticed(tmp_path: Path, name: str) -> None:
    table = table_of(name)
    most = table["number"].max()
    step = Decimal("0.01") if table["number"].dtype.is_decimal() else 1
    shifted = [number if number != most else number - step for number in table["number"]]
    publish(table, tmp_path / "out", scheme="baseline")
    false = table.with_columns(pl.Series("number", shifted, table["number"].dtype))
    assert not betalike.verify(tmp_path / "out", original=false).checks["quasi-identifiers"]


@pytest.mark.some(7)
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("unsigned", (-3, 2**64 + 4)),
        ("unsigned", (0, 10**39)),
        ("64 bits", (-(10**50), 10**60)),
        ("decimal", ("-3.50001", "10.5")),
        ("decimal", (-(10**39), 10**39)),
        ("decimal", ("-1e20", "1e-20")),
        ("decimal", (-4, 11)),
    ],
)
def test_a_declared_domain(tmp_path: Path, name: str, domain: tuple[Any, Any], form: str) -> None:
    table = table_of(name)
    if domain[1] == "1e-20":
        table = table.with_columns(-pl.col("number").abs())
    # all rows are in one class, so that present and missing numbers meet and the domain is published
    options = {"domains": {"number": domain}, "format": form}
    release = publish(table, tmp_path / "out", k=120, **options)
    told = release.certificate["table"]["columns"][0]["domain"]
    assert [Decimal(end) for end in told] == [Decimal(str(end)) for end in domain]
    for original in (None, table):
        checked = betalike.verify(tmp_path / "out", original=original)
        assert checked.holds, checked.explanations


def test_a_domain_that_cannot_be_measured(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="domains has a whole number of more than 308 digits"):
        publish(table_of("64 bits"), tmp_path / "out", domains={"number": (0, 10**310)})
