"""What a data-protection officer sees: risks before and after, the worst classes, attacks, and a checklist."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from betalike.measures.alike import LookAlikes, safe_cuts
from betalike.measures.phrases import LEFT_OUT, at_most, is_few, number, people, percent, share_of_people
from betalike.measures.risk import Risk, people_enough, shown_cuts, shown_shares, three_questions, threshold_name
from betalike.release.recount import is_exact
from betalike.report.common_part import InlinePicture
from betalike.report.evidence import Evidence, ProtectedColumn
from betalike.report.pictures import pairs_picture, rates_picture

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
FEW_GUESSED = "Its figures are left out, because they would show fewer than 3 people."
FIELDS = (
    "Recipient",
    "Purpose",
    "Access (public, contract, safe room)",
    "Review date",
    "Name and role",
    "Date and signature",
)


def officer_part(evidence: Evidence, attacks: AttackReport | None, no_attacks: str) -> dict[str, Any]:
    """Return what the template shows to an officer."""
    return {
        "before": evidence.original_risk is not None,
        "risks": list(_risks(evidence)),
        "inferences": [_inference(evidence, column) for column in evidence.protected],
        "near": _near(evidence),
        "questions": list(_questions(evidence)),
        "size_picture": _size_picture(evidence),
        "worst_classes": list(_worst_classes(evidence)),
        "attacks": None if attacks is None else [_attack(result) for result in attacks.results],
        "attack_picture": None if attacks is None else _attack_picture(attacks),
        "no_attacks": no_attacks,
        "checklist": CHECKLIST,
        "fields": FIELDS,
    }


def _risks(evidence: Evidence) -> Iterator[dict[str, Any]]:
    after, before = evidence.risk, evidence.original_risk
    shares = {id(risk): shown_shares(risk) for risk in (after, before) if risk is not None}

    def row(key: str, name: str, meaning: str) -> dict[str, Any]:
        def shown(risk: Risk | None) -> str:
            if risk is None:
                return ""
            return shares[id(risk)].get(key) or percent(_figure(risk, key))

        return {
            "key": key,
            "name": name,
            "value": _figure(after, key) if shown(after)[:1].isdigit() else None,
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
    yield row("unique", "Unique rows", "the share of people who are alone with their quasi-identifiers")
    for threshold in after.above:
        name = threshold_name(threshold)
        alike = f"the share of people with fewer than {people_enough(threshold):,} who look alike"
        yield row(f"above.{name}", f"Above {name}", alike)


def _figure(risk: Risk, key: str) -> float:
    if key.startswith("above."):
        return risk.above[float(key.removeprefix("above."))]
    return float(getattr(risk, key))


def _inference(evidence: Evidence, column: ProtectedColumn) -> dict[str, str]:
    found = evidence.inference(column)
    gain = "infinite" if found.largest_gain is None else number(found.largest_gain)
    return {"name": column.name, "surest": at_most(found.surest_guess), "gain": gain}


def _near(evidence: Evidence) -> str:
    """Say how many people are in classes that come near the limit."""
    facts = evidence.facts
    if facts.risk.near_promise is None:
        return ""
    share = facts.risk.near_promise / facts.release.rows
    unit, shown = "People", share_of_people(share, facts.release.rows)
    if facts.people is not None:
        unit, shown = "Rows", LEFT_OUT if evidence.are_people_few(share) else percent(share)
    return f"{unit} in classes that use at least 90 % of what the promise allows: {shown}."


def _questions(evidence: Evidence) -> Iterator[dict[str, str]]:
    """Answer the three questions that European regulators ask of anonymous data; inference for each column."""
    exact = " Rows are exact, so the release does not hinder this." if is_exact(evidence.facts) else ""
    names = [column.name for column in evidence.protected]
    for place, column in enumerate(evidence.protected):
        asked = three_questions(evidence.risk, evidence.inference(column), evidence.original_risk)
        for question in asked if place == 0 else asked[2:]:
            of_column = f" of {column.name}" if len(names) > 1 and question is asked[2] else ""
            answer = f"{question.sentence[0].upper()}{question.sentence[1:]}.{'' if question is asked[2] else exact}"
            yield {"name": f"{question.name.capitalize()}{of_column}", "answer": answer}


def _size_picture(evidence: Evidence) -> InlinePicture | None:
    """Draw the sizes of classes; None if people are counted, and the original that names them is not given."""
    alike = evidence.alike
    if "release" not in alike:
        return None
    caption = "How many people share a person's quasi-identifiers: share of people by the size of their class"
    smallest = people(int(alike["release"].numbers[0]))
    description = f"The smallest class of the release has {smallest} people; {len(evidence.sizes):,} classes."
    risks = {"release": evidence.risk, "original": evidence.original_risk}
    known = {name: shown_cuts(risk) for name, risk in risks.items() if risk is not None and name in alike}
    return InlinePicture(caption, pairs_picture(size_rows(alike, known), "sizes", caption, description))


def size_rows(
    alike: Mapping[str, LookAlikes], shown: Mapping[str, Sequence[int]] | None = None
) -> list[dict[str, Any]]:
    """Return the share of people in classes of each range of sizes.

    Ranges are joined until no difference between them, or from the figures that are `shown` elsewhere, is one or two
    people. Those have people with fewer look-alikes than some number.
    """
    known = {name: list((shown or {}).get(name, ())) for name in alike}
    series = [
        ({cut: each.fewer_than(cut) for cut in (*EDGES, *known[name])}, each.n_people) for name, each in alike.items()
    ]
    ends = [1, *safe_cuts(series, EDGES, list(known.values())), 2**62]
    largest = max(int(each.numbers[-1]) for each in alike.values())
    ends = [end for end in ends[:-1] if end <= largest] + ends[-1:]  # no empty ranges behind the largest class
    names = [*(f"{low} to {high - 1}" for low, high in itertools.pairwise(ends[:-1])), f"{ends[-2]:,} or more"]
    return [
        {"label": name, "share": (each.fewer_than(high) - each.fewer_than(low)) / each.n_people, "series": series}
        for series, each in alike.items()
        for name, (low, high) in zip(names, itertools.pairwise(ends), strict=True)
    ]


def _worst_classes(evidence: Evidence) -> Iterator[dict[str, Any]]:
    for column in evidence.protected:
        worst = evidence.worst_classes(column)
        if worst is not None:
            shown = [
                {
                    "size": f"{it.size:,}",
                    "prior": percent(it.prior),
                    "posterior": percent(it.posterior),
                    "cap": "none" if it.cap is None else percent(it.cap),
                }
                for it in worst
            ]
            yield {"name": column.name, "classes": shown}


def _attack(result: AttackResult) -> dict[str, str]:
    if result.success is None or result.baseline is None or result.control is None:
        return {"name": result.name, "success": "", "finding": f"Does not apply: {result.refusal}"}
    is_gain = result.is_significant and (result.gain or 0) > 0
    rates = (result.success.rate, result.baseline.rate, result.control.rate)
    if any(is_few(rate, result.people) for rate in rates):
        return {"name": result.name, "success": "", "finding": FEW_GUESSED}
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
        if not any(is_few(rate.rate, it.people) for rate in (it.success, it.baseline, it.control))
    ]
    if not rows:
        return None
    caption = "Share of rows whose value is guessed right, with 95 % intervals"
    best = max(rows, key=lambda row: row["success"] - max(row["baseline"], row["control"]))
    description = (
        f"{len(rows)} attacks. The one that gains most is {best['attack']}: {percent(best['success'])}, against "
        f"{percent(best['baseline'])} without the release and {percent(best['control'])} in the control."
    )
    return InlinePicture(caption, rates_picture(rows, "attacks", caption, description))
