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
from betalike.engines.recounting import as_texts, recount
from betalike.engines.sensitive import counts_of_part, joint_axis, texts_of
from betalike.errors import GuaranteeError
from betalike.io.copies import origin_of
from betalike.io.frames import to_polars
from betalike.io.tables import Frame, column_names, text_in_batches
from betalike.measures.alike import FEW_CLASSES, LookAlikes, PeopleCounts, visible_values
from betalike.measures.exposure import ExposedClass, highest_shares, most_exposed, shown_classes
from betalike.measures.phrases import FEWEST, is_few
from betalike.measures.risk import THRESHOLDS, Inference, PeopleRisk, Risk, measure_inference, measure_risk
from betalike.promises import Likeness
from betalike.queries.original import CountedOriginal, count_with_people
from betalike.queries.people_risk import people_risk_before, risk_in_people
from betalike.queries.release import Release
from betalike.release.certificate import Certificate, PeopleFacts, protected_columns, published_name
from betalike.release.promise import promised_in_people, promised_model
from betalike.release.recount import is_exact, scan_published
from betalike.release.verify_folder import VerifyReport, verify_folder
from betalike.runtime.arrays import Bools, Floats, Ints
from betalike.table.cells import ClassCounts

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

    `caps` is None if the promise has no limit for each value; `classes` is None if the release has none. `people` says
    how many people have each value; without a column of persons each row is another person's.
    """

    name: str
    values: tuple[str, ...]
    counts: Ints
    highest: Floats
    caps: Floats | None
    classes: ClassCounts | None
    people: Ints

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


@dataclass(frozen=True)
class InPeople:
    """What was counted in people, if a column of the original names the person of each row.

    `risk` is None if only the original could show it, which is not given. `caps` are those of the values in people;
    None if they have none of their own.
    """

    facts: PeopleFacts
    risk: PeopleRisk | None
    before: PeopleRisk | None
    caps: Floats | None


@dataclass(frozen=True)
class Evidence:
    """A verified release and what was measured on it; what needs the original is None without it."""

    release: Release
    checks: VerifyReport | None
    recounted: Recount | None
    sizes: Ints
    original: CountedOriginal | None = None
    left_out: tuple[str, ...] | None = None
    population: int | None = None
    thresholds: Sequence[float] = THRESHOLDS
    people: InPeople | None = None
    protected: tuple[ProtectedColumn, ...] = field(default_factory=tuple)

    @property
    def facts(self) -> Certificate:
        """The certificate."""
        return self.release.facts

    @cached_property
    def original_sizes(self) -> Ints | None:
        """The rows of the original table with each combination of quasi-identifiers."""
        if self.original is None:
            return None
        cells = self.original.cells
        return np.bincount(cells.point, weights=cells.count).astype(np.int64)

    @cached_property
    def risk(self) -> Risk:
        """The risks of being found in the release."""
        asked, counted = (self.population, self.thresholds), self.people
        if counted is None:
            return measure_risk(self.sizes, *asked)
        return risk_in_people(counted.risk or counted.facts.risk, counted.facts, len(self.sizes), *asked)

    @cached_property
    def original_risk(self) -> Risk | None:
        """The risks of being found in the original table."""
        asked, counted, sizes = (self.population, self.thresholds), self.people, self.original_sizes
        if sizes is None:
            return None
        if counted is None or counted.before is None:
            return measure_risk(sizes, *asked)
        return risk_in_people(counted.before, counted.facts, len(sizes), *asked)

    @property
    def alike(self) -> dict[str, LookAlikes]:
        """How many people look alike, in the release and in the original, as far as it is known."""
        if self.people is not None:
            known = {"release": self.people.risk, "original": self.people.before}
            return {name: risk.alike for name, risk in known.items() if risk is not None}
        sizes = {"release": self.sizes, "original": self.original_sizes}
        return {name: LookAlikes.of_classes(each) for name, each in sizes.items() if each is not None}

    @property
    def n_people(self) -> int:
        """People in the table; its rows, unless people are counted."""
        return self.facts.release.rows if self.people is None else self.people.facts.people

    def inference(self, column: ProtectedColumn) -> Inference:
        """Return how surely a reader guesses a value: of the people of a class, if people are counted.

        Their figures are those of all sensitive columns together, if there are several.
        """
        found = column.inference
        if self.people is None:
            return found
        surest = max(found.surest_guess, self.people.facts.risk.surest_guess)
        gain = None if found.largest_gain is None else max(found.largest_gain, self.people.facts.worst_gain)
        return Inference(surest, None, gain)

    def are_people_few(self, share: float) -> bool:
        """Return whether a share of the rows of whole classes, or the rest, may be that of one or two people."""
        if self.people is None:
            return is_few(share, self.facts.release.rows)
        return 0 < share < 1 and self.people.facts.smallest_class < FEWEST

    def shown_values(self, column: ProtectedColumn) -> Bools:
        """Return which values of a sensitive column can be shown with their shares.

        If there are few classes, a reader may know their sizes, so that the share of a value shows how many have it.
        """
        table, are_people = None, self.people is not None
        if column.classes is not None and 1 < len(self.sizes) <= FEW_CLASSES:
            counts: ClassCounts | PeopleCounts | None = column.classes
            if self.people is not None:
                is_one = not self.facts.table.sensitive_columns and self.people.risk is not None
                counts = self.people.risk.counts if is_one and self.people.risk is not None else None
            if counts is None:  # how many people of a class have a value is not known
                return np.zeros(len(column.values), dtype=bool)
            table = np.zeros((int(counts.ec.max()) + 1, len(column.values)), dtype=np.int64)
            table[counts.ec, counts.value] = counts.count
        return visible_values(column.people, table, are_people)

    def worst_classes(self, column: ProtectedColumn, most: int = 10) -> list[ExposedClass] | None:
        """Return the classes that come nearest to the promise; None without classes, or if their people are unknown."""
        if column.classes is None:
            return None
        if self.people is None:
            exposed = most_exposed(column.classes, column.counts, self.n_people, column.caps)
        elif self.people.risk is None or self.facts.table.sensitive_columns:
            return None
        else:
            exposed = most_exposed(self.people.risk.counts, column.people, self.n_people, self.people.caps)
        return shown_classes(exposed, self.n_people, self.shown_values(column) | (len(self.sizes) > FEW_CLASSES), most)

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
        recounted = recount(_rows_of(release), facts.table.quasi_identifiers, protected_columns(facts), values)
        sizes = recounted.classes.sizes
    counted = None
    if original is not None:
        counted = count_with_people(facts, original.table, original.missing, original.delimiter)
    return Evidence(
        release=release,
        checks=checks,
        recounted=recounted,
        sizes=sizes[sizes > 0],
        original=counted,
        left_out=None if original is None else _left_out(facts, original),
        population=population,
        thresholds=thresholds,
        people=_count_people(release, checks, counted, thresholds),
        protected=tuple(_protected_columns(release, None if recounted is None else recounted.classes)),
    )


def _rows_of(release: Release) -> Iterator[pl.DataFrame]:
    if release.folder is None:
        return iter([as_texts(to_polars(release.frame))])
    path = release.folder / (published_name(release.facts) or "")
    return scan_published(Path(path), release.facts)


def _count_people(
    release: Release, checks: VerifyReport | None, original: CountedOriginal | None, thresholds: Sequence[float]
) -> InPeople | None:
    """Return what was counted in people while the release was verified: now, or when it was made."""
    facts = release.facts.people
    if facts is None:
        return None
    figures = release.verified.people if checks is None and release.verified is not None else None
    if checks is not None:
        figures = checks.people
    risk = None if figures is None else figures.risk
    before = None if original is None else people_risk_before(original, thresholds)
    caps = None
    if (
        isinstance(model := promised_in_people(release.facts, promised_model(release.facts)), Likeness)
        and model.is_plain
    ):
        counts = np.array([facts.prior_counts.get(value, 0) for value in release.facts.prior_counts], dtype=np.int64)
        caps = np.array([float(bound) for bound in model.bounds(counts, facts.people)])
    return InPeople(facts, risk, before, caps)


def _left_out(facts: Certificate, original: Original) -> tuple[str, ...]:
    """Return the columns of the original table that are not in the release."""
    published = {*facts.table.quasi_identifiers, *protected_columns(facts), *facts.table.kept}
    origin = origin_of(original.table)  # a copy has only the columns that are needed
    names = column_names(original.table, original.delimiter) if origin is None or not origin.columns else origin.columns
    return tuple(name for name in names if name not in published)


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
            people=_people_with(release.facts, place, list(known), counts),
        )


def _people_with(facts: Certificate, place: int, values: Sequence[str], counts: Ints) -> Ints:
    """Return how many people have each value: its rows, unless people were counted.

    Of one of several sensitive columns this is only known at least.
    """
    if facts.people is None:
        return counts
    known = facts.people.prior_counts
    if facts.table.sensitive_columns:
        parts: dict[str, int] = {}
        for label, people in known.items():
            part = texts_of(label)[place]
            parts[part] = max(parts.get(part, 0), people)
        known = parts
    return np.array([known.get(value, 0) for value in values], dtype=np.int64)


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
