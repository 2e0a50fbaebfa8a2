"""Tables with more cells than memory: rounded columns are counted in bins, and an error says what would fit."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.engines.engine import Format
from betalike.engines.local import LocalEngine
from betalike.errors import InputError
from betalike.promises import Likeness
from betalike.release.publish import Job, publish
from betalike.runtime.progress import Stopwatch
from betalike.runtime.randomness import randomness
from betalike.schemes import make_scheme
from betalike.table.axis import OrderedAxis
from betalike.table.cells import Cells
from betalike.table.rounded_axis import RoundedAxis
from betalike.table.schema import Attribute, DateOrder, Kind, Role, RoundEnds, Schema

N_ROWS = 4000
QIS = ["income", "height", "born", "seen", "price", "spent", "visit", "work"]
START = datetime.date(1950, 1, 1)


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """A column of every kind, some values missing; dates and decimals also as text."""
    rng = np.random.default_rng(3)
    income = rng.lognormal(10, 1, N_ROWS)
    days = [START + datetime.timedelta(days=int(day)) for day in rng.integers(0, 20_000, N_ROWS)]
    cents = rng.integers(0, 10**6, N_ROWS).tolist()
    moments = list(zip(days, cents, strict=True))
    is_missing = pl.Series(rng.random(N_ROWS) < 0.05)
    return pl.DataFrame(
        {
            "income": pl.Series(income).set(is_missing, None),
            "height": rng.integers(140, 210, N_ROWS),
            "born": pl.Series(days).set(is_missing, None),
            "seen": [datetime.datetime.combine(d, datetime.time()) + datetime.timedelta(seconds=s) for d, s in moments],
            "price": pl.Series([Decimal(cent) / 100 for cent in cents], dtype=pl.Decimal(38, 2)),
            "spent": [f"{cent / 100:.2f}" if cent % 9 else "" for cent in cents],
            "visit": [f"{day:%d/%m/%Y}" for day in days],
            "work": [["cook", "nurse", "smith", "clerk"][i] for i in rng.integers(0, 4, N_ROWS)],
            "illness": [f"i{i}" for i in np.clip(np.rint(np.log(income) - 8 + rng.normal(size=N_ROWS)), 0, 5)],
            "person": rng.permutation(N_ROWS) // 2,
            "row": np.arange(N_ROWS),
        }
    )


def schema_of(qis: list[str], ends: dict[str, RoundEnds], **more: Any) -> Schema:
    dates = {"visit": DateOrder.DMY}
    qi = (Attribute(n, Role.QUASI_IDENTIFIER, round_ends=ends.get(n), dates=dates.get(n)) for n in qis)
    kept = (Attribute("row", Role.KEPT),)
    return Schema(tuple(qi), Attribute("illness", Role.SENSITIVE), kept, **more)


def engine_of(table: pl.DataFrame, schema: Schema, folder: Path, most_cells: int | None = None) -> LocalEngine:
    """Read the table in batches; without `most_cells` it fits."""
    path = folder / "table.parquet"
    table.write_parquet(path)
    return LocalEngine(pl.scan_parquet(path), schema, batch_rows=700, most_cells=most_cells)


def assert_same_cells(one: Cells, other: Cells) -> None:
    for name in ("points", "point", "value", "count"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for axis, twin in zip(one.axes, other.axes, strict=True):
        assert type(axis) is type(twin)
        assert axis.has_missing == twin.has_missing
        if isinstance(axis, OrderedAxis):
            assert isinstance(twin, OrderedAxis)
            assert (axis.kind, axis.domain, axis.dates) == (twin.kind, twin.domain, twin.dates)
            assert axis.values.tolist() == twin.values.tolist()
            assert axis.values.dtype == twin.values.dtype
        if isinstance(axis, RoundedAxis):
            assert isinstance(twin, RoundedAxis)
            assert axis.highs.tolist() == twin.highs.tolist()
            assert axis.rounding == twin.rounding


ROUNDED = {
    "steps": {
        "income": RoundEnds(10_000),
        "born": RoundEnds("decade"),
        "seen": RoundEnds("decade"),
        "price": RoundEnds("2500.5"),
        "spent": RoundEnds(2500),
        "visit": RoundEnds("decade"),
    },
    "codes": {"income": RoundEnds(20_000, 15_000, 60_000), "height": RoundEnds(20, 150, 199)},
    "codes alone": {"income": RoundEnds(None, 22_000, 22_500), "born": RoundEnds(None, "1955-01-01", "1955-06-01")},
}


@pytest.mark.parametrize("wanted", ROUNDED)
def test_bins_are_the_cells_that_a_table_in_memory_has(table: pl.DataFrame, tmp_path: Path, wanted: str) -> None:
    schema = schema_of([*ROUNDED[wanted], "work"], ROUNDED[wanted])
    exact = engine_of(table, schema, tmp_path)
    cells = exact.count_cells()
    assert len(cells.count) < N_ROWS
    few = engine_of(table, schema, tmp_path, len(cells.count))
    assert_same_cells(few.count_cells(), cells)
    assert np.array_equal(few.cell_of_rows, exact.cell_of_rows)
    assert {name: taken.kind for name, taken in few.types.items()} == {n: t.kind for n, t in exact.types.items()}
    with pytest.raises(InputError, match="distinct combinations"):
        engine_of(table, schema, tmp_path, len(cells.count) - 1).count_cells()


@pytest.mark.parametrize("person", [None, "person"])
def test_the_rows_are_those_of_a_table_in_memory(table: pl.DataFrame, tmp_path: Path, person: str | None) -> None:
    who = None if person is None else Attribute(person, Role.PERSON)
    schema = schema_of(["income", "born", "work"], ROUNDED["steps"], person=who)
    rows = []
    for most_cells in (None, 2500):
        job = Job(make_scheme("lmondrian", randomness(1)), Likeness(4), Format.PARQUET, ("row",))
        engine = engine_of(table, schema, tmp_path, most_cells)
        publish(engine, job, Stopwatch(), tmp_path / f"out {most_cells}")
        rows.append(pl.read_parquet(tmp_path / f"out {most_cells}" / "published.parquet").rows())
    assert rows[0] == rows[1]
    assert betalike.verify(tmp_path / "out 2500", original=table).holds


def refused(table: pl.DataFrame, schema: Schema, folder: Path, most_cells: int) -> str:
    with pytest.raises(InputError) as refusal:
        engine_of(table, schema, folder, most_cells).count_cells()
    return str(refusal.value)


def suggested(message: str) -> dict[str, str]:
    """What a message says to round, which it says twice."""
    options = dict(re.findall(r"--round (\w+)=(\S+)", message))
    assert f"(Python: round={options})" in message
    return options


@pytest.mark.parametrize("most_cells", [300, 2000])
@pytest.mark.parametrize("qis", [[name] for name in QIS if name not in ("height", "work")] + [["income", "height"]])
def test_a_table_fits_when_the_suggestion_is_followed(
    table: pl.DataFrame, tmp_path: Path, qis: list[str], most_cells: int
) -> None:
    steps = suggested(refused(table, schema_of(qis, {}), tmp_path, most_cells))
    for step in steps.values():
        assert re.fullmatch(r"0?\.?0*[125]0*|day|month|year|decade", step), step
    schema = schema_of(qis, {name: RoundEnds(step) for name, step in steps.items()})
    cells = engine_of(table, schema, tmp_path, most_cells).count_cells()
    assert 1 < len(cells.count) <= most_cells


def test_outliers_do_not_decide_how_wide_bins_are(table: pl.DataFrame, tmp_path: Path) -> None:
    far = table.with_columns(pl.when(pl.col("row") == 7).then(1e12).otherwise("income").alias("income"))
    steps = suggested(refused(far, schema_of(["income"], {}), tmp_path, 2000))
    schema = schema_of(["income"], {"income": RoundEnds(steps["income"])})
    assert len(engine_of(far, schema, tmp_path, 2000).count_cells().axes[0].positions) > 100


def test_too_many_columns_are_not_made_to_fit(table: pl.DataFrame, tmp_path: Path) -> None:
    assert refused(table, schema_of(QIS, {}), tmp_path, 300).endswith("or name fewer quasi-identifiers.")


def test_the_widest_columns_are_named_and_no_cell_is_shown(table: pl.DataFrame, tmp_path: Path) -> None:
    message = refused(table, schema_of(["work", "height", "born", "income"], {}), tmp_path, 1000)
    assert message.startswith("the table has more than 1,000 distinct combinations of quasi-identifiers and sensitive")
    named = re.findall(r"'(\w+)' \(about ([\d,]+)\)", message)
    assert [name for name, _ in named] == ["income", "born", "height"]
    numbers = [table[name].n_unique() for name, _ in named]
    assert [int(number.replace(",", "")) for _, number in named] == pytest.approx(numbers, rel=0.08)
    for cell in ("cook", "nurse", *table["born"].drop_nulls().cast(pl.String).head(50)):
        assert cell not in message


def test_a_rounding_that_is_too_fine_is_made_coarser(table: pl.DataFrame, tmp_path: Path) -> None:
    ends = {"income": RoundEnds("0.5", 100), "born": RoundEnds("month")}
    steps = suggested(refused(table, schema_of(["income", "born"], ends), tmp_path, 300))
    assert Decimal(steps["income"]) > 1
    assert steps["born"] in ("year", "decade")
    wider = {"income": RoundEnds(steps["income"], 100), "born": RoundEnds(steps["born"])}
    assert len(engine_of(table, schema_of(["income", "born"], wider), tmp_path, 300).count_cells().count) <= 300


def test_a_name_with_a_space_is_quoted(table: pl.DataFrame, tmp_path: Path) -> None:
    spaced = table.rename({"income": "yearly income"})
    assert "--round 'yearly income=" in refused(spaced, schema_of(["yearly income"], {}), tmp_path, 1000)


def test_names_cannot_be_rounded(table: pl.DataFrame, tmp_path: Path) -> None:
    names = table.with_columns(pl.format("name {}", "row").alias("work"))
    message = refused(names, schema_of(["work", "height"], {}), tmp_path, 1000)
    assert "'work' (about 4,000)" in message
    assert message.endswith("Allow more memory (--memory), or name fewer quasi-identifiers.")


@pytest.mark.parametrize(("domain", "is_good"), [((100, 250), True), ((150, 250), False)])
def test_a_declared_domain_is_checked_in_bins(
    table: pl.DataFrame, tmp_path: Path, domain: tuple[int, int], is_good: bool
) -> None:
    schema = schema_of(["height", "income"], {"height": RoundEnds(10), "income": RoundEnds(20_000)})
    height = replace(schema.quasi_identifiers[0], domain=domain, kind=Kind.INTEGER)
    engine = engine_of(table, replace(schema, quasi_identifiers=(height, schema.quasi_identifiers[1])), tmp_path, 500)
    if is_good:
        axis = engine.count_cells().axes[0]
        assert isinstance(axis, RoundedAxis)
        assert axis.is_domain_declared
        assert axis.domain == (100, 259)
        return
    with pytest.raises(InputError, match="'height' has values outside its declared domain"):
        engine.count_cells()


def test_a_large_table_in_the_least_memory(tmp_path: Path) -> None:
    n_rows = 2_100_000  # more than 256 MB hold
    rng = np.random.default_rng(1)
    table, out = tmp_path / "table.parquet", tmp_path / "out"
    pl.DataFrame({"pay": rng.integers(0, 10**9, n_rows), "ill": rng.integers(0, 3, n_rows)}).write_parquet(table)
    wanted = {"quasi_identifiers": ["pay"], "sensitive": "ill", "beta": 2, "scheme": "lmondrian", "seed": 1}
    wanted |= {"memory": "256MB", "format": "parquet"}
    steps = []
    for too_fine in ({}, {"pay": 1000}):  # which leaves as many bins as take too much memory
        with pytest.raises(InputError) as refusal:
            betalike.publish(table, out=out, round=too_fine, **wanted)
        assert refusal.value.exit_status == 2
        assert not out.exists()
        steps.append(suggested(str(refusal.value)))
    assert steps[0] == steps[1]
    release = betalike.publish(table, out=out, round=steps[0], **wanted)
    assert release.certificate["release"]["average_loss"] < 0.1
    assert betalike.verify(out).holds
