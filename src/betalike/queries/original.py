"""The original table beside its release: counted with the columns and types of the certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from betalike.engines.local import LocalEngine
from betalike.errors import InputError
from betalike.io.tables import Frame, read
from betalike.measures.sample import Column, Holders, Sample
from betalike.queries.completion import PER_DAY, UNNAMED, sample_columns, sensitive_codes
from betalike.queries.estimator import Estimator
from betalike.release.binned_values import ranges_of
from betalike.release.certificate import Certificate, protected_columns
from betalike.release.person_rows import person_keys
from betalike.runtime.arrays import Floats, Ids
from betalike.table.axis import Axis, OrderedAxis
from betalike.table.cells import Cells
from betalike.table.schema import Attribute, Kind, Role, Schema


@dataclass(frozen=True)
class CountedOriginal:
    """The cells of an original table, its sensitive values as text, and who has which cell if persons are named."""

    cells: Cells
    labels: list[str]
    holders: Holders | None = None


def count_original(
    release: Estimator, original: Frame, missing: Sequence[str] = (), delimiter: str | None = None
) -> tuple[Cells, list[str]]:
    """Count the cells of the original table; also return its sensitive values as text."""
    found = count_with_people(release.certificate, original, missing, delimiter, has_people=False)
    return found.cells, found.labels


def count_with_people(
    facts: Certificate,
    original: Frame,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    has_people: bool = True,
) -> CountedOriginal:
    """Count the cells of the original table, with the first of its sensitive columns, and find who has which."""
    table, sensitive = facts.table, protected_columns(facts)[0]
    attributes = tuple(
        Attribute(column.name, Role.QUASI_IDENTIFIER, Kind(column.kind), dates=column.dates) for column in table.columns
    )
    person = None if facts.people is None or not has_people else Attribute(facts.people.column, Role.PERSON)
    value = Attribute(sensitive, Role.SENSITIVE, bins=ranges_of(facts).get(sensitive))
    schema = Schema(attributes, value, sensitive_missing_is_value=True, person=person)
    frame = read(original, schema, missing, delimiter)
    engine = LocalEngine(frame, schema)
    cells, holders = engine.count_cells(), None
    if person is not None:
        keys = person_keys(frame[person.name]).cast(pl.String).fill_null("").rank("dense").to_numpy()
        holders = Holders.of(engine.cell_of_rows.astype(np.int64), np.asarray(keys, dtype=np.int64) - 1)
    return CountedOriginal(cells, engine.sensitive_labels, holders)


def codes_of_original(release: Estimator, cells: Cells, sensitive_labels: Sequence[str]) -> Ids:
    """Return the sensitive value of each cell by its place in the certificate; refuse another table's values."""
    number = {value: i for i, value in enumerate(release.values)}
    code = np.array([number.get(label, -1) for label in sensitive_labels], dtype=np.int32)[cells.value]
    if (code < 0).any() or not np.array_equal(np.bincount(code, cells.count, len(number)), release.counts):
        raise InputError("the sensitive values of this table are not those of the release's original table.")
    return code


def original_sample(
    release: Estimator, cells: Cells, sensitive_labels: Sequence[str], holders: Holders | None = None
) -> Sample:
    """Return the original table as a sample with the columns of its release; refuse other sensitive values."""
    *columns, sensitive = sample_columns(release)
    code = codes_of_original(release, cells, sensitive_labels)
    known, values = [], []
    for axis, (column, of_axis) in enumerate(zip(columns, cells.axes, strict=True)):
        found, numbers = _values(column, of_axis)
        known.append(found)
        values.append(numbers[cells.points[:, axis]][cells.point])
    last = sensitive_codes(release.values, code)
    return Sample.of([*known, sensitive], [*values, last], cells.count.astype(np.float64), holders)


def _values(column: Column, axis: Axis) -> tuple[Column, Floats]:
    """Return a column, and the number or code of each value of the axis; values that no label names are one level."""
    if isinstance(axis, OrderedAxis):
        numbers = np.array([float(value) for value in axis.values.tolist()]) / PER_DAY.get(axis.kind, 1.0)
        return column, np.append(numbers, np.nan)
    codes = np.arange(axis.size)
    labels = axis.labels(codes, codes)
    levels = column.levels or ()
    if any(label is not None and label not in set(levels) for label in labels):
        levels = (*(level for level in levels if level != UNNAMED), UNNAMED)
    place = {level: i for i, level in enumerate(levels)}
    return replace(column, levels=levels), np.array(
        [np.nan if label is None else float(place.get(label, len(levels) - 1)) for label in labels], dtype=np.float64
    )
