"""Reading tables from files: types, columns, missing values, and refusals that show no cell."""

from __future__ import annotations

import datetime
import traceback
from pathlib import Path

import polars as pl
import pytest

from betalike.errors import FileError, InputError, SchemaError
from betalike.io.tables import column_names, load, names_at_a_glance

CANARY = "CANARY7731"


def written(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_types_are_recognized(tmp_path: Path) -> None:
    text = "i,r,d,m,t,e\n1,1.5,2020-01-31,2020-01-31T10:00:00,x,\n-2,2,1969-12-31,1969-12-31T23:59:59,y,\n"
    frame = load(written(tmp_path, text))
    assert [dtype.base_type() for dtype in frame.dtypes[:2]] == [pl.Int64, pl.Float64]
    assert frame["d"].to_list() == ["2020-01-31", "1969-12-31"]  # dates keep their text, and are read from it later
    assert frame["e"].null_count() == 2


def test_a_number_that_comes_late_does_not_change_a_type_for_the_worse(tmp_path: Path) -> None:
    text = "a\n" + "1\n" * 20_000 + "1.5\n"
    assert load(written(tmp_path, text))["a"].to_list()[-1] == 1.5


def test_text_that_comes_late_is_text(tmp_path: Path) -> None:
    text = "a,b\n" + "1,2\n" * 20_000 + "x,2\n"
    frame = load(written(tmp_path, text))
    assert frame["a"].dtype == pl.String
    assert frame.height == 20_001


def test_columns_kept_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, "zip,age\n00123,07\n04567,08\n")
    assert load(path, as_text=["zip"]).rows() == [("00123", "07"), ("04567", "08")]
    assert load(path, as_text=None).rows() == [("00123", "07"), ("04567", "08")]


def test_only_wanted_columns_are_read_in_the_wanted_names(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,c\n1,2,3\n")
    assert set(load(path, ["c", "a"]).columns) == {"a", "c"}


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_column_that_is_not_there(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    frame = pl.DataFrame({"age": [1], "city": [CANARY], "zip": [2]})
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc}[ending](path)
    with pytest.raises(SchemaError, match=r"no column 'aeg'.*Did you mean 'age'"):
        load(path, ["aeg", "city", "zip"])


def test_missing_texts(tmp_path: Path) -> None:
    frame = load(written(tmp_path, "a,b\nNA,?\n1,x\n,\n"), missing=["NA", "?"])
    assert frame["a"].to_list() == [None, 1, None]
    assert frame["b"].to_list()[:2] == [None, "x"]


@pytest.mark.parametrize("header", ["a b,ä", '"a,b",c', '"a""b",c', '"a\nb",c', "a,b\r"])
def test_names_of_any_kind(tmp_path: Path, header: str) -> None:
    frame = load(written(tmp_path, f"{header}\n1,2\n"))
    assert frame.width == 2
    assert frame.rows() == [(1, 2)]
    assert "\r" not in "".join(frame.columns)


@pytest.mark.parametrize("blank", ["\n", "\r\n"])
def test_blank_lines_are_no_rows(tmp_path: Path, blank: str) -> None:
    frame = load(written(tmp_path, f"a,b\n1,2\n{blank}3,4\n{blank}{blank}"))
    assert frame.rows() == [(1, 2), (3, 4)]


def test_blank_lines_before_the_header(tmp_path: Path) -> None:
    assert load(written(tmp_path, "\n\na,b\n1,2\n")).rows(named=True) == [{"a": 1, "b": 2}]


def test_quoted_content_survives(tmp_path: Path) -> None:
    frame = load(written(tmp_path, 'a;b\n"x;y\nz";"he said ""no"""\nplain;2\n'))
    assert frame.row(0) == ("x;y\nz", 'he said "no"')


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_leave_no_trace(tmp_path: Path, end: str) -> None:
    frame = load(written(tmp_path, end.join(["a,b", "1,x", "2,y", ""])))
    assert frame.rows(named=True) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_western_text(tmp_path: Path) -> None:
    assert load(written(tmp_path, "a,b\n1,Köln\n".encode("cp1252")))["b"].item() == "Köln"


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columnar_files_keep_their_types(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": [datetime.date(2020, 1, 1)] * 2, "c": ["x", "y"]})
    path = tmp_path / "anything.bin"  # recognized by content, not by name
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    assert load(path).equals(frame)
    assert load(path, ["c"]).equals(frame.select("c"))


CASES: dict[str, tuple[bytes, type[InputError], str]] = {
    "nothing": (b"", FileError, "empty"),
    "a header only": (b"a,b\n", FileError, "no rows"),
    "a header without line end": (b"a,b", FileError, "no rows"),
    "a name twice": (b"a,b,a\n1,2,3\n", SchemaError, "more than one column of the same name"),
    "parquet cut off": (b"PAR1" + CANARY.encode(), FileError, "Parquet.*damaged or cut off"),
    "arrow cut off": (b"ARROW1" + CANARY.encode(), FileError, "Arrow IPC.*damaged or cut off"),
    "ragged": (f"a,b\n1,2\n{CANARY}\n".encode(), FileError, "line 3 has 1 fields"),
    "open quote": (f'a,b\n1,"{CANARY}\n'.encode(), FileError, "never closed"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_read_is_refused_without_a_cell_even_in_the_traceback(tmp_path: Path, case: str) -> None:
    content, kind, words = CASES[case]
    path = written(tmp_path, content)
    with pytest.raises(kind, match=words) as refusal:
        load(path)
    assert CANARY not in "".join(traceback.format_exception(refusal.value))


def test_a_folder_and_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no files in"):
        load(tmp_path)
    with pytest.raises(FileError, match="no file"):
        load(tmp_path / "nowhere.csv")


HEADERS = {
    "plain": "age,sex\n3,m\n",
    "after blank lines": "\n \nage;sex;patient_id\r\n3;m;1\r\n",
    "quoted": '"age, in years",sex\n3,m\n',
    "in single quotes": "'age','sex'\n'3','m'\n",
    "not ASCII": "åge,sex\n3,m\n",
    "one column": "age\n3\n",
    "with a tab": "age,\tsex\n" + "3,m\n" * 40_000,
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("header", HEADERS)
def test_names_at_a_glance_are_those_of_the_whole_file(tmp_path: Path, header: str, encoding: str) -> None:
    path = written(tmp_path, HEADERS[header].encode(encoding))
    assert names_at_a_glance(path, None) == column_names(path, None)


def test_names_at_a_glance_of_a_columnar_file(tmp_path: Path) -> None:
    pl.DataFrame({"b": [1], "a": [2]}).write_parquet(tmp_path / "t.parquet")
    assert names_at_a_glance(tmp_path / "t.parquet", None) == ["b", "a"]
