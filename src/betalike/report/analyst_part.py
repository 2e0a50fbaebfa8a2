"""What analysts and the public see: what each column lost, how wide the labels are, and how to use the release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from betalike.measures.alike import are_few
from betalike.measures.phrases import FEWEST, LEFT_OUT, percent, share_of_people
from betalike.measures.utility import Correlation, Mean, TwoWay, is_determined
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
            (it, _exact_share(evidence, it.exact))
            for it in (
                measure_widths(column, evidence.labels[column.name])
                for column in facts.table.columns
                if column.name in evidence.labels
            )
        ],
        "example": _example(evidence),
        "exact_use": _exact_use(facts),
        "draws": utilities[0].draws if utilities else 0,
        "distributions": list(_distributions(utilities, evidence.people is not None)),
        "means": _distinct(it for utility in utilities for it in utility.means if math.isfinite(it.release)),
        "correlations": _strongest(utilities),
        "two_ways": [(name, tables) for name, utility in named if (tables := _two_ways(utility))],
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


def _exact_share(evidence: Evidence, share: float) -> str:
    if evidence.people is None:
        return share_of_people(share, evidence.facts.release.rows)
    return LEFT_OUT if evidence.are_people_few(share) else percent(share)


def _two_ways(utility: UtilityReport) -> list[TwoWay]:
    """Return two-way tables, but none whose cells follow from its strength and show fewer than 3 people."""
    return [it for it in utility.two_ways if it.fewest >= FEWEST or not is_determined(len(it.groups), len(it.values))]


def _distributions(utilities: Sequence[UtilityReport], are_people: bool) -> Iterator[InlinePicture]:
    """Yield a picture for each column; groups of fewer than 3 people are shown together."""
    columns = [it for utility in utilities[:1] for it in utility.distributions[:-1]]
    columns += [utility.distributions[-1] for utility in utilities]
    for number, it in enumerate(columns):
        groups = pool_few(map(ShownGroup, it.groups, it.people, it.original, it.release), are_people)
        shown = [
            {"label": group.name, "share": share, "series": series}
            for group in groups
            for series, share in (("original", group.original), ("release", group.release))
        ]
        distance = sum(abs(group.original - group.release) for group in groups) / 2
        caption = f"{it.column}: share of rows. {percent(distance)} would have to change groups."
        description = f"Shares of {len(shown) // 2} groups in the original and in the release."
        yield InlinePicture(caption, pairs_picture(shown, f"column{number}", caption, description))


@dataclass(frozen=True)
class ShownGroup:
    """A group of rows: how many people of the original are in it, and its share in the original and in the release."""

    name: str
    people: int
    original: float
    release: float


def pool_few(groups: Iterable[ShownGroup], are_people: bool) -> list[ShownGroup]:
    """Put groups of one or two people of the original together, and with the next smallest if they may still be few.

    `are_people` says that a person may be in several groups, so that two groups may be the same people.
    """
    shown = list(groups)
    few = [group for group in shown if group.people < FEWEST]
    others = sorted((group for group in shown if group not in few), key=lambda group: group.people)
    while others and are_few(np.array([group.people for group in few], dtype=np.int64), are_people):
        few.append(others.pop(0))
    if not any(group.people for group in few):
        return shown
    sums = (sum(group.people for group in few), sum(each.original for each in few), sum(each.release for each in few))
    return [*(group for group in shown if group not in few), ShownGroup(POOLED, *sums)]


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
    known = facts.prior_counts if facts.people is None else facts.people.prior_counts
    is_shown = known.get(most, 0) >= FEWEST and most != ""
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
