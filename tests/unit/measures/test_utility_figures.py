"""Utility figures of two tables, against pandas, NumPy and SciPy on every row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats.contingency import association as scipy_association

from betalike.errors import ParameterError
from betalike.measures.sample import Column, Sample
from betalike.measures.utility import association, measure_utility

CITIES, VALUES = ("Ulm", "Rom", "Bari"), ("1", "2", "5")
COLUMNS = [Column("age", is_whole=True), Column("weight"), Column("city", CITIES), Column("ill", VALUES)]


def rows(seed: int, n: int = 800) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 30, n)
    weight = age + rng.normal(0, 3, n)
    return pd.DataFrame({"age": age, "weight": weight, "city": rng.choice(3, n), "ill": rng.choice(3, n)}).astype(float)


def sample(frame: pd.DataFrame) -> Sample:
    return Sample.of(COLUMNS, [frame[name].to_numpy() for name in frame])


BEFORE, AFTER = rows(1), [rows(2), rows(3)]
FOUND = measure_utility(sample(BEFORE), [sample(frame) for frame in AFTER])


def test_distributions_are_those_that_pandas_counts() -> None:
    names = [figure.column for figure in FOUND.distributions]
    assert names == ["age", "weight", "city", "ill"]
    ages, cities = FOUND.distributions[0], FOUND.distributions[2]
    before = BEFORE["age"].value_counts(normalize=True).sort_index()
    after = sum(frame["age"].value_counts(normalize=True).sort_index() for frame in AFTER) / 2
    assert ages.groups == tuple(map(str, range(20, 30)))
    assert ages.original == pytest.approx(before.to_list())
    assert ages.release == pytest.approx(after.to_list())
    assert ages.distance == pytest.approx(float((before - after).abs().sum() / 2))
    assert cities.groups == CITIES
    assert all(sum(figure.original) == pytest.approx(1) == sum(figure.release) for figure in FOUND.distributions)
    assert f"{ages.distance:.1%} of the rows would have to move" in ages.meaning


def test_two_way_tables_are_those_that_pandas_counts() -> None:
    assert [figure.column for figure in FOUND.two_ways] == ["age", "weight", "city"]
    cities = FOUND.two_ways[2]
    before = pd.crosstab(BEFORE["city"], BEFORE["ill"], normalize=True).to_numpy()
    after = np.mean([pd.crosstab(f["city"], f["ill"], normalize=True).to_numpy() for f in AFTER], axis=0)
    assert (cities.groups, cities.values) == (CITIES, VALUES)
    assert np.array(cities.original) == pytest.approx(before)
    assert np.array(cities.release) == pytest.approx(after)
    assert cities.distance == pytest.approx(np.abs(before - after).sum() / 2)
    counts = pd.crosstab(BEFORE["city"], BEFORE["ill"]).to_numpy()
    assert cities.original_strength == pytest.approx(scipy_association(counts, method="cramer"))


def test_means_and_correlations_are_those_of_pandas() -> None:
    texts = BEFORE.assign(ill=np.array([1, 2, 5])[BEFORE["ill"].astype(int)])
    after = [frame.assign(ill=np.array([1, 2, 5])[frame["ill"].astype(int)]) for frame in AFTER]
    assert [figure.column for figure in FOUND.means] == ["age", "weight", "ill"]
    for figure in FOUND.means:
        assert figure.original == pytest.approx(texts[figure.column].mean())
        assert figure.original_deviation == pytest.approx(texts[figure.column].std(ddof=0))
        assert figure.release == pytest.approx(np.mean([frame[figure.column].mean() for frame in after]))
    assert [(f.first, f.second) for f in FOUND.correlations] == [("age", "weight"), ("age", "ill"), ("weight", "ill")]
    for pair in FOUND.correlations:
        assert pair.original == pytest.approx(texts[pair.first].corr(texts[pair.second]))
        assert pair.release == pytest.approx(np.mean([frame[pair.first].corr(frame[pair.second]) for frame in after]))


def test_a_table_compared_with_itself_loses_nothing() -> None:
    same = measure_utility(sample(BEFORE), [sample(BEFORE)] * 3)
    assert all(figure.distance < 1e-12 for figure in (*same.distributions, *same.two_ways))
    assert all(abs(figure.original - figure.release) < 1e-12 for figure in (*same.means, *same.correlations))


def test_values_that_are_missing_or_new_have_their_groups() -> None:
    frame = BEFORE.copy()
    frame.loc[:99, "age"] = np.nan
    found = measure_utility(sample(BEFORE), [sample(frame)])
    ages = found.distributions[0]
    assert ages.groups[-1] == "missing"
    assert (ages.original[-1], ages.release[-1]) == (0, pytest.approx(1 / 8))
    assert found.means[0].release == pytest.approx(frame["age"].mean())


def test_dates_have_a_distribution_and_a_correlation_but_no_mean() -> None:
    columns = [Column("day", is_date=True), Column("ill", VALUES)]
    table = Sample.of(columns, [np.arange(90.0), np.arange(90.0) % 3])
    found = measure_utility(table, [table])
    assert [figure.column for figure in found.means] == ["ill"]
    assert len(found.correlations) == 1


def test_sides_without_a_relation_have_strength_0_and_one_that_determines_the_other_1() -> None:
    assert association(np.full((3, 4), 1 / 12)) == pytest.approx(0, abs=1e-9)
    assert association(np.eye(3) / 3) == pytest.approx(1)
    assert association(np.ones((1, 4)) / 4) == 0


def test_no_completed_table_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        measure_utility(sample(BEFORE), [])
