"""Reports on the tables of the paper, for each audience, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from workbench import run

from browser import open_browser
from report_pages import check_page

TABLES: dict[str, dict[str, Any]] = {
    "census": {"qi": "age,gender,education,marital_status,work_class", "sensitive": "salary_class"},
    "adult": {"qi": "age,sex,education,marital-status,workclass", "sensitive": "occupation"},
}


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["whole", "perturb"])
@pytest.mark.parametrize("name", TABLES)
def test_reports_on_real_tables_are_whole_and_show_the_certificate(
    name: str, scheme: str, tmp_path: Path, data_folder: Path, census: pl.DataFrame
) -> None:
    table, out, asked = tmp_path / "table.csv", tmp_path / "out", TABLES[name]
    if name == "census":
        census.write_csv(table)
    else:
        pl.read_csv(data_folder / "adult" / "adult.csv", separator=";").write_csv(table)
    words = ["--qi", asked["qi"], "--sensitive", asked["sensitive"], "--beta", 4, "--scheme", scheme, "--out", out]
    outcome = run("publish", table, *words, "--hierarchies", data_folder / name / "hierarchies")
    assert outcome.status == 0, outcome.text
    certificate = json.loads((out / "certificate.json").read_bytes())
    with open_browser() as chromium:
        for audience in ("officer", "analyst", "public"):
            path = tmp_path / f"{audience}.html"
            made = run("report", out, "--original", table, "--audience", audience, "-o", path, "--quick")
            assert made.status == 0, made.text
            check_page(chromium, path, certificate)
            assert path.stat().st_size < 400_000
