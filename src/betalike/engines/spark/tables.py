"""Reading tables on Spark: Parquet and CSV, one file, a folder or a pattern; every worker must see them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from betalike.engines.spark.rows import quoted
from betalike.engines.spark.session import start_session
from betalike.errors import FileError
from betalike.io.column_types import LEADING_ZERO
from betalike.io.compression import is_compressed
from betalike.io.copies import origin_of
from betalike.io.csv_rows import QUOTE, WRITTEN_DIGITS
from betalike.io.csv_text import SAMPLE_BYTES, recognize_delimiter
from betalike.io.missing_codes import code_numbers, code_texts
from betalike.io.sources import read_beginning, table_files
from betalike.io.tables import CSV, PARQUET, kind_of
from betalike.table.schema import Schema, check_columns, columns_with_forms, text_columns

SparkFrame = Any
CORRUPT, LINE = "betalike corrupt", "betalike_line"
MONTH = r"^\s*\d{4}-\d{2}\s*$"  # which Spark takes for its first day
MANY_DIGITS = rf"^[+-]?(?=[0.]*[1-9](?:\.?\d){{{WRITTEN_DIGITS},}})\d*\.\d+$"  # of a number with a point


def read_table(
    table: Any,
    schema: Schema,
    missing: Sequence[str],
    delimiter: str | None,
    master: str | None,
    memory: int,
) -> SparkFrame:
    """Return the columns of the schema, with nothing in the place of codes for missing values."""
    if isinstance(table, str | Path):
        rows = _read_files(table, schema, missing, delimiter, master, memory)
    else:
        check_columns(schema.names, table.columns)
        rows = table
    return _without_codes(_without_metadata(rows), schema.names, missing)


def _without_metadata(rows: SparkFrame) -> SparkFrame:
    """Return rows without comments on their columns, which would be published with the rows."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    described = rows.schema.jsonValue()
    plain = _plain(described)
    if plain == described:
        return rows
    fields = T.StructType.fromJson(plain)
    return rows.select(
        [F.col(quoted(field.name)).cast(field.dataType).alias(field.name, metadata={}) for field in fields]
    )


def _plain(described: Any) -> Any:
    """Return what Spark says about types, without metadata."""
    if isinstance(described, dict):
        return {key: {} if key == "metadata" else _plain(item) for key, item in described.items()}
    return [_plain(item) for item in described] if isinstance(described, list) else described


