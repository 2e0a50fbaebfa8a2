"""Random workloads: intervals as the paper has them, exact counts, errors and what is dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import betalike
from betalike.errors import InputError, ParameterError
from betalike.queries.columns import NamedColumn, OrderedColumn
from betalike.queries.workload import draw_queries
from betalike.runtime.randomness import SeededRandomness
from betalike.table.schema import Kind

pytestmark = pytest.mark.xdist_group("workload")  # one process makes what these tests share

COLUMNS = [
    OrderedColumn("age", Kind.INTEGER, (16, 93)),
    NamedColumn("gender", ("1", "2")),
    OrderedColumn("income", Kind.REAL, (-1.0, 3.0)),
    NamedColumn("work", tuple("abcdefghij")),
]
SENSITIVE = NamedColumn("ill", tuple(map(str, range(50))))
SIZES = {"age": 78, "gender": 2, "work": 10, "ill": 50}
STARTS = {"age": 16, "gender": 0, "work": 0, "ill": 0}


@given(st.integers(0, 4), st.floats(0.001, 1), st.integers(0, 10**6))
def test_intervals_have_the_papers_length_and_stay_in_the_domain(n_predicates: int, theta: float, seed: int) -> None:
    queries = draw_queries(COLUMNS, SENSITIVE, 30, n_predicates, theta, SeededRandomness(seed))
    part = theta ** (1 / (n_predicates + 1))
    assert len(queries) == 30
    for query in queries:
        assert len(query) == n_predicates + 1
        assert "ill" in query
        for name, values in query.items():
            ((low, high),) = values.spans
            assert not values.missing
            if name == "income":
                assert -1 <= low <= high <= 3
                assert high - low == pytest.approx(4 * part, abs=1e-9)
            else:
                assert STARTS[name] <= low <= high <= STARTS[name] + SIZES[name] - 1
                assert high - low + 1 == max(round(SIZES[name] * part), 1)


def test_every_attribute_and_every_start_is_equally_likely() -> None:
    n = 20_000
    queries = draw_queries(COLUMNS, SENSITIVE, n, 2, 0.1, SeededRandomness(1))
    for column in COLUMNS:
        share = sum(column.name in query for query in queries) / n
        assert share == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / n))
    starts = [int(query["work"].spans[0][0]) for query in queries if "work" in query]
    counts = np.bincount(starts, minlength=6)
    expected = len(starts) / 6  # 5 of 10 leaves
    assert ((counts - expected) ** 2 / expected).sum() < 25  # chi square, 5 degrees of freedom


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return betalike.datasets.census_like(5000, seed=3)


@pytest.fixture(scope="module")
def release(people: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    betalike.publish(
        people,
        quasi_identifiers=["age", "gender", "education", "work_class"],
        sensitive="salary_class",
        beta=4,
        scheme="seam",
        hierarchies=betalike.datasets.census_like_hierarchies(),
        out=folder,
        seed=1,
        force=True,
    )
    return folder


def test_errors_are_those_of_single_queries(people: pl.DataFrame, release: Path) -> None:
    """The same queries, asked one by one as text, and counted in the table by Polars."""
    result = betalike.workload(release, original=people, queries=60, predicates=2, selectivity=0.1, seed=5)
    opened = betalike.open_release(release).estimator
    queries = draw_queries(opened.quasi_identifiers, opened.sensitive, 60, 2, 0.1, SeededRandomness(5))
    errors = []
    for query in queries:
        parts: list[str] = []
        rows = pl.lit(True)
        for name, values in query.items():
            column = opened.columns[name]
            ((low, high),) = values.spans
            if isinstance(column, NamedColumn):
                names = column.leaves[int(low) : int(high) + 1]
                parts.append(f"{name} IN ({', '.join(repr(leaf) for leaf in names)})")
                rows &= pl.col(name).cast(pl.String).is_in(names)
            else:
                parts.append(f"{name} BETWEEN {low} AND {high}")
                rows &= pl.col(name).is_between(low, high)
        exact = people.filter(rows).height
        answer = opened.count(" AND ".join(parts))
        assert answer.at_least <= exact <= answer.at_most
        if exact:
            errors.append(abs(answer.count - exact) / exact)
    assert result.relative_errors == pytest.approx(errors)
    assert result.n_dropped == 60 - len(errors)
    assert result.median_relative_error == pytest.approx(np.median(errors))


def test_what_is_told_of_a_workload(people: pl.DataFrame, release: Path) -> None:
    result = betalike.workload(release, original=people, queries=300, selectivity=0.01, seed=5)
    told = result.to_dict()
    assert told["queries"] == 300
    assert told["dropped"] == result.n_dropped == 300 - len(result.exact)
    assert told["quantiles"]["0.5"] == told["median_relative_error"]
    assert sum(bar["queries"] for bar in told["histogram"]) == len(result.exact)
    assert 0 <= told["covered"] <= 1
    assert (told["predicates"], told["selectivity"], told["method"]) == (3, 0.01, "density")
    again = betalike.workload(release, original=people, queries=300, selectivity=0.01, seed=5)
    assert again.to_dict() == told
    other = betalike.workload(release, original=people, queries=300, selectivity=0.01)
    assert other.to_dict() != told


def test_a_table_without_any_loss_is_answered_without_error(people: pl.DataFrame, tmp_path: Path) -> None:
    two = people.with_columns(gender=pl.lit(1))
    betalike.publish(two, quasi_identifiers=["gender"], sensitive="salary_class", beta=4, out=tmp_path, seed=1)
    result = betalike.workload(tmp_path, original=two, queries=50, predicates=1, seed=1)
    assert result.median_relative_error == 0
    assert result.covered == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"queries": 0}, "queries is 0"),
        ({"predicates": 5}, "from 0 to the number of quasi-identifiers, 4"),
        ({"predicates": -1}, "predicates is -1"),
        ({"selectivity": 0}, "selectivity is 0"),
        ({"selectivity": 1.5}, "at most 1"),
        ({"selectivity": float("nan")}, "selectivity is nan"),
        ({"method": "unifrom"}, "Did you mean 'uniform'"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_parameters_are_refused(people: pl.DataFrame, release: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        betalike.workload(release, **{"original": people, "queries": 10, **changes})


def test_another_table_is_not_the_original(people: pl.DataFrame, release: Path) -> None:
    with pytest.raises(InputError, match="not those of the release's original"):
        betalike.workload(release, original=people.head(4000), queries=10)


def test_if_every_query_selects_nothing_there_is_no_median(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [0, 10**9] * 10, "ill": ["a", "b", "b", "a"] * 5})
    betalike.publish(table, quasi_identifiers=["x"], sensitive="ill", beta=4, out=tmp_path, seed=1)
    result = betalike.workload(tmp_path, original=table, queries=5, predicates=1, selectivity=1e-9, seed=2)
    assert result.to_dict()["median_relative_error"] is None
    assert result.n_dropped == 5
