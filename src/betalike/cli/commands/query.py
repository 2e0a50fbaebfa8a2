"""The command that asks a release for a count."""

from __future__ import annotations

from typing import Annotated

import typer

import betalike
from betalike.cli.options import Folder, Hierarchies, Json, Method
from betalike.cli.outcome import announced, print_json, run


def query(
    folder: Folder,
    predicate: Annotated[str, typer.Argument(help="Such as: age BETWEEN 30 AND 40 AND salary_class IN (3, 4).")],
    method: Method = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence of the interval.")] = 0.95,
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
