"""The command that reports on a release."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import betalike
from betalike.cli import options
from betalike.cli.command import call
from betalike.cli.options import flag, input_option, option
from betalike.cli.outcome import print_json, run, shown_progress

ORIGINAL = "The original table, for risks before, attacks and utility."
AUDIENCE = "officer (risks, attacks, a checklist), analyst, or public."
FILE = "File to write (default: DIR-report-AUDIENCE.html, beside the folder)."
QUICK = "Leave out attacks and random queries, which take longest."


def report(
    folder: options.Folder,
    original: Annotated[str | None, input_option(ORIGINAL)] = None,
    audience: Annotated[str, option(AUDIENCE)] = "officer",
    output: Annotated[Path | None, typer.Option("-o", "--output", help=FILE)] = None,
    quick: Annotated[bool, flag("--quick", QUICK)] = False,
    population: options.Population = None,
    thresholds: options.Thresholds = None,
    hierarchies: options.Hierarchies = None,
    missing: options.Missing = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableName = None,
    delimiter: options.Delimiter = None,
    force: options.ForceFile = False,
    seed: options.Seed = None,
    json: options.Json = False,
) -> None:
    """Report on a release for an officer, an analyst or the public: one HTML file with pictures, totals only."""
    given = {name: value for name, value in locals().items() if name not in ("output", "json")}

    def command() -> int:
        from betalike.io.input_files import check_not_replaced, input_files

        out = output or report_beside(folder, audience)
        check_not_replaced(out, input_files(original, hierarchies))
        page = call("make_report", {**given, "out": out})
        if json:
            print_json(page.to_dict())
        else:
            print(f"wrote {page.path} for the audience: {audience}")
        return 0

    run(command, json, done="the report is written")


def report_beside(folder: Path, audience: str) -> Path:
    """Return the file for a report on the release in a folder: beside it, so that it is not given away with it.

    Each audience has a file of its own, so that nobody gets another one's report.
    """
    whole = folder.resolve()
    beside = folder.parent if folder.name not in ("", "..") else whole.parent
    return beside / f"{whole.name}-report-{audience}.html"


def report_later(arguments: Mapping[str, Any]) -> Callable[[], None]:
    """Check that a report can be written on a release that is not made yet; return what writes it afterwards."""
    from betalike.errors import ParameterError
    from betalike.io.foreign_tables import DEFAULTS
    from betalike.io.sources import is_standard_input
    from betalike.io.specification import with_specification
    from betalike.report.charts import check_charts
    from betalike.report.page import check_report_writable, load_templates

    spec = arguments.get("spec")
    read = arguments if spec is None else with_specification(spec, arguments)
    if is_standard_input(read["table"]):
        raise ParameterError(
            "--report reads the table again, which standard input does not allow. Save the table to a file, or leave "
            "--report out and run: betalike report DIR."
        )
    path, force = report_beside(Path(read["out"]), "officer"), bool(read.get("force"))
    check_report_writable(path, "officer", force)
    load_templates()
    check_charts()
    reading = {name: read[name] for name in ("missing", "delimiter", "seed", *DEFAULTS) if name in read}

    def write() -> None:
        with shown_progress() as progress:
            betalike.make_report(
                read["out"], path, original=read["table"], quick=True, force=force, progress=progress, **reading
            )
        print(f"wrote {path} for the audience: officer", file=sys.stderr)

    return write
