"""Sensitive columns: one, or several whose combinations take the place of one column's values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from betalike.engines.coding import ValueCodes, code_sensitive, value_texts
from betalike.errors import CertificateError
from betalike.runtime.arrays import Ids, Ints
from betalike.table.axis import Axis
from betalike.table.cells import fold
from betalike.table.joint import JOINED, JointAxis
from betalike.table.schema import Schema


@dataclass(frozen=True)
class SensitiveValues:
    """The sensitive values of a table: their axis, a row for each code with the values to publish, and their codes."""

    axis: Axis
    shown: pl.DataFrame
    codes: tuple[ValueCodes, ...]  # of each column

    @cached_property
    def labels(self) -> list[str]:
        """The values as text, for a certificate; a missing value is the empty text."""
        texts = [value_texts(column).to_list() for column in self.shown]
        return texts[0] if len(texts) == 1 else [join_label(row) for row in zip(*texts, strict=True)]

    def code(self, rows: pl.DataFrame) -> Ids:
        """Return the code of each row's sensitive value, or combination of values."""
        codes = [code(rows[name]) for name, code in zip(self.shown.columns, self.codes, strict=True)]
        if not isinstance(self.axis, JointAxis):
            return codes[0]
        known = self.axis.codes.T
        together = [np.concatenate([one, other]) for one, other in zip(known, codes, strict=True)]
        _, number = fold(together, [int(column.max()) + 1 for column in together])
        return number[len(self.axis.codes) :]

    def labelled(self, labels: Sequence[str] | None) -> SensitiveValues:
        """Return labels that are published in place of the values; the values themselves if there are none."""
        if labels is None:
            return self
        return replace(self, shown=pl.DataFrame([pl.Series(self.shown.columns[0], labels, dtype=pl.String)]))


@dataclass(frozen=True)
class DistinctColumn:
    """The distinct values of a column, how many rows have each, and the place of each entry's value among them."""

    values: pl.Series
    counts: Ints
    places: Ids


def code_sensitive_columns(columns: Sequence[DistinctColumn], schema: Schema) -> tuple[SensitiveValues, Ids]:
    """Return the sensitive values, and the code of each entry."""
    attributes, is_value = schema.parts or (schema.sensitive,), schema.sensitive_missing_is_value
    axes, entries, published, of_values = [], [], [], []
    for column, attribute in zip(columns, attributes, strict=True):
        axis, codes, shown = code_sensitive(column.values, attribute, is_value, column.counts)
        axes.append(axis)
        entries.append(codes[column.places].astype(np.int32))
        published.append(shown.alias(attribute.name))
        of_values.append(ValueCodes.of(column.values, codes))
    if len(axes) == 1:
        return SensitiveValues(axes[0], published[0].to_frame(), tuple(of_values)), entries[0]
    firsts, number = fold(entries, [axis.size for axis in axes])
    codes = np.column_stack([column[firsts] for column in entries]).astype(np.int64)
    joint = JointAxis.of(schema.sensitive.name, schema.sensitive_columns, codes)
    rows = pl.DataFrame([values.gather(pl.Series(codes[:, i])) for i, values in enumerate(published)])
    return SensitiveValues(joint, rows, tuple(of_values)), number


def join_label(texts: Sequence[str]) -> str:
    """Return the label of a combination of values.

    >>> join_label(["flu", "3"])
    '["flu", "3"]'
    """
    return json.dumps(list(texts), ensure_ascii=False)


def join_columns(frame: pl.DataFrame, columns: Sequence[str], name: str) -> pl.DataFrame:
    """Replace some columns of a frame with the labels of their combinations, at the end."""
    texts = pl.DataFrame([value_texts(frame[column]) for column in columns])
    distinct = texts.unique()
    labels = pl.Series(name, [join_label(row) for row in distinct.iter_rows()], dtype=pl.String)
    joined = texts.join(distinct.with_columns(labels), on=list(columns), how="left", maintain_order="left")
    return frame.drop(columns).with_columns(joined[name])


def label_joined(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Return the label of each row's sensitive value, or combination of values."""
    if len(columns) == 1:
        return value_texts(frame[columns[0]])
    return join_columns(frame.select(columns), columns, JOINED)[JOINED]


def joint_axis(name: str, columns: Sequence[str], labels: Sequence[str]) -> JointAxis:
    """Return the axis of combinations that are known by their labels alone, as a certificate has them."""
    rows = [texts_of(label) for label in labels]
    if len(columns) < 2 or any(len(row) != len(columns) for row in rows):
        raise CertificateError("the certificate's values do not have as many columns as it names.")
    codes: list[Ints] = []
    for texts in zip(*rows, strict=True):
        number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        codes.append(np.array([number[text] for text in texts], dtype=np.int64))
    return JointAxis.of(name, columns, np.column_stack(codes))


def counts_of_part(counts: Mapping[str, int], place: int) -> dict[str, int]:
    """Count the values of one column, from the counts of combinations by their labels."""
    added: dict[str, int] = {}
    for label, count in counts.items():
        texts = texts_of(label)
        if len(texts) <= place:
            raise CertificateError("the certificate's values do not have as many columns as it names.")
        added[texts[place]] = added.get(texts[place], 0) + count
    return added


def texts_of(label: str) -> list[str]:
    """Return the values of a combination from its label."""
    try:
        texts = json.loads(label)
    except ValueError:
        texts = None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CertificateError("the certificate's values are not combinations of several columns' values.")
    return texts
