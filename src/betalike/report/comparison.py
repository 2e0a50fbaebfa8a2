"""Schemes compared: a table of figures, and a picture of loss against reached beta."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from betalike.errors import ParameterError
from betalike.report.charts import Quantity, check_charts, save, scatter_chart
from betalike.report.figures import figure_table, percent, width_of

if TYPE_CHECKING:
    from betalike.comparison.compare import Comparison, Contest, SchemeResult

FORMS = (".svg", ".png")
NONE = "-"
WIDE = 20  # ratio of the ends of an axis from which on it is logarithmic


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print schemes side by side, grouped by the beta asked for."""
    contest = comparison.contest
    counted = ["COUNT\nerror %"] if contest.n_queries else []
    figures = ["loss\n%", "classes", "smallest\nclass", "beta", "t", "l", "delta", "time\ns", *counted]
    table = figure_table(["scheme", "asked"], figures)
    for group in comparison.groups:
        for compared in group:
            table.add_row(*_cells(compared)[: len(table.columns)])
        table.add_section()
    width = width_of(console)
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
    return NONE if value is None else percent(value)


def _notes(contest: Contest, results: Sequence[SchemeResult]) -> list[str]:
    """Explain the figures, and why schemes refused."""
    notes = ["A dash: there are no classes, or no beta or delta holds."]
    if contest.equal is not None:
        notes.append(f"Parameters were searched so that {contest.equal} is close to that of {contest.schemes[0]}.")
    elif contest.t is None and any(compared.parameter == "t" for compared in results):
        notes.append(f"t was not given: it is the t that {contest.schemes[0]} reached.")
    if contest.n_queries:
        notes.append(
            f"COUNT error: median of {contest.n_queries:,} random queries on {contest.n_predicates} quasi-identifiers "
            f"and the sensitive column, selectivity {contest.selectivity:g}."
        )
    in_people = [compared.smallest_in_people for compared in results if compared.smallest_in_people is not None]
    if in_people:
        notes.append(
            f"Promises are kept in people too; the smallest class of any release has {min(in_people):,} people."
        )
    refused = [f"{compared.scheme} refused: {compared.refusal}" for compared in results if compared.refusal]
    return [*notes, *dict.fromkeys(refused)]


def check_picture(path: Path) -> None:
    """Refuse a picture that cannot be drawn, before any work."""
    if path.suffix not in FORMS:
        raise ParameterError(f"the picture '{path.name}' must end in {' or '.join(FORMS)}.")
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder '{path.parent}' for the picture.")
    check_charts()


def save_picture(comparison: Comparison, path: str | Path) -> None:
    """Draw loss against reached beta: a point per release that has classes and a beta above 0."""
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
