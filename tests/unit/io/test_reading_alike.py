"""The same table comes out whatever its file looks like, read at once or in batches; odd files are refused alike."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import os
import socket
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import betalike
from betalike.errors import FileError, InputError, SchemaError
from betalike.io import csv_files, csv_rows
from betalike.io.tables import load, scan_table

CANARY = "CANARY7731"
ROWS = [["age", "city", "note"], *([str(i % 50), ["Köln", "Ulm", ""][i % 3], f"a, {i} b"] for i in range(400))]


def zstandard(data: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").compress(data))


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard,
}
READERS: dict[str, Callable[..., pl.DataFrame]] = {
    "at once": load,
    "in batches": lambda *args, **options: scan_table(*args, **options).table.collect(),
}
MANY = 1 << 30  # bytes


def in_pieces(reader: str, path: Path, columns: Sequence[str] | None = None, as_text: Sequence[str] = ()) -> Any:
    """A table whose text is parsed bit by bit."""
    wanted = csv_files.Wanted(columns, as_text, (), parsed_bytes=1000)
    if reader == "at once":
        return csv_files.load_csv(path, wanted, None, MANY)
    return csv_files.scan_csv([path], wanted, None, lambda: None)[0].collect()


each_reader = pytest.mark.parametrize("reader", READERS)


def text(rows: list[list[str]] = ROWS, end: str = "\n", delimiter: str = ",") -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=end, delimiter=delimiter).writerows(rows)
    return out.getvalue()


def written(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(call: Callable[[], object]) -> str:
    """What an error says, which must not show a cell, even in its traceback."""
    with pytest.raises(InputError) as refused:
        call()
    assert CANARY not in "".join(traceback.format_exception(refused.value))
    return str(refused.value)


@pytest.mark.some(30)
@each_reader
@pytest.mark.parametrize("form", COMPRESSIONS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_form_gives_the_same_rows(tmp_path: Path, reader: str, form: str, encoding: str, end: str) -> None:
    path = written(tmp_path, COMPRESSIONS[form](text(end=end, delimiter=";").encode(encoding)))
    frame = in_pieces(reader, path, as_text=["note"])
    assert frame.columns == ROWS[0]
    expected = [(int(age), city or None, note) for age, city, note in ROWS[1:]]
    assert frame.rows() == expected
    assert in_pieces(reader, path, ["note", "age"]).rows() == [(note, age) for age, _, note in expected]


@each_reader
def test_line_ends_and_blank_lines_may_be_mixed(tmp_path: Path, reader: str) -> None:
    path = written(tmp_path, '\r\na,b\r\n1,x\n\r\n2,"y\rz"\r\n  \n3,w\r\n')
    assert READERS[reader](path).rows() == [(1, "x"), (2, "y\rz"), (3, "w")]


@each_reader
@pytest.mark.parametrize("content", ["a,b\r1,x\r", "a,b\n1,x\r2,y\n", "a,b\n1,x\n2,y\r", "a,b\n1,x\r\r\n"])
def test_a_carriage_return_alone_is_no_line_end(tmp_path: Path, reader: str, content: str) -> None:
    line = 1 + content.partition("\r")[0].count("\n")
    said = refusal(lambda: READERS[reader](written(tmp_path, content)))
    assert f"line {line} has a carriage return without a line feed" in said


@each_reader
@pytest.mark.parametrize("form", ["plain", "gz"])
def test_types_are_those_of_all_rows(tmp_path: Path, reader: str, form: str) -> None:
    late = ["1.5", "x", "2020-01-01", "9223372036854775808", "", "true"]
    early = ["1", "2", "2020-01-02", "3", "7", "1"]
    rows = [["a", "b", "c", "d", "e", "f"], *[early] * 11_000, late]
    frame = in_pieces(reader, written(tmp_path, COMPRESSIONS[form](text(rows).encode())))
    types = [pl.Float64, pl.String, pl.String, pl.Int128, pl.Int64, pl.String]
    assert [dtype.base_type() for dtype in frame.dtypes] == types
    assert frame.height == 11_001


LITERAL = {
    "inch marks": ('size,city\n5" pipe,Ulm\n6,Bonn\n7",Kiel\n', [('5" pipe', "Ulm"), ("6", "Bonn"), ('7"', "Kiel")]),
    "apostrophes": ("n,c\nO'Neill,Ulm\nD'Arcy,'s-H\nx,y'\n", [("O'Neill", "Ulm"), ("D'Arcy", "'s-H"), ("x", "y'")]),
    "feet and inches": ("h,c\n5' 3\",Ulm\n6' 1\",Rom\n", [("5' 3\"", "Ulm"), ("6' 1\"", "Rom")]),
    "single quotes": ("h,c\n'a','c'\n'it''s','d'\n", [("'a'", "'c'"), ("'it''s'", "'d'")]),
    "one odd apostrophe": ("h,c\n1,'a'\n2,'b'\n3,'c\n4,d'\n", [(1, "'a'"), (2, "'b'"), (3, "'c"), (4, "d'")]),
    "quoted header": ('"h","c"\n1,x\n2,y\n', [(1, "x"), (2, "y")]),
    "doubled quotes": ('h,c\n1,"a ""b"" c"\n2,""""\n', [(1, 'a "b" c'), (2, '"')]),
    "over two lines": ('h,c\n1,"a\nb"\n2,y\n', [(1, "a\nb"), (2, "y")]),
}


