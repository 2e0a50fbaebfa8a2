"""Sensitive columns: one, or several whose combinations take the place of one column's values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """The sensitive values of a table: their axis, and a row for each code with the values to publish."""

    axis: Axis
    shown: pl.DataFrame

    @cached_property
    def labels(self) -> list[str]:
        """The values as text, for a certificate; a missing value is the empty text."""
        texts = [label_values(column) for column in self.shown]
        return texts[0] if len(texts) == 1 else [join_label(row) for row in zip(*texts, strict=True)]


@dataclass(frozen=True)
class DistinctColumn:
    """The distinct values of a column, how many rows have each, and the place of each entry's value among them."""

    values: pl.Series
    counts: Ints
    places: Ids


def code_sensitive_columns(columns: Sequence[DistinctColumn], schema: Schema) -> tuple[SensitiveValues, Ids, list[Ids]]:
    """Return the sensitive values, the code of each entry, and for each column the codes of its distinct values."""
    attributes, is_value = schema.parts or (schema.sensitive,), schema.sensitive_missing_is_value
    coded = [
        code_sensitive(column.values, attribute, is_value, column.counts)
        for column, attribute in zip(columns, attributes, strict=True)
    ]
    of_values = [codes for _, codes, _ in coded]
    of_entries = [codes[column.places] for codes, column in zip(of_values, columns, strict=True)]
    published = [values.alias(attribute.name) for (_, _, values), attribute in zip(coded, attributes, strict=True)]
    if len(coded) == 1:
        return SensitiveValues(coded[0][0], published[0].to_frame()), of_entries[0], of_values
    firsts, number = fold(of_entries, [axis.size for axis, _, _ in coded])
    codes = np.column_stack([column[firsts] for column in of_entries]).astype(np.int64)
    axis = JointAxis.of(schema.sensitive.name, schema.sensitive_columns, codes)
    shown = pl.DataFrame([values.gather(pl.Series(codes[:, i])) for i, values in enumerate(published)])
    return SensitiveValues(axis, shown), number, of_values


@dataclass(frozen=True)
class SensitiveCodes:
    """Codes the sensitive columns of rows that come later, or elsewhere; of several columns, their combinations."""

    columns: dict[str, ValueCodes]
    axis: Axis

    def __call__(self, rows: pl.DataFrame) -> Ids:
        """Return the code of each row."""
        codes = [code(rows[name]) for name, code in self.columns.items()]
        if not isinstance(self.axis, JointAxis):
            return codes[0]
        known = self.axis.codes.T
        together = [np.concatenate([one, other]) for one, other in zip(known, codes, strict=True)]
        _, number = fold(together, [int(column.max()) + 1 for column in together])
        return number[len(self.axis.codes) :]


def label_values(values: pl.Series) -> list[str]:
    """Return sensitive values as text; a missing value is the empty text."""
    return values.cast(pl.String).fill_null("").to_list()


def join_label(texts: Sequence[str]) -> str:
    """The label of a combination of values.

    >>> join_label(["flu", "3"])
    '["flu", "3"]'
    """
    return json.dumps(list(texts), ensure_ascii=False)


def join_columns(frame: pl.DataFrame, columns: Sequence[str], name: str) -> pl.DataFrame:
    """A frame with the labels of the combinations of some columns in their place, at the end."""
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
    """The axis of combinations that are known by their labels alone, as a certificate tells them."""
    rows = [_texts_of(label) for label in labels]
    if len(columns) < 2 or any(len(row) != len(columns) for row in rows):
        raise CertificateError("the certificate's values are not of as many columns as it names.")
    codes: list[Ints] = []
    for texts in zip(*rows, strict=True):
        number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        codes.append(np.array([number[text] for text in texts], dtype=np.int64))
    return JointAxis.of(name, columns, np.column_stack(codes))


def counts_of_part(counts: Mapping[str, int], place: int) -> dict[str, int]:
    """How often each value of one column occurs, from the counts of combinations by their labels."""
    added: dict[str, int] = {}
    for label, count in counts.items():
        texts = _texts_of(label)
        if len(texts) <= place:
            raise CertificateError("the certificate's values are not of as many columns as it names.")
        added[texts[place]] = added.get(texts[place], 0) + count
    return added


def _texts_of(label: str) -> list[str]:
    try:
        texts = json.loads(label)
    except ValueError:
        texts = None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CertificateError("the certificate's values are no combinations of several columns' values.")
    return texts