def _without_codes(rows: SparkFrame, names: Sequence[str], missing: Sequence[str]) -> SparkFrame:
    """Return rows without codes: they are compared as text, or by value where a column has numbers."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if not missing:
        return rows
    numbers = list(code_numbers(missing))
    for name in names:
        cell = F.col(quoted(name))
        is_code = cell.cast("string").isin(code_texts(missing))
        if isinstance(rows.schema[name].dataType, T.DecimalType):  # -9 may be -9.00 there
            is_code |= cell.cast("double").isin(numbers)
        rows = rows.withColumn(name, F.when(~is_code, cell))
    return rows


def _read_files(
    table: str | Path,
    schema: Schema,
    missing: Sequence[str],
    delimiter: str | None,
    master: str | None,
    memory: int,
) -> SparkFrame:
    origin = origin_of(table)
    if origin is not None:
        raise FileError(f"the engine 'spark' reads files that every worker sees, not {origin.shown}.")
    files = table_files(table)
    kinds = {kind_of(file) for file in files}
    if kinds not in ({PARQUET}, {CSV}):
        raise FileError("the engine 'spark' reads Parquet or CSV files, all of one kind.")
    paths = [file.absolute().as_uri() for file in files]
    if kinds == {PARQUET}:
        _check_parquet(files, schema.names)
        return start_session(master, memory).read.parquet(*paths)
    return _read_csv(start_session(master, memory), files, paths, schema, missing, delimiter)


def _check_parquet(files: Sequence[Path], names: Sequence[str]) -> None:
    """Check that all files have the columns; Spark would take a column that one lacks for missing values."""
    for file in files:
        try:
            found = pl.read_parquet_schema(file)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise FileError(f"{file.name} is not a whole Parquet file; it is damaged or cut off.") from error
        check_columns(names, list(found))


def _read_csv(
    session: Any,
    files: Sequence[Path],
    paths: list[str],
    schema: Schema,
    missing: Sequence[str],
    delimiter: str | None,
) -> SparkFrame:
    """Read CSV files with types that Spark infers, except for columns that stay text."""
    from pyspark.sql import types as T

    beginnings = [_beginning(file) for file in files]
    if len({beginning.splitlines()[0] for beginning in beginnings}) > 1:
        raise FileError("the CSV files begin with different header lines; the engine 'spark' needs the same in all.")
    separator = recognize_delimiter(beginnings[0], files[0].name, delimiter)
    options = {"sep": separator, "quote": QUOTE, "escape": QUOTE, "header": True}
    if missing:
        options["nullValue"] = missing[0]
    inferred = session.read.csv(paths, inferSchema=True, **options).schema
    check_columns(schema.names, inferred.names)
    texts = text_columns(schema) | _textual_columns(session.read.csv(paths, **options), schema.names)
    kept = {f.name for f in inferred.fields if f.name in columns_with_forms(schema) and f.dataType == T.DoubleType()}
    texts |= kept
    fields = [T.StructField(f.name, T.StringType()) if f.name in texts else f for f in inferred.fields]
    whole = T.StructType([*fields, T.StructField(CORRUPT, T.StringType())])
    _check_lines(session.read.text(paths).toDF(LINE))
    reader = session.read.option("columnPruning", "false")  # else Spark would not see rows of unequal length
    _check_rows(reader.csv(paths, schema=whole, columnNameOfCorruptRecord=CORRUPT, **options), fields[0].name)
    return session.read.csv(paths, schema=T.StructType(fields), **options)


def _textual_columns(texts: SparkFrame, names: Sequence[str]) -> set[str]:
    """Return the columns in which Spark would change cells: numbers that begin with 0 or have many digits, months."""
    from pyspark.sql import functions as F

    found = texts.agg(
        *(F.max(F.col(quoted(name)).rlike(f"{LEADING_ZERO}|{MANY_DIGITS}|{MONTH}")) for name in names)
    ).first()
    return {name for name, is_code in zip(names, found, strict=True) if is_code}


def _beginning(file: Path) -> bytes:
    """Return how a CSV file begins; refuse a compressed or empty one."""
    beginning = read_beginning(file, SAMPLE_BYTES)
    if is_compressed(beginning):
        raise FileError("the engine 'spark' reads plain CSV files; decompress them first, or convert them to Parquet.")
    if not beginning.strip():
        raise FileError(f"{file.name} is empty; a table needs a header line and at least one row.")
    return beginning


def _check_lines(lines: SparkFrame) -> None:
    """Refuse text that is not UTF-8, and quotes not closed in their line; Spark would go on with changed text."""
    from pyspark.sql import functions as F

    line = F.col(LINE)
    n_quotes = F.length(line) - F.length(F.replace(line, F.lit(QUOTE), F.lit("")))
    n_strange, n_open = lines.agg(
        F.count(F.when(~F.is_valid_utf8(line), 1)), F.count(F.when(n_quotes % 2 == 1, 1))
    ).first()
    if n_strange:
        raise FileError("the table is not UTF-8 text; the engine 'spark' reads no other. Convert it, or use local.")
    if n_open:
        raise FileError(
            f"{n_open} lines of the table have a quote ({QUOTE}) that is not closed. The engine 'spark' takes no line "
            "breaks inside quotes; convert the table to Parquet, or use local."
        )


def _check_rows(table: SparkFrame, first: str) -> None:
    """Refuse rows of unequal length; Spark would go on, with fields missing or left out."""
    from pyspark.sql import functions as F

    n_ragged, _ = table.agg(
        F.count(F.when(F.col(quoted(CORRUPT)).isNotNull(), 1)),
        F.count(F.col(quoted(first))),  # Spark refuses the other alone
    ).first()
    if n_ragged:
        raise FileError(
            f"{n_ragged} rows of the table have more or fewer fields than its header. Fix them, and quote fields that "
            "hold the delimiter."
        )
