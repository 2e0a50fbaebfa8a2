"""Frames of every kind in, and the same kind out."""

from __future__ import annotations

import datetime
import decimal
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import betalike
from betalike.errors import BetalikeError, InputError, SchemaError
from betalike.io.frames import like, to_polars

CANARY = "CANARY7731"
N_ROWS = 120
TABLE = pl.DataFrame(
    {
        "name": [f"{CANARY} {i}" for i in range(N_ROWS)],
        "age": [20 + 7 * i % 60 for i in range(N_ROWS)],
        "city": [["Ulm", "Bonn", "Kiel"][5 * i % 3] for i in range(N_ROWS)],
        "height": [1.5 + 7 * i % 40 / 100 for i in range(N_ROWS)],
        "disease": [["flu", "cough", "ulcer", "gout"][(i * i + i // 7) % 4] for i in range(N_ROWS)],
    }
)
KINDS: dict[str, tuple[Callable[[pl.DataFrame], Any], type]] = {
    "polars": (lambda frame: frame, pl.DataFrame),
    "lazy": (lambda frame: frame.lazy(), pl.LazyFrame),
    "pandas": (lambda frame: frame.to_pandas(), pd.DataFrame),
    "pyarrow": (lambda frame: frame.to_arrow(), pa.Table),
    "duckdb": (lambda frame: duckdb.from_arrow(frame.to_arrow()), duckdb.DuckDBPyRelation),
}


def publish(frame: Any, **changes: Any) -> betalike.Release:
    arguments = {"quasi_identifiers": ["age", "city", "height"], "sensitive": "disease", "beta": 2, "seed": 1} | changes
    return betalike.publish(frame, **arguments)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_that_came_in_comes_out(kind: str) -> None:
    make, expected = KINDS[kind]
    release = publish(make(TABLE))
    assert isinstance(release.frame, expected)
    rows = to_polars(release.frame)
    assert rows.columns == ["age", "city", "height", "disease"]
    assert Counter(rows["disease"]) == Counter(TABLE["disease"])
    assert release.certificate["promise"]["holds"] is True
    assert release.certificate["files"] == {}
    assert release.folder is None


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_release(kind: str) -> None:
    make, _ = KINDS[kind]
    assert to_polars(publish(make(TABLE), seed=3).frame).rows() == publish(TABLE, seed=3).frame.rows()


@pytest.mark.parametrize("kind", KINDS)
def test_the_frame_that_came_in_is_not_changed(kind: str) -> None:
    frame = KINDS[kind][0](TABLE)
    publish(frame, keep=["name"], keep_identifiers=True)
    assert to_polars(frame).rows() == TABLE.rows()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_audited_and_described(kind: str) -> None:
    frame = KINDS[kind][0](TABLE)
    columns = {"quasi_identifiers": ["age", "city"], "sensitive": "disease"}
    release = publish(frame, **columns)
    audited = betalike.audit(release.frame, original=frame, beta=2, **columns)
    assert audited.holds is True
    assert audited.to_dict()["classes"] == release.certificate["release"]["classes"]
    assert betalike.audit(release.frame, certificate=release.certificate, **columns).to_dict()["prior"] == "certificate"
    assert {column.name for column in betalike.describe(frame).columns} == set(TABLE.columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_is_not_there(kind: str) -> None:
    with pytest.raises(SchemaError, match=r"no column 'aeg'.*Did you mean 'age'"):
        publish(KINDS[kind][0](TABLE), quasi_identifiers=["aeg", "city"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_without_rows(kind: str) -> None:
    with pytest.raises(InputError, match="no rows"):
        publish(KINDS[kind][0](TABLE.head(0)))


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_chosen_and_converted(kind: str) -> None:
    frame = to_polars(KINDS[kind][0](TABLE), ["disease", "age"])
    assert frame.equals(TABLE.select("disease", "age"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_made_like_another(kind: str) -> None:
    make, expected = KINDS[kind]
    assert isinstance(like(TABLE.head(3), make(TABLE)), expected)
    assert to_polars(like(TABLE.head(3), make(TABLE))).rows() == TABLE.head(3).rows()


@pytest.mark.parametrize("thing", [3, [1, 2], {"age": [1]}, object()])
def test_what_is_no_frame(thing: object) -> None:
    with pytest.raises(InputError, match=r"not a table that betalike knows.*pandas"):
        publish(thing)


def test_no_table_at_all() -> None:
    with pytest.raises(InputError, match=r"table is missing. Give it, or name a specification"):
        publish(None)


def test_pandas_as_people_have_it() -> None:
    frame = TABLE.to_pandas()
    frame.index = pd.Index([f"row {i}" for i in range(N_ROWS)])
    frame["age"] = frame["age"].astype("Int64").where(frame.index != "row 3")
    frame["city"] = frame["city"].astype("category")
    frame["height"] = pd.to_datetime("2020-01-01") + pd.to_timedelta(frame["height"], unit="D")
    frame["smokes"] = frame["age"].fillna(0) % 2 == 0
    release = publish(frame, quasi_identifiers=["age", "city", "height", "smokes"])
    assert list(release.frame.columns) == ["age", "city", "height", "smokes", "disease"]
    assert len(release.frame) == N_ROWS
    assert "row 3" not in release.frame.to_csv()


def test_whole_numbers_that_became_reals_for_missing_ones_are_codes_all_the_same() -> None:
    frame = TABLE.to_pandas()
    frame["city"] = [None if i % 9 == 0 else i % 4 for i in range(N_ROWS)]
    release = publish(frame, quasi_identifiers=["city"], kinds={"city": "categorical"})
    assert set(release.frame["city"].dropna()) <= {"0", "1", "2", "3", "*"}


BAD_COLUMNS: dict[str, list[object]] = {
    "truth values and text": [i % 4 == 1 if i % 2 else CANARY for i in range(N_ROWS)],
    "lists": [[CANARY, i % 3] for i in range(N_ROWS)],
    "dictionaries": [{CANARY: i % 3} for i in range(N_ROWS)],
    "objects": [type(CANARY, (), {"__repr__": lambda _: CANARY})() for _ in range(N_ROWS)],
    "dates and text": [datetime.date(2020, 1, 1), *[CANARY] * (N_ROWS - 1)],
}


MIXED_COLUMNS: dict[str, list[object]] = {
    "whole numbers and texts": [i % 5 if i % 2 else "A" for i in range(N_ROWS)],
    "texts and whole numbers": ["B7", *(i % 3 for i in range(N_ROWS - 1))],
    "reals, texts and missing ones": [None if i % 7 == 0 else i / 4 if i % 2 else "n.k." for i in range(N_ROWS)],
    "codes that became reals": [float("nan") if i % 7 == 0 else 60645.0 if i % 2 else "1A" for i in range(N_ROWS)],
    "numbers of NumPy": [np.int32(i % 4) if i % 2 else np.float64(0.5) if i % 4 else "" for i in range(N_ROWS)],
    "numbers and a missing code": [20 + i % 9 if i % 11 else "." for i in range(N_ROWS)],
}


@pytest.mark.parametrize("case", MIXED_COLUMNS)
def test_numbers_mixed_with_texts_are_what_they_are_in_a_csv_file(case: str, tmp_path: Path) -> None:
    frame = TABLE.to_pandas()
    frame["city"] = pd.Series(MIXED_COLUMNS[case], dtype=object)
    file = tmp_path / "same.csv"
    frame.assign(city=frame["city"].replace(60645.0, 60645)).to_csv(file, index=False)
    asked = {"quasi_identifiers": ["age", "city"], "missing": ["."], "seed": 1}
    by_frame, by_file = publish(frame, **asked), publish(file, **asked)
    assert by_frame.certificate["table"]["columns"] == by_file.certificate["table"]["columns"]
    assert by_frame.certificate["release"]["average_loss"] == by_file.certificate["release"]["average_loss"]


def refusal(frame: Any, **changes: Any) -> BetalikeError | None:
    """The error that a frame is refused with, which must be one of ours."""
    try:
        publish(frame, **changes)
    except BetalikeError as error:
        return error
    return None


@pytest.mark.parametrize("column", ["city", "disease", "name"])
@pytest.mark.parametrize("case", BAD_COLUMNS)
def test_pandas_columns_that_cannot_be_used_are_refused_without_a_cell(case: str, column: str) -> None:
    frame = TABLE.to_pandas()
    frame[column] = pd.Series(BAD_COLUMNS[case], dtype=object)
    error = refusal(frame, keep=["name"])
    if column != "name":
        assert isinstance(error, InputError)
    assert error is None or error.exit_status == 2
    assert CANARY not in "".join(traceback.format_exception(error))


def test_a_column_that_is_not_named_may_be_anything() -> None:
    frame = TABLE.to_pandas()
    frame["name"] = pd.Series(BAD_COLUMNS["objects"], dtype=object)
    assert len(publish(frame).frame) == N_ROWS


@pytest.mark.some(9)
@pytest.mark.parametrize(
    "dtype",
    [pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(10, 2), pl.String, pl.Categorical, pl.Boolean,
     pl.Date, pl.Datetime("us"), pl.Datetime("ns"), pl.Datetime("us", "Europe/Berlin")],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("form", ["csv", "parquet", "memory"])
def test_sensitive_values_of_any_plain_type(dtype: pl.DataType, form: str, tmp_path: Path) -> None:
    numbers = pl.Series([(i * i + i // 7) % (2 if dtype == pl.Boolean else 4) for i in range(N_ROWS)])
    values = numbers.cast(pl.String).cast(dtype) if dtype == pl.Categorical else numbers.cast(dtype)
    out = None if form == "memory" else tmp_path / "out"
    release = publish(TABLE.with_columns(disease=values), out=out, format="csv" if form == "memory" else form)
    assert sorted(release.certificate["prior_counts"].values()) == sorted(Counter(numbers).values())
    if out is not None:
        assert betalike.verify(out).holds


def test_huge_whole_numbers_as_sensitive_values() -> None:
    values = pl.Series([2**64 - 1 - (i * i) % 4 for i in range(N_ROWS)], dtype=pl.UInt64)
    release = publish(TABLE.with_columns(disease=values))
    assert Counter(release.frame["disease"]) == Counter(values)


ODD_COLUMNS: dict[str, pl.Series] = {
    "time": pl.Series([datetime.time(i % 4) for i in range(N_ROWS)]),
    "duration": pl.Series([datetime.timedelta(days=i % 4) for i in range(N_ROWS)]),
    "bytes": pl.Series([b"%d" % (i % 4) for i in range(N_ROWS)]),
    "list": pl.Series([[i % 4] for i in range(N_ROWS)]),
    "array": pl.Series([[i % 4] for i in range(N_ROWS)], dtype=pl.Array(pl.Int64, 1)),
    "struct": pl.Series([{"a": i % 4} for i in range(N_ROWS)]),
    "nothing": pl.Series([None] * N_ROWS),
    "object": pl.Series([object() for _ in range(N_ROWS)], dtype=pl.Object),
    "huge whole numbers": pl.Series([2**100 + i % 4 for i in range(N_ROWS)], dtype=pl.Int128),
    "large whole numbers": pl.Series([2**64 - 1 - i % 4 for i in range(N_ROWS)], dtype=pl.UInt64),
    "whole numbers of 128 bits": pl.Series([i % 4 for i in range(N_ROWS)], dtype=pl.Int128),
    "decimals": pl.Series([decimal.Decimal(i % 4) / 10 for i in range(N_ROWS)]),
    "extreme reals": pl.Series([[1e308, -1e308, 5e-324, 0.0][i % 4] for i in range(N_ROWS)]),
    "infinite": pl.Series([[float("inf"), 1.0][i % 2] for i in range(N_ROWS)]),
    "not a number": pl.Series([[float("nan"), 1.0, 2.0][i % 3] for i in range(N_ROWS)]),
    "categories": pl.Series([str(i % 4) for i in range(N_ROWS)], dtype=pl.Enum(["3", "2", "1", "0"])),
    "distant dates": pl.Series([datetime.date([1, 9999][i % 2], 1, 1) for i in range(N_ROWS)]),
    "distant moments": pl.Series([datetime.datetime([1, 9999][i % 2], 1, 1) for i in range(N_ROWS)]),
    "moments with zone": pl.Series([datetime.datetime(2020, 1, 1 + i % 4) for i in range(N_ROWS)])
    .dt.replace_time_zone("Europe/Berlin"),
}  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "kept"])
def test_columns_of_odd_types_are_published_or_refused_as_bad_input(form: str, role: str, tmp_path: Path) -> None:
    wrong = []
    for case, column in ODD_COLUMNS.items():
        columns = {
            "quasi_identifiers": ["age", "odd"] if role == "quasi-identifier" else ["age"],
            "sensitive": "odd" if role == "sensitive" else "disease",
            "keep": ["odd"] if role == "kept" else [],
        }
        out = tmp_path / case
        try:
            error = refusal(TABLE.with_columns(odd=column), out=out, format=form, **columns)
        except Exception as bug:
            wrong.append(f"{case}: {type(bug).__name__}")
            continue
        if error is not None and error.exit_status != 2:
            wrong.append(f"{case}: {error}")
        elif error is None and not betalike.verify(out).holds:
            wrong.append(f"{case}: it does not verify")
        elif error is not None and out.exists():
            wrong.append(f"{case}: a folder is left")
    assert not wrong, "\n".join(wrong)


def surrogate_in_pandas(column: str, kind: str) -> Any:
    """A frame whose column has half of a character, as reading text with `surrogateescape` makes it."""
    frame = TABLE.to_pandas().astype({column: object})
    frame.loc[3, column] = f"{CANARY}\ud800"
    if kind == "category":
        categories = pd.Index(frame[column].unique(), dtype=object)
        frame[column] = pd.Categorical(frame[column], categories=categories)
    elif kind == "mixed":
        frame.loc[4, column] = 5
    return frame


def bytes_in_arrow(column: str, kind: Any) -> Any:
    """A table whose column of texts has bytes that are none, which Arrow itself does not check."""
    texts = [*TABLE[column].to_list()[1:], CANARY]
    stored = pa.array([text.encode() + b"\xff" * (text == CANARY) for text in texts], kind[0])
    texts = pa.Array.from_buffers(kind[1], N_ROWS, stored.buffers())
    return TABLE.to_arrow().drop_columns(column).append_column(column, texts)


BROKEN: dict[str, Callable[[str], Any]] = {
    "pandas": lambda column: surrogate_in_pandas(column, "object"),
    "categories": lambda column: surrogate_in_pandas(column, "category"),
    "mixed": lambda column: surrogate_in_pandas(column, "mixed"),
    "arrow": lambda column: bytes_in_arrow(column, (pa.binary(), pa.string())),
    "large arrow": lambda column: bytes_in_arrow(column, (pa.large_binary(), pa.large_string())),
    "dictionary": lambda column: dictionary_encoded(bytes_in_arrow(column, (pa.binary(), pa.string())), column),
    "pandas of arrow": lambda column: bytes_in_arrow(column, (pa.binary(), pa.string())).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "polars": lambda column: pl.from_arrow(bytes_in_arrow(column, (pa.binary(), pa.string()))),
    "lazy": lambda column: BROKEN["polars"](column).lazy(),
}


def dictionary_encoded(table: Any, column: str) -> Any:
    return table.set_column(table.column_names.index(column), column, table[column].dictionary_encode())


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("column", ["city", "disease"])
def test_a_text_that_is_not_unicode_is_refused_with_its_column(kind: str, column: str) -> None:
    frame = BROKEN[kind](column)
    for run in (publish, betalike.describe):
        with pytest.raises(SchemaError, match=f"the column '{column}' has texts that are not valid Unicode") as refusal:
            run(frame)
        assert CANARY not in str(refusal.value)
    other = {"city": "disease", "disease": "city"}[column]
    assert publish(frame, quasi_identifiers=["age"], sensitive=other).certificate["promise"]["holds"]
