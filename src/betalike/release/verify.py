"""Verify a release before it is published: recount what was written, and check that it keeps its promise.

Only the functions here make a `Verified`, and nothing else is published. The same functions measure the figures when a
release folder is verified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.dictionary import Dictionary
from betalike.engines.engine import ExactRecount, Recount, SingledOut
from betalike.engines.labels import label_series
from betalike.engines.real_labels import has_real_labels, read_reals
from betalike.errors import GuaranteeError, InternalError
from betalike.measures.audit import Audit, measure, measure_perturbed, measure_withheld, put_together
from betalike.measures.loss import Loss, average_loss
from betalike.measures.risk import PeopleRisk
from betalike.promises import Likeness, Model, Transition, Verdict, judge_transition
from betalike.promises.people import PeopleVerdict
from betalike.promises.verdict import one_class, wording, worst_verdict
from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.table.axis import Axis, OrderedAxis
from betalike.table.cells import Cells, ClassCounts, Plan, TableSummary, ValueCounts, fold
from betalike.table.hierarchy import ROOT

OTHER_LABELS = "the labels that were written are not those planned. Nothing was published."
OTHER_VALUES = (
    "the sensitive values that were written are not those of the table. Nothing was published. This is a fault of "
    "betalike, or of the disk."
)
LABEL, ROWS = "label", "rows"
FALSE_ALARM = 1e-12  # the chance that honest draws are taken for wrong ones


@dataclass(frozen=True)
class SensitiveCounts:
    """How often each sensitive value occurs, and the axes along which a promise and an audit measure distances.

    `order` has the places of the values along the audit's axis, if that is not the order of the counts.
    """

    counts: Ints
    promised: Axis
    audited: Axis
    order: Ints | None = None

    @staticmethod
    def of(table: TableSummary) -> SensitiveCounts:
        """Return the values of a table."""
        return SensitiveCounts(table.value_counts, table.sensitive, table.sensitive)

    def judge_classes(self, classes: ClassCounts, model: Model) -> tuple[Verdict, Audit]:
        """Decide whether classes keep a promise, and measure what else they reach."""
        placed = classes
        if self.order is not None:
            place = np.argsort(self.order)
            placed = ClassCounts.of(classes.ec, place[classes.value], classes.count, classes.n_values)
        audit = measure(placed, self._ordered_counts, self.audited)
        return model.judge(classes, self.counts, self.promised), audit

    def judge_matrix(self, transition: Transition, model: Likeness) -> tuple[Verdict, Audit]:
        """Decide whether values that are drawn with a matrix keep a promise. Paper: Definition 6."""
        placed = transition
        if self.order is not None:
            placed = Transition(transition.units[self.order])
        audit = measure_perturbed(placed, self._ordered_counts, self.audited)
        return judge_transition(model, transition, self.counts, self.promised), audit

    def judge_prior(self, model: Likeness) -> tuple[Verdict, Audit]:
        """Decide whether the distribution alone keeps a promise: everybody's posterior is the prior."""
        verdict = model.judge(one_class(self.counts), self.counts, self.promised)
        return verdict, measure_withheld(self._ordered_counts, self.audited)

    @property
    def _ordered_counts(self) -> Ints:
        return self.counts if self.order is None else self.counts[self.order]


@dataclass(frozen=True)
class ClassLabels:
    """The sizes of a release's classes, and the labels that each quasi-identifier shows."""

    sizes: Ints
    shown: list[set[str]]


@dataclass(frozen=True)
class PeopleFigures:
    """What was counted in people: the verdict, how many have each value, and each set of values that is promised.

    `promise` is the one that was judged: its caps may be those that a certificate lists for people.
    """

    column: str
    verdict: PeopleVerdict
    value_counts: Ints
    totals: Ints
    promise: Model
    risk: PeopleRisk


@dataclass(frozen=True)
class Figures:
    """What was measured on a release.

    `classes` is None if it has none, `people` if no column names persons, `singled_out` if no column is kept.
    """

    verdict: Verdict
    audit: Audit
    loss: Loss
    classes: ClassLabels | None
    people: PeopleFigures | None = field(default=None, kw_only=True)
    singled_out: SingledOut | None = field(default=None, kw_only=True)


_SEAL = object()


@dataclass(frozen=True)
class Verified(Figures):
    """The figures of a release that was recounted and found to keep its promise."""

    seal: object

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise InternalError("only a verifier makes a Verified release.")


