"""What analysts and the public see: what each column lost, how wide the labels are, and how to use the release."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from betalike.measures.utility import Correlation
from betalike.queries.utility import UtilityReport
from betalike.release.certificate import Certificate
from betalike.release.recount import is_exact
from betalike.report.common_part import Picture
from betalike.report.evidence import Evidence
from betalike.report.label_widths import measure_widths
from betalike.report.phrases import FEWEST, percent
from betalike.report.pictures import bars_picture, pairs_picture
from betalike.schemes import Perturbation
from betalike.table.schema import Kind

MOST_PAIRS = 15  # correlations in a table


def analyst_part(evidence: Evidence, utility: UtilityReport | None) -> dict[str, Any]:
    """Return what the template shows to analysts and to the public; without the original there is no utility."""
    facts = evidence.facts
    return {
        "loss_picture": None if is_exact(facts) else _loss_picture(facts),
        "widths": [
            measure_widths(column, evidence.labels[column.name])
            for column in facts.table.columns
            if column.name in evidence.labels
        ],
        "example": _example(evidence),
        "exact_use": _exact_use(facts),
        "utility": utility,
        "distributions": [] if utility is None else list(_distributions(utility, facts.release.rows)),
        "count_picture": None if utility is None else _count_picture(utility),
        "means": [] if utility is None else [it for it in utility.means if math.isfinite(it.release)],
        "correlations": [] if utility is None else _strongest(utility),
    }


def _distributions(utility: UtilityReport, rows: int) -> Iterator[Picture]:
    """Yield a picture for each column; groups of fewer than 3 people are left out."""
    for number, it in enumerate(utility.distributions):
        shown = [
            {"label": group, "share": share, "series": series}
            for group, *shares in zip(it.groups, it.original, it.release, strict=True)
            if round(shares[0] * rows) >= FEWEST
            for series, share in zip(("original", "release"), shares, strict=True)
        ]
        if shown:
            caption = f"{it.column}: share of rows. {percent(it.distance)} would have to change groups."
            description = f"Shares of {len(shown) // 2} groups in the original and in the release."
            yield Picture(caption, pairs_picture(shown, f"column{number}", caption, description))


def _count_picture(utility: UtilityReport) -> Picture | None:
    """Draw how large the errors of random counts are."""
    counts = utility.counts
    if counts is None or not len(counts.exact):
        return None
    rows = [
        {"label": f"{percent(low)} to {percent(high)}" if high is not None else f"over {percent(low)}", "share": share}
        for low, high, share in ((low, high, count / len(counts.exact)) for low, high, count in counts.histogram)
    ]
    caption = "Relative error of the answers: share of the queries"
    description = f"The median error is {percent(counts.median_relative_error)}."
    return Picture(caption, bars_picture(rows, "counts", caption, description))


def _strongest(utility: UtilityReport) -> list[Correlation]:
    """Return the correlations that matter most in the original."""
    return sorted(utility.correlations, key=lambda it: -abs(it.original))[:MOST_PAIRS]


def _loss_picture(facts: Certificate) -> Picture:
    rows = [{"label": name, "share": loss} for name, loss in facts.release.loss.items()]
    caption = "Loss of each column"
    description = f"The average loss is {percent(facts.release.average_loss)}."
    return Picture(caption, bars_picture(rows, "loss", caption, description))


def _exact_use(facts: Certificate) -> str:
    if facts.scheme.name == Perturbation().name:
        return "The sensitive column is noisy: count with the query above, which corrects for the noise."
    return "The sensitive column is not in the rows: its distribution is in a file of its own."


def _example(evidence: Evidence) -> str:
    """Return a predicate that this release can answer, made of names and values that it publishes."""
    facts = evidence.facts
    column = next((c for c in facts.table.columns if Kind(c.kind).is_ordered and c.domain is not None), None)
    most = max(facts.prior_counts, key=lambda value: facts.prior_counts[value])
    parts = [f"{_name(facts.table.sensitive)} = {_text(most)}"]
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
