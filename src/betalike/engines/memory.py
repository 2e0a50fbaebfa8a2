"""The engine for tables that fit in memory, on Polars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from betalike.engines.cells import make_cells
from betalike.engines.coding import MOST_DIGITS, axis_of, code_quasi_identifier, code_sensitive
from betalike.engines.engine import Draw, ExactRecount, Format, Layout, Recount
from betalike.engines.exact_rows import Written, check_csv_types, count_changed, count_moves, open_written
from betalike.errors import FileError, GuaranteeError, InputError, SchemaError
from betalike.io.frames import check_years
from betalike.io.spreadsheet import escape_columns, formula_columns, restore_columns
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.randomness import Randomness
from betalike.table.axis import Axis, Bound, OrderedAxis
from betalike.table.cells import Cells, ClassCounts, Plan, ValueCounts, fold, random_order, shuffled_slots
from betalike.table.kernels import assign_slots
from betalike.table.schema import Kind, Schema

TIMES_AS_TEXT = [pl.col(pl.Datetime, pl.Time).cast(pl.String), pl.col(pl.Duration).dt.to_string("iso")]  # as in CSV


@dataclass(frozen=True)
class Assignment:
    """The class of every published row, in the random order of publication, and which row of the table it was."""

    plan: Plan
    order: Ids
    ec: Ids


def write_csv(rows: pl.DataFrame, place: Path | IO[bytes], form: Format, include_header: bool = True) -> list[str]:
    """Write rows as CSV and name the columns with cells that a spreadsheet would run as formulas.

    A missing value that is a row by itself is quoted, for many readers skip blank lines.
    """
    rows = rows.with_columns(TIMES_AS_TEXT)
    missing = '""' if rows.width == 1 else ""
    (escape_columns(rows) if form.is_safe else rows).write_csv(place, include_header=include_header, null_value=missing)
    return [] if form.is_safe else formula_columns(rows)


class MemoryEngine:
    """Counts the cells of a Polars frame, hands its rows out to classes and writes them."""

    name = "memory"
    is_coarse = False

    def __init__(self, frame: pl.DataFrame, schema: Schema) -> None:
        schema.check_columns(frame.columns)
        if frame.height == 0:
            raise InputError("the table has no rows; there is nothing to publish.")
        self.frame = only_used(check_years(frame.select(schema.names)))
        self.schema = schema

    @cached_property
    def _sensitive(self) -> tuple[Axis, Ids, pl.Series]:
        """The sensitive axis, the code of each row, and the value that each code stands for."""
        sensitive = self.schema.sensitive
        return code_sensitive(self.frame[sensitive.name], sensitive, self.schema.sensitive_missing_is_value)

    @cached_property
    def _coded(self) -> tuple[Cells, Ids]:
        """The cells, and the cell of each row."""
        coded = [code_quasi_identifier(self.frame[a.name], a) for a in self.schema.quasi_identifiers]
        sensitive, values, _ = self._sensitive
        axes = [axis for axis, _ in coded]
        return make_cells(self.schema, axes, sensitive, [*(codes for _, codes in coded), values])

    def count_cells(self) -> Cells:
        """Fold the table into cells."""
        return self._coded[0]

    @property
    def cell_of_rows(self) -> Ids:
        """The cell of each row."""
        return self._coded[1]

    @property
    def sensitive_values(self) -> pl.Series:
        """The published form of each sensitive code."""
        return self._sensitive[2]

    @property
    def sensitive_labels(self) -> list[str]:
        """The sensitive values as text, for a certificate; a missing value is the empty text."""
        return label_values(self.sensitive_values)

    def assign(self, plan: Plan, randomness: Randomness) -> Assignment:
        """Give each row a class, a random one of those that its cell was planned for, and shuffle the rows."""
        starts, slots = shuffled_slots(plan, randomness)
        ec = assign_slots(self._coded[1], starts, slots)
        order = random_order(len(ec), randomness)
        return Assignment(plan, order, ec[order])

    def generalize(self, assignment: Assignment, layout: Layout = Layout.LABELS) -> pl.DataFrame:
        """The release as a frame: labels of each row's class, the sensitive value, the kept columns."""
        check_distinct_names(self.schema, self.count_cells().axes, layout)
        plan, cells = assignment.plan, assignment.plan.cells
        low, high = (side.astype(np.int64) for side in plan.boxes)
        ec = pl.Series(assignment.ec)
        columns: list[pl.Series] = []
        for i, axis in enumerate(cells.axes):
            columns += [of_class.gather(ec) for of_class in class_columns(axis, low[:, i], high[:, i], layout)]
        value = cells.value[self._coded[1][assignment.order]]
        columns.append(self.sensitive_values.gather(pl.Series(value)).alias(self.schema.sensitive.name))
        columns += self._in_order([attribute.name for attribute in self.schema.kept], assignment.order)
        return pl.DataFrame(columns)

    def count_values(self) -> ValueCounts:
        """Count the sensitive values alone."""
        schema = self.schema
        axes = tuple(axis_of(self.frame[a.name], a) for a in schema.quasi_identifiers)
        sensitive, values, _ = self._sensitive
        counts = np.bincount(values, minlength=sensitive.size).astype(np.int64)
        return ValueCounts(axes, sensitive, schema.weights, counts)

    def publish_exactly(self, draw: Draw | None, randomness: Randomness) -> tuple[pl.DataFrame, Ids]:
        """The rows as they are, in random order, and which row of the table each was."""
        order = random_order(self.frame.height, randomness)
        _, values, published = self._sensitive
        columns = self._in_order(self.schema.quasi_identifier_names, order)
        if draw is not None:
            drawn = pl.Series(np.take(draw(values, 0), order))
            columns.append(published.gather(drawn).alias(self.schema.sensitive.name))
        columns += self._in_order([attribute.name for attribute in self.schema.kept], order)
        return pl.DataFrame(columns), order

    def _in_order(
        self, names: Sequence[str], order: Ids, then: Callable[[pl.Series], Any] = lambda column: column
    ) -> list[Any]:
        """Columns of the table in another order of rows, or what is made of each of them."""
        rows = pl.Series(order).cast(pl.UInt32)

        def gather(name: str) -> Any:
            return then(self.frame[name].rechunk().gather(rows))  # in several chunks it is much slower

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(gather, names))

    def compare_exactly(self, release: pl.DataFrame, trace: Ids, path: Path | None, form: Format) -> ExactRecount:
        """Compare exact rows with the table, as they were written, or as they are where there is no file."""
        sensitive = self.schema.sensitive.name
        names = list(self.schema.quasi_identifier_names)
        try:
            written = self._opened(open_written(release, path, form, self.schema.sensitive_columns))
            if written.height != len(trace) or not set(names) <= set(written.columns):
                return ExactRecount(written.height, n_changed=max(written.height, 1))
            changed = self._in_order(names, trace, lambda column: count_changed(written.column(column.name), column))
            if sensitive not in written.columns:
                return ExactRecount(written.height, sum(changed))
            published = written.column(sensitive)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise GuaranteeError("what was written cannot be read back. Nothing was published.") from error
        values = np.take(self._sensitive[1], trace)
        moves, n_unknown = count_moves(values, published, self.sensitive_labels)
        return ExactRecount(written.height, sum(changed), n_unknown, moves)

    def write(self, release: pl.DataFrame, path: Path, form: Format) -> list[str]:
        """Write a release to a file; names the columns with cells that a spreadsheet would run as formulas."""
        try:
            if form is Format.PARQUET:
                release.write_parquet(path)
                return []
            check_csv_types(release.schema)
            return write_csv(release, path, form)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise cannot_write(path, error) from error

    def rows_of_files(self, path: Path, n_rows: int) -> dict[str, int]:
        """The release is a single file."""
        return {path.name: n_rows}

    def read_back(self, path: Path, form: Format, layout: Layout) -> Recount:
        """Count a written release again, from the file alone."""
        names = label_columns(self.count_cells().axes, layout)
        sensitive = self.schema.sensitive.name
        try:
            labels = [name for group in names for name in group]
            frame = read_release(path, form, [*labels, *self.schema.sensitive_columns])
        except (pl.exceptions.PolarsError, OSError) as error:
            raise GuaranteeError("what was written cannot be read back. Nothing was published.") from error
        return recount(self._with_sensitive(frame), names, sensitive, self.sensitive_labels)

    def count_again(self, release: pl.DataFrame, layout: Layout) -> Recount:
        """Count a release again that stays in memory."""
        names = label_columns(self.count_cells().axes, layout)
        return recount(self._with_sensitive(release), names, self.schema.sensitive.name, self.sensitive_labels)

    def _with_sensitive(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A published frame with its sensitive column, which it has unless that stands for several."""
        return frame

    def _opened(self, written: Written) -> Written:
        """A written table with its sensitive column."""
        return written


def only_used(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose lists of categories have the values that occur and no others, as these lists are published too."""
    narrow = []
    for name, dtype in frame.schema.items():
        if isinstance(dtype, pl.Enum):
            used = set(frame[name].unique().drop_nulls().cast(pl.String))
            categories = pl.Enum([text for text in dtype.categories if text in used])
            narrow.append(frame[name].cast(pl.String).cast(categories))
    return frame.with_columns(narrow)


def cannot_write(path: Path, error: Exception) -> FileError:
    """Why a file could not be written, in words that show no cell."""
    is_full = "No space left" in str(error)  # Polars tells it in words only
    reason = "no space is left on the disk" if is_full else "its disk or folder does not take it"
    return FileError(f"{path.name} could not be written: {reason}. Nothing was published.")


def label_columns(axes: Sequence[Axis], layout: Layout) -> list[list[str]]:
    """The published columns of each quasi-identifier."""
    is_two = [layout is Layout.BOUNDS and isinstance(axis, OrderedAxis) for axis in axes]
    return [
        [f"{axis.name}_low", f"{axis.name}_high"] if two else [axis.name]
        for axis, two in zip(axes, is_two, strict=True)
    ]


def check_distinct_names(schema: Schema, axes: Sequence[Axis], layout: Layout) -> None:
    """Refuse a release with two columns of one name."""
    published = [name for group in label_columns(axes, layout) for name in group]
    others = [*schema.sensitive_columns, *(attribute.name for attribute in schema.kept)]
    doubled = {name for name in published if (published + others).count(name) > 1}
    if doubled:
        raise SchemaError(
            f"the release would have two columns named '{min(doubled)}'. Rename one in the table, or publish with "
            "the layout 'labels'."
        )


def label_values(values: pl.Series) -> list[str]:
    """Sensitive values as text; a missing value is the empty text."""
    return values.cast(pl.String).fill_null("").to_list()


def read_release(path: Path, form: Format, columns: Sequence[str]) -> pl.DataFrame:
    """Read columns of a release as text, repeated texts once."""
    if form is Format.PARQUET:
        return pl.scan_parquet(path, glob=False).select(_as_repeated_text(columns)).collect(engine="streaming")
    types = dict.fromkeys(columns, pl.Categorical)
    frame = pl.read_csv(path, columns=list(columns), schema_overrides=types, glob=False)
    return restore_columns(frame) if form.is_safe else frame


def _as_repeated_text(columns: Sequence[str]) -> list[pl.Expr]:
    return [pl.col(name).cast(pl.String).cast(pl.Categorical) for name in columns]


def recount(frame: pl.DataFrame, names: Sequence[Sequence[str]], sensitive: str, values: Sequence[str]) -> Recount:
    """Count the classes of a published frame: rows with the same labels are a class, whoever wrote them."""
    if frame.height == 0:
        raise GuaranteeError("no rows were written. Nothing was published.")
    columns = [*(name for group in names for name in group), sensitive]
    frame = frame.select(columns)
    frame = frame.with_columns(_as_repeated_text([name for name in columns if frame[name].dtype != pl.Categorical]))
    codes = _text_codes(frame)
    firsts, number = fold(codes, [int(column.max()) + 1 for column in codes])
    count = np.bincount(number, minlength=len(firsts)).astype(np.int64)
    return recount_distinct(frame[firsts], [column[firsts] for column in codes], count, names, values)


def _text_codes(frame: pl.DataFrame) -> list[Ids]:
    """A number for each text of each column of repeated texts; 0 is a missing one."""
    return [column.to_physical().cast(pl.Int32).fill_null(-1).to_numpy() + 1 for column in frame]


def recount_distinct(
    rows: pl.DataFrame, codes: Sequence[Ids], count: Ints, names: Sequence[Sequence[str]], values: Sequence[str]
) -> Recount:
    """Count classes from the distinct rows of a release, the sensitive column last, with a number for each text."""
    first_of_class, ec = fold(codes[:-1], [int(column.max()) + 1 for column in codes[:-1]])
    value = _value_numbers(rows.to_series(rows.width - 1), codes[-1], values)
    published = rows[first_of_class]
    return Recount(
        classes=ClassCounts.of(ec, np.maximum(value, 0), count, len(values)),
        labels=[_group_labels(published.select(group)) for group in names],
        n_unknown=int(count[value < 0].sum()),
    )


def _value_numbers(column: pl.Series, codes: NDArray[np.int32], values: Sequence[str]) -> NDArray[np.int64]:
    """The number of each sensitive value in a list of them, -1 for one that is not there."""
    number = {value: i for i, value in enumerate(values)}
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    texts = column.gather(first).cast(pl.String).fill_null("")
    return np.array([number.get(text, -1) for text in texts], dtype=np.int64)[inverse]


def _group_labels(published: pl.DataFrame) -> list[str | None]:
    """Labels of one quasi-identifier, one for each class; two bounds are joined to a range."""
    if published.width == 1:
        return published.to_series().cast(pl.String).to_list()
    lows, highs = (published[name].cast(pl.String).to_list() for name in published.columns)
    return [low if low == high else f"[{low}, {high}]" for low, high in zip(lows, highs, strict=True)]


def _bound_type(axis: OrderedAxis, bounds: Sequence[Bound]) -> pl.DataType:
    """The type of two columns of bounds that holds all of their digits, and that other libraries can read.

    It follows from the domain, so that all parts of a table have the same.
    """
    kind, (low, high) = axis.kind, axis.domain
    if kind is Kind.REAL or not kind.is_number:
        return pl.Float64() if kind is Kind.REAL else pl.String()
    if kind is Kind.INTEGER and low >= -(2**63) and high < 2**63:
        return pl.Int64()
    if kind is Kind.INTEGER and low >= 0 and high < 2**64:
        return pl.UInt64()
    if kind is Kind.INTEGER and 10**MOST_DIGITS <= max(-low, high) < 2**127:
        return pl.Int128()
    exponents = [int(end.as_tuple().exponent) for end in (*bounds, low, high) if isinstance(end, Decimal)]
    places = max(-min(exponents, default=0), 0)
    if places > MOST_DIGITS or max(-low, high) >= 10 ** (
        MOST_DIGITS - places
    ):  # a domain that no type of numbers holds
        return pl.String()
    return pl.Decimal(MOST_DIGITS, places)


def _typed_bounds(bounds: Sequence[Bound], axis: OrderedAxis, dtype: pl.DataType) -> list[Any]:
    if dtype.is_decimal():
        return [None if bound is None else Decimal(bound) for bound in bounds]
    if dtype == pl.String and axis.kind.is_number:
        return [None if bound is None else format(bound, "f" if isinstance(bound, Decimal) else "") for bound in bounds]
    return [*bounds]


def class_columns(axis: Axis, low: NDArray[np.int64], high: NDArray[np.int64], layout: Layout) -> list[pl.Series]:
    """The published columns of one axis, with one entry for each class."""
    if layout is Layout.BOUNDS and isinstance(axis, OrderedAxis):
        if axis.domain[0] == axis.domain[1] and axis.is_mixed(low, high).any():
            raise SchemaError(
                f"the column '{axis.name}' has one value and missing ones, which two bounds cannot tell apart. "
                "Publish with the layout 'labels', or declare a wider domain."
            )
        lows, highs = axis.bounds(low, high)
        dtype = _bound_type(axis, [*lows, *highs])
        sides = ((f"{axis.name}_low", lows), (f"{axis.name}_high", highs))
        return [pl.Series(name, _typed_bounds(side, axis, dtype), dtype) for name, side in sides]
    return [pl.Series(axis.name, axis.labels(low, high), dtype=pl.String)]
