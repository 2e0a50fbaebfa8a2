"""The experiment that measures how often intervals hold runs on any folder of tables."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from betalike import datasets
from experiments import interval_coverage


def test_a_folder_of_tables_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    datasets.census_like(300, seed=1).write_csv(tmp_path / "people.csv")
    words = ["--tables", str(tmp_path), "--only", "people", "--betas", "4", "--queries", "60"]
    assert interval_coverage.main([*words, "--schemes", "seam", "perturb"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["method"] for row in rows] == ["density", "uniform", "shrinkage", "inversion", "prior"]
    for row in rows:
        assert 0.5 < float(row["all"]) <= 1
        assert int(row["queries"]) >= 120
