"""A release laid over its original table: what its labels cover, and which tables are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from crowds import COLUMNS, crowd, label_test

import betalike
from betalike.attacks import Generalized, Perturbed, open_target
from betalike.errors import InputError


def with_missing(n_rows: int = 300) -> pl.DataFrame:
    frame = crowd(n_rows)
    return frame.with_columns(
        age=pl.when(pl.int_range(pl.len()) % 17 == 0).then(None).otherwise("age"),
        city=pl.when(pl.int_range(pl.len()) % 23 == 0).then(None).otherwise("city"),
    )


TREES = {"city": [[c, "north" if c in ("Bonn", "Kiel") else "south", "*"] for c in ("Bari", "Bonn", "Kiel", "Rom")]}
FORMS: list[dict[str, Any]] = [
    {},
    {"scheme": "burel"},
    {"scheme": "lmondrian", "hierarchies": TREES},
    {"hierarchies": TREES, "domains": {"age": (0, 99)}},
]


@pytest.mark.some(2)
@pytest.mark.parametrize("arguments", FORMS, ids=str)
@pytest.mark.parametrize("make", [crowd, with_missing])
def test_labels_cover_what_their_text_says(make: Any, arguments: dict[str, Any]) -> None:
    frame = make(300)
    release = betalike.publish(frame, quasi_identifiers=COLUMNS, sensitive="disease", beta=1, seed=1, **arguments)
    target = open_target(release, original=frame)
    assert isinstance(target, Generalized)
    north = {"north": {"Bonn", "Kiel"}, "south": {"Bari", "Rom"}}
    found: dict[tuple[frozenset[Any], frozenset[Any], str], int] = {}
    for row in release.frame.to_dicts():
        age, city = row["age"], row["city"]
        cover = (
            frozenset(v for v in frame["age"].unique() if label_test(None if age is None else str(age))(v)),
            frozenset(v for v in frame["city"].unique() if v in north.get(city, ()) or label_test(city)(v)),
            row["disease"],
        )
        found[cover] = found.get(cover, 0) + 1
    told: dict[tuple[frozenset[Any], frozenset[Any], str], int] = {}
    classes = target.classes
    texts = [axis.labels(np.arange(axis.size), np.arange(axis.size)) for axis in target.cells.axes]
    for ec, value, count in zip(classes.ec, classes.value, classes.count, strict=True):
        sets = [frozenset(texts[a][target.low[ec, a] : target.high[ec, a] + 1]) for a in range(2)]
        ages = frozenset(None if text is None else int(text) for text in sets[0])
        key = (ages, sets[1] & frozenset(frame["city"].unique()), target.values[value])
        told[key] = told.get(key, 0) + int(count)
    assert told == found


def test_a_folder_and_a_release_in_memory_are_the_same_target(tmp_path: Path) -> None:
    frame = crowd(400)
    release = betalike.publish(
        frame, quasi_identifiers=COLUMNS, sensitive="disease", beta=2, out=tmp_path / "out", seed=1
    )
    one, other = open_target(release, original=frame), open_target(tmp_path / "out", original=frame)
    assert isinstance(one, Generalized)
    assert isinstance(other, Generalized)
    assert np.array_equal(one.low, other.low)
    assert np.array_equal(one.high, other.high)
    assert np.array_equal(one.classes.count, other.classes.count)


def test_points_of_an_exact_release_are_those_of_the_table() -> None:
    frame = with_missing(500)
    release = betalike.publish(
        frame, quasi_identifiers=COLUMNS, sensitive="disease", beta=3, scheme="perturb", seed=1, keep=[]
    )
    target = open_target(release, original=frame)
    assert isinstance(target, Perturbed)
    texts = [axis.labels(np.arange(axis.size), np.arange(axis.size)) for axis in target.cells.axes]
    told: dict[tuple[str | None, ...], int] = {}
    for point, value, count in zip(target.published.ec, target.published.value, target.published.count, strict=True):
        codes = target.cells.points[point]
        key = (texts[0][codes[0]], texts[1][codes[1]], target.values[value])
        told[key] = told.get(key, 0) + int(count)
    shown = release.frame.with_columns(pl.col("age").cast(pl.String))
    assert told == {row[:3]: row[3] for row in shown.group_by(shown.columns).len().rows()}
    assert release.transition is not None
    for i, original in enumerate(target.values):
        for j, published in enumerate(target.values):
            assert target.transition[i, j] == release.transition[original][published]


@pytest.mark.parametrize("scheme", ["seam", "perturb", "baseline"])
def test_another_table_is_refused(scheme: str) -> None:
    frame = crowd(300)
    release = betalike.publish(frame, quasi_identifiers=COLUMNS, sensitive="disease", beta=3, scheme=scheme, seed=1)
    with pytest.raises(InputError, match="not the table that was published"):
        open_target(release, original=crowd(301))
    with pytest.raises(InputError, match="no column"):
        open_target(release, original=frame.drop("city"))


@pytest.mark.parametrize("scheme", ["lmondrian", "perturb"])
def test_other_quasi_identifiers_are_refused(scheme: str) -> None:
    diseases = ["cough", "flu"] * 100
    frame = pl.DataFrame({"age": [20, 20, 60, 60] * 50, "city": ["Bari", "Bari", "Rom", "Rom"] * 50})
    frame = frame.with_columns(disease=pl.Series(diseases))
    release = betalike.publish(frame, quasi_identifiers=COLUMNS, sensitive="disease", beta=1, scheme=scheme, seed=1)
    open_target(release, original=frame)
    other = frame.with_columns(city=pl.Series(["Rom", "Rom", "Bari", "Bari"] * 50))
    with pytest.raises(InputError, match="not the table that was published"):
        open_target(release, original=other)
