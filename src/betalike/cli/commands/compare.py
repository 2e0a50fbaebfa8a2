"""The command that compares schemes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import betalike
from betalike.cli.options import (
    Categorical,
    Delimiter,
    Hierarchies,
    Json,
    Missing,
    MissingSensitive,
    Numeric,
    Qi,
    Seed,
    Sensitive,
    Spec,
    Weights,
    input_argument,
)
from betalike.cli.outcome import print_json, run, shown_progress
from betalike.cli.promise_options import promise_option


def compare(
    table: Annotated[Path | None, input_argument("CSV, Parquet or Arrow IPC file; or in --spec.")] = None,
    quasi_identifiers: Qi = None,
    sensitive: Sensitive = None,
    beta: Annotated[
        list[str] | None, typer.Option("--beta", help="One or several, in turn: 1,2,4 (default: 4).")
    ] = None,
    schemes: Annotated[
        list[str] | None, typer.Option("--schemes", help="Names, a,b (default: all); the first is the reference.")
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", help="t or loss: find what makes the others equal to the reference in it.")
    ] = None,
    spec: Spec = None,
    model: Annotated[str | None, typer.Option("--model", help="enhanced (default) or basic.")] = None,
    k: Annotated[int | None, promise_option("k")] = None,
    t: Annotated[float | None, promise_option("t")] = None,
    hierarchies: Hierarchies = None,
    numeric: Numeric = None,
    categorical: Categorical = None,
    weights: Weights = None,
    missing: Missing = None,
    missing_sensitive: MissingSensitive = None,
    queries: Annotated[int, typer.Option("--queries", help="COUNT queries to ask each release; 0: none.")] = 1000,
    predicates: Annotated[
        int | None, typer.Option("--predicates", help="Quasi-identifiers that each query names (default: up to 3).")
    ] = None,
    selectivity: Annotated[float, typer.Option("--selectivity", help="Expected share of the rows.")] = 0.1,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw loss against reached beta: a file .svg or .png.")
    ] = None,
    delimiter: Delimiter = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Try several schemes on a table, publish nothing, and show loss, protection, errors and time side by side."""
    given = dict(locals())  # every option by its name

    def command() -> int:
        from betalike.cli.arguments import compare_arguments
        from betalike.io.input_files import check_not_replaced, input_files
        from betalike.report.comparison import check_picture, print_comparison, save_picture
        from betalike.report.figure_table import figure_console

        arguments = compare_arguments(given, spec)
        if picture is not None:
            check_picture(picture)
            inputs = input_files(arguments["table"], arguments.get("hierarchies"))
            check_not_replaced(picture, [*inputs, *([] if spec is None else [spec])])
        with shown_progress() as progress:
            comparison = betalike.compare(
                **arguments,
                match=match,
                queries=queries,
                predicates=predicates,
                selectivity=selectivity,
                progress=progress,
            )
        if json:
            print_json(comparison.to_dict())
        else:
            print_comparison(figure_console(), comparison)
        if picture is not None:
            save_picture(comparison, picture)
        return 0

    run(command, json)
