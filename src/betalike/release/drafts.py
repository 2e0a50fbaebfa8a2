"""Drafts of releases: rows made by a scheme and an engine, with what is needed to verify what was written of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from betalike.engines.engine import Engine, Format, Layout, PartingEngine
from betalike.errors import GuaranteeError, ParameterError
from betalike.promises import AnyLikeness, DisclosureForLikeness, Model, any_likeness_of, fit
from betalike.release.companion_files import (
    SENSITIVE_FILE,
    TRANSITION_FILE,
    read_distribution,
    read_transition,
    write_distribution,
    write_transition,
)
from betalike.release.verification import (
    OTHER_LABELS,
    PlannedLabels,
    Verified,
    verify,
    verify_parts,
    verify_perturbed,
    verify_withheld,
)
from betalike.runtime.progress import SILENT, Progress, Stopwatch
from betalike.runtime.randomness import Randomness
from betalike.schemes import Baseline, Perturbation, Perturbing
from betalike.schemes.presplit import part
from betalike.table.cells import Cells, Plan, TableSummary, ValueCounts


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

    def plan(self, cells: Cells, model: Model, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise."""
        ...


@dataclass(frozen=True)
class Job:
    """How a table is to be published."""

    scheme: PlanningScheme | Perturbation | Baseline
    model: Model | DisclosureForLikeness
    layout: Layout = Layout.LABELS
    form: Format = Format.CSV
    kept: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, Perturbation | Baseline):
            return
        why = f"the scheme '{self.scheme.name}' forms no classes, for it publishes quasi-identifiers exactly"
        if self.model.k > 1:
            raise ParameterError(f"{why}, so it cannot promise k {self.model.k}. Leave k out, or take another scheme.")
        if self.layout is not Layout.LABELS:
            raise ParameterError(f"{why}, so there are no bounds. Take the layout 'labels', or another scheme.")


class Draft(Protocol):
    """A release that is made but not yet verified."""

    @property
    def rows(self) -> Any:
        """The rows of the published table."""
        ...

    @property
    def outline(self) -> TableSummary:
        """What is known of the table."""
        ...

    @property
    def model(self) -> Model:
        """The promise, fitted to the table."""
        ...

    @property
    def details(self) -> dict[str, Any]:
        """What `Particulars` are told besides the job."""
        ...

    def write_companions(self, folder: Path) -> dict[str, int]:
        """Write the files beside the published table; their names and how many rows each has."""
        ...

    def verify(self, folder: Path | None, path: Path | None) -> Verified:
        """Check what was written, or the rows in memory where nothing was."""
        ...


@dataclass(frozen=True)
class GeneralizedDraft:
    """Rows with the labels of their classes."""

    engine: Engine
    job: Job
    rows: Any
    plan: Plan
    model: Model

    @property
    def outline(self) -> Cells:
        """The cells of the table."""
        return self.plan.cells

    @property
    def details(self) -> dict[str, Any]:
        """What the scheme tells of itself, and the number of its classes."""
        return {"details": self.plan.details, "formed_classes": self.plan.n_classes}

    def write_companions(self, folder: Path) -> dict[str, int]:
        """There are none."""
        return {}

    def verify(self, folder: Path | None, path: Path | None) -> Verified:
        """Count the classes anew, and compare their labels with the planned ones."""
        layout = self.job.layout
        recount = (
            self.engine.count_again(self.rows, layout)
            if path is None
            else self.engine.read_back(path, self.job.form, layout)
        )
        return verify(recount, self.plan.cells, self.model, PlannedLabels.of(self.plan, layout))


@dataclass(frozen=True)
class PartedDraft:
    """Rows with the labels of their classes, of a table that was published in parts."""

    engine: PartingEngine
    job: Job
    rows: Any
    trace: Any
    sets: Plan
    model: Model

    @property
    def outline(self) -> Cells:
        """The coarse cells of the table."""
        return self.sets.cells

    @property
    def details(self) -> dict[str, Any]:
        """What the scheme tells of itself, how many coarse cells it saw, and how many parts were split on their own."""
        details = {**self.sets.details, "coarse_cells": len(self.outline.count)}
        if _splits_parts(self.job.scheme):
            details["parts"] = self.sets.n_classes
        return {"details": details, "formed_classes": self.trace.n_classes}

    def write_companions(self, folder: Path) -> dict[str, int]:
        """There are none."""
        return {}

    def verify(self, folder: Path | None, path: Path | None) -> Verified:
        """Count the classes anew, part by part, and compare the rows with those that were made."""
        recount = self.engine.read_parts(self.rows, self.trace, path, self.job.form, self.job.layout)
        verified = verify_parts(recount.parts, self.outline, self.model)
        if not recount.is_as_made():
            raise GuaranteeError(OTHER_LABELS)
        return verified


