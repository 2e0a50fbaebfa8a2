"""The ranges of binned sensitive values, read from a certificate, so that the original's values can be compared."""

from __future__ import annotations

import polars as pl

from betalike.engines.sensitive import counts_of_part
from betalike.engines.value_binning import label_column
from betalike.release.certificate import Certificate, protected_columns
from betalike.table.schema import Kind
from betalike.table.value_ranges import ValueRanges


def ranges_of(certificate: Certificate | None) -> dict[str, ValueRanges]:
    """Return the ranges of each binned column; a column whose labels are no ranges of its kind is left out."""
    if certificate is None:
        return {}
    columns, found = protected_columns(certificate), {}
    for facts in certificate.table.binned:
        if facts.name not in columns or facts.kind not in {*Kind} - {Kind.CATEGORICAL, Kind.NUMERIC}:
            continue
        is_joint = bool(certificate.table.sensitive_columns)
        place, counts = columns.index(facts.name), certificate.prior_counts
        try:
            labels = counts_of_part(counts, place) if is_joint else counts
            found[facts.name] = ValueRanges.of_labels([*labels], Kind(facts.kind), facts.dates)
        except (ValueError, OverflowError):
            continue
    return found


def as_binned(column: pl.Series, certificate: Certificate | None) -> pl.Series:
    """Return the values of an original column as they are published: as they are, or in ranges."""
    ranges = ranges_of(certificate).get(column.name)
    return column if ranges is None else label_column(column, ranges)
