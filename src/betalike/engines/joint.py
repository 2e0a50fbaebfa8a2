"""The engine for several sensitive columns: in memory, with their combinations in the place of one column's values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from betalike.engines.coding import code_sensitive, value_texts
from betalike.engines.engine import Draw, Layout
from betalike.engines.exact_rows import Written
from betalike.engines.memory import Assignment, MemoryEngine, label_values
from betalike.errors import CertificateError
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.randomness import Randomness
from betalike.table.axis import Axis
from betalike.table.cells import fold
from betalike.table.joint import JointAxis


class JointEngine(MemoryEngine):
    """Publishes several sensitive columns side by side, and counts their combinations."""

    @cached_property
    def _parts(self) -> list[tuple[Axis, Ids, pl.Series]]:
        """Each sensitive column, coded."""
        is_value = self.schema.sensitive_missing_is_value
        return [code_sensitive(self.frame[part.name], part, is_value) for part in self.schema.parts]

    @cached_property
    def _sensitive(self) -> tuple[Axis, Ids, pl.Series]:
        """The axis of the combinations, the combination of each row, and a label for each."""
        firsts, number = fold([codes for _, codes, _ in self._parts], [axis.size for axis, _, _ in self._parts])
        codes = np.column_stack([codes[firsts] for _, codes, _ in self._parts]).astype(np.int64)
        texts = [label_values(published) for _, _, published in self._parts]
        labels = [join_label([text[code] for text, code in zip(texts, row, strict=True)]) for row in codes.tolist()]
        name = self.schema.sensitive.name
        return JointAxis.of(name, self.schema.sensitive_columns, codes), number, pl.Series(name, labels)

    def generalize(self, assignment: Assignment, layout: Layout = Layout.LABELS) -> pl.DataFrame:
        """The release as a frame, each sensitive column by itself."""
        return self._parted(super().generalize(assignment, layout))

    def publish_exactly(self, draw: Draw | None, randomness: Randomness) -> tuple[pl.DataFrame, Ids]:
        """The rows as they are, in random order, and which row of the table each was."""
        rows, order = super().publish_exactly(draw, randomness)
        return (rows if draw is None else self._parted(rows)), order

    def _parted(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Put the sensitive columns in the place of their combinations."""
        axis, _, labels = self._sensitive
        assert isinstance(axis, JointAxis)
        place = frame.columns.index(axis.name)
        number = frame[axis.name].replace_strict(labels, pl.Series(np.arange(len(labels)))).to_numpy()
        columns = frame.drop(axis.name).get_columns()
        values = [published for _, _, published in self._parts]
        parts = [values[i].gather(pl.Series(axis.codes[number, i])).alias(name) for i, name in enumerate(axis.columns)]
        return pl.DataFrame([*columns[:place], *parts, *columns[place:]])

    def _with_sensitive(self, frame: pl.DataFrame) -> pl.DataFrame:
        return join_columns(frame, self.schema.sensitive_columns, self.schema.sensitive.name)

    def _opened(self, written: Written) -> Written:
        parts, name = self.schema.sensitive_columns, self.schema.sensitive.name
        if not set(parts) <= set(written.columns):
            return written

        def column(wanted: str) -> pl.Series:
            if wanted != name:
                return written.column(wanted)
            frame = pl.DataFrame([written.column(part) for part in parts])
            return join_columns(frame, parts, name)[name]

        others = [column for column in written.columns if column not in parts]
        return replace(written, columns=[*others, name], column=column)


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
