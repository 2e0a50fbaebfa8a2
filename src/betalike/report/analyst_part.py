"""What analysts and the public see: what each column lost, how wide the labels are, and how to use the release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from betalike.measures.phrases import FEWEST, percent, share_of_people
from betalike.measures.regression import FEWEST_ROWS
from betalike.measures.utility import Correlation, Mean
from betalike.queries.utility import UtilityReport
from betalike.queries.workload import WorkloadResult
from betalike.release.certificate import Certificate
from betalike.release.recount import is_exact
from betalike.report.common_part import InlinePicture
from betalike.report.evidence import Evidence
from betalike.report.label_widths import measure_widths
from betalike.report.pictures import bars_picture, pairs_picture
from betalike.schemes import Perturbation
from betalike.table.schema import Kind

MOST_PAIRS = 15  # correlations in a table
POOLED = "groups of few"
Figure = TypeVar("Figure", Mean, Correlation)


def analyst_part(evidence: Evidence, utilities: Sequence[UtilityReport]) -> dict[str, Any]:
    """Return what the template shows to analysts and to the public: figures of utility for each sensitive column.

    Without the original there are none.
    """
    facts = evidence.facts
    named = list(zip((column.name for column in evidence.protected), utilities, strict=False))
    return {
        "loss_picture": None if is_exact(facts) else _loss_picture(facts),
        "widths": [
            (it, share_of_people(it.exact, facts.release.rows))
            for it in (
                measure_widths(column, evidence.labels[column.name])
                for column in facts.table.columns
                if column.name in evidence.labels
            )
        ],
        "example": _example(evidence),
        "exact_use": _exact_use(facts),
        "draws": utilities[0].draws if utilities else 0,
        "distributions": list(_distributions(utilities, facts.release.rows, evidence.fewest_rows)),
        "means": _distinct(it for utility in utilities for it in utility.means if math.isfinite(it.release)),
        "correlations": _strongest(utilities),
        "two_ways": [(name, utility.two_ways) for name, utility in named],
        "regressions": [
            utility.regression
            for utility in utilities
            if utility.regression is not None and evidence.fewest_rows <= FEWEST_ROWS  # else they may be of two people
        ],
        "counts": [
            (name, utility.counts, _count_picture(utility.counts, f"counts{place}"))
            for place, (name, utility) in enumerate(named)
            if utility.counts is not None and len(utility.counts.exact)
        ],
    }


def _distinct(figures: Iterable[Figure]) -> list[Figure]:
    """Return figures without repetition; the quasi-identifiers' ones come once for each sensitive column."""
    found: dict[tuple[str, ...], Figure] = {}
    for figure in figures:
        names = (figure.column,) if isinstance(figure, Mean) else (figure.first, figure.second)
        found.setdefault(names, figure)
    return list(found.values())


def _distributions(utilities: Sequence[UtilityReport], rows: int, fewest: int) -> Iterator[InlinePicture]:
    """Yield a picture for each column; groups of fewer than 3 people are shown together."""
    columns = [it for utility in utilities[:1] for it in utility.distributions[:-1]]
    columns += [utility.distributions[-1] for utility in utilities]
    for number, it in enumerate(columns):
        shown = [
            {"label": group, "share": share, "series": series}
            for group, *shares in pool_few(zip(it.groups, it.original, it.release, strict=True), rows, fewest)
            for series, share in zip(("original", "release"), shares, strict=True)
        ]
        caption = f"{it.column}: share of rows. {percent(it.distance)} would have to change groups."
        description = f"Shares of {len(shown) // 2} groups in the original and in the release."
        yield InlinePicture(caption, pairs_picture(shown, f"column{number}", caption, description))


def pool_few(
    groups: Iterable[tuple[str, float, float]], rows: int, fewest: int = FEWEST
) -> list[tuple[str, float, float]]:
    """Put groups of one or two people of the original together, and with the next smallest if they are still few.

    Each group has a name, its share in the original and its share in the release.
    """
    shown = list(groups)
    few = [group for group in shown if round(group[1] * rows) < fewest]
    others = sorted((group for group in shown if group not in few), key=lambda group: group[1])
    while others and 0 < round(sum(group[1] for group in few) * rows) < fewest:
        few.append(others.pop(0))
    if not few or round(sum(group[1] for group in few) * rows) == 0:
        return shown
    pooled = (POOLED, sum(group[1] for group in few), sum(group[2] for group in few))
    return [*(group for group in shown if group not in few), pooled]


def _count_picture(counts: WorkloadResult, name: str) -> InlinePicture:
    """Draw how large the errors of random counts are."""
    rows = [
        {"label": f"{percent(low)} to {percent(high)}" if high is not None else f"over {percent(low)}", "share": share}
        for low, high, share in ((low, high, count / len(counts.exact)) for low, high, count in counts.histogram)
    ]
    caption = "Relative error of the answers: share of the queries"
    description = f"The median error is {percent(counts.median_relative_error)}."
    return InlinePicture(caption, bars_picture(rows, name, caption, description))


def _strongest(utilities: Sequence[UtilityReport]) -> list[Correlation]:
    """Return the correlations that matter most in the original."""
    found = _distinct(it for utility in utilities for it in utility.correlations)
    return sorted(found, key=lambda it: -abs(it.original))[:MOST_PAIRS]


def _loss_picture(facts: Certificate) -> InlinePicture:
    rows = [{"label": name, "share": loss} for name, loss in facts.release.loss.items()]
    caption = "Loss of each column"
    description = f"The average loss is {percent(facts.release.average_loss)}."
    return InlinePicture(caption, bars_picture(rows, "loss", caption, description))


def _exact_use(facts: Certificate) -> str:
    if facts.scheme.name == Perturbation().name:
        return "The sensitive column is noisy: count with the query above, which corrects for the noise."
    return "The sensitive column is not in the rows: its distribution is in a file of its own."


def _example(evidence: Evidence) -> str:
    """Return a predicate that this release can answer, made of names and values that it publishes."""
    facts = evidence.facts
    column = next((c for c in facts.table.columns if Kind(c.kind).is_ordered and c.domain is not None), None)
    most = max(facts.prior_counts, key=lambda value: facts.prior_counts[value])
    is_shown = facts.prior_counts[most] >= FEWEST and most != ""
    parts = [f"{_name(facts.table.sensitive)} {f'= {_text(most)}' if is_shown else 'IS NOT NULL'}"]
    if column is not None and column.domain is not None:
        ends = [
            end if Kind(column.kind) in (Kind.INTEGER, Kind.DECIMAL, Kind.REAL) else _text(end) for end in column.domain
        ]
        parts.insert(0, f"{_name(column.name)} BETWEEN {ends[0]} AND {ends[1]}")
    return " AND ".join(parts)


def _name(column: str) -> str:
    return column if column.isidentifier() else '"' + column.replace('"', '""') + '"'


def _text(value: str) -> str:
    return value if value.isdecimal() else "'" + value.replace("'", "''") + "'"
