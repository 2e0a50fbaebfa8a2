"""Tables of figures on a terminal: answers, the errors of a workload, attacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from betalike.report.terminal import WIDEST

if TYPE_CHECKING:
    from betalike.attacks.result import AttackReport, AttackResult
    from betalike.queries.answer import Answer
    from betalike.queries.workload import WorkloadResult

BAR_WIDTH = 40
BAR, PLAIN_BAR = ("█", "░"), ("#", ".")  # filled and empty; plain ones for terminals with ASCII only


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


def draw_bar(share: float, width: int, is_plain: bool) -> Text:
    """Return a bar that is filled to a share of its width."""
    filled = round(width * min(max(share, 0.0), 1.0))
    full, empty = PLAIN_BAR if is_plain else BAR
    return Text(full * filled, style="magenta") + Text(empty * (width - filled), style="bright_black")


def print_answer(console: Console, answer: Answer) -> None:
    """Print an estimated count."""
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row(Text("count", style="bold"), Text(f"{answer.count:,.0f}", style="bold"), f"method: {answer.method}")
    table.add_row(
        Text("interval", style="bold"),
        f"{answer.low:,.0f} to {answer.high:,.0f}",
        f"{100 * answer.confidence:g} % confidence, standard error {answer.standard_error:,.1f}",
    )
    table.add_row(
        Text("bounds", style="bold"), f"{answer.at_least:,} to {answer.at_most:,}", "certain, without assumptions"
    )
    console.print(table)


def print_workload(console: Console, result: WorkloadResult) -> None:
    """Print the errors of a workload."""
    facts = result.to_dict()
    console.print(
        f"{facts['queries']:,} queries with {facts['predicates']} quasi-identifiers and selectivity "
        f"{facts['selectivity']:g}, answered by {facts['method']}",
        markup=False,
        highlight=False,
    )
    if result.n_dropped:
        console.print(f"{result.n_dropped:,} of them select nothing and are dropped", highlight=False)
    if not len(result.exact):
        return
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    block = "#" if console.options.ascii_only else "█"
    most = max(count for _, _, count in result.histogram)
    for low, high, count in result.histogram:
        label = f"{100 * low:g} to {100 * high:g} %" if high is not None else f"above {100 * low:g} %"
        bar = Text(block * -(-BAR_WIDTH * count // most), style="cyan")
        table.add_row(label, bar, Text(f"{100 * count / len(result.exact):.1f} %", style="bright_black"))
    console.print(Text("Relative error", style="bold"))
    console.print(table)
    median = Text.assemble(("Median ", "bold"), (f"{100 * facts['median_relative_error']:.2f} %", "bold green"))
    low, high = facts["quantiles"]["0.05"], facts["quantiles"]["0.95"]
    median.append(f"   90 % of the queries between {100 * low:.2f} % and {100 * high:.2f} %")
    console.print(median)
    confidence, covered = 100 * facts["confidence"], 100 * facts["covered"]
    console.print(f"The {confidence:g} % intervals contain the exact count of {covered:.1f} % of them", highlight=False)


def print_attacks(console: Console, report: AttackReport) -> None:
    """Print the results of attacks, then what each means."""
    width = width_of(console)
    console.print(
        Text(f"{report.n_rows:,} rows, released by {report.scheme}; shares of rows guessed right", style="bold")
    )
    figures = ("rows", "success %", "95 % interval", "baseline %", "control %", "gain")
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
