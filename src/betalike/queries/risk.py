"""What a release risks, before and after: the same measures on the original table and on the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from betalike.io.tables import Frame
from betalike.measures.risk import (
    THRESHOLDS,
    Inference,
    Question,
    Risk,
    infer_from_chances,
    measure_inference,
    measure_risk,
    three_questions,
)
from betalike.queries.completion import Completion
from betalike.queries.estimator import Estimator
from betalike.queries.original import codes_of_original, count_original
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
    """Risks of the original table (`before`, None if it was not given) and of its release (`after`)."""

    before: RiskFigures | None
    after: RiskFigures

    def _summary(self) -> Row:
        risk, inference = self.after.risk, self.after.inference
        return {
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
        return {"before": None if self.before is None else self.before.to_dict(), "after": self.after.to_dict()}


def report_risk(
    release: Estimator,
    original: Frame | None = None,
    *,
    population: int | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
) -> RiskReport:
    """Measure the risks of a release, and with the original table those that it had before."""
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
    cells, labels = count_original(release, original, missing, delimiter)
    code = codes_of_original(release, cells, labels)
    before = ClassCounts.of(cells.point, code, cells.count, len(counts))
    found = measure_inference(before, counts, _near(release, before))
    return RiskReport(RiskFigures(identify(before), found), figures)


def _near(release: Estimator, classes: ClassCounts) -> int | None:
    """Count the people in classes that reach 90 % of the release's promise, or break it."""
    model = promised_model(release.certificate)
    axis = promised_axis(release.certificate, model)
    return model.judge(classes, release.counts.astype(np.int64), axis).near_rows
