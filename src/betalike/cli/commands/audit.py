"""The command that measures any published table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import betalike
from betalike.cli.options import Delimiter, Hierarchies, Json, Missing, Qi, Sensitive, input_argument, input_option
from betalike.cli.outcome import NOT_KEPT, print_json, run
from betalike.cli.promise_options import takes_promise


@takes_promise(after="certificate")
def audit(
    published: Annotated[Path, input_argument("A published table (CSV, Parquet, Arrow IPC) or release folder.")],
    quasi_identifiers: Qi = None,
    sensitive: Sensitive = None,
    original: Annotated[Path | None, input_option("--original", "The original table, for its prior.")] = None,
    certificate: Annotated[Path | None, input_option("--certificate", "A certificate, for its prior.")] = None,
    hierarchies: Hierarchies = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    json: Json = False,
    **promise: Any,
) -> None:
    """Measure which promises any published table keeps: k, l, t, beta, delta, and its worst class."""

    def command() -> int:
        from betalike.cli.arguments import one_or_several, promise_arguments, split_list
        from betalike.errors import ParameterError

        if not quasi_identifiers or not sensitive:
            raise ParameterError("name the columns: --qi a,b,c --sensitive d.")
        audited = betalike.audit(
            published,
            quasi_identifiers=split_list(quasi_identifiers),
            sensitive=one_or_several(sensitive),
            original=original,
            certificate=certificate,
            **promise_arguments(promise),
            hierarchies=hierarchies,
            missing=split_list(missing),
            delimiter=delimiter,
        )
        if json:
            print_json(audited.to_dict())
        else:
            from rich.console import Console

            from betalike.report.summary import print_audit

            print_audit(Console(), audited.to_dict())
        return NOT_KEPT if audited.holds is False else 0

    run(command, json)
