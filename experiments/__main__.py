"""`make experiments`: run every experiment, and write the pictures, the data and the page."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from experiments import (
    figure_4a,
    figure_4b,
    figure_4c,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    figure_9,
    naive_bayes,
    section_2,
    section_7,
)
from experiments.bench import Bench
from experiments.figure import Figure
from experiments.page import write, write_files
from experiments.settings import FULL, QUICK
from experiments.warming import compile_kernels

CENSUS = "CENSUS"  # the name of the paper's table, where it is at hand
PROJECT = Path(__file__).parent.parent
EXPERIMENTS: dict[str, Callable[[Bench], Figure]] = {
    "4a": figure_4a.run,
    "4b": figure_4b.run,
    "4c": figure_4c.run,
    "5": figure_5.run,
    "6": figure_6.run,
    "7": figure_7.run,
    "8": figure_8.run,
    "9": figure_9.run,
    "s7": section_7.run,
    "nb": naive_bayes.run,
    "s2": section_2.run,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run experiments; a full run on CENSUS becomes part of the documentation."""
    parser = argparse.ArgumentParser(prog="experiments", description="Run the paper's experiments.")
    parser.add_argument("--quick", action="store_true", help="a small invented table, fewer settings")
    parser.add_argument(
        "--out", type=Path, help="folder for the page; docs for all of them in full on CENSUS, else build/experiments"
    )
    parser.add_argument("--only", help=f"some of them, with commas between: {','.join(EXPERIMENTS)}")
    given = parser.parse_args(arguments)
    names = list(EXPERIMENTS) if given.only is None else given.only.split(",")
    if unknown := [name for name in names if name not in EXPERIMENTS]:
        parser.error(f"there is no experiment '{unknown[0]}'; there are: {', '.join(EXPERIMENTS)}")
    compile_kernels()
    with tempfile.TemporaryDirectory(prefix="betalike-experiments-") as folder:
        bench = Bench(QUICK if given.quick else FULL, Path(folder))
        is_for_docs = given.only is None and bench.table.name == CENSUS
        out = given.out or PROJECT / ("docs" if is_for_docs else "build/experiments")
        _tell(f"{bench.table.name}, {bench.frame.height:,} rows, to {out}")
        figures = [_run(name, bench, out) for name in names]
        write(bench, figures, out)


def _run(name: str, bench: Bench, out: Path) -> Figure:
    start = time.perf_counter()
    figure = EXPERIMENTS[name](bench)
    write_files(figure, out)
    _tell(f"{name:>3}  {time.perf_counter() - start:6.1f} s  {figure.title}")
    return figure


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
