"""What a report shows: a release that passed its verification, its classes recounted, and figures of the original."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from betalike.engines.combinations import count_combinations
from betalike.engines.engine import Recount
from betalike.engines.local import LocalEngine
from betalike.engines.recounting import as_texts, recount
from betalike.engines.sensitive import counts_of_part, joint_axis
from betalike.errors import GuaranteeError
from betalike.io.frames import to_polars
from betalike.io.tables import Frame, column_names, read, text_in_batches
from betalike.measures.exposure import ExposedClass, highest_shares, most_exposed
from betalike.measures.phrases import FEWEST
from betalike.measures.risk import THRESHOLDS, Inference, Risk, measure_inference, measure_risk
from betalike.promises import Likeness
from betalike.queries.release import Release
from betalike.release.certificate import Certificate, protected_columns, published_name
from betalike.release.promise import promised_model
from betalike.release.recount import is_exact, label_groups, scan_published
from betalike.release.verify_folder import VerifyReport, verify_folder
from betalike.report.people import OriginalPeople, count_people, risk_in_people
from betalike.runtime.arrays import Floats, Ints
from betalike.table.cells import ClassCounts
from betalike.table.schema import Attribute, Kind, Role, Schema

NOT_VERIFIED = "this release does not pass its verification, so there is no report on it: {} See: betalike verify DIR."


@dataclass(frozen=True)
class Original:
    """How to read the original table of a release."""

    table: Frame
    missing: Sequence[str] = ()
    delimiter: str | None = None

    def batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Return batches of some columns, with all cells as text."""
        return text_in_batches(self.table, names, self.missing, self.delimiter)


@dataclass(frozen=True)
class ProtectedColumn:
    """A sensitive column: how often each value occurs, the most that is allowed, and the highest share of each.

    `caps` is None if the promise has no limit for each value; `classes` is None if the release has none.
    """

    name: str
    values: tuple[str, ...]
    counts: Ints
    highest: Floats
    caps: Floats | None
    classes: ClassCounts | None

    @property
    def prior(self) -> Floats:
        """Return the share of each value in the table."""
        return np.asarray(self.counts / self.counts.sum())

    @property
    def inference(self) -> Inference:
        """How surely a reader guesses a value."""
        if self.classes is not None:
            return measure_inference(self.classes, self.counts)
        return Inference(float(self.highest.max()), None, float((self.highest / self.prior).max()) - 1)

    @property
    def worst_classes(self) -> list[ExposedClass]:
        """The ten classes that come nearest to the promise."""
        return [] if self.classes is None else most_exposed(self.classes, self.counts, self.caps)


@dataclass(frozen=True)
class Evidence:
    """A verified release and what was measured on it; what needs the original is None without it."""

    release: Release
    checks: VerifyReport | None
    recounted: Recount | None
    sizes: Ints
    original_sizes: Ints | None = None
    left_out: tuple[str, ...] | None = None
    population: int | None = None
    thresholds: Sequence[float] = THRESHOLDS
    original_people: OriginalPeople | None = None
    protected: tuple[ProtectedColumn, ...] = field(default_factory=tuple)

    @property
    def facts(self) -> Certificate:
        """The certificate."""
        return self.release.facts

    @cached_property
    def risk(self) -> Risk:
        """The risks of being found in the release."""
        people = self.facts.people
        if people is None or people.risk is None:
            return measure_risk(self.sizes, self.population, self.thresholds)
        return risk_in_people(people.risk, people, len(self.sizes), self.population, self.thresholds)

    @cached_property
    def original_risk(self) -> Risk | None:
        """The risks of being found in the original table."""
        sizes, people, counted = self.original_sizes, self.facts.people, self.original_people
        if people is not None and people.risk is not None and counted is not None:
            return risk_in_people(counted.risk, people, counted.classes, self.population, self.thresholds)
        return None if sizes is None else measure_risk(sizes, self.population, self.thresholds)

    @property
    def fewest_rows(self) -> int:
        """Rows of which one knows that they are of at least 3 people."""
        return FEWEST if self.original_people is None else (FEWEST - 1) * self.original_people.most_rows + 1

    @cached_property
    def labels(self) -> dict[str, dict[str | None, int]]:
        """The labels of each generalized column with their rows."""
        if self.recounted is None:
            return {}
        rows = self.recounted.classes.sizes.tolist()
        counted: dict[str, dict[str | None, int]] = {}
        for name, labels in zip(self.facts.table.quasi_identifiers, self.recounted.labels, strict=True):
            found = counted.setdefault(name, {})
            for label, size in zip(labels, rows, strict=True):
                found[label] = found.get(label, 0) + size
        return counted


