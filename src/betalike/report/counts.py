"""Counts on a terminal: an answer with its error, and the errors of a workload as a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from betalike.queries.answer import Answer
    from betalike.queries.workload import WorkloadResult

BAR_WIDTH = 40


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
