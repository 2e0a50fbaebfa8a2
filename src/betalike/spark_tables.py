"""Reading tables on Spark: Parquet and CSV, one file, a folder or a pattern; every worker must see them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from betalike.engines.spark.session import start_session
from betalike.errors import FileError
from betalike.io.csv_text import SAMPLE_BYTES, recognize_signs
from betalike.io.tables import CSV, PARQUET, kind_of, table_files
from betalike.schema import Schema, check_columns, text_columns

SparkFrame = Any
COMPRESSED = (b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"BZh")


def read_table(
    table: Any, schema: Schema, missing: Sequence[str], delimiter: str | None, master: str | None
) -> SparkFrame:
    """The columns of the schema; a Spark frame as it is, files as Spark reads them."""
    if not isinstance(table, str | Path):
        check_columns(schema.names, table.columns)
        return table
    files = table_files(table)
    kinds = {kind_of(file) for file in files}
    if kinds not in ({PARQUET}, {CSV}):
        raise FileError("the engine 'spark' reads Parquet or CSV files, all of one kind.")
    session = start_session(master)
    paths = [file.absolute().as_uri() for file in files]
    if kinds == {PARQUET}:
        return session.read.parquet(*paths)
    return _read_csv(session, files, paths, schema, missing, delimiter)


def _read_csv(
    session: Any,
    files: Sequence[Path],
    paths: list[str],
    schema: Schema,
    missing: Sequence[str],
    delimiter: str | None,
) -> SparkFrame:
    """CSV files with types that Spark infers, but for columns whose text is to stay as it is."""
    from pyspark.sql import types as T  # noqa: N812 - as everybody calls it

    with files[0].open("rb") as file:
        beginning = file.read(SAMPLE_BYTES)
    if beginning.startswith(COMPRESSED):
        raise FileError("the engine 'spark' reads plain CSV files; decompress them first, or convert them to Parquet.")
    separator, quote = recognize_signs(beginning, files[0].name, delimiter)
    options = {"sep": separator, "quote": quote, "escape": quote, "header": True, "mode": "FAILFAST"}
    if missing:
        options["nullValue"] = missing[0]
    inferred = session.read.csv(paths, inferSchema=True, **options).schema
    check_columns(schema.names, inferred.names)
    texts = text_columns(schema)
    fields = [T.StructField(f.name, T.StringType()) if f.name in texts else f for f in inferred.fields]
    table = session.read.csv(paths, schema=T.StructType(fields), **options)
    return table.replace(list(missing[1:]), None) if missing[1:] else table
