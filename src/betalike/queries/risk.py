"""What a release risks, before and after: the same measures on the original table and on the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from betalike.measures.alike import PeopleCounts
from betalike.measures.risk import (
    THRESHOLDS,
    Inference,
    PeopleRisk,
    Question,
    Risk,
    infer_from_chances,
    measure_inference,
    measure_risk,
    three_questions,
)
from betalike.measures.sample import Holders
from betalike.queries.completion import Completion
from betalike.queries.estimator import Estimator
from betalike.queries.original import CountedOriginal, codes_of_original
from betalike.queries.people_risk import classes_before, people_risk_before, risk_in_people
from betalike.release.certificate import Certificate
from betalike.release.promise import promised_axis, promised_model
from betalike.runtime.display import Row, Shown
from betalike.table.cells import ClassCounts


@dataclass(frozen=True)
class RiskFigures:
    """The risks of a table: of finding a person's row, and of guessing the sensitive value."""

    risk: Risk
    inference: Inference

    @property
    def questions(self) -> tuple[Question, ...]:
        """Singling out, linkability and inference, each with its figure and a sentence."""
        return three_questions(self.risk, self.inference)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        questions = [asdict(question) for question in self.questions]
        return {**self.risk.to_dict(), **asdict(self.inference), "questions": questions}


@dataclass(frozen=True, repr=False)
class RiskReport(Shown):
    """Risks of the original table (`before`, None if it was not given) and of its release (`after`).

    `unit` says what was counted. If a column of the original names the person of each row it is "people", and `in_rows`
    has the risks that are counted in rows.
    """

    before: RiskFigures | None
    after: RiskFigures
    unit: str = "rows"
    in_rows: RiskReport | None = None

    def _summary(self) -> Row:
        risk, inference = self.after.risk, self.after.inference
        return {
            "counted in": None if self.in_rows is None else self.unit,
            "average risk": risk.prosecutor_average,
            "maximum risk": risk.prosecutor_maximum,
            "unique": risk.unique,
            "surest guess": inference.surest_guess,
            "largest gain": inference.largest_gain,
        }

    def _parts(self) -> list[Row]:
        before = [None] * 3 if self.before is None else [question.figure for question in self.before.questions]
        return [
            {"question": question.name, "before": figure, "after": question.figure, "meaning": question.sentence}
            for question, figure in zip(self.after.questions, before, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures, before and after."""
        return {
            "before": None if self.before is None else self.before.to_dict(),
            "after": self.after.to_dict(),
            "unit": self.unit,
            "in_rows": None if self.in_rows is None else self.in_rows.to_dict(),
        }


def report_risk(
    release: Estimator,
    original: CountedOriginal | None = None,
    *,
    population: int | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
) -> RiskReport:
    """Measure the risks of a release in rows, and with the original table those that it had before."""
    after, counts = release.index.counts, release.counts.astype(np.int64)
    posterior = Completion(release).posterior

    def identify(classes: ClassCounts) -> Risk:
        return measure_risk(classes.sizes, population, thresholds)

    if posterior is None:
        inference = measure_inference(after, counts, _near(release, after))
    else:
        inference = infer_from_chances(posterior, after.value_counts, counts)
    figures = RiskFigures(identify(after), inference)
    if original is None:
        return RiskReport(None, figures)
    cells = original.cells
    code = codes_of_original(release, cells, original.labels)
    before = ClassCounts.of(cells.point, code, cells.count, len(counts))
    found = measure_inference(before, counts, _near(release, before))
    return RiskReport(RiskFigures(identify(before), found), figures)


def in_people(
    rows: RiskReport,
    facts: Certificate,
    found: PeopleRisk | None,
    original: CountedOriginal | None,
    population: int | None,
    thresholds: Sequence[float],
) -> RiskReport:
    """Return risks in people, of whom each may have several rows; without a count, those of the certificate."""
    people = facts.people
    if people is None:
        return rows
    asked = (population, thresholds)
    classes = facts.release.classes or 0
    after = RiskFigures(
        risk_in_people(found or people.risk, people, classes, *asked),
        Inference((found or people.risk).surest_guess, None, people.worst_gain),
    )
    before = None
    if original is not None:
        counted = people_risk_before(original, thresholds)
        risk = risk_in_people(counted, people, classes_before(original), *asked)
        before = RiskFigures(risk, Inference(counted.surest_guess, None, _gain(counted.counts, original)))
    return RiskReport(before, after, "people", rows)


def _gain(counts: PeopleCounts, original: CountedOriginal) -> float:
    """Return the greatest relative gain of a value in people, in the classes of the original table."""
    held = original.holders
    assert held is not None
    pairs = Holders.of(original.cells.value[held.row].astype(np.int64), held.person)
    prior = np.bincount(pairs.row) / len(np.unique(held.person))
    return float((counts.count / counts.sizes[counts.ec] / prior[counts.value]).max()) - 1


def _near(release: Estimator, classes: ClassCounts) -> int | None:
    """Count the people in classes that reach 90 % of the release's promise, or break it."""
    model = promised_model(release.certificate)
    axis = promised_axis(release.certificate, model)
    return model.judge(classes, release.counts.astype(np.int64), axis).near_rows
