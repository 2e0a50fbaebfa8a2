"""Intervals of 95 % hold the exact count of at least 94 % of the queries, for every scheme and method."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.queries.answer import Estimates, to_answers

LEAST = 0.94
N_QUERIES = 1000
BETA = 1.0
SCHEMES = ["seam", "whole", "burel", "burel+split", "lmondrian", "perturb", "baseline"]


def survey(n_rows: int) -> pl.DataFrame:
    """A table as surveys are: rare and heaped values, and answers that go with education."""
    rng = np.random.default_rng(4)
    education = rng.choice(
        [8, 10, 11, 12, 13, 14, 16, 18, 20], n_rows, p=[0.05, 0.05, 0.05, 0.38, 0.1, 0.1, 0.17, 0.06, 0.04]
    )
    answer = np.clip(np.round(rng.normal(education / 2.5, 2.0)), 0, 10).astype(int)
    return pl.DataFrame(
        {
            "age": np.clip(np.round(18 + rng.gamma(2.0, 14.0, n_rows)), 18, 90).astype(int),
            "gender": rng.choice(["female", "male"], n_rows),
            "education": education,
            "born_here": rng.choice(["yes", "no"], n_rows, p=[0.93, 0.07]),
            "answer": answer,
        }
    )


def least_covered(
    table: pl.DataFrame, columns: list[str], sensitive: str, scheme: str, **more: Any
) -> dict[str, float]:
    """Return the share of random queries whose interval holds the exact count, for each method of a release."""
    release = betalike.publish(
        table, quasi_identifiers=columns, sensitive=sensitive, beta=BETA, scheme=scheme, seed=1, **more
    )
    found = {}
    for method in {"perturb": ["shrinkage", "inversion", "prior"], "baseline": ["prior"]}.get(
        scheme, ["density", "uniform"]
    ):
        result = betalike.workload(
            more["out"], original=table, queries=N_QUERIES, predicates=2, selectivity=0.1, method=method, seed=1
        )
        assert release.certificate["promise"]["beta"] == BETA
        assert result.covered is not None
        found[method] = result.covered
    return found


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_intervals_of_a_survey_hold_the_exact_counts(scheme: str, tmp_path: Any) -> None:
    found = least_covered(
        survey(3000), ["age", "gender", "education", "born_here"], "answer", scheme, out=tmp_path / "release"
    )
    assert min(found.values()) >= LEAST, found


def test_an_interval_ends_at_whole_numbers_and_is_never_empty() -> None:
    """An interval from 0.3 to 0.8 would hold no count at all."""
    estimates = Estimates(
        *(np.array(side) for side in ([0.5, -3.0, 7.0], [0.1, 0.5, 0.0], [0.0, 0.0, 7.0], [5.0, 5.0, 7.0]))
    )
    answers = to_answers(estimates, 0.95, "density")
    assert [(answer.low, answer.high) for answer in answers] == [(0, 1), (0, 0), (7, 7)]
