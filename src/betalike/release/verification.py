"""What a release must be to be published: it was counted anew, and keeps its promise.

Only the functions here can make a `Verified`, and a release is published with nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from betalike.engines.engine import ExactRecount, Layout, Recount
from betalike.errors import GuaranteeError, InternalError
from betalike.measures.audit import Audit, measure, measure_perturbed, measure_withheld, put_together
from betalike.measures.loss import Loss, average_loss
from betalike.promises import Likeness, Model, Transition, Verdict, judge_transition
from betalike.promises.verdict import one_class, wording, worst_verdict
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis, OrderedAxis
from betalike.table.cells import Cells, Plan, TableSummary, ValueCounts, fold

OTHER_LABELS = "the labels that were written are not those planned. Nothing was published."
OTHER_VALUES = (
    "the sensitive values that were written are not those of the table. Nothing was published. This is a fault of "
    "betalike, or of the disk."
)
FALSE_ALARM = 1e-12  # the chance that honest draws are taken for wrong ones


@dataclass(frozen=True)
class PlannedLabels:
    """The labels that a plan gives its classes, and how many rows each class has."""

    labels: list[list[str | None]]
    sizes: NDArray[np.int64]

    @staticmethod
    def of(plan: Plan, layout: Layout) -> PlannedLabels:
        """The labels of each class of a plan, from its box."""
        low, high = (side.astype(np.int64) for side in plan.boxes)
        axes = enumerate(plan.cells.axes)
        return PlannedLabels(
            [planned_labels(axis, low[:, i], high[:, i], layout) for i, axis in axes], plan.class_counts.sizes
        )

    def are_in(self, recount: Recount, axes: Sequence[Axis]) -> bool:
        """Whether just as many rows carry each combination of labels."""
        codes = [_number_labels(axis, [*p, *r]) for axis, p, r in zip(axes, self.labels, recount.labels, strict=True)]
        _, combination = fold(codes, [int(column.max()) + 1 for column in codes])
        n_planned, n_combinations = len(self.sizes), int(combination.max()) + 1
        planned = np.bincount(combination[:n_planned], self.sizes, n_combinations)
        found = np.bincount(combination[n_planned:], recount.classes.sizes, n_combinations)
        return np.array_equal(planned, found)


def planned_labels(axis: Axis, low: NDArray[np.int64], high: NDArray[np.int64], layout: Layout) -> list[str | None]:
    """Labels of ranges of codes; two bounds are joined to a range."""
    if layout is Layout.LABELS or not isinstance(axis, OrderedAxis):
        return axis.labels(low, high)
    ends = zip(*axis.bounds(low, high), strict=True)
    return [None if a is None else str(a) if a == b else f"[{a}, {b}]" for a, b in ends]


def _number_labels(axis: Axis, labels: Sequence[str | None]) -> NDArray[np.int64]:
    """Number labels by what they stand for; the form of a number does not matter."""
    distinct = list(dict.fromkeys(labels))
    numbers: dict[object, int] = {}
    number_of = {
        label: numbers.setdefault(meaning, len(numbers))
        for label, meaning in zip(distinct, axis.meanings(distinct), strict=True)
    }
    return np.array([number_of[label] for label in labels], dtype=np.int64)


_SEAL = object()


@dataclass(frozen=True)
class Classes:
    """What was found of the classes of a release: their sizes, and the labels that each quasi-identifier shows."""

    sizes: Ints
    shown: list[set[str]]


@dataclass(frozen=True)
class Verified:
    """A release that was counted anew and found to keep its promise; `classes` is None if it has none."""

    verdict: Verdict
    audit: Audit
    loss: Loss
    classes: Classes | None
    seal: object

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise InternalError("only a verifier makes a Verified release.")


def verify(recount: Recount, cells: Cells, model: Model, planned: PlannedLabels | None = None) -> Verified:
    """Check a recounted release: its sensitive values are the table's, its labels the planned ones, its promise kept.

    Raises GuaranteeError, so that nothing is published, if any of this fails.
    """
    verified = verify_parts([recount], cells, model)
    if planned is not None and not planned.are_in(recount, cells.axes):
        raise GuaranteeError(OTHER_LABELS)
    return verified


def verify_parts(recounts: Iterable[Recount], cells: Cells, model: Model) -> Verified:
    """Check a release that was counted in parts; the rows of a class are all in one part.

    Raises GuaranteeError, so that nothing is published, if a part breaks the promise, or if all parts together do not
    have the sensitive values of the table.
    """
    parts = []
    value_counts = np.zeros_like(cells.value_counts)
    for recount in recounts:
        if recount.n_unknown:
            raise GuaranteeError(OTHER_VALUES)
        value_counts += recount.classes.value_counts
        parts.append(_verify_part(recount, cells, model))
    if not np.array_equal(value_counts, cells.value_counts):
        raise GuaranteeError(OTHER_VALUES)
    return parts[0] if len(parts) == 1 else _put_together(parts, cells)


def _put_together(parts: Sequence[Verified], cells: Cells) -> Verified:
    rows = np.array([part.audit.rows for part in parts], dtype=np.float64)
    losses = np.array([[part.loss.per_attribute[axis.name] for axis in cells.axes] for part in parts])
    found = [part.classes for part in parts if part.classes is not None]
    classes = Classes(
        np.concatenate([part.sizes for part in found]),
        [set[str]().union(*(part.shown[i] for part in found)) for i in range(len(cells.axes))],
    )
    return Verified(
        worst_verdict([part.verdict for part in parts]),
        put_together([part.audit for part in parts]),
        average_loss([axis.name for axis in cells.axes], losses, rows, cells.weights),
        classes,
        _SEAL,
    )


def _verify_part(recount: Recount, cells: Cells, model: Model) -> Verified:
    classes = recount.classes
    verdict = model.judge(classes, cells.value_counts, cells.sensitive)
    if not verdict.holds:
        raise GuaranteeError(
            f"a class of {int(classes.sizes[verdict.worst_class])} rows would break the promise ({wording(model)}). "
            "Nothing was published. This is a fault of betalike; another scheme may work meanwhile."
        )
    names = [axis.name for axis in cells.axes]
    losses = np.column_stack(
        [_label_losses(axis, labels) for axis, labels in zip(cells.axes, recount.labels, strict=True)]
    )
    loss = average_loss(names, losses, classes.sizes, cells.weights)
    shown = [_worth_telling(axis, labels) for axis, labels in zip(cells.axes, recount.labels, strict=True)]
    audit = measure(classes, cells.value_counts, cells.sensitive)
    return Verified(verdict, audit, loss, Classes(classes.sizes, shown), _SEAL)


def _worth_telling(axis: Axis, labels: Sequence[str | None]) -> set[str]:
    """The distinct labels of a quasi-identifier; of numbers and dates, those at the ends of the domain."""
    shown = [label for label in dict.fromkeys(labels) if label is not None]
    if not isinstance(axis, OrderedAxis):
        return set(shown)
    ends = zip(shown, axis.meanings(shown), strict=True)
    return {label for label, ends in ends if isinstance(ends, tuple) and {*ends} & {*axis.domain}}


def _label_losses(axis: Axis, labels: Sequence[str | None]) -> Any:
    distinct = list(dict.fromkeys(labels))
    try:
        losses = dict(zip(distinct, axis.label_losses(distinct), strict=True))
    except (KeyError, ValueError) as error:
        raise GuaranteeError(
            f"a label written for '{axis.name}' cannot be read back. Nothing was published."
        ) from error
    return np.array([losses[label] for label in labels])


def verify_perturbed(
    recount: ExactRecount, written: Transition, used: Transition, margins: ValueCounts, model: Likeness
) -> Verified:
    """Check a perturbed release: exact rows, the matrix that was drawn with, draws that fit it, its promise kept.

    Raises GuaranteeError, so that nothing is published, if any of this fails. Paper: Definition 6.
    """
    _check_exact(recount, margins)
    if not np.array_equal(written.units, used.units):
        raise GuaranteeError("the matrix that was written is not the one that was used. Nothing was published.")
    if recount.n_unknown or recount.moves is None:
        raise GuaranteeError("the sensitive values that were written are not those drawn. Nothing was published.")
    expected = margins.value_counts[:, None] * used.probabilities
    if not are_plausible(recount.moves, expected, margins.value_counts[:, None]):
        raise GuaranteeError(
            "the sensitive values that were written do not look as if they were drawn with the matrix. Nothing was "
            "published. This is a fault of betalike."
        )
    verdict = judge_transition(model, written, margins.value_counts, margins.sensitive)
    if not verdict.holds:
        raise GuaranteeError(
            f"a published value would break the promise ({wording(model)}). Nothing was published. This is a fault "
            "of betalike; another scheme may work meanwhile."
        )
    audit = measure_perturbed(written, margins.value_counts, margins.sensitive)
    return Verified(verdict, audit, _no_loss(margins), None, _SEAL)


def verify_withheld(recount: ExactRecount, told: Ints, margins: ValueCounts, model: Likeness) -> Verified:
    """Check rows that come without their sensitive value: exact rows, no sensitive column, a true distribution.

    Raises GuaranteeError, so that nothing is published, if any of this fails. Paper: 6.3, Baseline.
    """
    _check_exact(recount, margins)
    if recount.moves is not None:
        raise GuaranteeError("the sensitive column was written. Nothing was published. This is a fault of betalike.")
    if not np.array_equal(told, margins.value_counts):
        raise GuaranteeError("the distribution that was written is not that of the table. Nothing was published.")
    verdict = judge_withheld(margins.value_counts, model, margins.sensitive)
    audit = measure_withheld(margins.value_counts, margins.sensitive)
    return Verified(verdict, audit, _no_loss(margins), None, _SEAL)


def judge_withheld(counts: Ints, model: Likeness, sensitive: Axis) -> Verdict:
    """The verdict where everybody's posterior is the prior: as if all rows were one class."""
    return model.judge(one_class(counts), counts, sensitive)


def are_plausible(counted: Ints, expected: NDArray[np.float64], n_draws: Ints) -> bool:
    """Whether counts could come from draws with these expectations; honest ones fail once in 1e12 releases.

    Bernstein's inequality for each count, and a share of the false alarms for each.
    """
    chance = np.log(2 * counted.size / FALSE_ALARM)
    variance = expected * (1 - expected / n_draws)
    most = chance / 3 + np.sqrt(chance**2 / 9 + 2 * variance * chance)
    return bool((np.abs(counted - expected) <= most + 1e-6).all())


def _check_exact(recount: ExactRecount, margins: ValueCounts) -> None:
    if recount.n_rows != margins.n_rows or recount.n_changed:
        raise GuaranteeError(
            "the quasi-identifiers that were written are not those of the table. Nothing was published. This is a "
            "fault of betalike, or of the disk."
        )


def _no_loss(outline: TableSummary) -> Loss:
    return Loss({axis.name: 0.0 for axis in outline.axes}, 0.0)
