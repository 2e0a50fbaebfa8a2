"""The command that publishes a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import betalike
from betalike.cli.options import (
    Categorical,
    Delimiter,
    Force,
    Hierarchies,
    Json,
    Missing,
    MissingSensitive,
    Numeric,
    Qi,
    Scheme,
    Seed,
    Sensitive,
    Spec,
    Weights,
    input_argument,
    input_option,
)
from betalike.cli.outcome import Interruption, print_json, run, shown_progress
from betalike.cli.promise_options import takes_promise


@takes_promise(after="scheme")
def publish(
    table: Annotated[
        Path | None, input_argument("CSV, Parquet or Arrow IPC file (- is standard input); or in --spec.")
    ] = None,
    quasi_identifiers: Qi = None,
    sensitive: Sensitive = None,
    out: Annotated[str | None, typer.Option("--out", help="Folder for the release.")] = None,
    spec: Spec = None,
    scheme: Scheme = None,
    hierarchies: Hierarchies = None,
    numeric: Numeric = None,
    categorical: Categorical = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="Columns to publish as they are, unprotected, a,b.")
    ] = None,
    weights: Weights = None,
    missing: Missing = None,
    missing_sensitive: MissingSensitive = None,
    format: Annotated[str | None, typer.Option("--format", help="csv (default) or parquet.")] = None,
    layout: Annotated[
        str | None, typer.Option("--layout", help="labels (default), or bounds: age_low and age_high.")
    ] = None,
    spreadsheet_safe: Annotated[
        bool, typer.Option("--spreadsheet-safe", help="CSV: a leading ' keeps spreadsheets from running text cells.")
    ] = False,
    retrieval: Annotated[
        str | None, typer.Option("--retrieval", help="BUREL's neighbours: hilbert (default) or exact.")
    ] = None,
    effort: Annotated[
        int | None, typer.Option("--effort", help="How long seam and whole improve classes: 1 (default), 0 or more.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="whole: sensitive values only answer whether a class is allowed.")
    ] = False,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="What Mondrian cuts first: widest (default) or narrowest.")
    ] = None,
    no_second_try: Annotated[
        bool, typer.Option("--no-second-try", help="Mondrian: try no other attribute if the first cannot be cut.")
    ] = False,
    redistribution: Annotated[
        str | None, typer.Option("--redistribution", help="SABRE's classes: by space (default) or by counts.")
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="local (this machine), spark, or auto: Spark if a master is named.")
    ] = "auto",
    memory: Annotated[
        str | None, typer.Option("--memory", help="How much may be used, such as 2GB (default: most of what is free).")
    ] = None,
    master: Annotated[
        str | None, typer.Option("--master", help="Master of a Spark cluster, such as spark://host:7077.")
    ] = None,
    delimiter: Delimiter = None,
    sign: Annotated[
        Path | None, input_option("--sign", "Private key to sign the certificate with; see the command keys.")
    ] = None,
    force: Force = False,
    seed: Seed = None,
    json: Json = False,
    **promise: Any,
) -> None:
    """Publish a table, verified: quasi-identifiers generalized, or exact with a perturbed sensitive column."""
    given = {**locals(), **promise}  # every option by its name

    def command() -> int:
        from betalike.cli.arguments import publish_arguments
        from betalike.release.folder import check_free

        arguments = publish_arguments(given, spec)
        if spec is not None:
            check_free(Path(arguments["out"]), force, [spec])
        return publish_and_show(arguments, json)

    run(command, json, done=f"the release is verified and in '{out}'")


def publish_and_show(arguments: dict[str, Any], as_json: bool, shows_rows: bool = False) -> int:
    """Publish with a progress bar and print the summary, or the certificate with --json."""
    from rich.console import Console

    from betalike.release.certify import FORMULAS
    from betalike.report.summary import print_release, print_rows

    if arguments.get("keep"):
        kept = ", ".join(arguments["keep"])
        print(f"betalike: warning: published as they are, unprotected: {kept}.", file=sys.stderr)
    interruption = Interruption()
    with interruption.deferred(), shown_progress(interruption.check, interruption.reach) as progress:
        release = betalike.publish(**arguments, progress=progress)
    for warning in release.certificate["warnings"]:
        if warning.startswith(FORMULAS):
            print(f"betalike: warning: {warning}.", file=sys.stderr)
    if as_json:
        print_json(release.certificate)
        return 0
    console = Console()
    if shows_rows:
        print_rows(console, "The release: rows in random order", release.frame.head(5).to_dict(as_series=False))
    print_release(console, release)
    return 0
