"""The figures of attacks are made, in their quick form; the page of the full run names its files."""

from __future__ import annotations

import csv
import importlib
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGE = PROJECT / "docs" / "explanation" / "attacks.md"
FIGURES = {
    "naive-bayes",
    "definetti",
    "definetti-known",
    "anatomy",
    "skewness",
    "minimality",
    "corruption",
    "composition",
}


@pytest.mark.long
@pytest.mark.xdist_group("experiments")
def test_every_figure_has_its_files(tmp_path: Path) -> None:
    running = importlib.import_module("experiments.attacks.__main__")
    running.main(["--quick", "--out", str(tmp_path)], schemes=("burel", "lmondrian", "perturb"))
    assert {path.name for path in tmp_path.iterdir()} == {f"{f}.{e}" for f in FIGURES for e in ("csv", "svg", "png")}
    for figure in FIGURES:
        with (tmp_path / f"{figure}.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert rows
        assert {"table", "scheme"} <= set(rows[0])
    with (tmp_path / "anatomy.csv").open(newline="", encoding="utf-8") as file:
        found = {(row["scheme"], row["l"]): float(row["success"]) for row in csv.DictReader(file)}
    assert found["chance (1 / l)", "2"] == 50
    assert found["Anatomy", "2"] > found["Anatomy", "3"] > 100 / 3


def test_the_page_shows_every_figure() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = set(re.findall(r"\(attacks/([a-z-]+)\.svg\)", text))
    linked = set(re.findall(r"\(attacks/([a-z-]+)\.csv\)", text))
    files = {path.stem for path in (PAGE.parent / "attacks").glob("*.csv")}
    assert shown <= linked == files == FIGURES | {"readers-who-know"}
