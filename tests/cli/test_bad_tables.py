"""Tables that cannot be published: exit status 2, what to do, nothing written, no cell shown."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest
from workbench import (
    CANARY,
    COLUMNS,
    NUMBER,
    Desk,
    Rows,
    assert_refused,
    files_under,
    people,
    run,
    to_csv,
    with_canaries,
)

ROWS = with_canaries(people())
GOOD = to_csv(ROWS)


@dataclass(frozen=True)
class Bad:
    """A table's content, the words that its refusal needs, and the options it is published with."""

    content: bytes
    words: tuple[str, ...]
    options: dict[str, object] = field(default_factory=dict)
    name: str = "people.csv"


def changed(column: str, value: object, rows: range) -> bytes:
    """The good table with one value in some rows of a column."""
    copies: Rows = [list(row) for row in ROWS]
    for i in rows:
        copies[i][COLUMNS.index(column)] = str(value)
    return to_csv(copies)


def frame(**columns: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({name: [row[i] for row in ROWS] for i, name in enumerate(COLUMNS)}).with_columns(**columns)


def bytes_of(write: Callable[..., object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def cut(data: bytes) -> bytes:
    return data[: 2 * len(data) // 3]


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x55]) + data[middle + 1 :]


def junk(n_bytes: int, has_nul: bool) -> bytes:
    rng = random.Random(7)
    return bytes(rng.randrange(0 if has_nul else 1, 256) for _ in range(n_bytes))


LINES = GOOD.splitlines(keepends=True)
NUMBERS = pl.Series([i % 5 for i in range(len(ROWS))])
BAD = {
    "empty": Bad(b"", ("empty", "header")),
    "blank": Bad(b"\n \n\n", ("empty", "header")),
    "header only": Bad(LINES[0], ("no rows",)),
    "header only, parquet": Bad(bytes_of(frame().head(0).write_parquet), ("no rows",)),
    "one sensitive value": Bad(changed("disease", CANARY, range(120)), ("sensitive", "distinct value", "at least two")),
    "too many fields": Bad(b"".join([*LINES[:9], b"a,b,c,d,e,f\n", *LINES[9:]]), ("line 10", "6 fields", "5")),
    "too few fields": Bad(b"".join([*LINES[:9], b"a,b\n", *LINES[9:]]), ("line 10", "2 fields", "5", "1 such row")),
    "several ragged rows": Bad(b"".join([*LINES, b"x,y\n", b"x\n"]), ("line 122", "2 such rows")),
    "unclosed quote": Bad(GOOD + b'"x,1,f,Ulm,flu\n', ("quote", "never closed")),
    "duplicated header": Bad(GOOD.replace(b"gender", b"age", 1), ("more than one column", "'age'")),
    "binary": Bad(junk(5000, has_nul=True), ("not a text file", "CSV, Parquet")),
    "text in declared numbers": Bad(
        changed("age", CANARY, range(100)), ("'age'", "100 of its 120", "--missing"), {"numeric": "age"}
    ),
    "text declared as numbers": Bad(GOOD, ("'city'", "120 of its 120", "--categorical city"), {"numeric": "city"}),
    "infinite values": Bad(changed("age", "inf", range(4)), ("'age'", "infinite"), {"numeric": "age"}),
    "infinite values, parquet": Bad(
        bytes_of(frame(age=NUMBERS.cast(pl.Float64) / 0).write_parquet), ("'age'", "infinite")
    ),
    "missing sensitive values": Bad(
        changed("disease", "", range(7)), ("'disease'", "7 missing values", "--missing-sensitive value")
    ),
    "missing sensitive texts": Bad(
        changed("disease", "NA", range(7)), ("7 missing values", "--missing-sensitive value"), {"missing": "NA"}
    ),
    "all sensitive missing": Bad(changed("disease", "", range(120)), ("120 missing values",)),
    "star as a value": Bad(changed("city", "*", range(3)), ("'city'", "'*'")),
    "truncated parquet": Bad(cut(bytes_of(frame().write_parquet)), ("Parquet", "damaged or cut off"), name="t.parquet"),
    "damaged parquet": Bad(b"PAR1" + junk(900, has_nul=True) + b"PAR1", ("Parquet", "damaged or cut off")),
    "truncated arrow": Bad(cut(bytes_of(frame().write_ipc)), ("Arrow IPC", "damaged or cut off"), name="t.arrow"),
    "truncated gz": Bad(cut(gzip.compress(GOOD)), ("compressed", "damaged or cut off"), name="t.csv.gz"),
    "damaged gz": Bad(flipped(gzip.compress(GOOD)), ("compressed", "damaged or cut off"), name="t.csv.gz"),
    "truncated xz": Bad(cut(lzma.compress(GOOD)), ("compressed", "damaged or cut off"), name="t.csv.xz"),
    "damaged xz": Bad(flipped(lzma.compress(GOOD)), ("compressed", "damaged or cut off"), name="t.csv.xz"),
    "truncated bz2": Bad(cut(bz2.compress(GOOD)), ("compressed", "damaged or cut off"), name="t.csv.bz2"),
    "damaged bz2": Bad(flipped(bz2.compress(GOOD)), ("compressed", "damaged or cut off"), name="t.csv.bz2"),
    "empty gz": Bad(gzip.compress(b""), ("empty", "header"), name="t.csv.gz"),
    "a list as sensitive value": Bad(
        bytes_of(frame(disease=NUMBERS.reshape((120, 1)).arr.to_list()).write_parquet), ("'disease'",)
    ),
    "a list as quasi-identifier": Bad(
        bytes_of(frame(city=NUMBERS.reshape((120, 1)).arr.to_list()).write_parquet), ("'city'",)
    ),
    "bytes as sensitive value": Bad(
        bytes_of(frame(disease=NUMBERS.cast(pl.String).cast(pl.Binary)).write_parquet), ("'disease'",)
    ),
    "a duration": Bad(bytes_of(frame(city=NUMBERS.cast(pl.Duration("us"))).write_parquet), ("'city'",)),
}


def test_the_table_is_good_but_for_what_each_case_changes(desk: Desk) -> None:
    assert desk.publish(table=desk.table(ROWS)).status == 0
    assert CANARY.encode() in GOOD
    assert str(NUMBER).encode() in GOOD


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_refused(desk: Desk, case: str) -> None:
    bad = BAD[case]
    table = desk.write(bad.name, bad.content)
    before = files_under(desk.folder)
    assert_refused(desk.publish(table=table, **bad.options), *bad.words)
    assert files_under(desk.folder) == before


def test_binary_junk_without_nul_is_refused(desk: Desk) -> None:
    table = desk.write("t.csv", junk(5000, has_nul=False))
    assert_refused(desk.publish(table=table))
    assert not desk.out.exists()


def test_no_such_file(desk: Desk) -> None:
    assert_refused(desk.publish(table=Path("nowhere.csv")), "no file 'nowhere.csv'", "Check the path")
    assert files_under(desk.folder) == {}


def test_an_empty_folder_is_no_table(desk: Desk) -> None:
    (desk.folder / "tables").mkdir()
    assert_refused(desk.publish(table=Path("tables")), "there are no files in 'tables'")
    assert not desk.out.exists()


def test_a_table_without_a_header_shows_nobody(desk: Desk) -> None:
    first = [f"{CANARY} Smith", NUMBER, "f", "Ulm", f"{CANARY} fever"]
    table = desk.write("t.csv", to_csv([first, *people()], header=None))
    assert_refused(desk.publish(table=table), "header")
    assert not desk.out.exists()


@pytest.mark.parametrize("command", ["publish", "describe", "audit", "verify"])
def test_every_command_refuses_a_damaged_table_alike(desk: Desk, command: str) -> None:
    table = desk.write("t.parquet", cut(bytes_of(frame().write_parquet)))
    columns = ["--qi", "age", "--sensitive", "disease"]
    words: dict[str, list[object]] = {
        "publish": ["publish", table, *columns, "--beta", 2, "--out", desk.out / "new"],
        "describe": ["describe", table, "-o", desk.folder / "release.toml"],
        "audit": ["audit", table, *columns],
        "verify": ["verify", desk.out, "--original", table],
    }
    desk.publish(table=desk.table(ROWS))
    before = files_under(desk.folder)
    assert_refused(run(*words[command]), "t.parquet", "damaged or cut off")
    assert files_under(desk.folder) == before


def test_missing_sensitive_values_can_be_published_after_all(desk: Desk) -> None:
    table = desk.write("t.csv", changed("disease", "", range(7)))
    assert desk.publish(table=table, missing_sensitive="value").status == 0


def test_numbers_with_some_text_can_be_categories(desk: Desk) -> None:
    table = desk.write("t.csv", changed("age", "unknown", range(4)))
    assert desk.publish(table=table, categorical="age").status == 0
    assert desk.publish("--force", table=table, missing="unknown").status == 0
