"""Frames of pandas, Polars, PyArrow and DuckDB, through Narwhals: any of them in, the same kind out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import polars as pl

from betalike.errors import InputError, MissingDependencyError
from betalike.reading import compiled_code_silenced, damage_refused
from betalike.schema import check_columns


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
            frame = (native.collect("polars") if isinstance(native, nw.LazyFrame) else native).to_polars()
    check_columns(columns or (), frame.columns)
    selected: pl.DataFrame = frame.select(columns) if columns is not None else frame
    return selected


def like(frame: pl.DataFrame, original: Any) -> Any:
    """A Polars frame as the same kind of frame as the original."""
    if isinstance(original, pl.DataFrame):
        return frame
    if isinstance(original, pl.LazyFrame):
        return frame.lazy()
    native = nw.from_native(original)
    implementation = native.implementation
    with _named_dependencies():
        if implementation.is_pandas():
            return frame.to_pandas()
        if implementation.is_pyarrow():
            return frame.to_arrow()
        if implementation.is_duckdb():
            import duckdb

            return duckdb.from_arrow(frame.to_arrow())
    raise InputError(f"betalike cannot give back a frame of {implementation}; give a Polars frame instead.")


@contextlib.contextmanager
def _named_dependencies() -> Iterator[None]:
    """Say what to install where a conversion lacks a library (PyArrow, as a rule)."""
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(
            f"converting this frame needs the package '{error.name or 'pyarrow'}': pip install 'betalike[frames]'."
        ) from error
    except Exception as error:  # whatever the library calls it; its text may show a cell
        kind = type(error).__name__
        raise InputError(
            f"the frame cannot be converted ({kind}): a column may hold values of several types, or two columns may "
            "have the same name. Mend the frame first."
        ) from None
