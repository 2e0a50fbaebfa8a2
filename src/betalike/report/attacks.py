"""What attacks look like on a terminal: a table of how often they succeed, and a sentence for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from betalike.attacks.result import AttackReport, AttackResult, Rate

WIDEST = 100


def print_attacks(console: Console, report: AttackReport) -> None:
    """Show the results of attacks, then what each means."""
    width = min(console.width, WIDEST)
    told = [result for result in report.results if result.refusal is None]
    console.print(
        Text(f"{report.n_rows:,} rows, released by {report.scheme}; shares of people guessed right", style="bold")
    )
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("attack", no_wrap=True)
    for name in ("people", "success %", "95 % interval", "baseline %", "control %", "gain"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in told:
        table.add_row(*_cells(result))
    if told:
        console.print(table, width=width)
    for result in report.results:
        sentence = result.sentence if result.refusal is None else f"does not apply: {result.refusal}"
        console.print(Text.assemble((result.name, "bold"), ": ", sentence), width=width)
    console.print(
        "Baseline: a guess from what is public anyway. Control: the same attack where there is nothing to find. Gain: "
        "percentage points above both, with a star where chance does not explain it.",
        style="bright_black",
        highlight=False,
        width=width,
    )


def _cells(result: AttackResult) -> list[str]:
    success, baseline, control = result.success, result.baseline, result.control
    if success is None or baseline is None or control is None:  # a refused one
        return [result.name]
    return [
        result.name,
        f"{result.people:,}",
        _percent(success),
        f"{100 * success.low:.2f} to {100 * success.high:.2f}",
        _percent(baseline),
        _percent(control),
        f"{100 * (result.gain or 0.0):+.2f}{'*' if result.is_significant else ' '}",
    ]


def _percent(rate: Rate) -> str:
    return f"{100 * rate.rate:.2f}"