@each_reader
@pytest.mark.parametrize("case", LITERAL)
def test_quotes_mean_what_they_must(tmp_path: Path, reader: str, case: str) -> None:
    content, expected = LITERAL[case]
    assert READERS[reader](written(tmp_path, content)).rows() == expected


ODD = {
    "a delimiter in single quotes": f"h,c\n1,'a'\n2,'{CANARY},b'\n",
    "text after a quote": f'h,c\n1,"a"{CANARY}\n',
    "quotes inside plain text, beside quoted fields": f'h,c\n"1",5" {CANARY}\n2,6" {CANARY}\n',
    "never closed": f'h,c\n1,"{CANARY}\n2,b\n',
}


@each_reader
@pytest.mark.parametrize("case", ODD)
def test_odd_quotes_are_refused(tmp_path: Path, reader: str, case: str) -> None:
    assert "quote" in refusal(lambda: READERS[reader](written(tmp_path, ODD[case])))


@each_reader
@pytest.mark.parametrize("form", ["csv", "gz", "parquet"])
def test_doubled_names_are_refused_alike(tmp_path: Path, reader: str, form: str) -> None:
    path = tmp_path / "t"
    if form == "parquet":
        table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["age", "age", "city"])
        pyarrow.parquet.write_table(table, path)
    else:
        path.write_bytes((gzip.compress if form == "gz" else bytes)(b"age,age,city\n1,2,3\n"))
    with pytest.raises(SchemaError, match="more than one column"):
        READERS[reader](path, ["age", "city"])


@each_reader
def test_a_single_endless_row_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    path = written(tmp_path, gzip.compress(b"a,b\n1," + b"x" * (csv_rows.LONGEST_ROW + 10) + b"\n"))
    assert "longer than" in refusal(lambda: READERS[reader](path))


@each_reader
@pytest.mark.parametrize("form", ["gz", "xz", "bz2", "zst"])
def test_text_that_is_larger_than_the_memory_is_refused(tmp_path: Path, reader: str, form: str) -> None:
    path = written(tmp_path, COMPRESSIONS[form](b"a,b\n" + b"1,2\n" * 1_000_000))
    if reader == "at once":
        assert "does not fit in memory" in refusal(lambda: load(path, memory=1 << 20))
    else:
        assert scan_table(path, ["a"]).table.select(pl.len()).collect().item() == 1_000_000


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@each_reader
@pytest.mark.parametrize("make", [make_pipe, make_socket])
def test_what_is_no_regular_file_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, make: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    make(Path("t"))
    assert "not a regular file" in refusal(lambda: READERS[reader](Path("t")))


@pytest.mark.parametrize("device", ["/dev/full", "/dev/zero", "/dev/null"])
def test_devices_are_refused(device: str) -> None:
    assert "is a device" in refusal(lambda: load(device))


@each_reader
@pytest.mark.parametrize("name", ["a\nb.csv", "\udcff.csv", "x" * 300, "nul\0"])
def test_odd_names_of_files(tmp_path: Path, reader: str, name: str) -> None:
    message = refusal(lambda: READERS[reader](tmp_path / name))
    assert message.isprintable()


