"""A log shows that long work goes on; --quiet silences that, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import typer
from typer.testing import CliRunner
from workbench import Desk, run

from betalike.cli.app import app
from betalike.cli.outcome import run as run_command
from betalike.cli.outcome import say, shown_progress
from betalike.cli.quiet import takes_quiet

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # it is a group
SHORT = {"hierarchy", "keys", "web"}


def work_long(name: str, json: bool = False) -> None:
    """Work for 50 seconds by a clock that each look at it puts forward."""
    moments = iter(range(0, 1000, 10))

    def command() -> int:
        with shown_progress(clock=lambda: float(next(moments))) as progress:
            progress.start("load")
            list(progress.track("abc", name))
        say(f"warning: {name} is done.")
        return 0

    run_command(command, json)


@pytest.mark.parametrize("options", [[], ["--quiet"]], ids=["usual", "quiet"])
def test_progress_of_long_work_is_logged_unless_it_is_to_be_quiet(options: list[str]) -> None:
    tool = typer.Typer()
    tool.command()(takes_quiet(work_long))
    done = CliRunner().invoke(tool, ["pass\x1b[2J", *options])
    assert done.exit_code == 0
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[-1] == r"betalike: warning: pass\x1b[2J is done."
    assert ("reading the table" in lines[0]) == (not options)
    assert (r"pass\x1b[2J: " in done.stderr) == (not options)
    assert len(lines) == 1 or not options


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_may_work_for_long_can_be_quiet(command: str) -> None:
    options = {word for parameter in COMMANDS[command].params for word in parameter.opts}
    assert ("--quiet" in options) == (command not in SHORT)


def test_a_quiet_publication_still_warns_and_shows_its_summary(desk: Desk) -> None:
    done = run(*desk.words(desk.table(), "--keep", "city", "--quiet", "--seed", 1, qi="age,gender"))
    assert done.status == 0
    assert "Promise" in done.stdout
    assert "warning: " in done.stderr
    assert all(line.startswith("betalike: warning") for line in done.stderr.splitlines())
