"""A first specification: valid, honest about its guesses, without a cell, and publishable as it stands."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

import betalike
from betalike.errors import FileError, InputError
from betalike.io.description import Description, write_description
from betalike.io.specification import Specification, read_specification
from betalike.table.schema import Kind, Role

CANARY, NUMBER = "CANARY7731", 7731773
N_ROWS = 60


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "record_id": [NUMBER + i for i in range(N_ROWS)],
            "full name": [f"{CANARY} {i}" for i in range(N_ROWS)],
            "age": [20 + i % 40 for i in range(N_ROWS)],
            "height": [1.5 + i % 7 / 10 for i in range(N_ROWS)],
            "born": [datetime.date(1960, 1, 1) + datetime.timedelta(days=97 * i) for i in range(N_ROWS)],
            "seen": [datetime.datetime(2020, 1, 1, i % 24) for i in range(N_ROWS)],
            "city": [f"{CANARY} town {i % 4}" for i in range(N_ROWS)],
            "smokes": [i % 2 == 0 for i in range(N_ROWS)],
            "income": [["low", "middle", f"{CANARY} high"][i % 3] for i in range(N_ROWS)],
        }
    )


def guesses(description: Description) -> dict[str, tuple[Role, Kind]]:
    return {column.name: (column.role, column.kind) for column in description.columns}


def test_roles_and_types_are_guessed() -> None:
    found = guesses(betalike.describe(people()))
    assert found["record_id"][0] is Role.IDENTIFIER
    assert found["full name"][0] is Role.IDENTIFIER
    assert found["income"] == (Role.SENSITIVE, Kind.CATEGORICAL)
    assert found["smokes"] == (Role.UNUSED, Kind.CATEGORICAL)  # private too, so no quasi-identifier
    assert {name: kind for name, (role, kind) in found.items() if role is Role.QUASI_IDENTIFIER} == {
        "age": Kind.INTEGER,
        "height": Kind.REAL,
        "born": Kind.DATE,
        "seen": Kind.DATETIME,
        "city": Kind.CATEGORICAL,
    }


def test_it_is_a_specification_that_tells_no_cell() -> None:
    text = betalike.describe(people()).to_toml()
    assert CANARY not in text
    assert str(NUMBER)[:4] not in text
    for cell in ("middle", "1960", "1.5", "2020"):
        assert cell not in text
    spec = msgspec.convert(tomllib.loads(text), Specification)
    assert spec.with_role(Role.SENSITIVE) == ["income"]
    assert spec.promise.beta is not None


def test_every_guess_has_its_reason() -> None:
    lines = betalike.describe(people()).to_toml().splitlines()
    for line in lines:
        if line.startswith(("role =", "type =")):
            assert "#" in line


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_it_can_be_published_as_it_stands(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people.{ending}"
    people().write_csv(path) if ending == "csv" else people().write_parquet(path)
    write_description(betalike.describe(path), tmp_path / "release.toml", force=False)
    arguments = read_specification(tmp_path / "release.toml").arguments(tmp_path)
    release = betalike.publish(**arguments, out=tmp_path / "out", seed=1)
    assert release.certificate["table"]["sensitive"] == "income"
    assert release.certificate["promise"]["holds"] is True
    assert betalike.verify(tmp_path / "out").holds


@pytest.mark.parametrize("name", ['say "no"', "a.b", "a\\b", "a\nb", "tab\there", "ä ö", "#", "a = b", "\x07", "a]b"])
def test_any_column_name_survives(name: str) -> None:
    frame = people().rename({"age": name})
    spec = msgspec.convert(tomllib.loads(betalike.describe(frame).to_toml()), Specification)
    assert list(spec.columns) == frame.columns


def test_hierarchies_are_named_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "city.csv").write_text("".join(f"{CANARY} town {i};*\n" for i in range(4)))
    description = betalike.describe(people(), hierarchies=tmp_path)
    trees = {column.name: column.hierarchy for column in description.columns if column.hierarchy is not None}
    assert list(trees) == ["city"]
    assert CANARY not in description.to_toml()


def test_missing_values_are_counted() -> None:
    frame = people().with_columns(age=pl.when(pl.col("age") > 25).then(pl.col("age")))
    column = next(c for c in betalike.describe(frame).columns if c.name == "age")
    assert f"{frame['age'].null_count()} missing" in column.kind_reason


def test_exactly_one_sensitive_column_where_any_could_be() -> None:
    for frame in (people().drop("income"), people().select("city", "smokes"), people().with_columns(disease="city")):
        roles = [role for role, _ in guesses(betalike.describe(frame)).values()]
        assert roles.count(Role.SENSITIVE) == 1


def test_a_table_without_rows() -> None:
    with pytest.raises(InputError, match="no rows"):
        betalike.describe(people().head(0))


def test_a_file_is_not_replaced_unasked(tmp_path: Path) -> None:
    path, description = tmp_path / "release.toml", betalike.describe(people())
    path.write_text("mine")
    with pytest.raises(FileError, match="--force"):
        write_description(description, path, force=False)
    assert path.read_text() == "mine"
    write_description(description, path, force=True)
    assert path.read_text() == description.to_toml()
    with pytest.raises(FileError, match="cannot be written"):
        write_description(description, tmp_path / "nowhere" / "release.toml", force=True)


def test_dates_whose_day_and_month_look_alike_are_asked_about_and_not_taken_as_categories(tmp_path: Path) -> None:
    born = [f"{1 + i % 12:02}/{1 + i // 5 % 12:02}/{1940 + i}" for i in range(N_ROWS)]
    path = tmp_path / "people.csv"
    people().select("age", "income").with_columns(born=pl.Series(born), x=pl.Series(born)).write_csv(path)
    found = betalike.describe(path)
    assert guesses(found)["born"] == guesses(found)["x"] == (Role.QUASI_IDENTIFIER, Kind.DATE)
    spec = tmp_path / "release.toml"
    write_description(found, spec, force=False)
    with pytest.raises(InputError, match="its values do not show which"):
        betalike.publish(spec=spec, seed=1)
    spec.write_text(spec.read_text().replace("[release]\n", '[release]\ndates = "dmy"\n'))
    assert betalike.publish(spec=spec, seed=1).certificate["release"]["loss"]["born"] < 0.9


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["1980-05-17", "2001-01-01", "7", "12", "30"])], ids=str)
def test_categories_are_of_the_type_of_their_texts(dtype: Any) -> None:
    frame = pl.DataFrame(
        {
            "visits": pl.Series(["7", "12", "30"] * 20, dtype=dtype),
            "seen": pl.Series(["1980-05-17", "2001-01-01", None] * 20, dtype=dtype),
        }
    )
    assert [str(column.kind) for column in betalike.describe(frame).columns] == ["integer", "date"]


def test_numbers_whose_sum_is_infinite_are_described() -> None:
    frame = pl.DataFrame({"huge": [1e308, -1e308, 1e308, 5e-324] * 40, "x": [i % 3 for i in range(160)]})
    assert str(betalike.describe(frame).columns[0].kind) == "real"
