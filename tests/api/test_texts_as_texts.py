"""Texts are compared as texts: `1` and `1.0` are two values, but a number is one in every form of its table."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import betalike
from betalike.attacks import Generalized, open_target

ALIKE = ["1", "1.0", "01", " 1", "-0", "0", "-0.0", "nan", "NaN", "None", "1e0", "+1", "1.00", "x3"]
N_ROWS = 200
SCHEMES: dict[str, dict[str, Any]] = {
    **{scheme: {"beta": 2} for scheme in ("whole", "seam", "burel", "perturb", "baseline")},
    "tmondrian": {"promise": "t-closeness", "t": 0.4},
}
FORMS = {
    "CSV": lambda frame, folder: write(frame, folder / "table.csv"),
    "Parquet": lambda frame, folder: write(frame, folder / "table.parquet"),
    "pandas": lambda frame, folder: frame.to_pandas(),
    "Polars": lambda frame, folder: frame,
}


def write(frame: pl.DataFrame, path: Path) -> Path:
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return path


def table(values: list[Any]) -> pl.DataFrame:
    rng = random.Random(2)
    return pl.DataFrame(
        {
            "who": [f"P{i % 90}" for i in range(N_ROWS)],
            "version": [rng.choice(values) for _ in range(N_ROWS)],
            "age": [rng.randint(20, 60) for _ in range(N_ROWS)],
            "answer": [rng.choice(["0", "-0", "0.0", "1", "1.0", "nan"]) for _ in range(N_ROWS)],
            "note": [rng.choice(["1", "1.0", "01"]) for _ in range(N_ROWS)],
        }
    )


def publish(given: Any, out: Path, scheme: str = "whole", **changes: Any) -> None:
    arguments = {
        **SCHEMES[scheme],
        "quasi_identifiers": ["version", "age"],
        "sensitive": "answer",
        "seed": 1,
        **changes,
    }
    kinds = {"kinds": {"version": "categorical"}} if "hierarchies" not in changes else {}
    betalike.publish(given, scheme=scheme, out=out, **kinds, **arguments)


@pytest.mark.some(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_texts_that_read_as_one_number_are_verified(tmp_path: Path, scheme: str, form: str) -> None:
    frame, out = table(ALIKE), tmp_path / "out"
    publish(FORMS[form](frame, tmp_path), out, scheme, keep=["note"])
    assert betalike.verify(out).holds
    for other in FORMS.values():
        checked = betalike.verify(out, original=other(frame, tmp_path))
        assert checked.holds, checked.explanations
    others = frame.with_columns(pl.col("version").replace({"1": "1.0", "1.0": "1", "01": "1e0", "1e0": "01"}))
    assert not betalike.verify(out, original=others).holds


@pytest.mark.parametrize("scheme", ["whole", "burel"])
def test_texts_that_read_as_one_number_are_of_people(tmp_path: Path, scheme: str) -> None:
    path, out = write(table(ALIKE), tmp_path / "table.csv"), tmp_path / "out"
    publish(path, out, scheme, person="who", k=3, keep=["note"])
    assert betalike.verify(out, original=path).holds
    names = {"quasi_identifiers": ["version", "age"], "sensitive": "answer"}
    found = betalike.audit(out, **names, original=path, person="who", beta=2)
    assert found.people is not None
    assert found.people.smallest_class >= 3


def test_texts_that_read_as_one_number_have_their_own_place_in_a_hierarchy(tmp_path: Path) -> None:
    frame, out = table(ALIKE), tmp_path / "out"
    tree = [[text, "number" if text[-1] in "01" else "text", "*"] for text in [*ALIKE, "2", "2.0"]]
    publish(frame, out, "burel", hierarchies={"version": tree})
    assert betalike.verify(out, original=frame).holds
    assert not betalike.verify(out, original=frame.with_columns(pl.col("version").replace({"1": "1.00"}))).holds


def test_an_attack_knows_every_text_that_is_hidden(tmp_path: Path) -> None:
    """Classes of 25 rows hide the two rare texts under `*`, so that an attack takes them from the original."""
    frame, out = table([*["x3"] * 8, "1", "1.0"]), tmp_path / "out"
    publish(frame, out, "seam", k=25)
    assert {"x3", "*"} == set(betalike.open_release(out).frame["version"])
    target = open_target(out, original=frame)
    assert isinstance(target, Generalized)
    assert target.cells.axes[0].size == 3


WHOLE = [7, 12, 12, 30, 31]
WITH_MISSING = [7.0, 12.0, None, 30.0, 31.0]
NUMBERS: dict[str, tuple[list[Any], list[Any]]] = {  # the same column in two sources
    "whole numbers, and texts of reals": (WHOLE, [f"{number}.0" for number in WHOLE]),
    "reals with missing values, and texts": (WITH_MISSING, ["7", "12", None, "30", "31"]),
    "reals with missing values, and whole numbers": (WITH_MISSING, [7, 12, None, 30, 31]),
    "reals, and texts of whole numbers": ([7.0, 12.5, 3.0], ["7", "12.5", "3"]),
}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("scheme", ["seam", "perturb"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_a_number_is_the_same_in_every_form_of_its_table(tmp_path: Path, kind: str, scheme: str, form: str) -> None:
    one, other = map(table, NUMBERS[kind])
    for number, (mine, theirs) in enumerate([(one, other), (other, one)]):
        out = tmp_path / f"out {number}"
        publish(mine, out, scheme, format=form)
        for name, given in {"frame": theirs, "CSV": write(theirs, tmp_path / "table.csv")}.items():
            checked = betalike.verify(out, original=given)
            assert checked.holds, (name, checked.explanations)
        assert not betalike.verify(out, original=theirs.with_columns(theirs["version"].reverse())).holds


def test_a_kept_number_is_compared_as_a_number_where_no_texts_become_one(tmp_path: Path) -> None:
    texts, out = table(ALIKE).with_columns(note=(pl.int_range(pl.len()) % 7).cast(pl.String)), tmp_path / "out"
    reals = texts.with_columns(pl.col("note").cast(pl.Float64))
    publish(texts, out, keep=["note"])
    assert betalike.verify(out, original=reals).holds
    assert not betalike.verify(out, original=reals.with_columns(reals["note"].reverse())).holds
    twins = table(ALIKE)
    publish(twins, tmp_path / "twins", keep=["note"])
    assert not betalike.verify(tmp_path / "twins", original=twins.with_columns(pl.col("note").cast(pl.Float64))).holds


def test_no_two_texts_become_one_number(tmp_path: Path) -> None:
    """A table that has lost the difference is another table."""
    frame, out = table(["1", "1.0", "2"]), tmp_path / "out"
    publish(frame, out)
    assert not betalike.verify(out, original=frame.with_columns(pl.col("version").cast(pl.Float64))).holds
    whole, twins = table([1, 2, 3]), table(["1", "1.0", "2"])
    publish(whole, tmp_path / "whole")
    assert not betalike.verify(tmp_path / "whole", original=twins).holds
    words = table(["1.0", "x"])
    publish(words, tmp_path / "words")
    changed = words.with_columns(pl.col("version").replace({"1.0": "1"}))
    assert not betalike.verify(tmp_path / "words", original=changed).holds
