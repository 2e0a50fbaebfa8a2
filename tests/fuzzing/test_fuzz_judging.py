"""The judge itself: what it must notice, and what it must let pass."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from betalike.errors import FileError, GuaranteeError, InfeasibleError, InternalError

from .judging import Judge, peak_memory
from .samples import ILLNESSES, ROWS


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[Judge]:
    judge = Judge(tmp_path)
    yield judge
    judge.close()


def raising(error: BaseException) -> Callable[[bytes, Path], None]:
    def target(data: bytes, folder: Path) -> None:
        raise error

    return target


@pytest.mark.parametrize(
    "error", [InternalError("x"), GuaranteeError("x"), RecursionError(), MemoryError(), ValueError(), BaseException()]
)
def test_errors_that_no_input_may_lead_to_are_findings(judge: Judge, error: BaseException) -> None:
    finding = judge.judge(raising(error), b"")
    assert finding is not None
    assert finding.kind == type(error).__name__


@pytest.mark.parametrize("error", [FileError("bad"), InfeasibleError("no")])
def test_proper_errors_are_none(judge: Judge, error: BaseException) -> None:
    assert judge.judge(raising(error), b"") is None
    assert judge.judge(lambda data, folder: (folder / "out").mkdir(), b"") is None


def test_cells_in_messages_are_findings_unless_they_are_the_users_own_words(judge: Judge) -> None:
    name = ROWS[0][0]
    target = raising(FileError(f"there is no '{name}'."))
    assert judge.judge(target, name.encode()) is not None
    assert judge.judge(target, name.encode(), is_secret=False) is None
    assert judge.judge(target, b"other", is_secret=False) is not None


def test_published_values_are_shown_where_a_release_is_asked(judge: Judge) -> None:
    target = raising(FileError(f"did you mean '{ILLNESSES[0]}'?"))
    assert judge.judge(target, b"", is_secret=False) is None
    assert judge.judge(target, b"") is not None


def test_names_of_columns_are_shown_and_a_first_person_is_not(judge: Judge) -> None:
    target = raising(FileError("the table has: sexxxxxxx."))
    assert judge.judge(target, b"0name,age,sexxxxxxx,town,since,illness\n") is None
    assert judge.judge(target, b"0zqxjkv,73737,sexxxxxxx,town,since,illness\n") is not None


def test_cells_behind_a_message_are_findings(judge: Judge) -> None:
    error = FileError("it cannot be read.")
    error.__cause__ = ValueError("in the row 73737")
    finding = judge.judge(raising(error), b"")
    assert finding is not None
    assert finding.kind == "a cell in a message"


def test_cells_on_standard_error_are_findings(judge: Judge) -> None:
    finding = judge.judge(lambda data, folder: os.write(2, b"panicked at zqxjkv"), b"")
    assert finding is not None
    assert finding.kind == "a cell on standard error"
    assert judge.judge(lambda data, folder: os.write(2, b"a note"), b"") is None


def test_what_is_left_behind_is_a_finding_and_removed(judge: Judge) -> None:
    assert judge.judge(lambda data, folder: tempfile.mkdtemp(), b"") is not None
    assert judge.judge(lambda data, folder: (folder / ".betalike-1").mkdir(), b"") is not None
    assert judge.judge(lambda data, folder: None, b"") is None


def test_memory_is_a_finding(judge: Judge) -> None:
    finding = judge.judge(lambda data, folder: b"1" * (peak_memory() + (600 << 20)), b"")
    assert finding is not None
    assert finding.kind == "memory"
