"""Publishing from a database, against reading the same query into Polars: `census_like`, 5 QI, beta 4.

DuckDB is always measured; PostgreSQL if BETALIKE_POSTGRESQL is the address of a database in which a table may be made.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import polars as pl

import betalike
from benchmarks.engines import COLUMNS, MEMORY, MILLION, in_process, write_table
from benchmarks.measurement import Measured
from benchmarks.tables import FIVE
from betalike.datasets import census_like_hierarchies

TABLE = "betalike_benchmark"
QUERY = f"SELECT {', '.join(COLUMNS)} FROM {TABLE}"


def run(folder: Path, quick: bool = False) -> list[str]:
    rows = MILLION // 5 if quick else 10 * MILLION
    table = folder / "table.parquet"
    write_table(table, rows)
    lines = [
        f"## Databases: `census_like`, {rows:,} rows, a query to verified Parquet, 5 QI, beta 4, `whole`, {MEMORY}",
        "",
        "| database | what | time | times reading | peak memory | times reading |",
        "|---|---|---|---|---|---|",
    ]
    for name, address in addresses(folder, table):
        measured = {job: in_process(job, address, folder / "out", "benchmarks.databases") for job in JOBS}
        lines += [_line(name, job, measured[job], measured["read"]) for job in JOBS]
    return lines


def _line(name: str, job: str, measured: Measured, read: Measured) -> str:
    times, memory = measured.seconds / read.seconds, measured.peak_memory / read.peak_memory
    what = {"read": "read into Polars", "publish": "publish"}[job]
    return (
        f"| {name} | {what} | {measured.seconds:.1f} s | {times:.2f} | {measured.peak_memory:,.0f} MB | {memory:.2f} |"
    )


def addresses(folder: Path, table: Path) -> Iterator[tuple[str, str]]:
    """Yield each database after the table is in it."""
    with duckdb.connect(folder / "census.duckdb") as connection:
        connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM read_parquet('{table}')")
    yield "DuckDB", f"duckdb:{folder / 'census.duckdb'}"
    address = os.environ.get("BETALIKE_POSTGRESQL")
    if address is None:
        return
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address) as connection, connection.cursor() as cursor:
        for number, batch in enumerate(pl.scan_parquet(table).select(COLUMNS).collect_batches()):
            cursor.adbc_ingest(TABLE, batch.to_arrow(), mode="append" if number else "replace")
        connection.commit()
        yield "PostgreSQL", address
        cursor.execute(f"DROP TABLE {TABLE}")
        connection.commit()


def read(address: str, out: Path) -> None:
    """Read the query into a frame, as a user of Polars does."""
    if address.startswith("duckdb:"):
        with duckdb.connect(address.removeprefix("duckdb:"), read_only=True) as connection:
            connection.sql(QUERY).pl()
    else:
        pl.read_database_uri(QUERY, address, engine="adbc")


def publish(address: str, out: Path) -> None:
    betalike.publish(
        address,
        query=QUERY,
        quasi_identifiers=FIVE,
        sensitive="salary_class",
        beta=4,
        hierarchies=census_like_hierarchies(),
        out=out,
        format="parquet",
        force=True,
        memory=MEMORY,
    )


JOBS: dict[str, Callable[[str, Path], None]] = {"read": read, "publish": publish}

if __name__ == "__main__":
    job, where, target = sys.argv[1:]
    start = time.perf_counter()
    JOBS[job](where, Path(target))
    print(time.perf_counter() - start)