@each_reader
@pytest.mark.parametrize("form", ["parquet", "arrow", "csv.gz"])
def test_damaged_files_are_refused_or_read_whole(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], reader: str, form: str
) -> None:
    frame = pl.DataFrame({"age": list(range(500)), "city": [f"{CANARY} {i % 7}" for i in range(500)]})
    good = io.BytesIO()
    if form == "csv.gz":
        good.write(gzip.compress(frame.write_csv().encode()))
    else:
        frame.write_parquet(good) if form == "parquet" else frame.write_ipc(good)
    data = good.getvalue()
    said: list[str] = []
    for place in range(8, len(data), max(len(data) // 60, 1)):
        for damaged in (data[:place], data[:place] + bytes([data[place] ^ 0x40]) + data[place + 1 :]):
            path = written(tmp_path, damaged, "t")
            try:
                found = READERS[reader](path, ["age", "city"])
            except InputError as error:
                said.append("".join(traceback.format_exception(error)))
            else:
                assert found.height == 500
    assert CANARY not in "".join(said)
    assert capfd.readouterr().err == ""


def test_a_doubled_name_in_arrow_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["age", "age", "city"])
    with pa.OSFile(str(tmp_path / "t"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    assert "same name" in refusal(lambda: load(tmp_path / "t", ["age", "city"]))
    assert capfd.readouterr().err == ""


def test_a_file_that_changes_between_passes_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(text().encode()))
    table = scan_table(path, ["age"]).table
    assert table.collect().height == 400
    written(tmp_path, gzip.compress(text([*ROWS, ROWS[1]]).encode()))
    with pytest.raises(FileError, match="changed while it was read"):
        table.collect()


HEADLESS = {
    "numbers": f"{CANARY},37,Ulm\nx,38,Rom\ny,39,Ulm\n",
    "a date": f"{CANARY},2020-01-31,Ulm\nx,2020-02-01,Ulm\n",
    "a time": f"{CANARY},31.01.2020 10:00,Ulm\nx,1.2.2020 11:00,Ulm\n",
    "no name": f"{CANARY},,Ulm\nx,2,Ulm\n",
    "a value": f"{CANARY},f,Ulm\nx,f,Rom\ny,m,Ulm\n",
    "doubled": f"{CANARY},x,x\ny,z,u\n",
}


@pytest.mark.parametrize("case", HEADLESS)
def test_describe_does_not_take_a_person_for_names(tmp_path: Path, case: str) -> None:
    path = written(tmp_path, HEADLESS[case])
    message = refusal(lambda: betalike.describe(path))
    assert "header line" in message or "same name" in message
    assert "Ulm" not in message


@pytest.mark.parametrize("delimiter", ["^", ":", "~", " ", "\x1f", "¦"])
@pytest.mark.parametrize("header", ["name{}town{}illness\n", ""])
def test_describe_asks_for_a_delimiter_that_it_does_not_know(tmp_path: Path, delimiter: str, header: str) -> None:
    rows = "".join(f"{CANARY}{i}{delimiter}Ulm{delimiter}flu\n" for i in range(9))
    path = written(tmp_path, header.format(delimiter, delimiter) + rows)
    message = refusal(lambda: betalike.describe(path))
    assert "--delimiter" in message
    assert "Ulm" not in message


def test_describe_takes_a_single_column(tmp_path: Path) -> None:
    path = written(tmp_path, "date of birth\n1980-01-31\n1981-02-01\n")
    assert [column.name for column in betalike.describe(path).columns] == ["date of birth"]


def test_describe_takes_the_index_of_a_data_frame(tmp_path: Path) -> None:
    path = written(tmp_path, ",age,city\n0,1,Ulm\n1,2,Rom\n")
    assert [column.name for column in betalike.describe(path).columns] == ["", "age", "city"]


@each_reader
@pytest.mark.parametrize(
    ("wanted", "is_shown"),
    [(["age", "city", "dise"], True), (["age", "dise"], False), (["dise"], False), (["aeg", "city", "dise"], False)],
)
def test_names_are_listed_only_if_most_wanted_ones_are_there(
    tmp_path: Path, reader: str, wanted: list[str], is_shown: bool
) -> None:
    path = written(tmp_path, "age,city,disease\n1,Ulm,flu\n")
    message = refusal(lambda: READERS[reader](path, wanted))
    assert ("disease" in message) is is_shown
    assert is_shown or "3 columns" in message


DAMAGED_TEXT = {
    "half a character": codecs.BOM_UTF16_LE + text(ROWS).encode("utf-16-le") + b"x",
    "half a pair": codecs.BOM_UTF16_BE + text(ROWS).encode("utf-16-be") + b"\xd8\x00",
    "marked as UTF-8": codecs.BOM_UTF8 + text(ROWS).encode() + b"\xff",
}


@each_reader
@pytest.mark.parametrize("case", DAMAGED_TEXT)
def test_text_that_breaks_off_within_a_character_is_refused(tmp_path: Path, reader: str, case: str) -> None:
    path = written(tmp_path, DAMAGED_TEXT[case])
    assert "damaged or cut off" in refusal(lambda: READERS[reader](path, None))


@each_reader
def test_bytes_that_windows_1252_lacks_stay_apart(tmp_path: Path, reader: str) -> None:
    odd = bytes([0x81, 0x8D, 0x8F, 0x90, 0x9D])
    path = written(tmp_path, b"a,b\n" + b"".join(b"1,x%c\n" % byte for byte in odd))
    assert READERS[reader](path, None)["b"].to_list() == [f"x{chr(byte)}" for byte in odd]


def test_a_small_file_takes_little_memory_however_much_is_allowed(tmp_path: Path) -> None:
    assert load(written(tmp_path, "a,b\n1,2\n"), memory=1 << 60).height == 1
