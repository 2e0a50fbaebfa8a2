"""Bars on a terminal: what they show of kernels that are compiled."""

from __future__ import annotations

import io

from rich.console import Console

from betalike.report.progress import TerminalProgress
from betalike.runtime.compilation import COMPILING
from betalike.runtime.kernel_building import Compiling


def _shown(is_terminal: bool) -> str:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=is_terminal, color_system=None, width=160)
    with TerminalProgress(console) as progress:
        progress.compile(None)
        for done in (0, 12):
            progress.compile(Compiling(done, 40, 14.0 if done else None))
    return screen.getvalue()


def test_a_terminal_shows_how_many_kernels_are_compiled_and_how_long_the_others_take() -> None:
    shown = _shown(is_terminal=True)
    assert shown.count(COMPILING) == 1
    assert "compiling kernels for the first run: 12 of 40, about 14 s left" in shown


def test_a_pipe_gets_one_plain_line() -> None:
    assert _shown(is_terminal=False) == f"{COMPILING}\n"
