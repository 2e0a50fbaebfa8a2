"""The command that measures how well a release answers queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import betalike
from betalike.cli.options import Delimiter, Folder, Hierarchies, Json, Method, Missing, Seed, input_option
from betalike.cli.outcome import announced, print_json, run


def workload(
    folder: Folder,
    original: Annotated[Path | None, input_option("--original", "The original table, for exact counts.")] = None,
    queries: Annotated[int, typer.Option("--queries", help="Number of random queries.")] = 10_000,
    predicates: Annotated[int, typer.Option("--predicates", help="Quasi-identifiers that each query names.")] = 3,
    selectivity: Annotated[float, typer.Option("--selectivity", help="Expected share of the rows.")] = 0.1,
    method: Method = None,
    hierarchies: Hierarchies = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Measure how far a release's answers to random queries are from the exact counts."""

    def command() -> int:
        from betalike.cli.arguments import split_list
        from betalike.errors import ParameterError

        if original is None:
            raise ParameterError("name the original table, for the exact counts: --original TABLE.")
        with announced():
            result = betalike.workload(
                folder,
                original=original,
                queries=queries,
                predicates=predicates,
                selectivity=selectivity,
                method=method,
                hierarchies=hierarchies,
                missing=split_list(missing),
                delimiter=delimiter,
                seed=seed,
            )
        if json:
            print_json(result.to_dict())
        else:
            from rich.console import Console

            from betalike.report.counts import print_workload

            print_workload(Console(), result)
        return 0

    run(command, json)
