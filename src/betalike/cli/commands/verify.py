"""The command that checks a release against its certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import betalike
from betalike.cli.options import Delimiter, Folder, Json, Missing, input_option
from betalike.cli.outcome import NOT_KEPT, print_json, run


def verify(
    folder: Folder,
    original: Annotated[Path | None, input_option("--original", "The original table, to compare with.")] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    signed_by: Annotated[
        Path | None, input_option("--signed-by", "Public key of the signer; fails without a signature by this key.")
    ] = None,
    json: Json = False,
) -> None:
    """Check a release against its certificate: its files, its promise and every figure, recounted."""

    def command() -> int:
        from betalike.cli.arguments import split_list

        checked = betalike.verify(
            folder, original=original, missing=split_list(missing), delimiter=delimiter, signed_by=signed_by
        )
        if json:
            print_json(checked.to_dict())
        else:
            from rich.console import Console

            from betalike.report.summary import print_checks

            print_checks(Console(), checked.to_dict())
        return 0 if checked.holds else NOT_KEPT

    run(command, json)
