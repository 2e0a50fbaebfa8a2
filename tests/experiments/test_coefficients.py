"""The experiment that compares coefficients runs on any folder of tables, and its figures are those of the fits."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from betalike import datasets
from experiments import coefficients


def test_a_folder_of_tables_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    datasets.census_like(1500, seed=1).write_csv(tmp_path / "people.csv")
    words = ["--tables", str(tmp_path), "--only", "people", "--schemes", "seam", "--draws", "3"]
    assert coefficients.main(words) == 0
    printed = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert [row["term"] for row in rows][:2] == ["age", "gender"]
    frame = datasets.census_like(1500, seed=1)
    names = [row["term"] for row in rows]
    design = np.column_stack([np.ones(1500), *(frame[name] for name in names)])
    theirs = np.linalg.lstsq(design, frame["salary_class"].to_numpy(), rcond=None)[0][1:]
    assert [float(row["original"]) for row in rows] == pytest.approx(theirs, rel=1e-3)
    assert "nearer_by_draws" in printed.err
