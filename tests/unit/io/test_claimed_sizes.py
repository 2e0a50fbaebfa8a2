"""Parquet and Arrow files that claim what cannot be are refused or read as they are; none ends the process."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from betalike.errors import FileError, InputError
from betalike.io import parquet_files
from betalike.io.arrow_files import read_stream
from betalike.io.parquet_files import CLAIMED_SIZE, pages_of, stored_columns
from betalike.io.tables import load

FRAME = pl.DataFrame({"n": [7] * 20_000, "t": [f"text {i % 50}" for i in range(20_000)], "e": [None] * 20_000})
FRAME = FRAME.with_columns(pl.col("t").cast(pl.Categorical).alias("c"), pl.col("e").cast(pl.Float64))


def _parquet_by_arrow(path: Path, codec: str, version: str = "2.0") -> None:
    pa.parquet.write_table(
        FRAME.to_arrow(),
        path,
        compression="none" if codec == "uncompressed" else codec,
        data_page_version=version,
        data_page_size=3000,
        row_group_size=7000,
    )


WRITERS: dict[str, Callable[[Path, str], object]] = {
    "parquet": lambda path, codec: FRAME.write_parquet(path, compression=codec),
    "parquet by arrow": _parquet_by_arrow,
    "older parquet by arrow": lambda path, codec: _parquet_by_arrow(path, codec, "1.0"),
    "ipc": lambda path, codec: FRAME.write_ipc(path, compression=codec),
    "ipc by arrow": lambda path, codec: pa.feather.write_feather(FRAME.to_arrow(), str(path), codec, chunksize=3000),
}
CODECS = ["zstd", "lz4", "uncompressed", "snappy", "gzip", "brotli"]
HONEST = [(writer, codec) for writer in WRITERS for codec in CODECS[: 3 if "ipc" in writer else None]]


@pytest.mark.parametrize(("writer", "codec"), HONEST)
def test_honest_files_are_read(tmp_path: Path, writer: str, codec: str) -> None:
    WRITERS[writer](tmp_path / "t", codec)
    assert load(tmp_path / "t").height == FRAME.height


@pytest.mark.some(2)
@pytest.mark.parametrize("codec", CODECS)
def test_a_page_that_is_compressed_as_far_as_can_be_is_read(tmp_path: Path, codec: str) -> None:
    """A cell of 20 MB of one letter is a page of some dozens of bytes with Brotli."""
    cell = pa.table({"t": ["a" * 20_000_000]})
    pa.parquet.write_table(cell, tmp_path / "t", compression="none" if codec == "uncompressed" else codec)
    assert load(tmp_path / "t").height == 1


@pytest.mark.parametrize("claimed", [2**62, 2**40, -2])
def test_a_false_length_of_an_arrow_buffer_changes_no_row(tmp_path: Path, claimed: int) -> None:
    """Each compressed buffer has its own length before it, the first right after the metadata of its batch."""
    numbers = pl.DataFrame({"n": range(5000)})
    numbers.write_ipc(tmp_path / "t", compression="zstd")
    content = bytearray((tmp_path / "t").read_bytes())
    place = content.index(struct.pack("<q", 5000 * 8), 8)
    while content[place + 8 : place + 12] != b"\x28\xb5\x2f\xfd":  # how a frame of zstd begins
        place = content.index(struct.pack("<q", 5000 * 8), place + 1)
    struct.pack_into("<q", content, place, claimed)
    (tmp_path / "t").write_bytes(content)
    if claimed > 0:  # the reader takes the length that the numbers themselves have
        assert load(tmp_path / "t").equals(numbers)
    else:
        with pytest.raises(FileError, match=r"Arrow IPC.*damaged"):
            load(tmp_path / "t")


def test_a_stream_that_is_cut_off_between_batches_is_refused(tmp_path: Path) -> None:
    numbers = pl.DataFrame({"n": range(5000)}).to_arrow()
    for is_whole in (True, False):
        with pa.OSFile(str(tmp_path / "t"), "wb") as file, pa.ipc.new_stream(file, numbers.schema) as stream:
            stream.write_table(numbers, max_chunksize=1000)
            cut = file.tell()
        content = (tmp_path / "t").read_bytes()
        assert cut == len(content) - 8
        if is_whole:
            assert read_stream(tmp_path / "t", "t").height == 5000
        else:
            (tmp_path / "t").write_bytes(content[:cut])
            with pytest.raises(FileError, match="cut off"):
                read_stream(tmp_path / "t", "t")


def zigzag(number: int) -> bytes:
    """A number as Thrift writes it."""
    value, parts = number << 1 ^ number >> 63, []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


@pytest.mark.parametrize("claimed", [1_900_000_000, -2_818_572_288])
def test_a_false_size_of_a_parquet_page_is_refused(tmp_path: Path, claimed: int) -> None:
    """The first page stands right behind the magic bytes: field 1 its type, field 2 the size that it claims."""
    FRAME.select("n").write_parquet(tmp_path / "t", compression="zstd")
    content = (tmp_path / "t").read_bytes()
    assert content[4] == content[6] == 0x15  # a field one further than the last, a 32-bit number
    rest = next(place for place in range(7, 20) if content[place] < 128) + 1
    forged = content[:7] + zigzag(claimed) + content[rest:]
    (tmp_path / "t").write_bytes(forged)
    with pytest.raises(FileError, match=r"Parquet.*damaged"):
        load(tmp_path / "t")


@pytest.mark.parametrize("claimed", [-41, 20_001])
def test_a_false_number_of_values_is_refused(tmp_path: Path, claimed: int) -> None:
    """In the header of a page of data, field 5 is a struct whose field 1 says how many values there are."""
    FRAME.select("n").write_parquet(tmp_path / "t", compression="zstd")
    content = (tmp_path / "t").read_bytes()
    true = b"\x2c\x15" + zigzag(20_000)
    assert content.count(true) == 1
    (tmp_path / "t").write_bytes(content.replace(true, b"\x2c\x15" + zigzag(claimed)))
    with pytest.raises(FileError, match=r"Parquet.*damaged"):
        load(tmp_path / "t")


@pytest.mark.parametrize("writer", ["parquet", "ipc"])
def test_damage_of_any_kind_is_an_error_or_does_no_harm(tmp_path: Path, writer: str) -> None:
    """Random bytes in the metadata make claims of every type and size."""
    rng = random.Random(7)
    WRITERS[writer](tmp_path / "whole", "zstd")
    whole = (tmp_path / "whole").read_bytes()
    found = set()
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(rng.choice([1, 2, 50])):
            place = rng.randrange(4, len(content)) if rng.random() < 0.5 else -rng.randrange(9, 600)
            content[place] = rng.randrange(256)
        (tmp_path / "t").write_bytes(content)
        try:
            found.add(load(tmp_path / "t").height == FRAME.height)
        except InputError:
            found.add("refused")
    assert found >= {True, "refused"}


def test_a_list_without_end_is_not_walked(tmp_path: Path) -> None:
    footer = b"\x49\xf7" + b"\xff" * 8 + b"\x7f"  # field 4: a list of 2^62 reals, of which there is none
    (tmp_path / "t").write_bytes(b"PAR1" + footer + struct.pack("<i", len(footer)) + b"PAR1")
    assert not parquet_files.ends_its_reader(tmp_path / "t")


def test_pages_are_those_that_arrow_knows_of(tmp_path: Path) -> None:
    """Every page is walked: their claimed sizes add up to what the footer says of each column."""

    _parquet_by_arrow(tmp_path / "t", "zstd")
    content = (tmp_path / "t").read_bytes()
    known = pa.parquet.ParquetFile(tmp_path / "t").metadata
    facts = [known.row_group(group).column(number) for group in range(known.num_row_groups) for number in range(4)]
    walked = [list(pages_of(content, column)) for column in stored_columns(content)]
    assert len(walked) == len(facts)
    for pages, fact in zip(walked, facts, strict=True):
        claimed = sum(page[CLAIMED_SIZE] for page in pages)
        assert claimed <= fact.total_uncompressed_size <= claimed + 200 * len(pages)  # with the headers
