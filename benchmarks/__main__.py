"""`make bench`: run every benchmark and print its figures as Markdown."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import tempfile
from pathlib import Path

import polars as pl

from benchmarks import (
    continuous,
    databases,
    dimensions,
    engines,
    growth,
    hierarchies,
    lower_bound,
    perturbation,
    publish_census,
    queries,
    startup,
)

BENCHMARKS = {
    "census": publish_census.run,
    "growth": growth.run,
    "engines": engines.run,
    "databases": databases.run,
    "continuous": continuous.run,
    "dimensions": dimensions.run,
    "perturbation": perturbation.run,
    "startup": startup.run,
    "queries": queries.run,
    "bound": lower_bound.run,
    "hierarchies": hierarchies.run,
    "rounding": hierarchies.run_rounding,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the benchmarks and print their figures as Markdown.")
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], help="which ones; all by default")
    parser.add_argument("--quick", action="store_true", help="smaller tables")
    arguments = parser.parse_args()
    print(
        f"{datetime.date.today()}, {os.cpu_count()} cores, Python {platform.python_version()}, Polars {pl.__version__}"
    )
    for name in arguments.names or BENCHMARKS:
        with tempfile.TemporaryDirectory(prefix="betalike-bench-") as folder:
            print("\n" + "\n".join(BENCHMARKS[name](Path(folder), arguments.quick)), flush=True)


if __name__ == "__main__":
    main()
