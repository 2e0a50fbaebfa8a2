"""The original table beside its release: counted with the columns and types of the certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from betalike.engines.local import LocalEngine
from betalike.errors import InputError
from betalike.io.tables import Frame, read
from betalike.measures.sample import Column, Sample
from betalike.queries.completion import PER_DAY, UNNAMED, sample_columns, sensitive_codes
from betalike.queries.estimator import Estimator
from betalike.release.binned_values import ranges_of
from betalike.runtime.arrays import Floats, Ids
from betalike.table.axis import Axis, OrderedAxis
from betalike.table.cells import Cells
from betalike.table.schema import Attribute, Kind, Role, Schema


def count_original(
    release: Estimator, original: Frame, missing: Sequence[str] = (), delimiter: str | None = None
) -> tuple[Cells, list[str]]:
    """Count the cells of the original table; also return its sensitive values as text."""
    table = release.certificate.table
    attributes = tuple(
        Attribute(facts.name, Role.QUASI_IDENTIFIER, Kind(facts.kind), dates=facts.dates) for facts in table.columns
    )
    bins = ranges_of(release.certificate).get(table.sensitive)
    sensitive = Attribute(table.sensitive, Role.SENSITIVE, bins=bins)
    schema = Schema(attributes, sensitive, sensitive_missing_is_value=True)
    engine = LocalEngine(read(original, schema, missing, delimiter), schema)
    return engine.count_cells(), engine.sensitive_labels


def codes_of_original(release: Estimator, cells: Cells, sensitive_labels: Sequence[str]) -> Ids:
    """Return the sensitive value of each cell by its place in the certificate; refuse another table's values."""
    number = {value: i for i, value in enumerate(release.values)}
    code = np.array([number.get(label, -1) for label in sensitive_labels], dtype=np.int32)[cells.value]
    if (code < 0).any() or not np.array_equal(np.bincount(code, cells.count, len(number)), release.counts):
        raise InputError("the sensitive values of this table are not those of the release's original table.")
    return code


def original_sample(release: Estimator, cells: Cells, sensitive_labels: Sequence[str]) -> Sample:
    """Return the original table as a sample with the columns of its release; refuse other sensitive values."""
    *columns, sensitive = sample_columns(release)
    code = codes_of_original(release, cells, sensitive_labels)
    known, values = [], []
    for axis, (column, of_axis) in enumerate(zip(columns, cells.axes, strict=True)):
        found, numbers = _values(column, of_axis)
        known.append(found)
        values.append(numbers[cells.points[:, axis]][cells.point])
    last = sensitive_codes(release.values, code)
    return Sample.of([*known, sensitive], [*values, last], cells.count.astype(np.float64))


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
