"""SPSS, Stata and SAS files: codes, meanings, missing values, encodings and damage."""

from __future__ import annotations

import base64
import contextlib
import sys
import zlib
from pathlib import Path

import polars as pl
import pyreadstat
import pytest

from betalike.errors import FileError, MissingDependencyError
from betalike.io.statistics_files import SAS, SPSS, STATA, read_statistics
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

# Six invented rows, written by the program `readstat`: no library here writes this format.
SAS7BDAT = (
    "c-rmTKS%;m90%~9C8E`!;NTD>;ouPQ&P)mdPtYi`79AV<gM>qR6hX9Pn?(?`M`KG+;LuVaEsfFE*52e)L4WM@-qpQ_m#yXZBl6>Y-@V_7a&Q"
    "k$qHouaI|~)R@Am4@O`aQNKQQ3+jSvlzgB1FaUl?T)nc(DfI+aXh6PZ*tXouQptmnraMb;k@mMUr-;U(&l;_+doFlCnMHLBNGI$zk>Bme*a0"
    "0000000000001hPUO*FME8BhDBLa1R(T$fR+V`^W(E$Uq<KCe<+Wa;&P(|@&sC|vW|K3Uyw=k?2LJ#7fdB2|wcgaJ>)(v!^(iTL>u;xi)9n_"
    "<U5&?Th53Lqw&Jbp;jg5hjO{{@*ATgybx2<;dgp6HmP~$5cyT31TX~K0h2`REj%ca4R(R4;^RtMab-(#O%;qked1t!@-qvwlf-4XHB!~6Nh^"
    "s83D9jut4~*^f-YMT!r_>mWMMuqf^_b`WYO~zEY+GBGv=ebVUYZg6t7pdi?xkv;Utx@ye@3X5E2`LcPCUPM!PnK|_#puR00000pp$(902!9K"
)


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


def test_a_data_set_of_sas_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.sas7bdat").write_bytes(zlib.decompress(base64.b85decode(SAS7BDAT)))
    frame, _ = read_statistics(tmp_path / "a.sas7bdat", SAS)
    assert frame.to_dict(as_series=False) == {
        "age": [31, 42, None, 55, 31, 60],
        "zip": ["02110", "60645", None, "02110", "10001", "60645"],
        "income": [1000.5, 2000.0, 3000.25, 4000.0, 5000.75, 6000.0],
        "born": [3653, -5, 0, 7305, None, 1],
    }


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


@pytest.mark.parametrize("has_pandas", [True, False])
def test_a_file_that_would_end_the_process_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_pandas: bool
) -> None:
    """The library reads past its memory here; a later version may refuse the file, or read it."""
    if not has_pandas:
        (tmp_path / "pandas.py").write_text("raise ImportError")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
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
