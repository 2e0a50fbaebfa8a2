"""What every engine keeps of rows that are published exactly: cells as they are, draws by row number, honest eyes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from contract import FORMATS, N_ROWS, QIS, EngineMaker, replace_rows, schema_of

from betalike.engines.engine import Engine, ExactRecount, Format
from betalike.engines.spark.engine import SparkEngine
from betalike.engines.streams import count_changed
from betalike.runtime.randomness import randomness


def rotate(values: np.ndarray, first_row: int) -> np.ndarray:
    """A draw that can be foretold: every third row keeps its value, the others get the next one."""
    rows = np.arange(first_row, first_row + len(values))
    return np.where(rows % 3 == 0, values, (values + 1) % 9).astype(np.int32)


@dataclass(frozen=True)
class Foretold:
    """A draw of the sensitive values themselves, by a function."""

    draw: Callable[[Any, int], Any]
    labels: None = None

    def __call__(self, values: Any, first_row: int) -> Any:
        return self.draw(values, first_row)


def published_rows(
    engine: Engine, path: Path, draw: Callable[[Any, int], Any] | None = rotate, form: Format = Format.PARQUET
) -> tuple:
    release, trace = engine.publish_exactly(None if draw is None else Foretold(draw), randomness(1))
    engine.write(release, path, form)
    return release, trace


@pytest.mark.some(2)
def test_margins_are_those_of_the_cells(make_engine: EngineMaker, table: pl.DataFrame) -> None:
    cells = make_engine(table, schema_of(QIS)).count_cells()
    margins = make_engine(table, schema_of(QIS)).count_values()
    assert margins.value_counts.tolist() == cells.value_counts.tolist()
    assert margins.n_rows == N_ROWS
    assert margins.weights == cells.weights
    for one, other in zip(margins.axes, cells.axes, strict=True):
        assert (one.name, one.kind, one.size, one.has_missing) == (
            other.name,
            other.kind,
            other.size,
            other.has_missing,
        )
        assert one.positions.tolist() == other.positions.tolist()


@pytest.mark.some(2)
def test_rows_are_the_tables_in_another_order(make_engine: EngineMaker, table: pl.DataFrame, tmp_path: Path) -> None:
    engine = make_engine(table, schema_of(QIS, kept=("row",)))
    published_rows(engine, tmp_path / "t.parquet")
    found = pl.read_parquet(tmp_path / "t.parquet")
    assert found.columns == [*QIS, "illness", "row"]
    assert found["row"].to_list() != list(range(N_ROWS))
    assert found.sort("row").select(*QIS, "row").equals(table.select(*QIS, "row"))
    labels, margins = engine.sensitive_labels, engine.count_values()
    assert len(labels) == len(margins.value_counts) == 9
    codes = np.array([labels.index(value or "") for value in table["illness"]])
    expected = [labels[code] for code in rotate(codes, 0)]
    assert [value or "" for value in found.sort("row")["illness"]] == expected


@pytest.mark.some(2)
def test_without_a_draw_the_sensitive_column_is_left_out(
    make_engine: EngineMaker, table: pl.DataFrame, tmp_path: Path
) -> None:
    engine = make_engine(table, schema_of(QIS))
    release, trace = published_rows(engine, tmp_path / "t.parquet", draw=None)
    assert pl.read_parquet(tmp_path / "t.parquet").columns == QIS
    recount = engine.compare_exactly(release, trace, tmp_path / "t.parquet", Format.PARQUET)
    assert (recount.n_rows, recount.n_changed, recount.moves) == (N_ROWS, 0, None)


@pytest.mark.some(2)
def test_values_are_drawn_where_no_row_lacks_one(make_engine: EngineMaker, table: pl.DataFrame, tmp_path: Path) -> None:
    complete = table.filter(pl.col("illness").is_not_null())
    engine = make_engine(complete, schema_of(QIS))
    release, trace = published_rows(engine, tmp_path / "t", draw=lambda codes, _: (codes + 1) % 8)
    recount = engine.compare_exactly(release, trace, tmp_path / "t", Format.PARQUET)
    assert (recount.n_rows, recount.n_changed, recount.n_unknown) == (complete.height, 0, 0)
    expected = complete["illness"].value_counts().rows()
    assert dict(zip(engine.sensitive_labels, recount.moves.sum(axis=1).tolist(), strict=True)) == dict(expected)


@pytest.mark.some(3)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("is_file", [True, False], ids=["file", "memory"])
def test_rows_are_compared_and_moves_counted(
    make_engine: EngineMaker, table: pl.DataFrame, tmp_path: Path, form: Format, is_file: bool
) -> None:
    engine = make_engine(table, schema_of(QIS))
    path = tmp_path / "t"
    release, trace = published_rows(engine, path, form=form)
    recount = engine.compare_exactly(release, trace, path if is_file else None, form)
    assert (recount.n_rows, recount.n_changed, recount.n_unknown) == (N_ROWS, 0, 0)
    labels = engine.sensitive_labels
    codes = np.array([labels.index(value or "") for value in table["illness"]])
    expected = np.zeros((9, 9), dtype=int)
    np.add.at(expected, (codes, rotate(codes, 0)), 1)
    assert recount.moves.tolist() == expected.tolist()


def written_rows(path: Path, form: Format) -> pl.DataFrame:
    return pl.read_parquet(path) if form is Format.PARQUET else pl.read_csv(path, infer_schema=False)


@pytest.mark.some(9)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("column", QIS)
def test_a_changed_quasi_identifier_is_seen(
    make_engine: EngineMaker, table: pl.DataFrame, tmp_path: Path, form: Format, column: str
) -> None:
    engine = make_engine(table, schema_of(QIS))
    path = tmp_path / "t"
    release, trace = published_rows(engine, path, form=form)
    rows = written_rows(path, form)
    forged = rows.with_columns(pl.col(column).shift(1, fill_value=pl.col(column).last()))
    replace_rows(forged, path, form)
    n_changed = int(forged[column].ne_missing(rows[column]).sum())
    found = engine.compare_exactly(release, trace, path, form).n_changed
    assert found == n_changed if isinstance(release, pl.DataFrame) else found > 0  # else all rows together


@pytest.mark.some(2)
@pytest.mark.parametrize("form", FORMATS)
def test_lost_rows_columns_and_unknown_values_are_seen(
    make_engine: EngineMaker, table: pl.DataFrame, tmp_path: Path, form: Format
) -> None:
    engine = make_engine(table, schema_of(QIS))
    path = tmp_path / "t"
    release, trace = published_rows(engine, path, form=form)
    rows = written_rows(path, form)

    def compared(forged: pl.DataFrame) -> ExactRecount:
        replace_rows(forged, path, form)
        return engine.compare_exactly(release, trace, path, form)

    assert compared(rows).n_changed == compared(rows).n_unknown == 0
    assert compared(rows.head(-1)).n_rows == N_ROWS - 1
    assert compared(rows.drop("age")).n_changed > 0
    n_changed = int((rows["illness"] == "é").sum())
    recount = compared(rows.with_columns(pl.col("illness").replace("é", "e")))
    assert (recount.n_rows, recount.n_unknown) == (N_ROWS, n_changed)


def test_the_form_of_a_number_does_not_matter_but_its_value_does() -> None:
    assert count_changed(pl.Series([1.5, None]), pl.Series([1.5, None])) == 0
    assert count_changed(pl.Series([1.5, None]), pl.Series([1.5, 0.0])) == 1
    assert count_changed(pl.Series(["a", None]), pl.Series(["a", ""])) == 0
    assert count_changed(pl.Series(["a", None]), pl.Series(["a", "b"])) == 1


TYPES: dict[str, pl.Series] = {
    "booleans": pl.Series([True, False, None, True]),
    "categories": pl.Series(["a", "b", None, ""], dtype=pl.Categorical),
    "small reals": pl.Series([0.1, 1e-30, None, 3e9], dtype=pl.Float32),
    "reals": pl.Series([0.1, 1e300, 5e-324, -0.0]),
    "not a number": pl.Series([0.1, float("nan"), None, 2.0]),
    "small numbers": pl.Series([1, 2, None, 255], dtype=pl.UInt8),
    "large numbers": pl.Series([2**63 - 1, -(2**63), None, 0]),
    "times": pl.Series([datetime.time(1, 2, 3), None, datetime.time(0), datetime.time(23, 59, 59, 999_999)]),
    "moments": pl.Series([datetime.datetime(2024, 1, 1, 1, 2, 3, 4), None, datetime.datetime(1, 1, 1)] * 2).head(4),
    "moments somewhere": pl.Series([datetime.datetime(2024, 7, 1)] * 4).dt.replace_time_zone("Europe/Paris"),
    "decimals": pl.Series([Decimal("1.50"), None, Decimal("-2.25"), Decimal("0")]),
    "texts": pl.Series(["007", "1e5", " a", "\r\n"]),
    "nothing": pl.Series([None] * 4, dtype=pl.String),
}


@pytest.mark.some(20)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", TYPES)
def test_columns_of_every_type_are_read_back_as_they_were(
    request: pytest.FixtureRequest, make_engine: EngineMaker, tmp_path: Path, kind: str, form: Format
) -> None:
    if kind == "times" and "spark" in request.node.name:
        pytest.skip("Spark does not read columns of times of day")
    column = TYPES[kind]
    secrets = column.head(2) if kind != "nothing" else pl.Series(["x", "y"])
    frame = pl.DataFrame({"x": pl.concat([column] * 3), "illness": pl.concat([secrets] * 6)})
    engine = make_engine(frame, schema_of(["x"]))
    n_values = len(engine.count_values().value_counts)
    path = tmp_path / "t"
    release, trace = published_rows(engine, path, draw=lambda values, _: (values + 1) % n_values, form=form)
    if not isinstance(engine, SparkEngine):
        assert release.schema["x"] == frame["x"].dtype
    recount = engine.compare_exactly(release, trace, path, form)
    assert (recount.n_rows, recount.n_changed, recount.n_unknown) == (12, 0, 0)
    assert recount.moves.sum() == 12
