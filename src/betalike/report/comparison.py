"""What a comparison looks like: a table of at most 100 columns, and a picture of loss against reached beta."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from betalike.errors import ParameterError
from betalike.report.charts import Quantity, check_charts, save, scatter_chart

if TYPE_CHECKING:
    from betalike.comparison.compare import Comparison, Contest, SchemeResult

WIDEST = 100
FORMS = (".svg", ".png")
NONE = "-"
WIDE = 20  # how far apart the ends of an axis are that is drawn logarithmically


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Show schemes side by side, those asked for the same beta together."""
    contest = comparison.contest
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for name in ("scheme", "asked"):
        table.add_column(name, no_wrap=True)
    counted = ["COUNT\nerror %"] if contest.n_queries else []
    for name in ("loss\n%", "classes", "smallest\nclass", "beta", "t", "l", "delta", "time\ns", *counted):
        table.add_column(name, justify="right", no_wrap=True)
    for group in comparison.groups:
        for compared in group:
            table.add_row(*_cells(compared)[: len(table.columns)])
        table.add_section()
    width = min(console.width, WIDEST)
    console.print(Text(f"{comparison.n_rows:,} rows; beta, t, l and delta are what each release reaches", style="bold"))
    console.print(table, width=width)
    for note in _notes(contest, comparison.results):
        console.print(note, style="bright_black", highlight=False, markup=False, width=width)


def _cells(compared: SchemeResult) -> list[str]:
    if compared.refusal is not None:
        return [compared.scheme, "refused"]
    return [
        compared.scheme,
        NONE if compared.asked is None else f"{compared.parameter} {compared.asked:.3g}",
        _percent(compared.loss),
        _number(compared.classes, ",d"),
        _number(compared.smallest_class, ",d"),
        _number(compared.beta, ".3g" if (compared.beta or 0) < 1000 else ",.0f"),
        _number(compared.t, ".3f"),
        _number(compared.l, ".3g"),
        _number(compared.delta, ".3g"),
        _number(compared.seconds, ".2f"),
        _percent(compared.count_error),
    ]


def _number(value: float | None, form: str) -> str:
    return NONE if value is None else format(value, form)


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.2f}"


def _notes(contest: Contest, results: Sequence[SchemeResult]) -> list[str]:
    """What the figures mean, and why schemes refused."""
    notes = ["A dash: there are no classes, or nothing holds (no beta, no delta)."]
    if contest.equal is not None:
        notes.append(f"Parameters were searched so that {contest.equal} comes near that of {contest.schemes[0]}.")
    elif contest.t is None and any(compared.parameter == "t" for compared in results):
        notes.append(f"t was not given: it is what {contest.schemes[0]} reached.")
    if contest.n_queries:
        notes.append(
            f"COUNT error: median of {contest.n_queries:,} random queries on {contest.n_predicates} quasi-identifiers "
            f"and the sensitive column, selectivity {contest.selectivity:g}."
        )
    refused = [f"{compared.scheme} refused: {compared.refusal}" for compared in results if compared.refusal]
    return [*notes, *dict.fromkeys(refused)]


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before any work."""
    if path.suffix not in FORMS:
        raise ParameterError(f"the picture '{path.name}' must end in {' or '.join(FORMS)}.")
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder '{path.parent}' for the picture.")
    check_charts()


def save_picture(comparison: Comparison, path: str | Path) -> None:
    """Draw loss against reached beta, a point for each release with classes that tells anything at all."""
    path = Path(path)
    check_picture(path)
    shown = [compared for compared in comparison.results if compared.classes is not None and compared.beta]
    rows = [
        {"scheme": each.scheme, "beta": each.beta, "loss": each.loss, "asked": f"{each.parameter} {each.asked:.3g}"}
        for each in shown
    ]
    reached = [compared.beta or 0.0 for compared in shown]
    picture = scatter_chart(
        rows,
        Quantity(
            "beta",
            "beta reached: largest relative gain on a value",
            is_logarithmic=bool(reached) and max(reached) > WIDE * min(reached),
        ),
        Quantity("loss", "average information loss, from 0 to 1", starts_at_zero=True),
        label="asked",
    )
    save(picture, path.with_suffix(""), [path.suffix.removeprefix(".")])
