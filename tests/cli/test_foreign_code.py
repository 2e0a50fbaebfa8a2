"""Python files that lie beside a table are never run, whatever they are called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyreadstat
import pytest
from workbench import COLUMNS, Desk, people

OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # the first bytes of an .xls file
OF_SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
MODULES = ("pyreadstat", "fastexcel", "numba", "numpy", "polars", "betalike")  # of what betalike's processes import


@pytest.fixture
def notes(desk: Desk) -> Path:
    """A file that the Python files on the desk write to if they are run; they are named like libraries."""
    notes = desk.folder / "notes"
    for module in MODULES:
        desk.write(f"{module}.py", f"open({str(notes)!r}, 'a').write('{module} ')\n")
    return notes


def run_installed(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command as the installed program does, whose own path has no working folder."""
    command = [sys.executable, "-P", "-m", "betalike", *map(str, words)]
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)


def write_table(path: Path) -> None:
    """Write a table for statistics programs; where no library here writes the format, one that is damaged."""
    frame = pl.DataFrame(people(), schema=COLUMNS, orient="row")
    if path.suffix in (".sav", ".dta"):
        (pyreadstat.write_sav if path.suffix == ".sav" else pyreadstat.write_dta)(frame, path)
    else:
        path.write_bytes((OLE if path.suffix == ".xls" else OF_SAS) + bytes(5000))


@pytest.mark.parametrize(("ending", "status"), [("sav", 0), ("dta", 0), ("sas7bdat", 2), ("xls", 2)])
def test_what_lies_beside_a_table_is_not_run_when_it_is_read(desk: Desk, notes: Path, ending: str, status: int) -> None:
    write_table(desk.folder / f"t.{ending}")
    done = run_installed("describe", f"t.{ending}")
    assert done.returncode == status, done.stderr
    assert not notes.exists(), notes.read_text()


def test_what_lies_beside_a_table_is_not_run_when_kernels_are_compiled(
    desk: Desk, notes: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As in the first publish after an installation."""
    empty = tmp_path_factory.mktemp("kernels")
    words = desk.words(desk.table(), "--seed", 1, scheme="burel", hierarchies=desk.hierarchies())
    done = run_installed(*words, NUMBA_CACHE_DIR=str(empty))
    assert done.returncode == 0, done.stderr
    assert any(empty.rglob("*.kernel"))
    assert not notes.exists(), notes.read_text()
