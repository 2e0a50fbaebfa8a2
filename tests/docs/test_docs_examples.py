"""What the pages show works: Python blocks run, commands end as told and print the words that are shown."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pages import DOCS, PAGES, Block, blocks_of, name_of
from typer.testing import CliRunner

from betalike.cli.app import app
from betalike.io.specification import Specification
from betalike.release.certificate import Certificate

RUNNABLE = [page for page in PAGES if any(block.language in ("python", "console") for block in blocks_of(page))]
DRAWN = r"[━░▁▂▃▄▅▆▇█│╭╮╰╯─]"  # bars and boxes: their lengths vary


def words_of(line: str) -> str:
    """A line of output without what differs from run to run: figures, bars, spaces."""
    without_drawing = re.sub(DRAWN, " ", line)
    return " ".join(re.sub(r"\d[\d,.]*", "#", without_drawing).split())


def check_output(shown: list[str], printed: str, place: str) -> None:
    """The shown lines are among the printed ones, in their order; `...` stands for any lines between."""
    printed_lines = iter([words_of(line) for line in printed.splitlines()])
    for line in shown:
        words = words_of(line)
        if words and words != "...":
            assert words in printed_lines, f"{place} shows '{line}', but it printed:\n{printed}"


def run_commands(block: Block, place: str) -> None:
    status = int(block.noted("status") or 0)
    commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not commands[0].strip(), f"{place} starts with something else than '$ '"
    for command in commands[1:]:
        line, *shown = command.splitlines()
        program, *arguments = shlex.split(line)
        assert program == "betalike", f"{place} runs '{program}'; only betalike can be run here"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == status, f"{place}: '{line}' ended with {result.exit_code}:\n{result.output}"
        check_output(shown, result.output, f"{place}, '{line}',")


def run_python(block: Block, output: Block | None, namespace: dict[str, Any], place: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, place, "exec"), namespace)  # the page's own code
    if output is not None:
        assert printed.getvalue().splitlines() == output.text.splitlines(), f"{place} printed something else"


@pytest.mark.usefixtures("reader_folder")
@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_what_a_page_shows_works_from_top_to_bottom(page: Path) -> None:
    blocks = blocks_of(page)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        place = f"{name_of(page)}:{block.line}"
        if file := block.noted("file"):
            Path(file).write_text(block.text, encoding="utf-8")
        if block.language == "python" and block.noted("run by") is None:
            is_output = after is not None and after.language == "text" and after.follows <= 1
            run_python(block, after if is_output else None, namespace, place)
        elif block.language in ("console", "setup"):
            run_commands(block, place)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    known = {"python", "console", "setup", "sh", "text", "toml", "json"}
    assert {block.language for block in blocks_of(page)} <= known


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_specification_shown_can_be_read(page: Path) -> None:
    for block in blocks_of(page):
        if block.language == "toml":
            msgspec.toml.decode(block.text.encode(), type=Specification)


def test_the_certificate_shown_can_be_read() -> None:
    (block,) = [block for block in blocks_of(DOCS / "reference" / "certificate.md") if block.language == "json"]
    assert msgspec.json.decode(block.text.encode(), type=Certificate).promise.holds
