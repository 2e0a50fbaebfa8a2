"""The command that compares schemes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from betalike.cli import options
from betalike.cli.command import call, print_result
from betalike.cli.options import Texts, input_argument, option
from betalike.cli.outcome import run
from betalike.cli.promise_options import promise_option


def compare(
    table: Annotated[str | None, input_argument(f"{options.TABLE}; or in --spec.")] = None,
    quasi_identifiers: options.Qi = None,
    sensitive: options.Sensitive = None,
    beta: Annotated[Texts, option("One or several, in turn: 1,2,4 (default: 4).")] = None,
    schemes: Annotated[Texts, option("Names, a,b (default: all); the first is the reference.")] = None,
    match: Annotated[str | None, option("t or loss: what the others are made equal to the reference in.")] = None,
    spec: options.Spec = None,
    promise: Annotated[str | None, option("enhanced (default) or basic.")] = None,
    k: Annotated[int | None, promise_option("k")] = None,
    t: Annotated[float | None, promise_option("t")] = None,
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
    predicates: Annotated[int | None, option("Quasi-identifiers that each query names (default: up to 3).")] = None,
    selectivity: options.Selectivity = 0.1,
    picture: Annotated[Path | None, option("Draw loss against reached beta: a file .svg or .png.")] = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableName = None,
    delimiter: options.Delimiter = None,
    seed: options.Seed = None,
    json: options.Json = False,
) -> None:
    """Try several schemes on a table, publish nothing, and show loss, protection, errors and time side by side."""
    given = {name: value for name, value in locals().items() if name not in ("picture", "json")}

    def command() -> int:
        from betalike.cli.arguments import arguments_of, check_given
        from betalike.io.input_files import check_not_replaced, input_files
        from betalike.io.specification import with_specification
        from betalike.report.comparison import check_picture, print_comparison, save_picture

        check_given(given, "table", "quasi_identifiers", "sensitive")
        if picture is not None:
            check_picture(picture)
            read = arguments_of(given) if spec is None else with_specification(spec, arguments_of(given))
            check_not_replaced(picture, [*input_files(read["table"], read.get("hierarchies")), *filter(None, [spec])])
        comparison = call("compare", given)
        print_result(comparison, print_comparison, json)
        if picture is not None:
            save_picture(comparison, picture)
        return 0

    run(command, json)
