"""The COUNT estimate: what a release answers, from its published files or from its frame in memory. Paper: 6.2."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.coding import comparable
from betalike.engines.recounting import as_texts, recount
from betalike.engines.streams import scan_release
from betalike.errors import CertificateError, GuaranteeError, InputError, ParameterError, suggestion
from betalike.io.damaged_files import compiled_code_silenced, damage_refused
from betalike.queries import reconstruction
from betalike.queries.answer import RELATION, Answer, Estimates, to_answers
from betalike.queries.boxes import Box
from betalike.queries.columns import NamedColumn, OrderedColumn, QueryColumn, comparable_number, has_nanoseconds
from betalike.queries.count_estimate import ClassIndex, estimate_counts, sensitive_masks, without
from betalike.queries.label_shares import Shares, Spread
from betalike.queries.predicate import parse
from betalike.queries.reconstruction import PerturbedCounts, Shrinkage, learn_shrinkage
from betalike.queries.value_sets import Span
from betalike.release.certificate import Certificate, ColumnFacts, published_name, written_form
from betalike.release.companion_files import TRANSITION_FILE, read_transition
from betalike.release.published_labels import read_domain, read_rounding
from betalike.release.recount import is_exact
from betalike.runtime.arrays import Floats
from betalike.schemes.perturbation import DrawingRule
from betalike.table.exact_numbers import Numbers, format_values
from betalike.table.hierarchy import ROOT, Hierarchy
from betalike.table.rounding import Rounding
from betalike.table.schema import Kind

PERTURBED, BASELINE = "perturb", "baseline"
METHODS = {PERTURBED: ["shrinkage", "inversion", "prior"], BASELINE: ["prior"]}
GENERALIZED_METHODS = [str(Spread.DENSITY), str(Spread.UNIFORM)]
GROUP_BINS = 64
Transition = dict[str, dict[str, float]]  # for each value, the chance of each published label


@dataclass(frozen=True)
class Estimator:
    """Estimates counts from what a release publishes, and from nothing else."""

    certificate: Certificate
    quasi_identifiers: tuple[QueryColumn, ...]
    sensitive: NamedColumn
    index: ClassIndex
    transition: Transition | None = None

    @property
    def methods(self) -> list[str]:
        """Return the methods that this release can be asked with; the first is the default."""
        return METHODS.get(self.certificate.scheme.name, GENERALIZED_METHODS)

    @cached_property
    def columns(self) -> dict[str, QueryColumn]:
        """The columns that predicates may name."""
        return {column.name: column for column in (*self.quasi_identifiers, self.sensitive)}

    @cached_property
    def values(self) -> list[str]:
        """The sensitive values; the empty text is a missing one."""
        return list(self.certificate.prior_counts)

    @cached_property
    def counts(self) -> Floats:
        """Number of tuples of the original table with each sensitive value."""
        return np.array(list(self.certificate.prior_counts.values()), dtype=np.float64)

    def count(self, predicate: str, *, method: str | None = None, confidence: float = 0.95) -> Answer:
        """Estimate how many rows of the original table satisfy a predicate."""
        return self.count_all([predicate], method=method, confidence=confidence)[0]

    def count_all(
        self, predicates: Sequence[str], *, method: str | None = None, confidence: float = 0.95
    ) -> list[Answer]:
        """Estimate many counts at once, which is much faster than one by one."""
        if isinstance(predicates, str):
            raise ParameterError("predicates must be a list of texts, not one text; count() takes one.")
        method = self.choose_method(method)
        queries = [parse(predicate, self.columns) for predicate in predicates]
        return to_answers(self.estimate(queries, method), confidence, method)

    def choose_method(self, method: str | None) -> str:
        """Return the method of this name, or the default."""
        if method is None:
            return self.methods[0]
        if method not in self.methods:
            raise ParameterError(
                f"the method is '{method}'; for a release of scheme '{self.certificate.scheme.name}' it must be one "
                f"of: {', '.join(self.methods)}.{suggestion(method, self.methods)}"
            )
        return method

    def estimate(self, queries: Sequence[Sequence[Box]], method: str) -> Estimates:
        """Estimate the counts of queries that are given as boxes."""
        boxes = [box for query in queries for box in query]
        owner = [number for number, query in enumerate(queries) for _ in query]
        masks = sensitive_masks(boxes, self.sensitive, self.values)
        selections = [without(box, self.sensitive.name) for box in boxes]
        if self.certificate.scheme.name in METHODS:
            wanted = np.array(masks, dtype=np.float64).reshape(len(boxes), len(self.values))
            parts = self._estimate_selections(selections, wanted, method)
        else:
            parts = estimate_counts(self.index, self._shares[Spread(method)], selections, masks)
        return parts.added(owner, len(queries))

    @cached_property
    def _shares(self) -> dict[Spread, list[Shares]]:
        return {spread: self.index.shares(spread) for spread in Spread}

    def _estimate_selections(self, selections: Sequence[Box], wanted: Floats, method: str) -> Estimates:
        """Estimate counts of exact rows, from the published values in each selection."""
        observed = self.index.observe_boxes(selections, self._shares[Spread.UNIFORM])
        size = observed.sum(axis=1)
        bounds = reconstruction.certain_bounds(self.counts, size, wanted)
        if method == "inversion":
            count, usual = reconstruction.reconstruct(self.perturbation, observed, wanted)
            return Estimates(
                count, reconstruction.reconstruction_error(self.perturbation, size, wanted, usual), *bounds
            )
        prior, error = reconstruction.from_prior(self.counts, size, wanted, RELATION)
        if self.transition is None:
            return Estimates(prior, error, *bounds).clipped()
        count = reconstruction.shrink(self.perturbation, self.shrinkage, observed, wanted)
        error = reconstruction.shrinkage_error(self.perturbation, observed, wanted, count)
        if method == "prior":  # the release shows how far it is off
            return Estimates(prior, np.hypot(error, count - prior), *bounds).clipped()
        return Estimates(count, error, *bounds).clipped()

    @cached_property
    def perturbation(self) -> PerturbedCounts:
        """The matrix and the counts of a perturbed release."""
        assert self.transition is not None
        chances = np.array([list(row.values()) for row in self.transition.values()])
        return PerturbedCounts(chances, self.counts, self.index.counts.value_counts.astype(np.float64))

    @cached_property
    def shrinkage(self) -> Shrinkage:
        """How selections differ from the table, learned from groups of a perturbed release."""
        return learn_shrinkage(self.perturbation, self._groups())

    def _groups(self) -> Iterator[Floats]:
        """Count the published values in groups: by each quasi-identifier, and by each two of them."""
        bins = [_bins(spans.low)[self.index.ids[:, axis]] for axis, spans in enumerate(self.index.spans)]
        counts = self.index.counts
        for n_axes in (1, 2):
            for axes in itertools.combinations(range(len(bins)), n_axes):
                key = sum(bins[axis].astype(np.int64) * (GROUP_BINS + 1) ** i for i, axis in enumerate(axes))
                unique, group = np.unique(key, return_inverse=True)
                place = group[counts.ec] * counts.n_values + counts.value
                flat = np.bincount(place, counts.count, len(unique) * counts.n_values)
                yield flat.astype(np.float64).reshape(len(unique), counts.n_values)


def _bins(low: Numbers) -> NDArray[np.int64]:
    """Group neighbouring labels; labels of missing values are a group of their own."""
    unique, rank = np.unique(low, return_inverse=True)
    return np.asarray(np.where(low == np.inf, GROUP_BINS, rank * min(GROUP_BINS, len(unique)) // len(unique)))


def open_folder(folder: Path, certificate: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Estimator:
    """Read a release from its folder."""
    path = folder / (published_name(certificate) or "published.csv")
    form = written_form(certificate, path)
    unreadable = f"'{path}' cannot be read as the table that the certificate describes. Check it with: betalike verify."
    with damage_refused(unreadable, CertificateError), compiled_code_silenced():
        if not path.is_file() and not path.is_dir():
            raise FileNotFoundError  # or a pipe, on which Polars would wait for ever
        columns = scan_release(path, form).collect_schema().names()
        types = dict.fromkeys(_needed(certificate, columns), pl.Categorical)
        frame = scan_release(path, form, types).collect(engine="streaming")
    transition = read_matrix(folder, certificate)
    return open_frame(frame, certificate, hierarchies, transition)


def open_frame(
    frame: pl.DataFrame,
    certificate: Certificate,
    hierarchies: Mapping[str, Hierarchy],
    transition: Transition | None = None,
) -> Estimator:
    """Read a release whose rows are in memory."""
    table, values = certificate.table, list(certificate.prior_counts)
    if table.sensitive_columns:
        raise CertificateError(
            "this release has several sensitive columns, and queries are answered for one alone. In Python, choose "
            f"one: release.of_column({table.sensitive_columns[0]!r}). Or count the published rows."
        )
    labels = values if transition is None else list(next(iter(transition.values())))
    if table.sensitive not in frame.columns:  # a baseline release: every tuple may have any value
        frame = frame.with_columns(pl.lit(values[0] if values else "").alias(table.sensitive))
    try:
        texts = as_texts(frame.select(_needed(certificate, frame.columns)))
        counted = recount([texts], table.quasi_identifiers, [table.sensitive], labels)
    except (pl.exceptions.PolarsError, GuaranteeError) as error:
        raise InputError("the published table does not have the rows and columns of its certificate.") from error
    if counted.n_unknown:
        raise InputError("the published table has sensitive values that are not in its certificate.")
    facts = {column.name: column for column in table.columns}
    shown = [[label or None for label in labels] for labels in counted.labels]
    if is_exact(certificate):
        shown = [as_published(labels, facts[n]) for n, labels in zip(table.quasi_identifiers, shown, strict=True)]
    columns = tuple(
        _column(facts[name], labels, hierarchies.get(name))
        for name, labels in zip(table.quasi_identifiers, shown, strict=True)
    )
    index = ClassIndex.of(columns, shown, counted.classes)
    return Estimator(certificate, columns, sensitive_column(table.sensitive, values), index, transition)


def as_published(values: list[str | None], facts: ColumnFacts) -> list[str | None]:
    """Return exact numbers and dates, which have the form of the table, in the form of labels."""
    kind = Kind(facts.kind)
    distinct = [value for value in dict.fromkeys(values) if value is not None]
    if not kind.is_ordered or not distinct:
        return values
    try:
        numbers = comparable(pl.Series(facts.name, distinct, dtype=pl.String), kind, facts.dates)
    except InputError:
        return values  # which are refused with the other labels
    known = numbers.is_not_null()  # NaN is a missing value
    texts = format_values(numbers.filter(known).to_list(), kind)
    text_of = dict(zip(pl.Series(distinct).filter(known).to_list(), texts, strict=True))
    return [None if value is None else text_of.get(value) for value in values]


def _needed(certificate: Certificate, columns: Sequence[str]) -> list[str]:
    table = certificate.table
    return [*table.quasi_identifiers, *([table.sensitive] if table.sensitive in columns else [])]


def sensitive_column(name: str, values: Sequence[str]) -> NamedColumn:
    """Return the sensitive values as a column; a missing value is the empty text."""
    return NamedColumn(name, tuple(value for value in values if value), has_missing="" in values)


def _column(facts: ColumnFacts, labels: Sequence[str | None], hierarchy: Hierarchy | None) -> QueryColumn:
    """Return a quasi-identifier from its facts in the certificate and its published labels."""
    kind = Kind(facts.kind)
    if kind.is_ordered:
        rounding = _rounding(facts)
        domain = _domain(facts, kind, labels, rounding)
        has_missing = facts.has_missing or rounding is None
        known = facts.domain is not None, has_nanoseconds(labels)
        return OrderedColumn(facts.name, kind, domain, *known, rounding, has_missing)
    if hierarchy is None and facts.hierarchy:
        hierarchy = Hierarchy.from_rows(facts.hierarchy, source=f"the hierarchy of '{facts.name}' in the certificate")
    has_missing = facts.has_missing or None in labels
    shown = {label for label in labels if label is not None and label != ROOT}
    if hierarchy is None and shown:
        hierarchy = Hierarchy.flat(_in_order(shown))
    if hierarchy is None:  # every value is published as `*`, or missing
        return NamedColumn(facts.name, (), {}, max((facts.leaves or 1) - has_missing, 0), has_missing)
    inner = range(hierarchy.n_leaves, len(hierarchy.labels) - 1)
    nodes = {hierarchy.labels[i]: (int(hierarchy.first[i]), int(hierarchy.last[i])) for i in inner}
    n_unnamed = max((facts.leaves or 0) - has_missing - hierarchy.n_leaves, 0)
    return NamedColumn(facts.name, hierarchy.leaves, nodes, n_unnamed, has_missing, hierarchy)


def _in_order(names: Iterable[str]) -> list[str]:
    """Sort names as numbers if all of them are, else by the alphabet."""
    try:
        return sorted(names, key=lambda name: (float(name), name))
    except ValueError:
        return sorted(names)


def _rounding(facts: ColumnFacts) -> Rounding | None:
    try:
        return read_rounding(facts)
    except InputError:
        raise CertificateError(f"the certificate has round ends of '{facts.name}' that cannot be read.") from None


def _domain(facts: ColumnFacts, kind: Kind, labels: Sequence[str | None], rounding: Rounding | None) -> Span:
    """Return the declared domain, or else the least and the greatest published value."""
    try:
        declared = read_domain(facts)
    except (ValueError, OverflowError):
        raise CertificateError(f"the certificate has no domain of '{facts.name}' that can be read.") from None
    if declared is not None:
        low, high = map(comparable_number, declared)
        return low, high
    shown = [label for label in dict.fromkeys(labels) if label is not None and label != ROOT]
    if not shown:
        return 0.0, 0.0
    spans = OrderedColumn(facts.name, kind, (0.0, 0.0), rounding=rounding).spans(shown)
    low, high = spans.low.min(), spans.high.max()
    if rounding is None:
        return low, high
    coded = [end if end is None else comparable_number(end) for end in (rounding.bottom, rounding.top)]
    return low if coded[0] is None else max(low, coded[0]), high if coded[1] is None else min(high, coded[1])


def read_matrix(folder: Path, certificate: Certificate) -> Transition | None:
    """Read the chances of a perturbed release, in the order of the certificate's values; None for other releases."""
    if certificate.scheme.name != PERTURBED:
        return None
    path = folder / TRANSITION_FILE
    try:
        rule = DrawingRule.of(certificate.scheme.details)
        return read_transition(path, certificate.prior_counts, rule).by_label(certificate.prior_counts)
    except (OSError, ValueError, IndexError) as error:
        raise CertificateError(
            f"'{path}' is not the matrix of this release, without which it answers nothing. Check it with: betalike "
            "verify."
        ) from error
