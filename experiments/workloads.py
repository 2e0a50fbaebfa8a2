"""Errors of COUNT queries, with each of four settings varied. Paper: 6.2 and 6.3, figures 8 and 9."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from betalike.report.charts import Picture, Quantity, line_chart, side_by_side
from experiments.bench import Bench
from experiments.figure import Row
from experiments.settings import ATTRIBUTES, BETA, BETA_TITLE, N_PREDICATES, SELECTIVITY

ERROR = Quantity("error", "median relative error (%, log scale)", is_logarithmic=True)


@dataclass(frozen=True)
class Asked:
    """A workload: the setting that its panel varies, its value, and everything else."""

    panel: str
    x: float
    beta: float = BETA
    n_attributes: int = len(ATTRIBUTES)
    n_predicates: int = N_PREDICATES
    selectivity: float = SELECTIVITY


def workloads(bench: Bench) -> list[Asked]:
    """Return the workloads of the four panels; a release with few quasi-identifiers is asked about all of them."""
    settings = bench.settings
    return [
        *(Asked("a", n, n_predicates=n) for n in settings.predicates),
        *(Asked("b", beta, beta=beta) for beta in settings.betas),
        *(Asked("c", n, n_attributes=n, n_predicates=min(n, N_PREDICATES)) for n in settings.attributes),
        *(Asked("d", theta, selectivity=theta) for theta in settings.selectivities),
    ]


def measured(bench: Bench, who: Mapping[str, tuple[str, str]]) -> list[dict[str, Any]]:
    """Return a row for each workload and each name, which stands for a release and a query method."""
    return [
        {
            "panel": asked.panel,
            "x": asked.x,
            "scheme": name,
            "method": method,
            "beta": asked.beta,
            "attributes": asked.n_attributes,
            "predicates": asked.n_predicates,
            "selectivity": asked.selectivity,
            "error": 100
            * bench.error(scheme, method, asked.beta, asked.n_attributes, asked.n_predicates, asked.selectivity),
        }
        for name, (scheme, method) in who.items()
        for asked in workloads(bench)
    ]


def of_panel(rows: Sequence[Row], panel: str) -> list[Row]:
    """Return the rows of one panel."""
    return [row for row in rows if row["panel"] == panel]


def picture_of(bench: Bench, rows: Sequence[Row]) -> Picture:
    """Draw the four panels."""
    settings = bench.settings
    panels = {
        "a": Quantity("x", "lambda (attributes that a query restricts)", ticks=settings.predicates),
        "b": Quantity("x", BETA_TITLE, ticks=settings.betas),
        "c": Quantity("x", "quasi-identifiers (number)", ticks=settings.attributes),
        "d": Quantity("x", "theta (expected selectivity)", ticks=settings.selectivities),
    }
    return side_by_side(*(line_chart(of_panel(rows, panel), x, ERROR, f"({panel})") for panel, x in panels.items()))
