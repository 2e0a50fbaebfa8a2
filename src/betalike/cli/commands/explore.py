"""The command that shows what each beta costs and protects, before anything is published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from betalike.cli import options
from betalike.cli.command import call, print_result
from betalike.cli.options import Texts, input_argument, option
from betalike.cli.outcome import run
from betalike.cli.promise_options import promise_option

FILE = "Also write a page with pictures: a file .html."
CONSIDER = "Further columns, to see what each would cost as a quasi-identifier, a,b."


def explore(
    table: Annotated[str | None, input_argument(f"{options.TABLE}; or in --spec.")] = None,
    quasi_identifiers: options.Qi = None,
    sensitive: options.Sensitive = None,
    beta: Annotated[Texts, option("The betas to try (default: 1,1.5,2,3,4,6,8).")] = None,
    schemes: Annotated[Texts, option("Names of schemes that form classes, a,b (default: whole).")] = None,
    consider: Annotated[Texts, option(CONSIDER)] = None,
    spec: options.Spec = None,
    promise: Annotated[str | None, option("enhanced (default) or basic.")] = None,
    k: Annotated[int | None, promise_option("k")] = None,
    hierarchies: options.Hierarchies = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    round: options.Round = None,
    bottom: options.Bottom = None,
    top: options.Top = None,
    person: options.Person = None,
    missing: options.Missing = None,
    missing_sensitive: options.MissingSensitive = None,
    dates: options.Dates = None,
    bins: options.Bins = None,
    queries: Annotated[int, option("COUNT queries to ask each release; 0: none.")] = 1000,
    output: Annotated[Path | None, typer.Option("-o", "--output", help=FILE)] = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableName = None,
    delimiter: options.Delimiter = None,
    force: options.ForceFile = False,
    seed: options.Seed = None,
    json: options.Json = False,
) -> None:
    """Try several betas on a table, publish nothing, and show loss, risk, errors, and what your values may reach."""
    given = {name: value for name, value in locals().items() if name not in ("output", "force", "json")}

    def command() -> int:
        from betalike.cli.arguments import arguments_of, check_given
        from betalike.io.input_files import check_not_replaced, input_files
        from betalike.io.specification import with_specification
        from betalike.report.exploration import print_exploration, write_exploration
        from betalike.report.page import check_writable, load_templates

        check_given(given, "table", "quasi_identifiers", "sensitive")
        if output is not None:
            check_writable(output, force)
            load_templates()
            read = arguments_of(given) if spec is None else with_specification(spec, arguments_of(given))
            check_not_replaced(output, [*input_files(read["table"], read.get("hierarchies")), *filter(None, [spec])])
        found = call("explore", given)
        print_result(found, print_exploration, json)
        if output is not None:
            write_exploration(found, output, force)
        return 0

    run(command, json)
