"""What goes wrong on Spark is told as on any other engine: clearly, without a cell, and with nothing left behind."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from contract import quick_session

import betalike
from betalike.datasets import census_like
from betalike.engines.spark.failures import failures_explained
from betalike.errors import BetalikeError, FileError, ParameterError

pytestmark = pytest.mark.xdist_group("spark")
QIS, SENSITIVE = ["age", "gender"], "salary_class"
SECRET = "Q7X"  # a cell that nobody should see


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return census_like(300, seed=1).write_csv().splitlines()


def changed(lines: list[str], line: str) -> list[str]:
    return [*lines[:100], line, *lines[101:]]


def refused(folder: Path) -> BetalikeError:
    quick_session()
    with pytest.raises(BetalikeError) as caught:
        betalike.publish(folder, quasi_identifiers=QIS, sensitive=SENSITIVE, beta=4, engine="spark", seed=1)
    assert SECRET not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(f"{SECRET},1,2", id="too short"),
        pytest.param(f"30,1,2,3,1,1,1,5,{SECRET}", id="too long"),
    ],
)
def test_rows_of_unequal_length_are_refused(tmp_path: Path, lines: list[str], line: str) -> None:
    (tmp_path / "a.csv").write_text("\n".join(changed(lines, line)) + "\n")
    error = refused(tmp_path)
    assert isinstance(error, FileError)
    assert "rows of the table have more or fewer fields than its header" in str(error)


def test_line_breaks_in_quotes_are_refused(tmp_path: Path, lines: list[str]) -> None:
    (tmp_path / "a.csv").write_text("\n".join(changed(lines, f'30,1,2,3,1,1,1,"{SECRET}\n"')) + "\n")
    assert "2 lines of the table have a quote" in str(refused(tmp_path))


def test_text_that_is_not_utf8_is_refused(tmp_path: Path, lines: list[str]) -> None:
    text = "\n".join(changed(lines, f"30,1,2,3,1,1,1,caf\xe9 {SECRET}")) + "\n"
    (tmp_path / "a.csv").write_bytes(text.encode("cp1252"))
    assert "not UTF-8" in str(refused(tmp_path))


def test_files_whose_headers_differ_are_refused(tmp_path: Path, lines: list[str]) -> None:
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    pl.read_csv(tmp_path / "a.csv").select(reversed(lines[0].split(","))).write_csv(tmp_path / "b.csv")
    assert "different header lines" in str(refused(tmp_path))


def test_parquet_files_without_a_column_are_refused(tmp_path: Path) -> None:
    table = census_like(300, seed=1)
    table.write_parquet(tmp_path / "a.parquet")
    table.drop("gender").write_parquet(tmp_path / "b.parquet")
    assert "no column 'gender'" in str(refused(tmp_path))


def test_a_parquet_file_that_is_cut_off_is_told(tmp_path: Path) -> None:
    census_like(300, seed=1).write_parquet(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[: len(whole) // 2])
    assert "damaged or cut off" in str(refused(tmp_path))


def test_a_file_that_is_gone_meanwhile_is_told(tmp_path: Path) -> None:
    census_like(300, seed=1).write_parquet(tmp_path / "a.parquet", compression="snappy")
    frame = quick_session().read.parquet(tmp_path.as_uri())
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(FileError, match="not at the same path on the driver and on every worker"):
        betalike.publish(frame, quasi_identifiers=QIS, sensitive=SENSITIVE, beta=4, seed=1)


def test_what_a_task_fails_with_is_not_shown() -> None:
    session = quick_session()
    with pytest.raises(BetalikeError, match="Spark gave up") as caught, failures_explained():
        session.sql(f"select raise_error('{SECRET}')").collect()
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_another_master_than_the_one_in_use_is_refused(tmp_path: Path) -> None:
    quick_session()
    census_like(300, seed=1).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ParameterError, match=r"Spark runs already, with the master 'local\[1\]'"):
        betalike.publish(tmp_path, quasi_identifiers=QIS, sensitive=SENSITIVE, beta=4, master="local[2]", seed=1)


def test_a_master_is_for_spark_alone(tmp_path: Path) -> None:
    census_like(300, seed=1).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ParameterError, match="which the engine 'local' has no use for"):
        betalike.publish(
            tmp_path, quasi_identifiers=QIS, sensitive=SENSITIVE, beta=4, master="local[2]", engine="local", seed=1
        )