@dataclass(frozen=True)
class PlannedLabels:
    """The labels that a plan gives its classes, and how many rows each class has."""

    labels: list[pl.Series]
    sizes: Ints

    @staticmethod
    def of(plan: Plan) -> PlannedLabels:
        """Return the labels of each class of a plan, from its box."""
        return PlannedLabels(label_series(plan), plan.class_counts.sizes)

    def are_in(self, recount: Recount, axes: Sequence[Axis]) -> bool:
        """Whether each combination of labels has as many rows as planned.

        Labels are compared by what they stand for only if they differ as texts, because reading many numbers is slow.
        """
        labels = [pl.concat(pair) for pair in zip((c.rename("") for c in self.labels), recount.labels, strict=True)]
        if self._match([_number_texts(texts) for texts in labels], recount):
            return True
        meanings = (axis.meanings(texts.to_list()) for axis, texts in zip(axes, labels, strict=True))
        return self._match([_number(of_labels) for of_labels in meanings], recount)

    def _match(self, codes: Sequence[NDArray[np.integer]], recount: Recount) -> bool:
        """Whether each combination of codes has as many rows as planned; codes of planned labels come first."""
        _, combination = fold(codes, [int(column.max()) + 1 for column in codes])
        n_planned, n_combinations = len(self.sizes), int(combination.max()) + 1
        planned = np.bincount(combination[:n_planned], self.sizes, n_combinations)
        found = np.bincount(combination[n_planned:], recount.classes.sizes, n_combinations)
        return np.array_equal(planned, found)


def _number_texts(texts: pl.Series) -> Ids:
    """Number distinct texts; an empty one is not the same as none."""
    known = Dictionary()
    numbers = known.number(texts)
    numbers[(texts == "").fill_null(False).to_numpy()] = known.size
    return numbers


def _number(items: Sequence[object]) -> Ints:
    """Number distinct items in the order in which they first occur."""
    numbers = {item: number for number, item in enumerate(dict.fromkeys(items))}
    return np.array([numbers[item] for item in items], dtype=np.int64)


def verify(recount: Recount, cells: Cells, model: Model, planned: PlannedLabels | None = None) -> Verified:
    """Check a recounted release: its sensitive values are the table's, its labels the planned ones, its promise kept.

    Raises GuaranteeError, so that nothing is published, if any of this fails.
    """
    found = tally([recount], SensitiveCounts.of(cells), model)
    if found.n_unknown:
        raise GuaranteeError(OTHER_VALUES)
    if not found.verdict.holds:
        raise GuaranteeError(
            f"a class of {int(found.sizes[found.verdict.worst_class])} rows would break the promise "
            f"({wording(model)}). Nothing was published. This is a fault of betalike; another scheme may work "
            "meanwhile."
        )
    if not np.array_equal(found.value_counts, cells.value_counts):
        raise GuaranteeError(OTHER_VALUES)
    columns = list(zip(cells.axes, found.labels, strict=True))
    losses, shown = zip(*(_read_labels(axis, *rows) for axis, rows in columns), strict=True)
    loss = average_loss([axis.name for axis in cells.axes], np.array([losses]), np.ones(1), cells.weights)
    if planned is not None and not planned.are_in(recount, cells.axes):
        raise GuaranteeError(OTHER_LABELS)
    return Verified(found.verdict, found.audit, loss, ClassLabels(found.sizes, [*shown]), _SEAL)


def verify_people(verified: Verified, people: PeopleFigures | None, model: Model) -> Verified:
    """Add what was counted in people; refuse a release whose rows were not found in the table, or a broken promise."""
    if people is None:
        raise GuaranteeError(OTHER_LABELS)
    if not people.verdict.holds:
        raise GuaranteeError(
            f"a class would break the promise ({wording(model)}) in people. Nothing was published. This is a fault of "
            "betalike; another scheme may work meanwhile."
        )
    return replace(verified, people=people)


@dataclass(frozen=True)
class ClassTally:
    """What was counted of all classes of a release: `labels` has each label of a quasi-identifier, and its rows."""

    verdict: Verdict
    audit: Audit
    sizes: Ints
    labels: list[tuple[pl.Series, Ints]]
    value_counts: Ints
    n_unknown: int


def tally(recounts: Iterable[Recount], values: SensitiveCounts, model: Model) -> ClassTally:
    """Judge and measure the classes of a release, part by part, and add up what was counted."""
    judged: list[tuple[Verdict, Audit]] = []
    sizes: list[Ints] = []
    labels: list[pl.DataFrame] = []
    value_counts, n_unknown = np.zeros_like(values.counts), 0
    for recount in recounts:
        judged.append(values.judge_classes(recount.classes, model))
        sizes.append(recount.classes.sizes)
        value_counts += recount.classes.value_counts
        n_unknown += recount.n_unknown
        here = [_add_up(of_classes, sizes[-1]) for of_classes in recount.labels]
        labels = [_add_up(*pl.concat(pair)) for pair in zip(labels, here, strict=True)] if labels else here
    verdicts, audits = zip(*judged, strict=True)
    rows = [(of_column[LABEL], of_column[ROWS].to_numpy()) for of_column in labels]
    return ClassTally(
        worst_verdict(verdicts), put_together(audits), np.concatenate(sizes), rows, value_counts, n_unknown
    )