@dataclass(frozen=True)
class PerturbedDraft:
    """Exact rows with sensitive values that were drawn anew, and the matrix that they were drawn with."""

    engine: Engine
    job: Job
    rows: Any
    trace: Any
    outline: ValueCounts
    model: AnyLikeness
    perturbing: Perturbing

    @property
    def details(self) -> dict[str, Any]:
        """The rule, and how often values are kept."""
        return {"details": self.perturbing.details(self.outline.value_counts)}

    def write_companions(self, folder: Path) -> dict[str, int]:
        """Write the matrix."""
        labels = self.engine.sensitive_labels
        write_transition(folder / TRANSITION_FILE, labels, self.perturbing.transition, self.job.form.is_safe)
        return {TRANSITION_FILE: len(labels)}

    def verify(self, folder: Path | None, path: Path | None) -> Verified:
        """Compare the rows with the table, and judge the matrix as it was written."""
        used = written = self.perturbing.transition
        if folder is not None:
            with _readable(TRANSITION_FILE):
                written = read_transition(folder / TRANSITION_FILE, self.engine.sensitive_labels, self.job.form.is_safe)
        recount = self.engine.compare_exactly(self.rows, self.trace, path, self.job.form)
        return verify_perturbed(recount, written, used, self.outline, self.model)


@dataclass(frozen=True)
class WithheldDraft:
    """Exact rows without their sensitive value, beside the overall distribution."""

    engine: Engine
    job: Job
    rows: Any
    trace: Any
    outline: ValueCounts
    model: AnyLikeness
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def _counts(self) -> dict[str, int]:
        return dict(zip(self.engine.sensitive_labels, self.outline.value_counts.tolist(), strict=True))

    def write_companions(self, folder: Path) -> dict[str, int]:
        """Write the distribution."""
        write_distribution(folder / SENSITIVE_FILE, self._counts, self.job.form.is_safe)
        return {SENSITIVE_FILE: len(self._counts)}

    def verify(self, folder: Path | None, path: Path | None) -> Verified:
        """Compare the rows with the table, and the distribution as it was written."""
        told = self._counts
        if folder is not None:
            with _readable(SENSITIVE_FILE):
                told = read_distribution(folder / SENSITIVE_FILE, self.job.form.is_safe)
        counts = np.array([told.get(label, 0) for label in self.engine.sensitive_labels], dtype=np.int64)
        recount = self.engine.compare_exactly(self.rows, self.trace, path, self.job.form)
        return verify_withheld(recount, counts, self.outline, self.model)


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise GuaranteeError(f"{name} cannot be read back as it was written. Nothing was published.") from error


def make_draft(engine: Engine, job: Job, watch: Stopwatch) -> Draft:
    """Everything up to a release that is not yet verified."""
    scheme = job.scheme
    if isinstance(scheme, Perturbation | Baseline):
        return _make_exact(engine, job, scheme, watch)
    with watch.step("count"):
        cells = engine.count_cells()
        model = fit(job.model, cells.value_counts, cells.sensitive)
    if engine.is_coarse:
        return _make_parted(cast("PartingEngine", engine), job, scheme, cells, model, watch)
    with watch.step("plan"):
        plan = scheme.plan(cells, model, watch.progress)
    with watch.step("assign"):
        rows = engine.generalize(engine.assign(plan, scheme.randomness), job.layout)
    return GeneralizedDraft(engine, job, rows, plan, model)


def _make_parted(
    engine: PartingEngine, job: Job, scheme: PlanningScheme, cells: Cells, model: Model, watch: Stopwatch
) -> Draft:
    """Rows of a table in coarse cells: parted, and each part split on its own where the scheme can do that."""
    refine: Callable[[Cells], Plan] | None = None
    with watch.step("plan"):
        if _splits_parts(scheme):
            sets = part(cells, model, engine.part_rows)
            refine = partial(scheme.plan, model=model)
        else:
            sets = scheme.plan(cells, model, watch.progress)
    with watch.step("assign"):
        rows, trace = engine.publish_parts(sets, refine, job.layout, scheme.randomness)
    return PartedDraft(engine, job, rows, trace, sets, model)


def _splits_parts(scheme: object) -> bool:
    """Whether a scheme cuts sets, so that it can cut the parts of a table one by one."""
    return getattr(scheme, "splits_parts", False)


def _make_exact(engine: Engine, job: Job, scheme: Perturbation | Baseline, watch: Stopwatch) -> Draft:
    """Rows that stay exact, with a sensitive value that is drawn anew or left out."""
    with watch.step("count"):
        margins = engine.count_values()
        model = any_likeness_of(fit(job.model, margins.value_counts, margins.sensitive), scheme.name)
    if isinstance(scheme, Baseline):
        with watch.step("assign"):
            return WithheldDraft(engine, job, *engine.publish_exactly(None, scheme.randomness), margins, model)
    with watch.step("plan"):
        perturbing = scheme.perturbing(margins.value_counts, model, margins.sensitive)
    with watch.step("assign"):
        rows, trace = engine.publish_exactly(scheme.draw(perturbing.transition), scheme.randomness)
    return PerturbedDraft(engine, job, rows, trace, margins, model, perturbing)
