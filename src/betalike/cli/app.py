"""The commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import betalike
from betalike.cli.attacking import attack
from betalike.cli.comparing import compare
from betalike.cli.counting import query, workload
from betalike.cli.keys import keys
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
)
from betalike.cli.outcome import COMPILING, NOT_KEPT, Interruption, print_json, run, settle
from betalike.cli.promise_options import takes_promise
from betalike.cli.streams import guarded_streams, write_utf8

DEMO_FOLDER = Path("betalike-demo")

app = typer.Typer(
    help="Publish microdata so that nobody's secret becomes much likelier than it was, and prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a pretty traceback shows local variables, and so cells of the table
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line."""
    with guarded_streams():
        try:
            app()
        except SystemExit as ended:  # also of --help and --version, whose output may be all there is
            sys.exit(ended.code or settle(0))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"betalike {betalike.__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Publish microdata so that nobody's secret becomes much likelier than it was, and prove it."""


@app.command()
def demo(
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the release (default: betalike-demo).")] = None,
    rows: Annotated[int, typer.Option("--rows", help="Rows of the built-in table.")] = 100_000,
    beta: Annotated[float, typer.Option("--beta", help="The promise.")] = 4.0,
    scheme: Annotated[
        str | None, typer.Option("--scheme", help="One that takes a beta: seam (default), burel, lmondrian, perturb.")
    ] = None,
    force: Force = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Publish a built-in synthetic census table and show the result; no file needed."""

    def command() -> int:
        from betalike.datasets import census_like, census_like_hierarchies

        table = census_like(rows, seed=1)
        arguments: dict[str, Any] = {
            "table": table,
            "quasi_identifiers": ["age", "gender", "education"],
            "sensitive": "salary_class",
            "beta": beta,
            "hierarchies": census_like_hierarchies(),
            "out": out or DEMO_FOLDER,
            "force": force or out is None,
            "seed": seed,
        }
        if scheme is not None:
            arguments["scheme"] = scheme
        if not json:
            from rich.console import Console

            from betalike.report.summary import print_rows

            shown = ["age", "gender", "education", "salary_class"]
            print_rows(
                Console(), "The table: rows of a synthetic census", table.select(shown).head(5).to_dict(as_series=False)
            )
        return _publish(arguments, json, shows_rows=True)

    run(command, json, done=f"the release is verified and in '{out or DEMO_FOLDER}'")


@app.command()
def describe(
    table: Annotated[Path, typer.Argument(readable=False, help="CSV, Parquet or Arrow IPC file; - is standard input.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write; else standard output.")] = None,
    hierarchies: Hierarchies = None,
    delimiter: Delimiter = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
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
        else:
            write_description(description, output, force)
            print(
                f"wrote {output}: check every role, then: betalike publish --spec {output} --out DIR", file=sys.stderr
            )
        return 0

    run(command, as_json=False, done=None if output is None else f"'{output}' is written")


@app.command()
@takes_promise(after="scheme")
def publish(
    table: Annotated[
        Path | None,
        typer.Argument(readable=False, help="CSV, Parquet or Arrow IPC file (- is standard input); or in --spec."),
    ] = None,
    qi: Qi = None,
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
        int | None, typer.Option("--effort", help="How long SEAM improves its classes: 1 (default), 0 or more.")
    ] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="What Mondrian cuts first: widest (default) or narrowest.")
    ] = None,
    no_second_try: Annotated[
        bool, typer.Option("--no-second-try", help="Mondrian: cut no other attribute where the first may not be cut.")
    ] = False,
    redistribution: Annotated[
        str | None, typer.Option("--redistribution", help="SABRE's classes: by space (default) or by counts.")
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="memory, outofcore (larger than memory), spark, or auto: whichever fits.")
    ] = "auto",
    memory: Annotated[
        str | None, typer.Option("--memory", help="How much may be used, such as 2GB (default: most of what is free).")
    ] = None,
    master: Annotated[
        str | None, typer.Option("--master", help="Of a Spark cluster, such as spark://host:7077 (default: none).")
    ] = None,
    delimiter: Delimiter = None,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", readable=False, help="Private key to sign the certificate with; see the command keys."),
    ] = None,
    force: Force = False,
    seed: Seed = None,
    json: Json = False,
    **promise: Any,
) -> None:
    """Publish a table, verified: quasi-identifiers generalized, or exact beside a perturbed sensitive column."""

    def command() -> int:
        from betalike.cli.arguments import publish_arguments
        from betalike.release.folder import check_free

        given = {
            "table": table,
            "quasi_identifiers": qi,
            "sensitive": sensitive,
            "out": out,
            "scheme": scheme,
            **promise,
            "hierarchies": hierarchies,
            "numeric": numeric,
            "categorical": categorical,
            "keep": keep,
            "weights": weights,
            "missing": missing,
            "missing_sensitive": missing_sensitive,
            "format": format,
            "layout": layout,
            "spreadsheet_safe": spreadsheet_safe or None,
            "retrieval": retrieval,
            "effort": effort,
            "attribute": attribute,
            "second_try": False if no_second_try else None,
            "redistribution": redistribution,
            "engine": engine,
            "memory": memory,
            "master": master,
            "delimiter": delimiter,
            "sign": sign,
            "force": force,
            "seed": seed,
        }
        arguments = publish_arguments(given, spec)
        if spec is not None:
            check_free(Path(arguments["out"]), force, [spec])
        return _publish(arguments, json)

    run(command, json, done=f"the release is verified and in '{out}'")


@app.command()
@takes_promise(after="certificate")
def audit(
    published: Annotated[
        Path, typer.Argument(readable=False, help="A published table (CSV, Parquet, Arrow IPC) or release folder.")
    ],
    qi: Qi = None,
    sensitive: Sensitive = None,
    original: Annotated[
        Path | None, typer.Option("--original", readable=False, help="The original table, for its prior.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", readable=False, help="A certificate, for its prior.")
    ] = None,
    hierarchies: Hierarchies = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    json: Json = False,
    **promise: Any,
) -> None:
    """Measure what any published table keeps: k, l, t, beta, delta, and its worst class."""

    def command() -> int:
        from betalike.cli.arguments import one_or_several, promise_arguments, split_list
        from betalike.errors import ParameterError

        if not qi or not sensitive:
            raise ParameterError("name the columns: --qi a,b,c --sensitive d.")
        audited = betalike.audit(
            published,
            quasi_identifiers=split_list(qi),
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


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="The folder of a release.")],
    original: Annotated[
        Path | None, typer.Option("--original", readable=False, help="The original table, to compare with.")
    ] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    signed_by: Annotated[
        Path | None,
        typer.Option(
            "--signed-by", readable=False, help="Public key of the signer; fails if another signed, or nobody."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Check a release against its certificate: its files, its promise and every figure, counted again."""

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


app.command()(query)
app.command()(workload)
app.command()(compare)
app.command()(attack)
app.command()(keys)


def _publish(arguments: dict[str, Any], as_json: bool, shows_rows: bool = False) -> int:
    """Publish with a progress bar and print the summary, or the certificate with --json."""
    from rich.console import Console

    from betalike.release.certify import FORMULAS
    from betalike.report.progress import TerminalProgress
    from betalike.report.summary import print_release, print_rows
    from betalike.runtime.compilation import announced_compilation

    errors = Console(stderr=True)
    if arguments.get("keep"):
        kept = ", ".join(arguments["keep"])
        print(f"betalike: warning: published as they are, unprotected: {kept}.", file=sys.stderr)
    interruption = Interruption()
    with (
        interruption.deferred(),
        TerminalProgress(errors, interruption.check, interruption.reach) as progress,
        announced_compilation(lambda: progress.say(COMPILING)),
    ):
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
