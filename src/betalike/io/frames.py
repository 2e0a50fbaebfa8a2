"""Frames of pandas, Polars, PyArrow and DuckDB, through Narwhals: any of them in, the same kind out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import polars as pl

from betalike.errors import BetalikeError, InputError, MissingDependencyError, SchemaError
from betalike.io.damage import compiled_code_silenced, damage_refused
from betalike.io.years import check_years
from betalike.table.schema import check_columns

HUGE = (pl.Int128, pl.UInt128)


def to_polars(frame: Any, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The wanted columns of a frame of any supported kind."""
    if isinstance(frame, pl.LazyFrame):
        with damage_refused("the lazy frame cannot be read; is one of its files damaged?"), compiled_code_silenced():
            frame = frame.collect()
    if not isinstance(frame, pl.DataFrame):
        try:
            native = nw.from_native(frame)
            names = list(native.collect_schema().names())
        except nw.exceptions.DuplicateError:
            raise InputError("two columns of the frame have the same name. Give each a name of its own.") from None
        except TypeError as error:
            raise InputError(
                f"a {type(frame).__name__} is not a table that betalike knows. Give a pandas, Polars, PyArrow or "
                "DuckDB frame, or the path of a file."
            ) from error
        check_columns(columns or (), names)
        if columns is not None:
            native = native.select(*columns)
        with _named_dependencies():
            if native.implementation.is_pandas():
                native = nw.from_native(_without_intervals(native.to_native()))
            huge = _huge_columns(native.to_native()) if native.implementation.is_duckdb() else []
            frame = (native.collect("polars") if isinstance(native, nw.LazyFrame) else native).to_polars()
            frame = frame.with_columns(pl.col(huge).cast(pl.Int128))  # which came as decimals
    check_columns(columns or (), frame.columns)
    selected: pl.DataFrame = frame.select(columns) if columns is not None else frame
    return check_years(selected)


def _without_intervals(frame: Any) -> Any:
    """A pandas frame with intervals (as `pd.cut` makes them) and periods as text, which is how people read them."""
    import pandas as pd

    texts = {}
    for name, dtype in frame.dtypes.items():
        of_categories = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
        if isinstance(of_categories, pd.IntervalDtype | pd.PeriodDtype):
            texts[name] = frame[name].astype(object).map(str, na_action="ignore")
    return frame.assign(**texts) if texts else frame


def _huge_columns(relation: Any) -> list[str]:
    """Columns of a DuckDB relation of 128 bits; those without a sign are refused, as DuckDB hands on other values."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    unsigned = [name for name, kind in types.items() if kind == "UHUGEINT"]
    if unsigned:
        raise SchemaError(f"the column '{unsigned[0]}' is of type UHUGEINT; cast it to HUGEINT or to text.")
    return [name for name, kind in types.items() if kind == "HUGEINT"]


def like(frame: pl.DataFrame, original: Any) -> Any:
    """A Polars frame as the same kind of frame as the original."""
    if isinstance(original, pl.DataFrame):
        return frame
    if isinstance(original, pl.LazyFrame):
        return frame.lazy()
    native = nw.from_native(original)
    implementation = native.implementation
    with _named_dependencies():
        frame = frame.with_columns(_narrow(frame[name]) for name in frame.columns if frame[name].dtype in HUGE)
        if implementation.is_pandas():
            return _like_pandas(frame, original)
        if implementation.is_pyarrow():
            return frame.to_arrow()
        if implementation.is_duckdb():
            import duckdb

            return duckdb.from_arrow(frame.to_arrow())
    raise InputError(f"betalike cannot give back a frame of {implementation}; give a Polars frame instead.")


def _narrow(column: pl.Series) -> pl.Series:
    """Whole numbers of 128 bits in a type that other libraries have, with all of their digits."""
    narrow = column.cast(pl.Int64, strict=False)
    return narrow if narrow.null_count() == column.null_count() else column.cast(pl.Decimal(38, 0))


def _like_pandas(frame: pl.DataFrame, original: Any) -> Any:
    """A pandas frame; whole numbers with missing values keep all digits, which pandas' usual floats would not."""
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
    """Say what to install where a conversion lacks a library (PyArrow, as a rule)."""
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(
            f"converting this frame needs the package '{error.name or 'pyarrow'}': pip install 'betalike[frames]'."
        ) from error
    except BetalikeError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # whatever the library calls it; it may show a cell
        kind = type(error).__name__
        raise InputError(
            f"the frame cannot be converted ({kind}): a column may hold values of several types, or two columns may "
            "have the same name. Fix the frame first."
        ) from None
