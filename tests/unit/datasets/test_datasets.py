"""The simulated census table: its domains, its salary shares, its dependence, its hierarchies."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from betalike.datasets import CHUNK_ROWS, census_like, census_like_hierarchies, rank_into_classes
from betalike.datasets.population import SALARY_PER_MILLE
from betalike.errors import ParameterError

DOMAINS = {
    "age": range(16, 94),
    "gender": range(1, 3),
    "education": range(1, 18),
    "marital_status": range(1, 7),
    "race": range(1, 10),
    "work_class": range(1, 11),
    "country": range(1, 84),
    "salary_class": range(50),
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return census_like(rows=500_000, seed=0)


def naive_bayes_success(table: pl.DataFrame, known: list[str], target: str) -> float:
    """Share of the people whose target is guessed right by someone who knows the given columns and all counts."""
    truth = table[target].to_numpy()
    totals = np.bincount(truth)
    evidence = np.log(totals)[np.newaxis, :].repeat(len(truth), axis=0)
    for name in known:
        values = table[name].to_numpy()
        shape = (values.max() + 1, len(totals))
        counts = np.bincount(np.ravel_multi_index((values, truth), shape), minlength=shape[0] * shape[1]).reshape(shape)
        evidence += np.log((counts + 0.01) / totals)[values]
    return float((evidence.argmax(axis=1) == truth).mean())


def dependence(table: pl.DataFrame, one: str, other: str) -> float:
    """Mutual information of two columns, in nats."""
    joint = np.zeros((DOMAINS[one].stop, DOMAINS[other].stop))
    np.add.at(joint, (table[one].to_numpy(), table[other].to_numpy()), 1 / table.height)
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / expected[seen])).sum())


def test_columns_are_those_of_census_as_plain_integers(table: pl.DataFrame) -> None:
    assert table.schema == dict.fromkeys(DOMAINS, pl.Int64)
    assert table.height == 500_000
    assert sum(table.null_count().row(0)) == 0


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", DOMAINS)
def test_default_size_fills_every_domain(name: str, seed: int) -> None:
    assert census_like(seed=seed)[name].unique().sort().to_list() == list(DOMAINS[name])


def test_salary_shares_reach_their_bounds_exactly(table: pl.DataFrame) -> None:
    shares = np.bincount(table["salary_class"]) / table.height
    assert shares.min() == pytest.approx(0.002, abs=1e-9)
    assert shares.max() == pytest.approx(0.049, abs=1e-9)
    assert shares == pytest.approx(SALARY_PER_MILLE / 1000, abs=1e-9)


def test_low_salaries_are_frequent_high_ones_rare_and_neighbours_uneven(table: pl.DataFrame) -> None:
    shares = np.bincount(table["salary_class"]) / table.height
    assert shares[:25].sum() > 3 * shares[25:].sum()
    rises = sum(after > before for before, after in pairwise(shares))
    assert 15 <= rises <= 34


@pytest.mark.parametrize("rows", [1, 2, 10, 999, 1000, 12_345])
def test_small_tables_stay_in_the_domains_and_near_the_shares(rows: int) -> None:
    table = census_like(rows=rows, seed=3)
    assert table.height == rows
    for name, domain in DOMAINS.items():
        assert set(table[name]) <= set(domain)
    counts = np.bincount(table["salary_class"], minlength=50)
    assert np.abs(counts - SALARY_PER_MILLE * rows / 1000).max() <= 1


def test_ranking_gives_low_scores_low_classes() -> None:
    scores = np.array([0.3, -5.0, 2.0, 0.1])
    shares: npt.NDArray[np.int64] = np.array([250, 500, 250])
    assert rank_into_classes(scores, shares).tolist() == [1, 0, 2, 1]


def test_chunks_leave_no_row_unfilled_and_do_not_repeat() -> None:
    table = census_like(rows=CHUNK_ROWS + 1000, seed=4)
    assert table.select(pl.all().exclude("salary_class").min()).row(0) == (16, 1, 1, 1, 1, 1, 1)
    assert not table.head(1000).equals(table.tail(1000))


def test_same_seed_same_table() -> None:
    assert census_like(rows=5000, seed=7).equals(census_like(rows=5000, seed=7))


def test_other_seed_other_table() -> None:
    one, other = census_like(rows=5000, seed=7), census_like(rows=5000, seed=8)
    assert all(not one[name].equals(other[name]) for name in DOMAINS)


@pytest.mark.parametrize("rows", [0, -3, 2.5, 10.0, "10", None, True, float("nan")])
def test_bad_rows_are_refused_with_the_value_and_what_is_allowed(rows: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        census_like(rows=rows)  # type: ignore[arg-type]
    assert str(refusal.value).startswith(f"rows cannot be {rows!r}. Allowed: an integer of 1 or more.")


@pytest.mark.parametrize("seed", [-1, 0.5, None, False])
def test_bad_seeds_are_refused_with_the_value_and_what_is_allowed(seed: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        census_like(rows=10, seed=seed)  # type: ignore[arg-type]
    assert str(refusal.value).startswith(f"seed cannot be {seed!r}. Allowed: an integer of 0 or more.")


def test_numpy_integers_are_integers() -> None:
    assert census_like(rows=np.int64(20), seed=np.uint8(1)).equals(census_like(rows=20, seed=1))  # type: ignore[arg-type]


def test_salary_is_moderately_guessable(table: pl.DataFrame) -> None:
    success = naive_bayes_success(table, ["age", "gender", "education"], "salary_class")
    assert 1.3 * 0.049 < success < 2 * 0.049


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age", "gender"),
        ("age", "education"),
        ("age", "marital_status"),
        ("gender", "marital_status"),
        ("education", "work_class"),
        ("gender", "work_class"),
        ("age", "work_class"),
        ("race", "country"),
        ("age", "salary_class"),
        ("gender", "salary_class"),
        ("education", "salary_class"),
        ("work_class", "salary_class"),
        ("marital_status", "salary_class"),
    ],
)
def test_columns_depend_on_each_other(table: pl.DataFrame, one: str, other: str) -> None:
    shuffled = table.with_columns(pl.col(other).shuffle(seed=1))
    assert dependence(table, one, other) > 3 * dependence(shuffled, one, other)


def test_salary_rises_then_falls_with_age(table: pl.DataFrame) -> None:
    young, middle, old = (
        table.filter(pl.col("age").is_between(low, high))["salary_class"].to_numpy().mean()
        for low, high in [(16, 24), (45, 55), (75, 93)]
    )
    assert young + 3 < middle > old + 3


def test_most_people_come_from_country_1(table: pl.DataFrame) -> None:
    assert 0.8 < (table["country"] == 1).to_numpy().mean() < 0.95


@pytest.mark.parametrize(("name", "height"), [("gender", 1), ("marital_status", 2), ("work_class", 3)])
def test_hierarchies_cover_the_domain_at_their_height(name: str, height: int) -> None:
    rows = census_like_hierarchies()[name]
    assert [row[0] for row in rows] == [str(code) for code in DOMAINS[name]]
    assert {len(row) for row in rows} == {height + 1}
    assert {row[-1] for row in rows} == {"*"}


@pytest.mark.parametrize("name", ["gender", "marital_status", "work_class"])
def test_a_label_names_one_node_with_one_parent(name: str) -> None:
    rows = census_like_hierarchies()[name]
    nodes = {(level, label) for row in rows for level, label in enumerate(row)}
    assert len(nodes) == len({label for _, label in nodes})
    links = {link for row in rows for link in pairwise(row)}
    assert len(links) == len({child for child, _ in links})


def test_changing_a_hierarchy_leaves_the_next_one_alone() -> None:
    census_like_hierarchies()["gender"][0].append("spoilt")
    assert census_like_hierarchies()["gender"] == [["1", "*"], ["2", "*"]]
