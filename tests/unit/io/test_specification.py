"""The specification file: what it says becomes the arguments of `publish`; what it cannot say is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from betalike.errors import FileError, SchemaError
from betalike.io.specification import read_specification

FULL = """
table = "people.csv"
delimiter = ";"

[promise]
beta = 4
name = "basic"
k = 5

[release]
scheme = "burel"
format = "parquet"
missing = ["NA", "?"]
dates = "mdy"
options = { retrieval = "exact" }

[columns.name]
role = "identifier"

[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
weight = 2

[columns."home town"]
role = "quasi-identifier"
hierarchy = "trees/city.csv"

[columns.disease]
role = "sensitive"
missing = "value"

[columns.year]
role = "kept"

[columns.notes]
role = "unused"

[columns.more]
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "release.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_everything_is_understood(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "city.csv").write_text("Ulm;*\nBonn;*\n")
    arguments = read_specification(written(tmp_path, FULL)).arguments(tmp_path)
    assert arguments.pop("hierarchies") == {"home town": tmp_path / "trees" / "city.csv"}
    assert arguments == {
        "table": tmp_path / "people.csv",
        "delimiter": ";",
        "beta": 4,
        "promise": "basic",
        "k": 5,
        "scheme": "burel",
        "format": "parquet",
        "keep_identifiers": False,
        "missing": ["NA", "?"],
        "dates": "mdy",
        "options": {"retrieval": "exact"},
        "quasi_identifiers": ["age", "home town"],
        "sensitive": "disease",
        "keep": ["year"],
        "kinds": {"age": "integer"},
        "domains": {"age": (0, 120)},
        "weights": {"age": 2, "home town": 1},
        "missing_sensitive": "value",
        "bins": {},
        "round": {},
        "bottom": {},
        "top": {},
        "sheet": None,
        "labels": False,
        "query": None,
        "table_name": None,
    }


def test_a_table_elsewhere(tmp_path: Path) -> None:
    text = FULL.replace("people.csv", "/data/people.csv").replace('hierarchy = "trees/city.csv"', "")
    assert read_specification(written(tmp_path, text)).arguments(tmp_path)["table"] == Path("/data/people.csv")


def test_what_is_left_out_is_left_to_publish(tmp_path: Path) -> None:
    spec = read_specification(written(tmp_path, '[columns.a]\nrole = "sensitive"\n'))
    arguments = spec.arguments(tmp_path)
    assert not {"table", "beta", "scheme"} & set(arguments)
    assert arguments["quasi_identifiers"] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[promise]", "[promis]"), "promis"),
        (("k = 5", 'k = "five"'), "k"),
        (("beta = 4", "beta = true"), "beta"),
        (('role = "kept"', 'role = "keep"'), "keep"),
        (("weight = 2", "wieght = 2"), "wieght"),
        (("domain = [0, 120]", "domain = 5"), "domain"),
        (('missing = "value"', 'missing = "drop"'), "drop"),
        (("table =", "table"), "line 2"),
    ],
)
def test_entries_that_cannot_be(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    with pytest.raises(SchemaError, match=rf"release\.toml .*{words}"):
        read_specification(written(tmp_path, FULL.replace(*change)))


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (('role = "sensitive"', 'role = "kept"'), SchemaError, "0 columns.*needs one"),
        (('role = "kept"', 'role = "sensitive"'), SchemaError, "differ in 'missing'"),
        (("domain = [0, 120]", "domain = [0, 1, 2]"), SchemaError, "domain of 'age' has 3 entries"),
    ],
)
def test_entries_that_do_not_fit(tmp_path: Path, change: tuple[str, str], kind: type[Exception], words: str) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "city.csv").write_text("Ulm;*\n")
    spec = read_specification(written(tmp_path, FULL.replace(*change)))
    with pytest.raises(kind, match=words):
        spec.arguments(tmp_path)


@pytest.mark.parametrize("domain", ["[2020-01-01, 2020-12-31]", '["2020-01-01", "2020-12-31"]'])
def test_a_domain_of_dates(tmp_path: Path, domain: str) -> None:
    text = FULL.replace("[0, 120]", domain).replace('hierarchy = "trees/city.csv"', "")
    low, high = read_specification(written(tmp_path, text)).arguments(tmp_path)["domains"]["age"]
    assert (str(low), str(high)) == ("2020-01-01", "2020-12-31")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="betalike describe"):
        read_specification(tmp_path / "nowhere.toml")
    with pytest.raises(FileError, match="cannot be read"):
        read_specification(tmp_path)
    with pytest.raises(SchemaError, match=r"release\.toml is not a specification"):
        read_specification(written(tmp_path, b"\xff\xfe\x00"))


def test_a_byte_order_mark_is_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "release.toml"
    path.write_text('table = "t.csv"\n', encoding="utf-8-sig")
    assert read_specification(path).table == "t.csv"
