"""A check of workbooks before they are read: does the memory allowed hold what they unpack to, and their cells?

The reader makes a cell for every place between the first and the last one of a sheet. Two cells at opposite corners can
take more memory than there is, which ends the whole process. So such a workbook is first tried in a process of its own.
"""

from __future__ import annotations

import functools
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from betalike.errors import FileError
from betalike.io.damaged_files import ends_its_reader
from betalike.io.sources import open_file, shown_name, stamp_of
from betalike.runtime.arrays import Ints
from betalike.runtime.memory_size import LEAST_MEMORY, USED_SHARE, in_words, memory_at_hand, parse_memory

PER_CELL = 90  # bytes of memory, measured
CHUNK, LONGEST_PLACE = 1 << 20, 16  # bytes, such as r="XFD1048576"
EXCEL = "xl/workbook.xml"  # only in files of Excel's newer form
QUOTES = [ord('"'), ord("'")]
UNREADABLE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError, NotImplementedError)
ENDLESS, FARTHEST, STEP = 1 << 62, 1 << 40, 1 << 28
ATTEMPT = """
import sys, fastexcel
try:
    import resource
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[2]),) * 2)
except (ImportError, OSError, ValueError):
    pass
try:
    book = fastexcel.read_excel(sys.argv[1])
    for name in book.sheet_names:
        book.load_sheet(name, header_row=None, dtypes="string")
except MemoryError:
    sys.exit(3)
"""
REFUSED = (
    "{} is a workbook that cannot be read; it is damaged or takes more than {} of memory, as one with cells far from "
    "each other does. Delete the cells that are not part of the table, allow more (--memory of publish), or save the "
    "table alone as CSV."
)


def check_size(path: Path, memory: str | int | None = None) -> bool:
    """Refuse a workbook that may take more memory than is allowed; return whether its cells lie far apart."""
    at_hand = int(USED_SHARE * memory_at_hand()) // STEP * STEP  # in steps, so that a file is not measured twice
    allowed = max(at_hand, LEAST_MEMORY) if memory is None else parse_memory(memory)
    (stamp,) = stamp_of([path])
    is_wide = _may_take_more(path, stamp, allowed)
    if is_wide and ends_its_reader(path, ATTEMPT, str(allowed)):
        raise _refusal(path, allowed)
    return is_wide


def _refusal(path: Path, allowed: int) -> FileError:
    return FileError(REFUSED.format(shown_name(path), in_words(allowed)))


@functools.lru_cache(maxsize=16)
def _may_take_more(path: Path, stamp: tuple[int, ...], allowed: int) -> bool:
    """Return whether the cells of a workbook may take more than is allowed; refuse one that unpacks to more."""
    n_bytes = 0
    is_wide = False
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as book:
            members = book.infolist()
            if sum(member.file_size for member in members) > allowed:
                raise _refusal(path, allowed)
            is_wide = EXCEL not in book.namelist()  # the places of its cells are not looked for
            for member in members:
                extent = _Extent()
                for piece in _unpacked(book, member):
                    n_bytes += len(piece)
                    if n_bytes > allowed:
                        raise _refusal(path, allowed)
                    extent.add(piece)
                extent.add(bytes(LONGEST_PLACE))  # what is left
                is_wide = is_wide or extent.is_unknown or PER_CELL * extent.n_cells > allowed
    except UNREADABLE:
        return True
    return is_wide


def _unpacked(book: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield what a member unpacks to, to its end; the size that it claims may be wrong."""
    member.file_size = ENDLESS
    with book.open(member) as part:
        while piece := part.read(CHUNK):
            yield piece


class _Extent:
    """The rectangle around the places of cells, such as "B7", and the numbers of rows that a part of a workbook has."""

    def __init__(self) -> None:
        self._rest = b""
        self._n_odd = self._n_unplaced = 0  # places in another form; cells without a place, which follow the one before
        self._rows, self._columns = (ENDLESS, 0), (ENDLESS, 0)

    @property
    def is_unknown(self) -> bool:
        """Whether there are cells whose place is not known."""
        return self._n_odd > 0 or self._n_unplaced > 0

    @property
    def n_cells(self) -> int:
        """The number of cells in the rectangle."""
        (top, bottom), (left, right) = self._rows, self._columns
        return max(bottom - top + 1, 1) * max(right - left + 1, 1)

    def add(self, piece: bytes) -> None:
        """Take the next bytes of a part, which may begin in the middle of a place."""
        text = self._rest + piece
        self._rest = text[-LONGEST_PLACE - 1 :]
        signs = np.frombuffer(text, dtype=np.uint8)
        starts = np.flatnonzero(signs[1:-LONGEST_PLACE] == ord("r")) + 1
        starts = starts[signs[starts - 1] <= ord(" ")]
        after = signs[starts + 1]
        starts = starts[after == ord("=")] + 3
        self._n_odd += int((after <= ord(" ")).sum()) + int((~np.isin(signs[starts - 1], QUOTES)).sum())
        rows = columns = np.zeros(len(starts), dtype=np.int64)
        is_inside = np.ones(len(starts), dtype=bool)
        for step in range(LONGEST_PLACE - 3):
            sign = signs[starts + step].astype(np.int64)
            is_inside &= ~np.isin(sign, QUOTES)
            is_letter, is_digit = is_inside & (sign >= ord("A")), is_inside & (sign <= ord("9"))
            columns = np.where(is_letter, np.minimum(columns, FARTHEST) * 26 + (sign & 31), columns)
            rows = np.where(is_digit, np.minimum(rows, FARTHEST) * 10 + sign - ord("0"), rows)
        self._n_odd += int(is_inside.sum())
        self._n_unplaced += _count_cells(signs) - int((columns > 0).sum())
        self._rows, self._columns = _wider(self._rows, rows), _wider(self._columns, columns)


def _count_cells(signs: npt.NDArray[np.uint8]) -> int:
    """Count the tags of cells, such as <c t="n"> or <x:c>."""
    starts = np.flatnonzero(signs[1:-LONGEST_PLACE] == ord("c")) + 1
    starts = starts[np.isin(signs[starts - 1], [ord("<"), ord(":")])]
    after = signs[starts + 1]
    return int(((after <= ord(" ")) | (after == ord(">"))).sum())


def _wider(ends: tuple[int, int], found: Ints) -> tuple[int, int]:
    found = found[found > 0]
    return (min(ends[0], int(found.min())), max(ends[1], int(found.max()))) if len(found) else ends
