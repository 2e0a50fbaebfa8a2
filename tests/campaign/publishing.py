"""Publishing a job through files with betalike, and asking betalike to verify it."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import betalike
from betalike.engines import choice, local

from .jobs import Column, Job
from .reading import text_of

TYPES = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "text": pa.string(),
    "boolean": pa.bool_(),
}


def publish(job: Job, place: Path) -> tuple[Path, Any]:
    """Publish a job into a folder under a place; the folder and the table as it was given."""
    table = make_table(job, place)
    out = place / "release"
    with _tiny(job):
        betalike.publish(table, out=out, **arguments(job, place))
    return out, table


def verify(job: Job, out: Path, table: Any) -> dict[str, bool]:
    """Each check of betalike's own verifier, with the original."""
    missing = [job.missing_text] if job.missing_text else []
    delimiter = job.delimiter if job.source == "csv" else None
    return betalike.verify(out, original=table, missing=missing, delimiter=delimiter).to_dict()["checks"]


@contextlib.contextmanager
def _tiny(job: Job) -> Iterator[None]:
    """So little memory for cells, and for parts, that a small table is published in coarse parts."""
    memory = 512 << 20
    with contextlib.ExitStack() as stack:
        if job.in_batches:
            stack.enter_context(mock.patch.object(choice, "MOST_HELD", -1))
        if job.most_cells is not None:
            sizes = {"PER_CELL": memory // job.most_cells, "PER_PART_ROW": memory // 60}
            stack.enter_context(mock.patch.multiple(local, **sizes))
        yield


def arguments(job: Job, place: Path) -> dict[str, Any]:
    """What `publish` is given besides the table."""
    promise, named = job.promise, [*job.columns, *job.secrets]
    trees = {column.name: column.tree for column in named if column.tree is not None}
    wishes: dict[str, Any] = {"beta": promise.beta, "k": promise.k, **promise.parameters}
    if promise.cap is not None:
        wishes["cap"] = promise.cap
    else:
        wishes["model"] = promise.model
    return {
        "quasi_identifiers": [column.name for column in job.columns],
        "sensitive": [column.name for column in job.secrets] if len(job.secrets) > 1 else job.secrets[0].name,
        "keep": [column.name for column in job.kept],
        "scheme": job.scheme,
        "options": job.options,
        "hierarchies": trees,
        "kinds": {column.name: kind for column in job.columns if (kind := _kind(job, column)) is not None},
        "domains": {c.name: _ends(c) for c in job.columns if c.domain is not None},
        **{word: _round_ends(job, word) for word in ("round", "bottom", "top")},
        "weights": {column.name: column.weight for column in job.columns},
        "missing": [job.missing_text] if job.missing_text else [],
        "missing_sensitive": "value" if any(None in column.cells for column in job.secrets) else "error",
        "format": job.form,
        "layout": job.layout,
        "engine": job.engine,
        "memory": "512MB" if job.in_batches else None,
        "seed": job.seed if job.is_seeded else None,
        "delimiter": job.delimiter if job.source == "csv" else None,
        **wishes,
    }


def _kind(job: Job, column: Column) -> str | None:
    """The kind, where values could be taken for another: text in a CSV file, whole numbers among reals."""
    if column.tree is not None:
        return None
    if column.is_categorical:
        return "categorical" if column.kind in ("text", "real") else None
    return column.kind


def _ends(column: Column) -> tuple[Any, Any]:
    assert column.domain is not None
    return tuple(str(end) for end in column.domain) if column.kind == "date" else column.domain


def _round_ends(job: Job, word: str) -> dict[str, Any]:
    found = {column.name: getattr(column.ends, word) for column in job.columns if column.ends is not None}
    return {name: value for name, value in found.items() if value is not None}


def make_table(job: Job, place: Path) -> Any:
    """The table of a job: a frame, or a file."""
    columns = [*job.unused, *job.columns, *job.secrets, *job.kept]
    if job.source == "csv":
        path = place / "table.csv"
        texts = [[job.missing_text if x is None else text_of(c.kind, x) for x in c.cells] for c in columns]
        # Python before 3.13 does not quote a carriage return by itself.
        quoting = csv.QUOTE_ALL if any("\r" in text for column in texts for text in column) else csv.QUOTE_MINIMAL
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=job.delimiter, lineterminator="\n", quoting=quoting)
            writer.writerow([column.name for column in columns])
            writer.writerows(zip(*texts, strict=True))
        return path
    table = pa.table({column.name: pa.array(column.cells, TYPES[column.kind]) for column in columns})
    if job.source == "parquet":
        pq.write_table(table, place / "table.parquet")
        return place / "table.parquet"
    if job.source == "pyarrow":
        return table
    if job.source == "pandas":
        import pandas as pd

        is_plain = not any(None in c.cells or c.kind == "date" for c in columns)
        return table.to_pandas() if is_plain else table.to_pandas(types_mapper=pd.ArrowDtype)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.lazy() if job.source == "lazy" else frame
