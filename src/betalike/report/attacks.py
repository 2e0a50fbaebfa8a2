"""Attacks on a terminal: a table of success rates, and a sentence about each attack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from betalike.report.figure_table import figure_table, percent, width_of

if TYPE_CHECKING:
    from betalike.attacks.result import AttackReport, AttackResult


def print_attacks(console: Console, report: AttackReport) -> None:
    """Print the results of attacks, then what each means."""
    width = width_of(console)
    console.print(
        Text(f"{report.n_rows:,} rows, released by {report.scheme}; shares of people guessed right", style="bold")
    )
    figures = ("people", "success %", "95 % interval", "baseline %", "control %", "gain")
    table = figure_table(["attack"], figures)
    for result in report.results:
        if result.refusal is None:
            table.add_row(*_cells(result))
    if table.row_count:
        console.print(table, width=width)
    for result in report.results:
        sentence = result.sentence if result.refusal is None else f"does not apply: {result.refusal}"
        console.print(Text.assemble((result.name, "bold"), ": ", sentence), width=width)
    console.print(
        "Baseline: a guess from public information alone. Control: the same attack where there is nothing to find. "
        "Gain: percentage points above both, with a star where chance does not explain it.",
        style="bright_black",
        highlight=False,
        width=width,
    )


def _cells(result: AttackResult) -> list[str]:
    success, baseline, control = result.success, result.baseline, result.control
    if success is None or baseline is None or control is None:  # the attack was refused
        return [result.name]
    return [
        result.name,
        f"{result.people:,}",
        percent(success.rate),
        f"{percent(success.low)} to {percent(success.high)}",
        percent(baseline.rate),
        percent(control.rate),
        f"{100 * (result.gain or 0.0):+.2f}{'*' if result.is_significant else ' '}",
    ]
