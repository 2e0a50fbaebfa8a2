"""SPSS, Stata and SAS files: codes, meanings, missing values, encodings and damage."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import polars as pl
import pyreadstat
import pytest

from betalike.errors import FileError, MissingDependencyError
from betalike.io.statistics_files import SPSS, STATA, read_statistics
from foreign_sources import patients, write_spss

SECRET = "CANARY7731"
FRAME = pl.DataFrame(
    {
        "sex": [1, 2, 9, None],
        "grade": [1.5, 2.0, 3.0, -1.0],
        "name": [SECRET, "", None, "Zoë"],
        "huge": [2.0**60, 1.0, 2.0, 3.0],
    }
)
MEANINGS = {"sex": {1: "male", 2: "female", 9: "refused"}, "grade": {1.5: "good", 3: "bad"}}


@pytest.fixture
def sav(tmp_path: Path) -> Path:
    missing = {"sex": [9], "grade": [{"lo": -5, "hi": -1}]}
    pyreadstat.write_sav(FRAME, tmp_path / "a.sav", variable_value_labels=MEANINGS, missing_ranges=missing)
    return tmp_path / "a.sav"


def test_codes_stay_codes_and_declared_missing_values_are_missing(sav: Path) -> None:
    frame, meanings = read_statistics(sav, SPSS)
    assert frame.schema == {"sex": pl.Int64, "grade": pl.Float64, "name": pl.String, "huge": pl.Float64}
    assert frame["sex"].to_list() == [1, 2, None, None]
    assert frame["grade"].to_list() == [1.5, 2.0, 3.0, None]
    assert frame["name"].to_list() == [SECRET, None, None, "Zoë"]
    assert meanings["sex"] == {1: "male", 2: "female", 9: "refused"}


def test_meanings_take_the_place_of_codes(sav: Path) -> None:
    frame, meanings = read_statistics(sav, SPSS, with_labels=True)
    assert frame["sex"].to_list() == ["male", "female", None, None]
    assert frame["grade"].to_list() == ["good", "2.0", "bad", None]
    assert meanings == {}


def test_missing_values_of_stata_with_letters_are_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["1", "2", "a"]}, strict=False).to_pandas()
    frame["a"] = [1, 2, "a"]
    pyreadstat.write_dta(frame, tmp_path / "a.dta", missing_user_values={"a": ["a"]})
    assert read_statistics(tmp_path / "a.dta", STATA)[0]["a"].to_list() == [1, 2, None]


def test_a_sample_of_sas_is_read(tmp_path: Path) -> None:
    """The file is written as SAS's transport format; both formats go through the same library."""
    pyreadstat.write_xport(FRAME.select("sex", "grade"), tmp_path / "a.xpt", file_format_version=5)
    frame, _ = read_statistics(tmp_path / "a.xpt", "SAS transport")
    assert frame["sex"].to_list() == [1, 2, 9, None]


@pytest.mark.parametrize("n_bytes", [60, 300, 700])
def test_a_damaged_file_is_refused(sav: Path, n_bytes: int) -> None:
    sav.write_bytes(sav.read_bytes()[:n_bytes])
    with pytest.raises(FileError, match="damaged or cut off") as caught:
        read_statistics(sav, SPSS)
    assert SECRET not in str(caught.value)


def test_a_file_that_would_end_the_process_is_refused(tmp_path: Path) -> None:
    """The library reads past its memory here; a later version may refuse the file, or read it."""
    write_spss(patients(60), tmp_path)
    content = bytearray((tmp_path / "people.sav").read_bytes())
    content[284] = 226
    (tmp_path / "people.sav").write_bytes(content)
    with contextlib.suppress(FileError):
        assert read_statistics(tmp_path / "people.sav", SPSS)[0].height == 60


@pytest.mark.parametrize("n_lost", [1, 100, 400])
def test_a_stata_file_without_its_end_is_refused(tmp_path: Path, n_lost: int) -> None:
    """Its rows can be read, but what the codes mean is lost."""
    path = tmp_path / "a.dta"
    pyreadstat.write_dta(FRAME, path, variable_value_labels={"sex": MEANINGS["sex"]})
    path.write_bytes(path.read_bytes()[:-n_lost])
    with pytest.raises(FileError, match="damaged or cut off"):
        read_statistics(path, STATA)


def test_a_missing_library_is_named(sav: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'betalike\[stats\]'"):
        read_statistics(sav, SPSS)