def _add_up(labels: pl.Series, rows: Ints | pl.Series) -> pl.DataFrame:
    """Add up the rows of each label, in the order in which labels first occur."""
    together = pl.DataFrame([labels.alias(LABEL), pl.Series(ROWS, rows)])
    return together.group_by(LABEL, maintain_order=True).agg(pl.col(ROWS).sum())


def _read_labels(axis: Axis, labels: pl.Series, rows: Ints) -> tuple[float, set[str]]:
    """Return the average loss of labels, and those worth publishing: of an ordered axis, the ends of the domain."""
    try:
        if isinstance(axis, OrderedAxis):
            losses, shown = _read_reals(axis, labels) or axis.read_labels(labels.to_list())
        else:
            losses, shown = axis.label_losses(labels.to_list()), {*labels.drop_nulls()}
    except (KeyError, ValueError) as error:
        raise GuaranteeError(
            f"a label written for '{axis.name}' cannot be read back. Nothing was published."
        ) from error
    return _average(losses, rows), shown


def _read_reals(axis: OrderedAxis, labels: pl.Series) -> tuple[Floats, set[str]] | None:
    """Read many labels of real numbers at once; None if the axis has others, or one has to be read with more care."""
    read = read_reals(labels) if has_real_labels(axis) else None
    if read is None:
        return None
    is_shown, low, high = read
    losses = (labels == ROOT).fill_null(False).to_numpy().astype(np.float64)
    losses[is_shown], at_ends = axis.measure_ranges(low, high)
    return losses, {*labels.filter(pl.Series(is_shown)).gather(at_ends)}


def loss_of_labels(axis: Axis, rows: Mapping[str | None, int]) -> float:
    """Return the average loss of rows, from how many have each label. Paper: Eq. 2, 3 and 5."""
    return _average(axis.label_losses(list(rows)), np.array(list(rows.values()), dtype=np.int64))


def _average(losses: Floats, rows: Ints) -> float:
    return float(rows @ losses / rows.sum())


def verify_perturbed(
    recount: ExactRecount, written: Transition, used: Transition, table: ValueCounts, model: Likeness
) -> Verified:
    """Check a perturbed release: exact rows, the matrix that was drawn with, draws that fit it, its promise kept.

    Raises GuaranteeError, so that nothing is published, if any of this fails. Paper: Definition 6.
    """
    _check_exact(recount, table)
    if not np.array_equal(written.units, used.units):
        raise GuaranteeError("the matrix that was written is not the one that was used. Nothing was published.")
    if recount.n_unknown or recount.moves is None:
        raise GuaranteeError("the sensitive values that were written are not those drawn. Nothing was published.")
    expected = table.value_counts[:, None] * used.probabilities
    if not are_plausible(recount.moves, expected, table.value_counts[:, None]):
        raise GuaranteeError(
            "the sensitive values that were written do not look as if they were drawn with the matrix. Nothing was "
            "published. This is a fault of betalike."
        )
    verdict, audit = SensitiveCounts.of(table).judge_matrix(written, model)
    if not verdict.holds:
        raise GuaranteeError(
            f"a published value would break the promise ({wording(model)}). Nothing was published. This is a fault "
            "of betalike; another scheme may work meanwhile."
        )
    return Verified(verdict, audit, no_loss(table.axes), None, _SEAL)


def verify_withheld(recount: ExactRecount, written: Ints, table: ValueCounts, model: Likeness) -> Verified:
    """Check rows that come without their sensitive value: exact rows, no sensitive column, a true distribution.

    Raises GuaranteeError, so that nothing is published, if any of this fails. Paper: 6.3, Baseline.
    """
    _check_exact(recount, table)
    if recount.moves is not None:
        raise GuaranteeError("the sensitive column was written. Nothing was published. This is a fault of betalike.")
    if not np.array_equal(written, table.value_counts):
        raise GuaranteeError("the distribution that was written is not that of the table. Nothing was published.")
    return Verified(*SensitiveCounts.of(table).judge_prior(model), no_loss(table.axes), None, _SEAL)


def are_plausible(counted: Ints, expected: Floats, n_draws: Ints) -> bool:
    """Whether counts could come from draws with these expectations; honest ones fail once in 1e12 releases.

    Bernstein's inequality for each count, and a share of the false alarms for each.
    """
    chance = np.log(2 * counted.size / FALSE_ALARM)
    variance = expected * (1 - expected / n_draws)
    most = chance / 3 + np.sqrt(chance**2 / 9 + 2 * variance * chance)
    return bool((np.abs(counted - expected) <= most + 1e-6).all())


def _check_exact(recount: ExactRecount, table: ValueCounts) -> None:
    if recount.n_rows != table.n_rows or recount.n_changed:
        raise GuaranteeError(
            "the quasi-identifiers that were written are not those of the table. Nothing was published. This is a "
            "fault of betalike, or of the disk."
        )


def no_loss(axes: Sequence[Axis]) -> Loss:
    """Return the loss of a release with exact quasi-identifiers: none."""
    return Loss({axis.name: 0.0 for axis in axes}, 0.0)
