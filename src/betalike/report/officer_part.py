"""What a data-protection officer sees: risks before and after, the worst classes, attacks, and a checklist."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from betalike.measures.exposure import ExposedClass
from betalike.measures.phrases import FEWEST, at_most, is_few, number, people, percent, share_of_people
from betalike.measures.risk import Risk, people_enough, three_questions, threshold_name
from betalike.release.certificate import Certificate
from betalike.release.recount import is_exact
from betalike.report.common_part import InlinePicture
from betalike.report.evidence import Evidence, ProtectedColumn
from betalike.report.pictures import pairs_picture, rates_picture
from betalike.runtime.arrays import Ints

if TYPE_CHECKING:
    from betalike.attacks.result import AttackReport, AttackResult

EDGES = (3, 5, 10, 20, 50, 100, 1000)  # of the sizes of classes
CHECKLIST = (
    "The roles of all columns were checked: nothing that others may know is missing among the quasi-identifiers.",
    "No other release of these people exists, and none is planned.",
    "The promise was chosen with the rarest and most harmful values in mind.",
    "Columns that are published as they are single nobody out.",
    "The risks and attacks in this report are acceptable for this recipient and this use.",
    "The files that are handed over are those whose digests are in this report.",
)
FIELDS = (
    "Recipient",
    "Purpose",
    "Access (public, contract, safe room)",
    "Review date",
    "Name and role",
    "Date and signature",
)


def officer_part(evidence: Evidence, attacks: AttackReport | None, no_attacks: str, left_out: str) -> dict[str, Any]:
    """Return what the template shows to an officer."""
    return {
        "before": evidence.original_risk is not None,
        "risks": list(_risks(evidence)),
        "inferences": [_inference(column) for column in evidence.protected],
        "near": _near(evidence.facts),
        "questions": list(_questions(evidence)),
        "size_picture": _size_picture(evidence),
        "worst_classes": list(_worst_classes(evidence)),
        "attacks": None if attacks is None else [_attack(result) for result in attacks.results],
        "attack_picture": None if attacks is None else _attack_picture(attacks),
        "attacks_left_out": left_out,
        "no_attacks": no_attacks,
        "checklist": CHECKLIST,
        "fields": FIELDS,
    }


def _risks(evidence: Evidence) -> Iterator[dict[str, Any]]:
    after, before = evidence.risk, evidence.original_risk

    def row(key: str, name: str, meaning: str, is_of_people: bool = False) -> dict[str, Any]:
        def shown(risk: Risk | None) -> str:
            if risk is None:
                return ""
            share = _figure(risk, key)
            return share_of_people(share, risk.rows) if is_of_people else percent(share)

        return {
            "key": key,
            "name": name,
            "value": None if is_of_people and is_few(_figure(after, key), after.rows) else _figure(after, key),
            "before": shown(before),
            "after": shown(after),
            "meaning": meaning,
        }

    yield row("prosecutor_maximum", "Prosecutor, greatest", "for the person who is easiest to find")
    yield row("prosecutor_average", "Prosecutor, average", "for a random person who is known to be in the table")
    if after.journalist_maximum is not None:
        yield row("journalist_maximum", "Journalist, greatest", "for a person of the population, easiest to find")
        yield row("journalist_average", "Journalist, average", "for a random person of the population")
    yield row("marketer", "Marketer", "the share of rows that a reader links rightly who links all of them")
    yield row("unique", "Unique rows", "the share of people who are alone with their quasi-identifiers", True)
    for threshold in after.above:
        name = threshold_name(threshold)
        alike = f"the share of people with fewer than {people_enough(threshold):,} who look alike"
        yield row(f"above.{name}", f"Above {name}", alike, True)


def _figure(risk: Risk, key: str) -> float:
    if key.startswith("above."):
        return risk.above[float(key.removeprefix("above."))]
    return float(getattr(risk, key))


def _inference(column: ProtectedColumn) -> dict[str, str]:
    found = column.inference
    gain = "infinite" if found.largest_gain is None else number(found.largest_gain)
    return {"name": column.name, "surest": at_most(found.surest_guess), "gain": gain}


def _near(facts: Certificate) -> str:
    """Say how many people are in classes that come near the limit."""
    if facts.risk is None or facts.risk.near_promise is None:
        return ""
    share = share_of_people(facts.risk.near_promise / facts.release.rows, facts.release.rows)
    unit = "People" if facts.people is None else "Rows"
    return f"{unit} in classes that use at least 90 % of what the promise allows: {share}."


def _questions(evidence: Evidence) -> Iterator[dict[str, str]]:
    """Answer the three questions that European regulators ask of anonymous data; inference for each column."""
    exact = " Rows are exact, so the release does not hinder this." if is_exact(evidence.facts) else ""
    names = [column.name for column in evidence.protected]
    for place, column in enumerate(evidence.protected):
        asked = three_questions(evidence.risk, column.inference, evidence.original_risk)
        for question in asked if place == 0 else asked[2:]:
            of_column = f" of {column.name}" if len(names) > 1 and question is asked[2] else ""
            answer = f"{question.sentence[0].upper()}{question.sentence[1:]}.{'' if question is asked[2] else exact}"
            yield {"name": f"{question.name.capitalize()}{of_column}", "answer": answer}


def _size_picture(evidence: Evidence) -> InlinePicture:
    sizes = {"release": evidence.sizes}
    if evidence.original_sizes is not None:
        sizes["original"] = evidence.original_sizes
    unit, one = ("people", "person") if evidence.facts.people is None else ("rows", "row")
    caption = f"How many {unit} share a {one}'s quasi-identifiers: share of {unit} by the size of their class"
    smallest = people(int(evidence.sizes.min()))
    description = f"The smallest class of the release has {smallest} {unit}; {len(evidence.sizes):,} classes."
    return InlinePicture(caption, pairs_picture(size_rows(sizes), "sizes", caption, description))


def size_rows(sizes: Mapping[str, Ints]) -> list[dict[str, Any]]:
    """Return the share of people in classes of each range of sizes; ranges with fewer than 3 people are joined."""
    ends = [1, *EDGES, 2**62]

    def people_in(of_classes: Ints, place: int) -> int:
        return int(of_classes[(of_classes >= ends[place]) & (of_classes < ends[place + 1])].sum())

    place = 0
    while place < len(ends) - 1 and len(ends) > 2:
        if any(0 < people_in(each, place) < FEWEST for each in sizes.values()):
            del ends[place + 1 if place + 2 < len(ends) else place]
            place = 0
        else:
            place += 1
    names = [*(f"{low} to {high - 1}" for low, high in itertools.pairwise(ends[:-1])), f"{ends[-2]:,} or more"]
    return [
        {"label": name, "share": people_in(each, place) / int(each.sum()), "series": series}
        for series, each in sizes.items()
        for place, name in enumerate(names)
    ]


def _worst_classes(evidence: Evidence) -> Iterator[dict[str, Any]]:

    def is_shown(it: ExposedClass) -> bool:
        return evidence.facts.people is None and it.count >= FEWEST

    for column in evidence.protected:
        if column.classes is not None:
            shown = [
                {
                    "size": people(it.size) if is_shown(it) else "left out",
                    "prior": percent(it.prior) if it.prior * evidence.facts.release.rows >= FEWEST else "left out",
                    "posterior": percent(it.posterior),
                    "cap": "none" if it.cap is None else percent(it.cap),
                }
                for it in column.worst_classes
            ]
            yield {"name": column.name, "classes": shown}


def _attack(result: AttackResult) -> dict[str, str]:
    if result.success is None or result.baseline is None or result.control is None:
        return {"name": result.name, "success": "", "finding": f"Does not apply: {result.refusal}"}
    is_gain = result.is_significant and (result.gain or 0) > 0
    return {
        "name": result.name,
        "success": _in_hundred(result.success.rate),
        "interval": f"{_in_hundred(result.success.low)} to {_in_hundred(result.success.high)}",
        "baseline": _in_hundred(result.baseline.rate),
        "control": _in_hundred(result.control.rate),
        "gain": f"{100 * (result.gain or 0):.2f}" if is_gain else "none",
        "finding": result.sentence,
    }


def _in_hundred(rate: float) -> str:
    """Return a share in per cent without the sign, for a table that is narrow on a phone."""
    return percent(rate).removesuffix(" %")


def _attack_picture(attacks: AttackReport) -> InlinePicture | None:
    rows: list[dict[str, Any]] = [
        {
            "attack": it.name,
            "success": it.success.rate,
            "low": it.success.low,
            "high": it.success.high,
            "baseline": it.baseline.rate,
            "control": it.control.rate,
        }
        for it in attacks.results
        if it.success is not None and it.baseline is not None and it.control is not None
    ]
    if not rows:
        return None
    caption = "Share of people whose value is guessed right, with 95 % intervals"
    best = max(rows, key=lambda row: row["success"] - max(row["baseline"], row["control"]))
    description = (
        f"{len(rows)} attacks. The one that gains most is {best['attack']}: {percent(best['success'])}, against "
        f"{percent(best['baseline'])} without the release and {percent(best['control'])} in the control."
    )
    return InlinePicture(caption, rates_picture(rows, "attacks", caption, description))