def gather(
    release: Release, original: Original | None, population: int | None, thresholds: Sequence[float]
) -> Evidence:
    """Verify a release, recount its classes, and count the original if it is given; refuse one that fails."""
    facts = release.facts
    checks = None
    if release.folder is not None:
        checks = verify_folder(release.folder, None if original is None else original.batches, None)
        if not checks.holds:
            raise GuaranteeError(NOT_VERIFIED.format(" ".join(checks.explanations)))
    recounted = None
    if is_exact(facts):
        sizes = count_combinations(_rows_of(release), facts.table.quasi_identifiers).count
    else:
        values = list(facts.prior_counts)
        recounted = recount(_rows_of(release), label_groups(facts), protected_columns(facts), values)
        sizes = recounted.classes.sizes
    original_sizes, original_people = (None, None) if original is None else _count_original(facts, original)
    return Evidence(
        release=release,
        checks=checks,
        recounted=recounted,
        sizes=sizes[sizes > 0],
        original_sizes=original_sizes,
        original_people=original_people,
        left_out=None if original is None else _left_out(facts, original),
        population=population,
        thresholds=thresholds,
        protected=tuple(_protected_columns(release, None if recounted is None else recounted.classes)),
    )


def _rows_of(release: Release) -> Iterator[pl.DataFrame]:
    if release.folder is None:
        return iter([as_texts(to_polars(release.frame))])
    path = release.folder / (published_name(release.facts) or "")
    return scan_published(Path(path), release.facts)


def _count_original(facts: Certificate, original: Original) -> tuple[Ints, OriginalPeople | None]:
    """Return how many rows of the original table have each combination of quasi-identifiers, and count its people."""
    kinds = {column.name: Kind(column.kind) for column in facts.table.columns}
    known = tuple(Attribute(name, Role.QUASI_IDENTIFIER, kinds[name]) for name in facts.table.quasi_identifiers)
    sensitive = Attribute(protected_columns(facts)[0], Role.SENSITIVE)
    people = facts.people
    person = None if people is None else Attribute(people.column, Role.PERSON)
    schema = Schema(known, sensitive, sensitive_missing_is_value=True, person=person)
    frame = read(original.table, schema, original.missing, original.delimiter)
    cells = LocalEngine(frame, schema).count_cells()
    sizes = np.bincount(cells.point, weights=cells.count).astype(np.int64)
    return sizes, None if people is None else count_people(frame, facts.table.quasi_identifiers, people.column)


def _left_out(facts: Certificate, original: Original) -> tuple[str, ...]:
    """Return the columns of the original table that are not in the release."""
    published = {*facts.table.quasi_identifiers, *protected_columns(facts), *facts.table.kept}
    return tuple(name for name in column_names(original.table, original.delimiter) if name not in published)


def _protected_columns(release: Release, classes: ClassCounts | None) -> Iterator[ProtectedColumn]:
    """Yield each sensitive column with the shares that its values reach."""
    facts, model = release.facts, promised_model(release.facts)
    labels, joint = list(facts.prior_counts), facts.table.sensitive_columns
    everything = np.arange(len(labels))
    parts = [everything] if not joint else [codes for _, codes in joint_axis("", joint, labels).parts()]
    for place, (name, codes) in enumerate(zip(protected_columns(facts), parts, strict=True)):
        known = counts_of_part(facts.prior_counts, place) if joint else facts.prior_counts
        counts = np.array(list(known.values()), dtype=np.int64)
        of_column = None
        if classes is not None:
            of_column = ClassCounts.of(classes.ec, codes[classes.value], classes.count, len(counts))
        yield ProtectedColumn(
            name=name,
            values=tuple(known),
            counts=counts,
            highest=_highest(release, of_column, codes, counts),
            caps=_caps(model, bool(joint))(counts),
            classes=of_column,
        )


def _highest(release: Release, classes: ClassCounts | None, codes: Ints, counts: Ints) -> Floats:
    """Return the highest chance of each value that a reader can reach: in a class, or from a published label."""
    if classes is not None:
        return highest_shares(classes)
    if release.transition is None:
        return np.asarray(counts / counts.sum())
    chances = np.array([list(row.values()) for row in release.transition.values()])
    known = np.array(list(release.facts.prior_counts.values()))[:, None] * chances
    together = np.zeros((len(counts), chances.shape[1]))
    np.add.at(together, codes, known)
    total = together.sum(axis=0)
    return np.asarray((together[:, total > 0] / total[total > 0]).max(axis=1))


def _caps(model: object, is_joint: bool) -> Callable[[Ints], Floats | None]:
    """Return what gives the cap of each value from its counts; None unless each value has a cap of its own."""
    if isinstance(model, Likeness) and (model.is_plain or (is_joint and model.negative_beta is None)):
        return model.ceilings
    return lambda counts: None
