"""CSV files as people have them: delimiters, quotes, encodings, compression, line ends, and rows of unequal length."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import FileError, InputError
from betalike.io.compression import plain_chunks
from betalike.io.csv_text import SAMPLE_BYTES, CsvText, survey_bytes

ROWS = [["age", "city", "note"], ["37", "Köln", "a b"], ["41", "Ulm", "c"], ["29", "Bonn", "d"]]
DELIMITERS = [",", ";", "\t", "|"]


def delimiter_of(text: CsvText) -> str:
    return text.layout.delimiter


def rows_of(text: CsvText) -> bytes:
    return b"".join(text.rows(n_bytes=10))


def decompress(data: bytes, name: str) -> bytes:
    return b"".join(plain_chunks(io.BytesIO(data), name))


def to_csv(rows: list[list[str]], delimiter: str = ",", **options: object) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, **{"lineterminator": "\n", **options}).writerows(rows)
    return text.getvalue().encode()


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_delimiter_is_found(delimiter: str, end: str) -> None:
    text = survey_bytes(to_csv(ROWS, delimiter, lineterminator=end), "t.csv")
    assert delimiter_of(text) == delimiter
    assert list(text.layout.names) == ROWS[0]


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("other", DELIMITERS)
def test_other_delimiters_in_quotes_do_not_count(delimiter: str, other: str) -> None:
    rows = [["age", "city", "note"], *([str(i), f"a{other}b{other}c{other}", "x"] for i in range(9))]
    assert delimiter_of(survey_bytes(to_csv(rows, delimiter, quoting=csv.QUOTE_ALL), "t.csv")) == delimiter


def test_decimal_commas_do_not_count() -> None:
    assert delimiter_of(survey_bytes(b"age;height;note\n37;1,70;a\n41;1,8;b\n9;1;c\n", "t.csv")) == ";"


def test_a_single_column_has_any_delimiter() -> None:
    text = survey_bytes(b"age\n1\n2\n", "t.csv")
    assert list(text.layout.names) == ["age"]


def test_a_given_delimiter_wins() -> None:
    assert delimiter_of(survey_bytes(b"a,b;c\n1,2;3\n", "t.csv", delimiter=";")) == ";"


@pytest.mark.parametrize("delimiter", ["", ";;", "ab", "é", "\n", '"'])
def test_a_delimiter_that_cannot_be_is_refused(delimiter: str) -> None:
    if delimiter:
        with pytest.raises(InputError, match="delimiter"):
            survey_bytes(b"a,b\n1,2\n", "t.csv", delimiter=delimiter)
    else:
        assert delimiter_of(survey_bytes(b"a,b\n1,2\n", "t.csv", delimiter=delimiter)) == ","


def test_a_long_file_is_recognized_by_its_beginning() -> None:
    rows = [["a", "b"], *([str(i), "x" * 50] for i in range(SAMPLE_BYTES // 20))]
    data = to_csv(rows, ";")
    assert len(data) > 2 * SAMPLE_BYTES
    assert delimiter_of(survey_bytes(data, "t.csv")) == ";"


def test_quotes_hide_delimiters_line_ends_and_doubled_quotes() -> None:
    rows = [["age", "note"], ["1", 'a,b\nc"d'], ["2", '"'], ["3", ""], ["4", "x"]]
    text = survey_bytes(to_csv(rows, quoting=csv.QUOTE_ALL), "t.csv")
    assert text.layout.quote == '"'
    assert delimiter_of(text) == ","
    assert text.layout.n_rows == 4


def test_an_apostrophe_is_no_quote() -> None:
    text = survey_bytes(b"name,city\nO'Brien,Ulm\nD'Arcy,'s-Hertogenbosch\n", "t.csv")
    assert text.layout.quote == '"'


def test_a_stray_quote_inside_a_field_is_only_a_character() -> None:
    text = survey_bytes(b'size,city\n5" pipe,Ulm\n6,Bonn\n', "t.csv")
    assert delimiter_of(text) == ","
    assert text.layout.quote is None
    assert text.layout.n_rows == 2


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp1252"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(encoding: str) -> None:
    text = survey_bytes(to_csv(ROWS).decode().encode(encoding), "t.csv")
    assert rows_of(text).decode() == to_csv(ROWS).decode()
    assert list(text.layout.names) == ROWS[0]


def test_big_endian_utf_16() -> None:
    data = b"\xfe\xff" + to_csv(ROWS).decode().encode("utf-16-be")
    assert rows_of(survey_bytes(data, "t.csv")) == to_csv(ROWS)


def test_every_byte_of_western_text_is_kept_apart() -> None:
    letters = bytes(byte for byte in range(0xA0, 0x100))
    text = rows_of(survey_bytes(b"a,b\n1," + letters + b"\n", "t.csv")).decode()
    assert len(set(text.split(",")[2].strip("\n"))) == 96


def zstandard(data: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").compress(data))


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard,
}
LONG = to_csv([["a", "b"], *([str(i), str(i * i)] for i in range(4000))])


@pytest.mark.parametrize("form", COMPRESSIONS)
def test_compressed_data_is_recognized_by_its_content(form: str) -> None:
    assert decompress(COMPRESSIONS[form](LONG), "t.csv") == LONG


@pytest.mark.parametrize("form", COMPRESSIONS)
def test_parts_that_were_compressed_one_by_one_are_all_read(form: str) -> None:
    compress, middle = COMPRESSIONS[form], len(LONG) // 2
    assert decompress(compress(LONG[:middle]) + compress(LONG[middle:]), "t.csv") == LONG


@pytest.mark.parametrize("form", COMPRESSIONS)
@pytest.mark.parametrize("share", [0.3, 0.9, -4, -1])
def test_cut_off_compressed_data_is_refused(form: str, share: float) -> None:
    data = COMPRESSIONS[form](LONG)
    cut = int(share) if share < 0 else int(share * len(data))
    with pytest.raises(FileError, match=r"t\.csv .*damaged or cut off"):
        decompress(data[:cut], "t.csv")


@pytest.mark.parametrize("form", ["gz", "xz", "bz2"])  # Zstandard has a checksum only if asked for
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_damaged_compressed_data_is_refused(form: str, share: float) -> None:
    data = bytearray(COMPRESSIONS[form](LONG))
    data[int(share * len(data))] ^= 0x55
    with pytest.raises(FileError, match="damaged or cut off"):
        decompress(bytes(data), "t.csv")


def test_other_data_stays_as_it_is() -> None:
    assert decompress(LONG, "t.csv") == LONG


@pytest.mark.parametrize("data", [b" ", b"\n\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\r\n \r\n"])
def test_nothing_in_it(data: bytes) -> None:
    with pytest.raises(FileError, match="empty"):
        survey_bytes(data, "t.csv")


@pytest.mark.parametrize("data", [b"\x00\x01\x02", b"a,b\n1,\x002\n", "a,b\n1,2\n".encode("utf-16-le")])
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(FileError, match="not a text file"):
        survey_bytes(data, "t.csv")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a,b\n1,2\n3\n", "line 3 has 1 fields, but the header has 2"),
        (b"a,b\n1,2\n3,4,5\n6,7\n", "line 3 has 3 fields, but the header has 2"),
        (b'a,b\n"x\ny",2\n3\n', "line 4 has 1 fields"),
        (b"a,b\r\n1,2\r\n3\r\n", "line 3 has 1 fields"),
        (b"a,b\n1\n2\n3\n4,5", r"line 2 .*3 such rows"),
        (b"a,b\n1,2\n3", "line 3 has 1 fields"),
        (b'a,b\n1,"2\n', "never closed"),
        (b'a,b\n1,"2""\n', "never closed"),
    ],
)
def test_ragged_rows_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(FileError, match=words):
        survey_bytes(data, "t.csv", delimiter=",")


@pytest.mark.parametrize(
    "data",
    [b"a,b\n1,2", b"a,b\n1,2\n\n", b"a,b\n\n1,2\n", b'a,b\n"1",""\n', b'a,b\n"x""y","z,\n"\n', b"a,b\r\n1,2\r\n\r\n"],
)
def test_rows_of_one_length_are_accepted(data: bytes) -> None:
    assert delimiter_of(survey_bytes(data, "t.csv")) == ","


FIELDS = st.text(alphabet="ab,;\"\n' \té", max_size=6)


@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(FIELDS, min_size=n, max_size=n), min_size=1, max_size=6)))
def test_whatever_a_csv_writer_writes_has_rows_of_one_length(rows: list[list[str]]) -> None:
    header = [f"c{i}" for i in range(len(rows[0]))]
    text = survey_bytes(to_csv([header, *rows], quoting=csv.QUOTE_ALL), "t.csv", delimiter=",")
    assert list(text.layout.names) == header


@given(st.lists(st.integers(1, 5), min_size=2, max_size=8), st.data())
def test_rows_are_counted_as_the_csv_module_counts_them(lengths: list[int], data: st.DataObject) -> None:
    rows = [[data.draw(FIELDS) for _ in range(length)] for length in lengths]
    content = to_csv(rows, quoting=csv.QUOTE_ALL)
    parsed = [len(row) for row in csv.reader(io.StringIO(content.decode(), newline=""))]
    assert parsed == lengths
    n_bad = int((np.array(lengths) != lengths[0]).sum())
    if n_bad == 0:
        survey_bytes(content, "t.csv", delimiter=",")
    else:
        with pytest.raises(FileError, match=f"{n_bad} such row"):
            survey_bytes(content, "t.csv", delimiter=",")
