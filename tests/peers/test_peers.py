"""What other programs say of a table, as their own tests state it, and what betalike says.

sdcMicro's figures for its table `testdata` (7 keys: 157 of 4,580 records below k 2, 281 below k 3) are left out: the
table is in R's own format, and no package registry has it in another one.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import betalike

from .students_math import QUASI_IDENTIFIERS, SENSITIVE, students_math


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> pl.DataFrame:
    """Adult as ARX ships it, 30,162 rows."""
    return pl.read_csv(data_folder / "adult" / "adult.csv", separator=";")


def test_students_have_the_figures_of_pycanon():
    # IFCA-Advanced-Computing/pycanon, tests/test_metrics.py, version 1.0.1.post2, class TestMathScores
    found = betalike.audit(students_math(), quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE).to_dict()
    assert (found["k"], found["distinct_l"], found["entropy_l"], found["alpha"]) == (1, 1, 1.0, 1.0)
    assert found["basic_beta"] == pytest.approx(71.0, rel=1e-12)
    # A class of one value has an infinite change: pycanon leaves out values that a class does not have.
    assert found["delta"] is None
    # pycanon's distance takes the scores as ordered.
    ordered = found["t_by_ground"].get("ordered", found["t"])
    assert ordered == pytest.approx(0.4165919952210274, rel=1e-12)


def test_adult_has_the_risks_of_arx(adult: pl.DataFrame):
    # arx-deidentifier/arx, src/test/org/deidentifier/arx/test/TestRiskMetrics.java, testAverageRisk2, commit 9f5b700.
    # All nine columns are quasi-identifiers there, so a column that says nothing is the sensitive one here.
    table = adult.with_columns(nothing=pl.int_range(pl.len()) % 2)
    found = betalike.audit(table, quasi_identifiers=adult.columns, sensitive="nothing").risk
    assert found.prosecutor_average == pytest.approx(0.6465751607983555, rel=1e-12)
    assert found.unique == pytest.approx(0.5142895033485844, rel=1e-12)


def test_what_arx_calls_its_best_table_for_enhanced_likeness_is_allowed(adult: pl.DataFrame, data_folder: Path):
    # arx-deidentifier/arx, src/test/org/deidentifier/arx/test/TestAnonymizationBLikeness.java, commit 2304d2f: enhanced
    # likeness with beta 2 for occupation, nothing suppressed, the levels (1, 4, 1, 1, 3, 2, 2, 0) of the other columns.
    quasi_identifiers = [name for name in adult.columns if name != "occupation"]
    levels = dict(zip(quasi_identifiers, (1, 4, 1, 1, 3, 2, 2, 0), strict=True))
    coarse = adult.with_columns(
        pl.col(name).cast(pl.String).replace_strict(_labels(data_folder, name, level))
        for name, level in levels.items()
        if level
    )
    found = betalike.audit(coarse, quasi_identifiers=quasi_identifiers, sensitive="occupation", original=adult, beta=2)
    assert found.holds
    finer = coarse.with_columns(adult["sex"])  # one level finer, it was not allowed, or it would have been the best
    assert not betalike.audit(finer, quasi_identifiers=quasi_identifiers, sensitive="occupation", beta=2).holds


def _labels(data_folder: Path, name: str, level: int) -> dict[str, str]:
    """The label of each value at a level of its hierarchy."""
    text = (data_folder / "adult" / "hierarchies" / f"{name}.csv").read_text(encoding="utf-8")
    lines = [line.split(";") for line in text.splitlines()]
    return {line[0]: line[level] for line in lines}
