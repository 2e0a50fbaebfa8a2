"""What every reader of a report sees: the verdict, the promise against the worst case, the columns, the limits."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import betalike
from betalike.measures.phrases import FEWEST, at_most, number, people, percent
from betalike.promises.verdict import wording_of
from betalike.promises.wording import likeness_sentence, times_as_likely
from betalike.release.certificate import Certificate
from betalike.release.certify import OPERATING_SYSTEM, singled_out_words
from betalike.release.recount import is_exact
from betalike.release.signatures import NOT_SIGNED
from betalike.report.evidence import Evidence, ProtectedColumn
from betalike.report.headline import Headline
from betalike.report.pictures import values_picture
from betalike.runtime.arrays import Bools
from betalike.schemes import Baseline, Perturbation

MOST_VALUES = 12  # in one picture
AUDIENCES = {
    "officer": "Report for the data-protection officer. It has confidential figures.",
    "analyst": "Report for analysts",
    "public": "Public report",
}
MISSING = "(missing)"
LIMITS = (
    "The promise holds for one publication. Anyone who has two releases of the same people can combine them, and then "
    "no bound holds. Publish this table once.",
    "The promise bounds what a reader learns who knows the distribution of the whole table and a person's "
    "quasi-identifiers. A reader who knows more can learn more, for example that two rows belong to one family.",
    "A reader who knows how the program forms classes can learn a little more than the promise says.",
    "A value may become less likely for a person than it was before, unless the promise also bounds that.",
)
NO_IDENTITY = (
    "The quasi-identifiers are exact. Anyone who knows them finds the person's row, and sees the columns that are "
    "published as they are."
)


@dataclass(frozen=True)
class InlinePicture:
    """A picture as inline SVG, with the sentence above it."""

    caption: str
    svg: str


def common_part(evidence: Evidence, audience: str) -> dict[str, Any]:
    """Return what the template shows to every audience."""
    facts, headline = evidence.facts, Headline.of(evidence.facts)
    promise, exact = facts.to_dict()["promise"], is_exact(facts)
    words = wording_of(promise["model"], promise["beta"], promise["k"], promise["parameters"])
    pictures = list(_value_pictures(evidence))
    return {
        "title": f"Report on a release of {people(facts.release.rows)} rows",
        "audience": audience,
        "audience_words": AUDIENCES[audience],
        "verdict": f"Verified: the release keeps its promise, {words}.",
        "sentence": likeness_sentence(promise, not exact),
        "near_sentence": _near_sentence(evidence),
        "promise_words": _promise_words(facts),
        "times": times_as_likely(facts.promise.worst_gain),
        "is_exact": exact,
        "surest": headline.surest_guess,
        "people_gain": _people_gain(facts),
        "smallest_class": headline.smallest_class,
        "has_several": bool(facts.table.sensitive_columns),
        "is_seeded": facts.randomness != OPERATING_SYSTEM,
        "value_pictures": pictures,
        "values_left_out": _values_left_out(evidence),
        "columns": list(_columns(evidence)),
        "left_out": evidence.left_out,
        "limits": _limits(facts),
        "checked": _checked(evidence),
        "signature": NOT_SIGNED if evidence.checks is None else evidence.checks.signature,
        "version": betalike.__version__,
        "date": f"{datetime.datetime.now(datetime.UTC):%d %B %Y}",
        "c": facts.to_dict(),
    }


def _near_sentence(evidence: Evidence) -> str:
    surest = at_most(Headline.of(evidence.facts).surest_guess)
    if not is_exact(evidence.facts):
        return f"The surest guess of anybody's value is right with a chance of at most {surest}, in one class."
    return f"After seeing a person's row, the surest guess of the value is right with a chance of at most {surest}."


def _people_gain(facts: Certificate) -> str:
    """Say how far the promise is used in people, where a person may have several rows."""
    if facts.people is None:
        return ""
    gain = facts.people.worst_gain
    return f"Counted in people, the largest gain is {number(gain)}: the value becomes {times_as_likely(gain)}."


def _promise_words(facts: Certificate) -> str:
    if facts.scheme.name == Perturbation().name:
        return (
            "Each sensitive value was kept or replaced at random. The release promises how likely any original value "
            "may become once a reader sees the published one."
        )
    if facts.scheme.name == Baseline().name:
        return "The sensitive column was left out, and only its distribution is published. Nobody's row says anything."
    return (
        "Rows with the same published quasi-identifiers form a class. The release promises how large a part of any "
        "class a sensitive value may make up, compared with its share in the whole table."
    )


def _value_pictures(evidence: Evidence) -> Iterator[InlinePicture]:
    for place, column in enumerate(evidence.protected):
        rows = _shown_values(column, evidence.shown_values(column))
        if rows:
            what = "any class" if evidence.recounted is not None else "any row"
            caption = f"{column.name}: share of each value in the table, and its highest chance in {what}"
            nearest = max(rows, key=lambda row: row["highest"] / row["prior"])
            description = (
                f"{len(rows)} values. The value {nearest['value']} grows most, from {percent(nearest['prior'])} to "
                f"{percent(nearest['highest'])}."
            )
            yield InlinePicture(caption, values_picture(rows, f"values{place}", caption, description))


def _shown_values(column: ProtectedColumn, is_shown: Bools) -> list[dict[str, Any]]:
    """Return the values that come nearest to their caps, of those that can be shown, in the order of their shares."""
    limits = column.prior if column.caps is None else column.caps
    nearest = np.argsort(-column.highest / limits, kind="stable")
    chosen = [place for place in nearest.tolist() if is_shown[place]][:MOST_VALUES]
    chosen.sort(key=lambda place: -column.counts[place])
    return [
        {
            "value": column.values[place] or MISSING,
            "prior": float(column.prior[place]),
            "highest": float(column.highest[place]),
            "cap": None if column.caps is None else float(column.caps[place]),
        }
        for place in chosen
    ]


def _values_left_out(evidence: Evidence) -> str:
    """Say which values a picture does not show."""
    notes = []
    for column in evidence.protected:
        few, rest = int((~evidence.shown_values(column)).sum()), len(column.values) - MOST_VALUES
        if rest - few > 0:
            notes.append(f"{column.name} has {len(column.values):,} values; shown are those nearest to the limit.")
        if few:
            notes.append(
                f"Values of {column.name} are left out where their shares would show, perhaps by subtraction, fewer "
                f"than {FEWEST} people."
            )
    return " ".join(notes)


def _columns(evidence: Evidence) -> Iterator[dict[str, str]]:
    facts, exact = evidence.facts, is_exact(evidence.facts)
    for column in facts.table.columns:
        loss = facts.release.loss.get(column.name, 0.0)
        done = "exact" if exact or loss == 0 else f"made coarser: {percent(loss)} lost"
        yield {"name": column.name, "role": "quasi-identifier", "kind": column.kind, "done": done}
    changes = {Perturbation().name: "replaced at random", Baseline().name: "left out; its distribution is published"}
    for protected in evidence.protected:
        is_binned = any(binned.name == protected.name for binned in facts.table.binned)
        shown = "in ranges" if is_binned else "as it is"
        done = changes.get(facts.scheme.name, f"{shown}, protected by the classes")
        yield {"name": protected.name, "role": "sensitive", "kind": f"{len(protected.values):,} values", "done": done}
    for name in facts.table.kept:
        yield {"name": name, "role": "kept", "kind": "", "done": "as it is, not protected"}
    for name in evidence.left_out or ():
        yield {"name": name, "role": "left out", "kind": "", "done": "not in the release"}


def _limits(facts: Certificate) -> list[str]:
    limits = list(LIMITS)
    if is_exact(facts):
        limits = [NO_IDENTITY, *LIMITS[:2], LIMITS[3]]
    if facts.table.kept:
        limits.append(f"These columns are published as they are, unprotected: {', '.join(facts.table.kept)}.")
    if facts.kept is not None:
        words = singled_out_words(facts.kept, facts.release.rows, is_exact(facts))
        limits[-1] += f" {words[0].upper()}{words[1:]}."
    return limits


def _checked(evidence: Evidence) -> str:
    if evidence.checks is None:
        return "This release is in memory. It was verified when it was made."
    passed = f"{len(evidence.checks.checks)} checks of its files, its promise and its figures"
    return f"When this report was made, the release passed {passed}."
