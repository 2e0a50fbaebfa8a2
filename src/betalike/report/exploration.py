"""An exploration on a terminal and as a page: what each beta costs and protects, caps of values, costs of columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

import betalike
from betalike.measures.alike import visible_values
from betalike.measures.phrases import FEWEST, number, percent
from betalike.report.figures import figure_table, width_of

if TYPE_CHECKING:
    from betalike.comparison.exploration import Exploration, Trial

MOST_VALUES = 12
FIGURES = {
    "loss": "Average loss of the quasi-identifiers",
    "surest_guess": "Surest guess of a value in any class",
    "average_risk": "Average risk of being found",
    "count_error": "Median error of COUNT queries",
}


def print_exploration(console: Console, found: Exploration) -> None:
    """Print the trials, the caps of values and the costs of columns."""
    width = width_of(console)
    console.print(Text(f"{found.n_rows:,} rows; nothing is published", style="bold"))
    table = figure_table(
        ["scheme"], ["beta", "loss", "surest\nguess", "average\nrisk", "COUNT\nerror", "smallest\nclass"]
    )
    for trial in found.trials:
        table.add_row(*_cells(found, trial))
    console.print(table, width=width)
    for scheme, knee in found.knees.items():
        console.print(f"* knee of {scheme}: beyond beta {knee:g}, more beta saves little loss", highlight=False)
    for trial in found.trials:
        if trial.refusal is not None:
            console.print(Text(f"{trial.scheme} refuses beta {trial.beta:g}: {trial.refusal}"), width=width)
    console.print(Text("\nWhat each value may reach in a class", style="bold"))
    caps = figure_table(["value"], ["share", *(f"beta {beta:g}" for beta in found.betas)])
    for value in shown_values(found):
        caps.add_row(Text(value["value"]), value["share"], *value["caps"])
    console.print(caps, width=width)
    if caps.row_count < len(found.values):
        console.print(Text(f"{_which_are_shown(caps.row_count, len(found.values))}."), width=width)
    if found.columns:
        console.print(Text(f"What each column costs, with beta {found.column_beta:g}", style="bold"))
        costs = figure_table(["column", ""], ["others' loss\nwithout it", "with it", "risk\nwithout it", "with it"])
        for column in found.columns:
            shares = (column.loss_without, column.loss_with, column.risk_without, column.risk_with)
            costs.add_row(Text(column.column), "considered" if column.is_added else "", *map(percent, shares))
        console.print(costs, width=width)


def _cells(found: Exploration, trial: Trial) -> list[str]:
    knee = " *" if found.knees.get(trial.scheme) == trial.beta else ""
    if trial.refusal is not None:
        return [trial.scheme, f"{trial.beta:g}", "refused"]
    figures = (trial.loss, trial.surest_guess, trial.average_risk, trial.count_error)
    return [f"{trial.scheme}{knee}", f"{trial.beta:g}", *map(percent, figures), number(trial.smallest_class)]


def shown_values(found: Exploration) -> list[dict[str, Any]]:
    """Return the most frequent values and the rarest, with their caps in words.

    None of fewer than 3 people is shown, nor can be found by subtraction.
    """
    people = np.array([value.people for value in found.values], dtype=np.int64)
    is_shown = visible_values(people, None, are_people=found.has_people)
    known = [value for value, each in zip(found.values, is_shown, strict=True) if each]
    if len(known) > MOST_VALUES:
        known = known[: MOST_VALUES // 3] + known[-(MOST_VALUES - MOST_VALUES // 3) :]
    return [
        {"value": it.value or "(missing)", "share": percent(it.share), "caps": [percent(cap) for cap in it.caps]}
        for it in known
    ]


def _which_are_shown(n_shown: int, n_values: int) -> str:
    """Say which values are in the table, and how many are not."""
    which = f"Shown are the most frequent and the rarest values with at least {FEWEST} people"
    return which if n_shown == n_values else f"{which}; {n_values - n_shown:,} of {n_values:,} values are not shown"


def write_exploration(found: Exploration, path: Path, force: bool) -> None:
    """Write an exploration as one HTML page."""
    from betalike.report.common_part import InlinePicture
    from betalike.report.page import load_templates, write_page
    from betalike.report.pictures import lines_picture

    pictures = []
    for name, caption in FIGURES.items():
        rows = [
            {"scheme": trial.scheme, "beta": trial.beta, "share": getattr(trial, name)}
            for trial in found.trials
            if getattr(trial, name) is not None
        ]
        if rows:
            description = f"From beta {rows[0]['beta']:g} to {rows[-1]['beta']:g}."
            knees = found.knees if name == "loss" else {}
            pictures.append(InlinePicture(caption, lines_picture(rows, knees, f"line-{name}", caption, description)))
    templates, shown = load_templates(), shown_values(found)
    html = templates.get_template("explore.html").render(
        found=found,
        pictures=pictures,
        values=shown,
        which=_which_are_shown(len(shown), len(found.values)),
        style=templates.loader.get_source(templates, "style.css")[0],
        version=betalike.__version__,
        title="What each beta costs and protects",
    )
    write_page(path, html.lstrip(), force)
