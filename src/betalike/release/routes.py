"""The ways to publish a table: in classes, perturbed, or without the sensitive column.

`release.publish` runs the same seven steps for all of them; a route says what each step does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from betalike.engines.engine import Engine, ExactRecount, Format
from betalike.errors import GuaranteeError, ParameterError
from betalike.io.spreadsheet import is_formula
from betalike.promises import Model, likeness_of
from betalike.release.certify import describe_columns
from betalike.release.companion_files import (
    SENSITIVE_FILE,
    TRANSITION_FILE,
    read_distribution,
    read_transition,
    write_distribution,
    write_transition,
)
from betalike.release.people import count_people, read_shown
from betalike.release.people_plan import PeopleStep, person_columns
from betalike.release.person_rows import PersonRows
from betalike.release.verify import (
    PeopleFigures,
    PlannedLabels,
    Verified,
    verify,
    verify_people,
    verify_perturbed,
    verify_withheld,
)
from betalike.runtime.progress import Progress
from betalike.schemes import Baseline, Generalizing, Perturbation, Perturbing, Scheme
from betalike.table.cells import Cells, Plan, ValueCounts


@dataclass(frozen=True)
class Job:
    """How a table is to be published."""

    scheme: Scheme
    model: Model
    form: Format = Format.CSV
    kept: tuple[str, ...] = ()
    is_rounded: bool = False  # whether the ends of some ranges are rounded

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, Perturbation | Baseline):
            return
        why = f"the scheme '{self.scheme.name}' forms no classes, for it publishes quasi-identifiers exactly"
        if self.model.k > 1:
            raise ParameterError(f"{why}, so it cannot promise k {self.model.k}. Leave k out, or take another scheme.")
        if self.is_rounded:
            raise ParameterError(f"{why}. Leave round, bottom and top out, or take another scheme.")


@dataclass(frozen=True)
class Draft:
    """A release that is not verified yet: the table's counts, the fitted promise, the plan and the rows.

    `trace` is what the engine needs to find the rows again.
    """

    table: Any
    promise: Model
    plan: Any
    rows: Any
    trace: Any


@dataclass(frozen=True)
class Route:
    """What each step of publishing does; the defaults are those of exact rows."""

    engine: Engine
    job: Job

    def count(self) -> Any:
        """Count what the plan and the promise need: the sensitive values."""
        return self.engine.count_values()

    def plan(self, table: Any, promise: Model, progress: Progress) -> Any:
        """Decide how the table is published."""
        raise NotImplementedError

    def rows_of(self, plan: Any, promise: Model) -> tuple[Any, Any]:
        """Return the rows to publish, and what the engine needs to find them again."""
        raise NotImplementedError

    def write(self, draft: Draft, path: Path) -> tuple[set[str], dict[str, int]]:
        """Write the rows and a file beside them that names every sensitive value.

        Return the columns with cells that a spreadsheet would run, and the number of rows of the file beside them.
        """
        formulas, labels = {*self.engine.write(draft.rows, path, self.job.form)}, self.engine.sensitive_labels
        if any(map(is_formula, labels)):
            formulas.add(draft.table.sensitive.name)
        return formulas, {self.write_companion(draft, path.parent): len(labels)}

    def write_companion(self, draft: Draft, folder: Path) -> str:
        """Write the file beside the rows, and return its name."""
        raise NotImplementedError

    def verify(self, draft: Draft, path: Path | None) -> Verified:
        """Check what was written, or the rows in memory if nothing was."""
        raise NotImplementedError

    def count_singled_out(self, draft: Draft, path: Path | None, verified: Verified) -> Verified:
        """Add how many rows the kept columns single out, where there are any."""
        if not self.job.kept:
            return verified
        labels, n_rows = self.engine.schema.quasi_identifier_names, verified.audit.rows
        found = self.engine.count_singled_out(draft.rows, path, self.job.form, labels, n_rows)
        return replace(verified, singled_out=found)

    def details(self, draft: Draft) -> tuple[dict[str, Any], int | None]:
        """Return the scheme's details for the certificate, and how many classes were formed."""
        return {}, None

    def _counts(self, draft: Draft) -> dict[str, int]:
        return dict(zip(self.engine.sensitive_labels, draft.table.value_counts.tolist(), strict=True))

    def _compare(self, draft: Draft, path: Path | None) -> ExactRecount:
        return self.engine.compare_exactly(draft.rows, draft.trace, path, self.job.form)


def route_of(engine: Engine, job: Job) -> Route:
    """Return the way to publish that a scheme and an engine take."""
    person = engine.schema.person
    if person is not None and isinstance(job.scheme, Perturbation | Baseline):
        raise ParameterError(
            f"the scheme '{job.scheme.name}' forms no classes, so it cannot keep the promise for the persons in "
            f"'{person.name}', of whom each may have several rows. Take a scheme that generalizes, such as 'seam', or "
            "leave the person column out."
        )
    if isinstance(job.scheme, Perturbation):
        return RedrawnValues(engine, job)
    if isinstance(job.scheme, Baseline):
        return Withheld(engine, job)
    return InClasses(engine, job)


