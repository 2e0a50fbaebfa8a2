"""The program: its commands, and what it does with none."""

from __future__ import annotations

import gc
import sys
from typing import Annotated

import typer

import betalike
from betalike.cli.commands.compare import compare
from betalike.cli.commands.demo import demo
from betalike.cli.commands.describe import describe
from betalike.cli.commands.explore import explore
from betalike.cli.commands.hierarchy import hierarchy
from betalike.cli.commands.keys import keys
from betalike.cli.commands.publish import publish
from betalike.cli.commands.releases import attack, audit, query, verify, workload
from betalike.cli.commands.report import report
from betalike.cli.commands.web import web
from betalike.cli.outcome import settle
from betalike.cli.process_arguments import hide_passwords
from betalike.cli.quiet import takes_quiet
from betalike.cli.streams import guarded_streams

GARBAGE_LATER = 100_000  # objects before Python looks for cycles among them: at 700 that was a fifth of a short command
app = typer.Typer(
    help="Publish microdata so that nobody's secret becomes much likelier than it was, and prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a pretty traceback shows local variables, and so cells of the table
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo,
    describe,
    publish,
    audit,
    verify,
    query,
    workload,
    compare,
    explore,
    attack,
    report,
    hierarchy,
    keys,
    web,
):
    app.command()(takes_quiet(command) if command not in (hierarchy, keys, web) else command)


def main() -> None:
    """Run the command line."""
    gc.set_threshold(GARBAGE_LATER)
    hide_passwords()
    with guarded_streams():
        try:
            app()
        except SystemExit as ended:  # also after --help and --version, which only print
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
