"""CENSUS, published for real: every class, every label and the loss of every release, checked by the twin."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import betalike
import twins

QI_3 = ["age", "gender", "education"]
QI_5 = [*QI_3, "marital_status", "work_class"]
SENSITIVE = "salary_class"


def twin_columns(census: pl.DataFrame, hierarchies: Path, names: list[str]) -> list[twins.Column]:
    columns: list[twins.Column] = []
    for name in names:
        path = hierarchies / f"{name}.csv"
        if path.is_file():
            columns.append(twins.Tree([line.split(";") for line in path.read_text().split()]))
        else:
            ends = (Fraction(min(census[name])), Fraction(max(census[name])))
            columns.append(twins.Ordered(ends))
    return columns


QUICK = [  # one release of each scheme
    (QI_5, "seam", 4, {}),
    (QI_5, "lmondrian", 4, {}),
    (QI_3, "dmondrian", 4, {}),
    (QI_5, "burel", 2, {"k": 300}),
    (QI_3, "burel+split", 3, {"options": {"retrieval": "exact"}, "weights": {"age": 3}}),
]
LONG = [
    (QI_5, "burel+split", 4, {"promise": "basic"}),
    *((names, "burel+split", beta, {}) for names in (QI_3, QI_5) for beta in (1, 2, 3, 4, 5)),
    *((names, "burel", 4, {}) for names in (QI_3, QI_5)),
    (QI_3, "seam", 4, {}),
    (QI_3, "lmondrian", 4, {}),
    (QI_5, "dmondrian", 4, {}),
]


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("names", "scheme", "beta", "options"),
    [*QUICK, *(pytest.param(*case, marks=pytest.mark.long) for case in LONG)],
    ids=lambda value: str(len(value)) if isinstance(value, list) else None,
)
def test_every_class_of_the_release(
    census: pl.DataFrame, census_hierarchies: Path, names: list[str], scheme: str, beta: int, options: dict
) -> None:
    release = betalike.publish(
        census,
        quasi_identifiers=names,
        sensitive=SENSITIVE,
        beta=beta,
        scheme=scheme,
        hierarchies=census_hierarchies,
        keep=["row"],
        keep_identifiers=True,
        **options,
        seed=1,
    )
    frame = release.frame
    rows = frame["row"].to_list()
    secrets = frame[SENSITIVE].to_list()
    original = census[SENSITIVE].to_list()
    assert len(set(rows)) == len(rows) == 500_000
    assert secrets == [original[row] for row in rows]

    columns = twin_columns(census, census_hierarchies, names)
    labels = []
    for name, column in zip(names, columns, strict=True):
        labels.append(frame[name].to_list())
        cells = census[name].to_list()
        pairs = Counter(zip(labels[-1], map(cells.__getitem__, rows), strict=True))
        assert all(column.contains(label, str(value)) for label, value in pairs), name

    classes = twins.classes_of(zip(*labels, strict=True), secrets)
    form, k = options.get("promise", "enhanced"), options.get("k", 1)
    assert twins.broken_classes(classes.values(), Counter(original), beta, form, k) == []
    weights = [options.get("weights", {}).get(name, 1) for name in names]
    average, each = twins.average_loss(classes, columns, weights)
    told = release.certificate["release"]
    assert told["average_loss"] == pytest.approx(float(average), abs=1e-9)
    assert told["loss"] == pytest.approx(dict(zip(names, map(float, each), strict=True)), abs=1e-9)
    assert (told["rows"], told["classes"]) == (500_000, len(classes))
    assert told["smallest_class"] == min(map(Counter.total, classes.values()))
