"""The commands that ask a release for counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import betalike
from betalike.cli.options import Delimiter, Hierarchies, Json, Method, Missing, Seed
from betalike.cli.outcome import announced, print_json, run


def query(
    folder: Annotated[Path, typer.Argument(help="The folder of a release.")],
    predicate: Annotated[str, typer.Argument(help="Such as: age BETWEEN 30 AND 40 AND salary_class IN (3, 4).")],
    method: Method = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the interval around the estimate.")] = 0.95,
    hierarchies: Hierarchies = None,
    json: Json = False,
) -> None:
    """Estimate COUNT(*) of a predicate from a release alone, with its standard error and an interval."""

    def command() -> int:
        with announced():
            answer = betalike.query(folder, predicate, method=method, confidence=confidence, hierarchies=hierarchies)
        if json:
            print_json(answer.to_dict())
        else:
            from rich.console import Console

            from betalike.report.counts import print_answer

            print_answer(Console(), answer)
        return 0

    run(command, json)


def workload(
    folder: Annotated[Path, typer.Argument(help="The folder of a release.")],
    original: Annotated[
        Path | None, typer.Option("--original", readable=False, help="The original table, for exact counts.")
    ] = None,
    queries: Annotated[int, typer.Option("--queries", help="How many random queries.")] = 10_000,
    predicates: Annotated[int, typer.Option("--predicates", help="Quasi-identifiers that each query names.")] = 3,
    selectivity: Annotated[float, typer.Option("--selectivity", help="Expected share of the rows.")] = 0.1,
    method: Method = None,
    hierarchies: Hierarchies = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Measure how far a release's answers to random queries are from the exact ones."""

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
