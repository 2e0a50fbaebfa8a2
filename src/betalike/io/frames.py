"""Frames of pandas, Polars, PyArrow and DuckDB, through Narwhals: any of them in, the same kind out."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any

import narwhals as nw
import polars as pl

from betalike.errors import BetalikeError, InputError, MissingDependencyError, SchemaError
from betalike.io.damaged_files import compiled_code_silenced, damage_refused
from betalike.table.schema import check_columns

HUGE = (pl.Int128, pl.UInt128)
MIXED = ("mixed", "mixed-integer")  # as pandas calls columns of numbers and texts
EPOCH = datetime.datetime(1970, 1, 1)
FIRST, LAST = (end - EPOCH for end in (datetime.datetime.min, datetime.datetime.max))
DAY = datetime.timedelta(days=1)
TIME_UNITS = {
    "ms": datetime.timedelta(milliseconds=1),
    "us": datetime.timedelta(microseconds=1),
    "ns": None,  # their range lies within the years 1 to 9999
}


def to_polars(frame: Any, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the wanted columns of a frame of any supported kind."""
    if isinstance(frame, pl.LazyFrame):
        with damage_refused("the lazy frame cannot be read; is one of its files damaged?"), compiled_code_silenced():
            frame = frame.collect()
    if not isinstance(frame, pl.DataFrame):
        frame = _convert(frame, columns)
    check_columns(columns or (), frame.columns)
    selected: pl.DataFrame = frame.select(columns) if columns is not None else frame
    return check_texts(check_years(selected))


def _convert(frame: Any, columns: Sequence[str] | None) -> pl.DataFrame:
    try:
        native = nw.from_native(frame)
        names = list(native.collect_schema().names())
    except nw.exceptions.DuplicateError:
        raise InputError("two columns of the frame have the same name. Give each a different name.") from None
    except TypeError as error:
        raise InputError(
            f"a {type(frame).__name__} is not a table that betalike knows. Give a pandas, Polars, PyArrow or "
            "DuckDB frame, or the path of a file."
        ) from error
    check_columns(columns or (), names)
    if columns is not None:
        native = native.select(*columns)
    with _named_dependencies():
        try:
            return _collect(native)
        except (BetalikeError, ImportError):
            raise
        except (Exception, pl.exceptions.PanicException) as error:  # each library has its own; they may show a cell
            raise _not_converted(native, names if columns is None else columns, type(error).__name__) from None


def _collect(native: Any) -> pl.DataFrame:
    """Return a frame of Narwhals as one of Polars."""
    if native.implementation.is_pandas():
        native = nw.from_native(_with_texts(native.to_native()))
    huge = _huge_columns(native.to_native()) if native.implementation.is_duckdb() else []
    converted = (native.collect("polars") if isinstance(native, nw.LazyFrame) else native).to_polars()
    return converted.with_columns(pl.col(huge).cast(pl.Int128))  # DuckDB gives them as decimals


def _not_converted(native: Any, names: Sequence[str], reason: str) -> InputError:
    """Return the error for a frame that cannot be converted; it names the column that cannot."""
    for name in names:
        try:
            _collect(native.select(name))
        except UnicodeError:
            return _not_text(name)
        except (Exception, pl.exceptions.PanicException):
            return InputError(
                f"the column '{name}' cannot be converted ({reason}): it may hold values of several types. Fix it, or "
                "leave it out."
            )
    return _frame_not_converted(reason)


def _frame_not_converted(reason: str) -> InputError:
    return InputError(
        f"the frame cannot be converted ({reason}): a column may hold values of several types, or two columns may "
        "have the same name. Fix the frame first."
    )


