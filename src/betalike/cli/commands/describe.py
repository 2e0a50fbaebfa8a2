"""The command that writes a first specification."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import betalike
from betalike.cli.options import Delimiter, ForceFile, Hierarchies, Output, input_argument
from betalike.cli.outcome import run
from betalike.cli.streams import write_utf8


def describe(
    table: Annotated[Path, input_argument("CSV, Parquet or Arrow IPC file; - is standard input.")],
    output: Output = None,
    hierarchies: Hierarchies = None,
    delimiter: Delimiter = None,
    force: ForceFile = False,
) -> None:
    """Guess types and roles of a table's columns and write a specification (release.toml) to edit."""

    def command() -> int:
        from betalike.io.description import write_description
        from betalike.io.input_files import check_not_replaced, input_files

        if output is not None:
            check_not_replaced(output, input_files(table, hierarchies))
        description = betalike.describe(table, hierarchies=hierarchies, delimiter=delimiter)
        if output is None:
            write_utf8(description.to_toml())
            return 0
        write_description(description, output, force)
        print(f"wrote {output}: check every role, then: betalike publish --spec {output} --out DIR", file=sys.stderr)
        return 0

    run(command, as_json=False, done=None if output is None else f"'{output}' is written")
