"""From a plan to a verified release: generalize, write, count again what was written, and only then publish.

Only `verify` can make a `Verified`, and a release is published with nothing else.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import betalike
from betalike.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.certificate import (
    FILE_NAME,
    Certificate,
    Column,
    Levels,
    Promise,
    PublishedFile,
    ReleaseFacts,
    Scheme,
    TableFacts,
    Tool,
)
from betalike.errors import GuaranteeError, InternalError
from betalike.loss import Loss, average_loss
from betalike.measures import Audit, measure
from betalike.models import Likeness, Verdict
from betalike.progress import SILENT, Progress
from betalike.randomness import Randomness
from betalike.release_folder import check_free, sha256_of, staged
from betalike.table import Cells, ClassCounts, Plan, fold


class Format(StrEnum):
    """The file format of a release."""

    CSV = "csv"
    PARQUET = "parquet"


class Layout(StrEnum):
    """How a range is written: one label `[30, 45]`, or two columns `age_low` and `age_high`."""

    LABELS = "labels"
    BOUNDS = "bounds"


@dataclass(frozen=True)
class Recount:
    """What a published table holds, counted anew: classes by their labels, and the labels per quasi-identifier."""

    classes: ClassCounts
    labels: list[list[str | None]]
    n_unknown: int


class Engine(Protocol):
    """What carries rows: it counts cells, hands rows out to classes, writes them and counts what was written."""

    @property
    def sensitive_labels(self) -> list[str]:
        """The published form of each sensitive code."""
        ...

    def count_cells(self) -> Cells:
        """Fold the table into cells."""
        ...

    def assign(self, plan: Plan, randomness: Randomness) -> Any:
        """Give every row a class, at random within its cell."""
        ...

    def generalize(self, assignment: Any, layout: Layout) -> Any:
        """The release as rows."""
        ...

    def write(self, release: Any, path: Path, form: Format) -> None:
        """Write the release to a file."""
        ...

    def read_back(self, path: Path, form: Format, layout: Layout) -> Recount:
        """Count a written release again, from the file alone."""
        ...

    def count_again(self, release: Any, layout: Layout) -> Recount:
        """Count a release again that was not written to a file."""
        ...


class PlanningScheme(Protocol):
    """What forms classes from cells."""

    @property
    def name(self) -> str:
        """The scheme's name in a certificate."""
        ...

    @property
    def randomness(self) -> Randomness:
        """Where its random choices come from."""
        ...

    def plan(self, cells: Cells, model: Likeness, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise."""
        ...


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
class Verified:
    """A release that was counted anew and found to keep its promise."""

    verdict: Verdict
    audit: Audit
    loss: Loss
    recount: Recount
    seal: object

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise InternalError("only verify() makes a Verified release.")


class Stopwatch:
    """Seconds of each named step of a job, told to whoever watches its progress."""

    def __init__(self, progress: Progress = SILENT) -> None:
        self.seconds: dict[str, float] = {}
        self.progress = progress

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure one step."""
        self.progress.start(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - start, 4)


@dataclass(frozen=True)
class Job:
    """How a table is to be published."""

    scheme: PlanningScheme
    model: Likeness
    layout: Layout = Layout.LABELS
    form: Format = Format.CSV
    kept: tuple[str, ...] = ()


@dataclass(frozen=True)
class Published:
    """A published release: its rows, its proof, and its folder if it was written."""

    rows: Any
    verified: Verified
    certificate: Certificate


def verify(recount: Recount, cells: Cells, model: Likeness, planned: PlannedLabels | None = None) -> Verified:
    """Check a recounted release: its sensitive values are the table's, its labels the planned ones, its promise kept.

    Raises GuaranteeError, so that nothing is published, if any of this fails.
    """
    classes = recount.classes
    if recount.n_unknown or not np.array_equal(classes.value_counts, cells.value_counts):
        raise GuaranteeError(
            "the sensitive values that were written are not those of the table. Nothing was published. This is a fault "
            "of betalike, or of the disk."
        )
    verdict = model.judge(classes, cells.value_counts)
    if not verdict.holds:
        raise GuaranteeError(
            f"a class of {int(classes.sizes[verdict.worst_class])} rows would break the promise (beta {model.beta}, "
            f"k {model.k}). Nothing was published. This is a fault of betalike; another scheme may work meanwhile."
        )
    names = [axis.name for axis in cells.axes]
    losses = np.column_stack(
        [_label_losses(axis, labels) for axis, labels in zip(cells.axes, recount.labels, strict=True)]
    )
    loss = average_loss(names, losses, classes.sizes, cells.weights)
    if planned is not None and not planned.are_in(recount, cells.axes):
        raise GuaranteeError("the labels that were written are not those planned. Nothing was published.")
    return Verified(verdict, measure(classes, cells.value_counts, cells.sensitive), loss, recount, _SEAL)


def _label_losses(axis: Axis, labels: Sequence[str | None]) -> Any:
    distinct = list(dict.fromkeys(labels))
    try:
        losses = dict(zip(distinct, axis.label_losses(distinct), strict=True))
    except (KeyError, ValueError) as error:
        raise GuaranteeError(
            f"a label written for '{axis.name}' cannot be read back. Nothing was published."
        ) from error
    return np.array([losses[label] for label in labels])


def make_release(engine: Engine, job: Job, watch: Stopwatch) -> tuple[Any, Cells, Plan]:
    """Count, plan, assign and generalize: everything up to a release that is not yet verified."""
    with watch.step("count"):
        cells = engine.count_cells()
        job.model.check_feasible(cells.value_counts)
    with watch.step("plan"):
        plan = job.scheme.plan(cells, job.model, watch.progress)
    with watch.step("assign"):
        assignment = engine.assign(plan, job.scheme.randomness)
        release = engine.generalize(assignment, job.layout)
    return release, cells, plan


def publish_in_memory(engine: Engine, job: Job, watch: Stopwatch) -> Published:
    """Make and verify a release that stays in memory."""
    release, cells, plan = make_release(engine, job, watch)
    with watch.step("verify"):
        planned = PlannedLabels.of(plan, job.layout)
        verified = verify(engine.count_again(release, job.layout), cells, job.model, planned)
    return Published(release, verified, _certify(verified, engine, cells, plan, job, {}, watch))


def publish_to_folder(engine: Engine, job: Job, folder: Path, force: bool, watch: Stopwatch) -> Published:
    """Make a release, write it under a temporary name, verify what was written, and move it into place."""
    check_free(folder, force)
    release, cells, plan = make_release(engine, job, watch)
    name = f"published.{job.form}"
    with staged(folder) as staging:
        with watch.step("write"):
            engine.write(release, staging / name, job.form)
        with watch.step("verify"):
            recount = engine.read_back(staging / name, job.form, job.layout)
            verified = verify(recount, cells, job.model, PlannedLabels.of(plan, job.layout))
            files = {name: PublishedFile(sha256_of(staging / name), verified.audit.rows)}
        certificate = _certify(verified, engine, cells, plan, job, files, watch)
        (staging / FILE_NAME).write_bytes(certificate.to_json())
        check_free(folder, force)
        watch.progress.start("publish")
    return Published(release, verified, certificate)


def _certify(
    verified: Verified,
    engine: Engine,
    cells: Cells,
    plan: Plan,
    job: Job,
    files: dict[str, PublishedFile],
    watch: Stopwatch,
) -> Certificate:
    audit, verdict, model = verified.audit, verified.verdict, job.model
    present = [i for i, count in enumerate(cells.value_counts) if count]
    counts = {engine.sensitive_labels[i]: int(cells.value_counts[i]) for i in present}
    is_seeded = job.scheme.randomness.is_seeded
    return Certificate(
        tool=Tool("betalike", betalike.__version__),
        promise=Promise(model.name, float(model.beta), model.k, verdict.holds, verdict.worst_gain, verdict.worst_ratio),
        scheme=Scheme(job.scheme.name, dict(plan.details)),
        table=TableFacts(
            rows=cells.n_rows,
            quasi_identifiers=[axis.name for axis in cells.axes],
            sensitive=cells.sensitive.name,
            kept=list(job.kept),
            columns=[
                _describe_column(axis, weight, labels)
                for axis, weight, labels in zip(cells.axes, cells.weights, verified.recount.labels, strict=True)
            ],
        ),
        release=ReleaseFacts(
            rows=audit.rows,
            classes=audit.classes,
            formed_classes=plan.n_classes,
            smallest_class=audit.k,
            average_loss=verified.loss.average,
            loss=verified.loss.per_attribute,
            layout=str(job.layout),
        ),
        also=Levels(
            k=audit.k,
            distinct_l=audit.distinct_l,
            l=audit.l,
            average_l=audit.average_l,
            t=audit.t,
            average_t=audit.average_t,
            t_ground=str(audit.ground),
            basic_beta=audit.basic_beta,
            enhanced_beta=audit.enhanced_beta,
            delta=audit.delta,
        ),
        prior={label: count / cells.n_rows for label, count in counts.items()},
        prior_counts=counts,
        randomness="seeded: for experiments, not for release" if is_seeded else "operating system",
        files=files,
        seconds=dict(watch.seconds),
    )


def _describe_column(axis: Axis, weight: float, labels: Sequence[str | None]) -> Column:
    """What the certificate tells of a quasi-identifier: what its owner declared, and what the published labels show."""
    shown = {label for label in labels if label is not None}
    if isinstance(axis, OrderedAxis):
        low, high = axis.domain_texts
        is_low_shown = low in shown or any(label.startswith(f"[{low}, ") for label in shown)
        is_high_shown = high in shown or any(label.endswith(f", {high}]") for label in shown)
        is_known = axis.is_domain_declared or (is_low_shown and is_high_shown)
        return Column(
            axis.name,
            str(axis.kind),
            weight,
            domain=(low, high) if is_known else None,
            has_missing=axis.has_missing,
        )
    if isinstance(axis, HierarchyAxis):
        nodes = [i for i in range(axis.hierarchy.n_leaves, axis.hierarchy.root) if axis.hierarchy.labels[i] in shown]
        under = axis.hierarchy.n_leaves_under(np.array(nodes, dtype=np.int64))
        leaves_under = {axis.hierarchy.labels[i]: int(n) for i, n in zip(nodes, under, strict=True)}
        return Column(
            axis.name,
            str(axis.kind),
            weight,
            leaves=axis.size,
            leaves_under=leaves_under,
            hierarchy=[list(path) for path in axis.hierarchy.paths if axis.is_declared or path[0] in shown],
            has_missing=axis.has_missing,
        )
    raise InternalError(f"the axis of '{axis.name}' is of an unknown kind.")
