"""The command that describes a table and writes a first specification."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import betalike
from betalike.cli import options
from betalike.cli.arguments import split_list
from betalike.cli.options import input_argument
from betalike.cli.outcome import announced, print_json, run
from betalike.cli.streams import write_utf8

Output = Annotated[Path | None, typer.Option("-o", "--output", help="Specification to write; - is standard output.")]


def describe(
    table: Annotated[str, input_argument(f"{options.TABLE}.")],
    output: Output = None,
    hierarchies: options.Hierarchies = None,
    missing: options.Missing = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableName = None,
    delimiter: options.Delimiter = None,
    force: options.ForceFile = False,
    json: options.Json = False,
) -> None:
    """Guess types and roles of a table's columns, show what identifies people, and write a specification to edit."""

    def command() -> int:
        from betalike.io.description import write_description
        from betalike.io.input_files import check_not_replaced, input_files
        from betalike.report.description import print_description
        from betalike.report.terminal import show

        if output is not None and not is_shown:
            check_not_replaced(output, input_files(table, hierarchies))
        with announced("describing the table"):
            described = betalike.describe(
                table,
                hierarchies=hierarchies,
                missing=split_list(missing),
                sheet=sheet,
                labels=labels,
                query=query,
                table_name=table_name,
                delimiter=delimiter,
            )
        for warning in described.warnings:
            print(f"betalike: warning: {warning}.", file=sys.stderr)
        if output is not None and not is_shown:
            write_description(described, output, force)
            message = f"wrote {output}: check every role, then: betalike publish --spec {output} --out DIR"
            print(message, file=sys.stderr)
        elif output is not None:
            write_utf8(described.to_toml())
        if json:
            print_json(described.to_dict())
        elif output is None:
            show(print_description, described, is_wide=True)
        return 0

    is_shown = str(output) == "-"
    run(command, as_json=json, done=None if output is None or is_shown else f"'{output}' is written")
