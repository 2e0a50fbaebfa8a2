"""Every engine against its yardstick: `census_like`, 5 QI, beta 4, from Parquet to verified Parquet.

Each figure comes from a separate process, so that its memory is measured alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

import betalike
from benchmarks.measurement import MEGABYTE, Measured, yardstick_parquet
from benchmarks.tables import FIVE
from betalike.datasets import census_like, census_like_hierarchies
from betalike.engines.spark.session import start_session

MILLION = 1_000_000
COLUMNS = [*FIVE, "salary_class"]
MEMORY = "2GB"  # of the engine `local`, and of DuckDB


def run(folder: Path, quick: bool = False) -> list[str]:
    few, many = (MILLION // 10, MILLION // 2) if quick else (10 * MILLION, 50 * MILLION)
    tables = {}
    for rows in (few, many):
        tables[rows] = folder / f"table-{rows}.parquet"
        write_table(tables[rows], rows)
    measured_on: dict[tuple[str, int], Measured] = {}
    for _ in range(2):  # the second time counts: kernels are compiled, and files are in the cache
        for name, rows in [*((name, few) for name in JOBS), *((name, many) for name in LONG)]:
            measured_on[name, rows] = in_process(name, tables[rows], folder / "out")
    lines = [
        f"## Engines: `census_like`, Parquet to verified Parquet and certificate, 5 QI, beta 4, `seam`, {MEMORY}",
        "",
        "| rows | what | time | times its yardstick | peak memory |",
        "|---|---|---|---|---|",
    ]
    for (name, rows), measured in measured_on.items():
        yardstick = measured_on.get((YARDSTICK.get(name, name), rows), measured)
        ratio = f"{measured.seconds / yardstick.seconds:.2f}"
        lines.append(f"| {rows:,} | {TOLD[name]} | {measured.seconds:.1f} s | {ratio} | {_memory(name, measured)} |")
    return lines


def write_table(path: Path, rows: int) -> None:
    """Write a table of many rows in pieces that fit in memory."""
    step = min(rows, 5 * MILLION)
    pieces = [path.with_name(f"piece-{number}.parquet") for number in range(-(-rows // step))]
    for seed, piece in enumerate(pieces):
        census_like(step, seed=seed).write_parquet(piece)
    pl.scan_parquet(pieces).sink_parquet(path)
    for piece in pieces:
        piece.unlink()


def in_process(name: str, table: Path | str, out: Path, module: str = "benchmarks.engines") -> Measured:
    """Return the seconds of a job, without the start of its process, and the peak memory of that process."""
    command = [sys.executable, "-m", module, name, str(table), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        shown = process.stdout.read().split()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"the job '{name}' failed")
    return Measured(float(shown[-1]), usage.ru_maxrss * 1024 / MEGABYTE)


def _memory(name: str, measured: Measured) -> str:
    return "" if "spark" in name else f"{measured.peak_memory:,.0f} MB"  # most of it would be Java's


def publish_with(engine: str) -> Callable[[Path, Path], None]:
    def publish(table: Path, out: Path) -> None:
        betalike.publish(
            table,
            quasi_identifiers=FIVE,
            sensitive="salary_class",
            beta=4,
            scheme="seam",
            hierarchies=census_like_hierarchies(),
            out=out,
            format="parquet",
            force=True,
            engine=engine,
            memory=MEMORY if engine == "local" else None,
            master="local[2]" if engine == "spark" else None,
        )

    return publish


def sort_with_duckdb(table: Path, out: Path) -> None:
    """Read, sort by one key and write the same file, with as much memory as the engine `local`."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"set memory_limit = '{MEMORY}'; set threads = 2; set temp_directory = '{out.parent}/duckdb'")
    rows = f"select * from read_parquet('{table}') order by age"
    connection.execute(f"copy ({rows}) to '{out}.parquet' (format parquet)")


def group_with_spark(table: Path, out: Path) -> None:
    """Read, group by the same columns, and write the same rows."""
    session = start_session("local[2]")
    rows = session.read.parquet(str(table)).select(COLUMNS)
    rows.groupBy(COLUMNS).count().write.mode("overwrite").parquet(f"{out}.groups")
    rows.write.mode("overwrite").parquet(f"{out}.rows")


JOBS: dict[str, Callable[[Path, Path], None]] = {
    "polars": lambda table, out: yardstick_parquet(table, out.with_suffix(".sorted")),
    "duckdb": sort_with_duckdb,
    "local": publish_with("local"),
    "plain-spark": group_with_spark,
    "spark": publish_with("spark"),
}
TOLD = {
    "polars": "Polars: read, sort by all columns, write",
    "duckdb": f"DuckDB: read, sort by one key, write, {MEMORY}",
    "local": f"engine `local`, {MEMORY}",
    "plain-spark": "Spark, two cores: read, group by the same columns, write",
    "spark": "engine `spark`, two cores",
}
LONG = ("duckdb", "local")  # also with many rows
YARDSTICK = {"local": "duckdb", "spark": "plain-spark"}


if __name__ == "__main__":
    _, job, *paths = sys.argv
    if "spark" in job:
        start_session("local[2]")
    start = time.perf_counter()
    JOBS[job](*map(Path, paths))
    print(time.perf_counter() - start)
