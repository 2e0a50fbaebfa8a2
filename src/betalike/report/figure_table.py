"""Tables of figures on a terminal: at most 100 columns wide, names on the left, figures on the right."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

WIDEST = 100


def figure_console() -> Console:
    """Return a console for tables of figures, which are not squeezed into 80 columns if they go to a file or pipe."""
    return Console(width=None if sys.stdout.isatty() else WIDEST)


def width_of(console: Console) -> int:
    """Return the width to print with."""
    return min(console.width, WIDEST)


def figure_table(names: Sequence[str], figures: Sequence[str]) -> Table:
    """Return an empty table with these columns of names, then of figures."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, no_wrap=True)
    for name in figures:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def percent(share: float) -> str:
    """Return a share in percent, with two digits."""
    return f"{100 * share:.2f}"
