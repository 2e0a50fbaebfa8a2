"""The command that publishes a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import betalike
from betalike.cli import options
from betalike.cli.options import Texts, flag, input_argument, input_option, option
from betalike.cli.outcome import print_json, run, say, shown_progress
from betalike.cli.promise_options import takes_promise
from betalike.runtime.interruption import Interruption

TABLE = f"{options.TABLE}; or in --spec."
SCHEMES = (
    "whole (default), seam, burel, burel+split, lmondrian, dmondrian, tmondrian, mondrian, sabre, perturb or baseline."
)
IDENTIFIERS = "Keep columns that look like identifiers too, such as names."
NO_SECOND_TRY = "Mondrian: try no other attribute if the first cannot be cut."
REPORT = "Also write the officer's report to OUT-report-officer.html, without attacks."
MEMORY = "How much may be used, such as 2GB (default: most of what is free)."


@takes_promise(after="scheme")
def publish(
    table: Annotated[str | None, input_argument(TABLE)] = None,
    quasi_identifiers: options.Qi = None,
    sensitive: options.Sensitive = None,
    out: Annotated[str | None, option("Folder for the release.")] = None,
    spec: options.Spec = None,
    scheme: Annotated[str | None, option(SCHEMES)] = None,
    hierarchies: options.Hierarchies = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    keep: Annotated[Texts, option("Columns to publish as they are, unprotected, a,b.")] = None,
    keep_identifiers: Annotated[bool, flag("--keep-identifiers", IDENTIFIERS)] = False,
    person: options.Person = None,
    weights: options.Weights = None,
    round: options.Round = None,
    bottom: options.Bottom = None,
    top: options.Top = None,
    missing: options.Missing = None,
    missing_sensitive: options.MissingSensitive = None,
    dates: options.Dates = None,
    bins: options.Bins = None,
    format: Annotated[str | None, option("csv (default), parquet, xlsx, sav (SPSS) or dta (Stata).")] = None,
    retrieval: Annotated[str | None, option("BUREL's neighbours: hilbert (default) or exact.")] = None,
    effort: Annotated[int | None, option("How long seam and whole improve classes: 1 (default), 0 or more.")] = None,
    strict: Annotated[
        bool, flag("--strict", "whole: sensitive values only answer whether a class is allowed.")
    ] = False,
    attribute: Annotated[str | None, option("What Mondrian cuts first: widest (default) or narrowest.")] = None,
    no_second_try: Annotated[bool, flag("--no-second-try", NO_SECOND_TRY)] = False,
    redistribution: Annotated[str | None, option("SABRE's classes: by space (default) or by counts.")] = None,
    mechanism: Annotated[str | None, option("What perturb publishes in a row: matrix (default) or sets.")] = None,
    engine: Annotated[str, option("local (this machine), batches (here, little held), spark, or auto.")] = "auto",
    memory: Annotated[str | None, option(MEMORY)] = None,
    master: Annotated[str | None, option("Master of a Spark cluster, such as spark://host:7077.")] = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableName = None,
    delimiter: options.Delimiter = None,
    sign: Annotated[
        Path | None, input_option("Private key to sign the certificate with; see the command keys.")
    ] = None,
    report: Annotated[bool, flag("--report", REPORT)] = False,
    force: options.Force = False,
    seed: options.Seed = None,
    json: options.Json = False,
    **promise: Any,
) -> None:
    """Publish a table, verified: quasi-identifiers generalized, or exact with a perturbed sensitive column."""
    given = {name: value for name, value in locals().items() if name not in ("promise", "json", "report")} | promise

    def command() -> int:
        from betalike.cli.arguments import arguments_of, check_given
        from betalike.cli.commands.report import report_later

        check_given(given, "table", "quasi_identifiers", "sensitive", "out")
        arguments = arguments_of(given)
        write_report = report_later(arguments) if report else None
        status = publish_and_show(arguments, json)
        if write_report is not None:
            write_report()
        return status

    run(command, json, done=f"the release is verified and in '{out}'")


def publish_and_show(arguments: dict[str, Any], as_json: bool, shows_rows: bool = False) -> int:
    """Publish with a progress bar and print the summary, or the certificate with --json."""
    from betalike.release.certify import FORMULAS, UNPROTECTED
    from betalike.report.summary import print_release, print_rows
    from betalike.report.terminal import show

    interruption = Interruption()
    with interruption.deferred(), shown_progress(interruption.check, interruption.reach) as progress:
        release = betalike.publish(**arguments, progress=progress)
    shown = [each for each in release.certificate["warnings"] if each.startswith((FORMULAS, UNPROTECTED))]
    for warning in [*shown, *release.notes]:
        say(f"warning: {warning}.")
    if as_json:
        print_json(release.certificate)
        return 0
    if shows_rows:
        show(print_rows, "The release: rows in random order", release.frame.head(5).to_dict(as_series=False))
    show(print_release, release)
    return 0