def check_years(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame, but refuse dates outside the years 1 to 9999, which neither Python nor SQL can read."""
    for column in frame.iter_columns():
        dtype = column.dtype
        unit = TIME_UNITS[dtype.time_unit] if isinstance(dtype, pl.Datetime) else DAY if dtype == pl.Date else None
        if unit is None:
            continue
        numbers = column.to_physical()
        n_far = int(((numbers < FIRST // unit) | (numbers > LAST // unit)).sum())
        if n_far:
            raise SchemaError(
                f"the column '{column.name}' has {n_far} dates outside the years 1 to 9999. Fix them, make them "
                "missing, or leave the column out."
            )
    return frame


def check_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame, but refuse bytes that are no UTF-8, which Polars takes over from Arrow without a check."""
    for column in frame.iter_columns():
        try:
            if isinstance(column.dtype, pl.Categorical):
                column.unique().cast(pl.String).cast(pl.Binary).cast(pl.String)
            elif column.dtype == pl.String:
                column.cast(pl.Binary).cast(pl.String)
        except pl.exceptions.ComputeError:
            raise _not_text(column.name) from None
    return frame


def _not_text(name: str) -> SchemaError:
    return SchemaError(
        f"the column '{name}' has texts that are not valid Unicode, such as half a character or bytes in another "
        "encoding. Decode them correctly, or leave the column out."
    )


def _with_texts(frame: Any) -> Any:
    """Return a pandas frame in which columns that Polars does not have are texts.

    Those are intervals (as `pd.cut` makes them), periods, and columns that mix numbers and texts, which a CSV file of
    the same table has as texts too.
    """
    import pandas as pd

    texts = {}
    for name, dtype in frame.dtypes.items():
        of_categories = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
        if isinstance(of_categories, pd.IntervalDtype | pd.PeriodDtype):
            texts[name] = frame[name].astype(object).map(str, na_action="ignore")
        elif pd.api.types.is_object_dtype(dtype) and _mixes_numbers_and_texts(frame[name]):
            texts[name] = frame[name].map(_number_text, na_action="ignore")
    return frame.assign(**texts) if texts else frame


def _mixes_numbers_and_texts(column: Any) -> bool:
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) not in MIXED:
        return False
    kinds = {type(value) for value in column.dropna()}
    return bool not in kinds and all(issubclass(kind, str | Real) for kind in kinds)


def _number_text(value: str | Real) -> str:
    """Return a number as a CSV file has it; whole ones without a point, as pandas adds it where values are missing."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _huge_columns(relation: Any) -> list[str]:
    """Return the 128-bit columns of a DuckDB relation; refuse unsigned ones, which DuckDB exports as other values."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    unsigned = [name for name, kind in types.items() if kind == "UHUGEINT"]
    if unsigned:
        raise SchemaError(f"the column '{unsigned[0]}' is of type UHUGEINT; cast it to HUGEINT or to text.")
    return [name for name, kind in types.items() if kind == "HUGEINT"]


def like(frame: pl.DataFrame, original: Any) -> Any:
    """Convert a Polars frame to the kind of the original."""
    if isinstance(original, pl.DataFrame):
        return frame
    if isinstance(original, pl.LazyFrame):
        return frame.lazy()
    implementation = nw.from_native(original).implementation
    with _named_dependencies():
        frame = frame.with_columns(_narrow(frame[name]) for name in frame.columns if frame[name].dtype in HUGE)
        if implementation.is_pandas():
            return _like_pandas(frame, original)
        if implementation.is_pyarrow():
            return frame.to_arrow()
        if implementation.is_duckdb():
            import duckdb

            return duckdb.from_arrow(frame.to_arrow())
    raise InputError(f"betalike cannot return a frame of {implementation}; give a Polars frame instead.")


def _narrow(column: pl.Series) -> pl.Series:
    """Convert 128-bit integers, with all digits, to a type that other libraries have."""
    narrow = column.cast(pl.Int64, strict=False)
    return narrow if narrow.null_count() == column.null_count() else column.cast(pl.Decimal(38, 0))


def _like_pandas(frame: pl.DataFrame, original: Any) -> Any:
    """Convert to pandas; integers with missing values keep all digits, which the usual floats of pandas would lose."""
    import pandas as pd

    made = frame.to_pandas()
    for name, dtype in frame.schema.items():
        given = original.dtypes[name] if name in original.columns else None
        is_nullable = isinstance(given, pd.api.extensions.ExtensionDtype) and pd.api.types.is_integer_dtype(given)
        if dtype.is_integer() and (is_nullable or frame[name].null_count()):
            made[name] = pd.array(frame[name].to_list(), dtype="UInt64" if dtype == pl.UInt64 else "Int64")
    return made


@contextlib.contextmanager
def _named_dependencies() -> Iterator[None]:
    """Name the package to install where a conversion needs a library that is missing, usually PyArrow."""
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(
            f"converting this frame needs the package '{error.name or 'pyarrow'}': pip install 'betalike[frames]'."
        ) from error
    except BetalikeError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # each library has its own errors; they may show a cell
        raise _frame_not_converted(type(error).__name__) from None