@dataclass(frozen=True)
class InClasses(Route):
    """Rows with the labels of their classes."""

    def count(self) -> Cells:
        """Fold the table into cells."""
        return self.engine.count_cells()

    def plan(self, table: Cells, promise: Model, progress: Progress) -> Plan:
        """Form classes; if a column names persons, merge those that break the promise in people."""
        if self.engine.schema.person is None:
            return self._scheme.plan(table, promise, progress)
        step = PeopleStep.of(self._people, promise, table.sensitive)  # which refuses a promise before the long work
        plan = self._scheme.plan(table, promise, progress)
        return step.keep(plan, self.engine, self.job.scheme.randomness)

    @cached_property
    def _people(self) -> PersonRows:
        """The rows of the table by person."""
        columns = person_columns(self.engine.schema)
        return PersonRows.read(self.engine.read_rows(columns.names), columns, self.engine.sensitive_labels)

    def rows_of(self, plan: Plan, promise: Model) -> tuple[Any, Any]:
        """Give every row a class, and the labels of its class."""
        return self.engine.generalize(plan, self.job.scheme.randomness), None

    def write(self, draft: Draft, path: Path) -> tuple[set[str], dict[str, int]]:
        """Write the rows; their labels say everything."""
        return {*self.engine.write(draft.rows, path, self.job.form)}, {}

    def verify(self, draft: Draft, path: Path | None) -> Verified:
        """Recount the classes, and compare their labels with the planned ones."""
        recount = self.engine.recount(draft.rows, path, self.job.form)
        verified = verify(recount, draft.table, draft.promise, PlannedLabels.of(draft.plan))
        if self.engine.schema.person is None:
            return verified
        return verify_people(verified, self._count_people(draft, verified, path), draft.promise)

    def _count_people(self, draft: Draft, verified: Verified, path: Path | None) -> PeopleFigures | None:
        """Count the people of the classes that were written, as `betalike verify` does with the original table."""
        rows = self.engine.reread(draft.rows, path, self.job.form)
        shown = read_shown(rows, self.engine.schema.quasi_identifier_names, self._people)
        if shown is None:
            return None
        assert verified.classes is not None
        facts = describe_columns(verified.classes.shown, draft.table)
        return count_people(self._people, shown, facts, draft.promise, draft.table.sensitive)

    def details(self, draft: Draft) -> tuple[dict[str, Any], int | None]:
        """Return the details of the scheme, and the number of its classes."""
        return dict(draft.plan.details), draft.plan.n_classes

    @property
    def _scheme(self) -> Generalizing:
        return cast("Generalizing", self.job.scheme)


@dataclass(frozen=True)
class RedrawnValues(Route):
    """Exact rows with sensitive values that were drawn again, and the matrix that they were drawn with."""

    def plan(self, table: ValueCounts, promise: Model, progress: Progress) -> Perturbing:
        """Choose the matrix."""
        return self._scheme.perturbing(table.value_counts, likeness_of(promise, self._scheme.name), table.sensitive)

    def rows_of(self, plan: Perturbing, promise: Model) -> tuple[Any, Any]:
        """Draw the sensitive value of each row."""
        counts = dict(zip(self.engine.sensitive_labels, self.count().value_counts.tolist(), strict=True))
        return self.engine.publish_exactly(self._scheme.draw(plan, counts), self._scheme.randomness)

    def write_companion(self, draft: Draft, folder: Path) -> str:
        """Write the matrix."""
        write_transition(folder / TRANSITION_FILE, self._counts(draft), draft.plan)
        return TRANSITION_FILE

    def verify(self, draft: Draft, path: Path | None) -> Verified:
        """Compare the rows with the table, and judge the matrix as it was written."""
        used = written = draft.plan
        if path is not None:
            with _readable(TRANSITION_FILE):
                file = path.with_name(TRANSITION_FILE)
                written = read_transition(file, self._counts(draft), used.rule)
        promise = likeness_of(draft.promise, self._scheme.name)
        compared = self._compare(draft, path)
        return verify_perturbed(compared, written.transition, used.transition, draft.table, promise)

    def details(self, draft: Draft) -> tuple[dict[str, Any], int | None]:
        """Return the rule, and how often values are kept."""
        return dict(draft.plan.details(draft.table.value_counts)), None

    @property
    def _scheme(self) -> Perturbation:
        return cast("Perturbation", self.job.scheme)


@dataclass(frozen=True)
class Withheld(Route):
    """Exact rows without their sensitive value, beside the overall distribution."""

    def plan(self, table: ValueCounts, promise: Model, progress: Progress) -> None:
        """Plan nothing, but refuse promises that are not about likeness."""
        likeness_of(promise, self.job.scheme.name)

    def rows_of(self, plan: None, promise: Model) -> tuple[Any, Any]:
        """Leave out the sensitive value of each row."""
        return self.engine.publish_exactly(None, self.job.scheme.randomness)

    def write_companion(self, draft: Draft, folder: Path) -> str:
        """Write the distribution."""
        write_distribution(folder / SENSITIVE_FILE, self._counts(draft))
        return SENSITIVE_FILE

    def verify(self, draft: Draft, path: Path | None) -> Verified:
        """Compare the rows with the table, and the distribution as it was written."""
        written = self._counts(draft)
        if path is not None:
            with _readable(SENSITIVE_FILE):
                written = read_distribution(path.with_name(SENSITIVE_FILE))
        counts = np.array([written.get(label, 0) for label in self.engine.sensitive_labels], dtype=np.int64)
        promise = likeness_of(draft.promise, self.job.scheme.name)
        return verify_withheld(self._compare(draft, path), counts, draft.table, promise)


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise GuaranteeError(f"{name} cannot be read back as it was written. Nothing was published.") from error
