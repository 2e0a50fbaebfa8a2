"""Completed tables: values lie within their labels, and are as frequent as the density of the release says."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.errors import InputError, ParameterError
from betalike.queries.columns import NamedColumn
from betalike.queries.completion import Completion
from betalike.queries.label_shares import OrderedShares, Spread, label_weights
from betalike.queries.original import count_original, original_sample
from betalike.queries.value_sets import ValueSet
from betalike.runtime.randomness import SeededRandomness

PATHS = [["Ulm", "north", "*"], ["Kiel", "north", "*"], ["Rom", "south", "*"], ["Bari", "south", "*"]]
DAY = datetime.date(2024, 1, 1)


def people(n: int = 1500, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    weight = np.round(rng.normal(70, 10, n), 1)
    ill = np.where(rng.random(n) < age / 100, "gout", np.where(rng.random(n) < 0.5, "flu", "cough"))
    city = rng.choice(["Ulm", "Kiel", "Rom", "Bari", None], n, p=[0.5, 0.2, 0.1, 0.1, 0.1]).tolist()
    day = pl.Series([DAY + datetime.timedelta(days=int(d)) for d in rng.integers(0, 300, n)])
    return pl.DataFrame({"age": age, "weight": weight, "city": city, "day": day, "ill": ill})


NAMES = ["age", "weight", "city", "day"]
PEOPLE = people()


def publish(scheme: str = "seam", names: list[str] = NAMES, **more: Any) -> betalike.Release:
    trees = {"city": PATHS} if "city" in names else None
    asked = {"quasi_identifiers": names, "sensitive": "ill", "beta": 1, "hierarchies": trees, "seed": 2, **more}
    return betalike.publish(PEOPLE, scheme=scheme, **asked)


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["seam", "lmondrian", "burel", "perturb", "baseline"])
def test_every_value_lies_within_its_label(scheme: str) -> None:
    release = publish(scheme).estimator
    completion, index = Completion(release), release.index
    ec, _ = completion.rows
    for axis, drawn in enumerate(completion.draw(*completion.rows, SeededRandomness(1))[0]):
        spans, label = index.spans[axis], index.ids[:, axis][ec]
        low, high = spans.measured(spans.low)[label], spans.measured(spans.high)[label]
        is_missing = np.isnan(drawn)
        assert (spans.missing[label] | ~is_missing).all()
        assert (spans.is_present[label] | is_missing).all()
        there = ~is_missing
        assert (low[there] <= drawn[there]).all()
        assert (drawn[there] <= high[there]).all()
        if index.columns[axis].is_discrete:
            assert (drawn[there] == np.floor(drawn[there])).all()


def test_each_class_with_a_range_has_a_row_at_each_end() -> None:
    release = publish("lmondrian").estimator
    completion, index = Completion(release), release.index
    ec, _ = completion.rows
    age = completion.draw(*completion.rows, SeededRandomness(3))[0][0]
    low, high = index.spans[0].low[index.ids[:, 0]], index.spans[0].high[index.ids[:, 0]]
    least, greatest = np.full(len(low), np.inf), np.full(len(low), -np.inf)
    np.minimum.at(least, ec, age)
    np.maximum.at(greatest, ec, age)
    assert (low < high).any()
    assert least.tolist() == low.tolist()
    assert greatest.tolist() == high.tolist()


@pytest.mark.some(2)
@pytest.mark.parametrize(("axis", "values"), [(0, (25, 40)), (1, (60.0, 75.0)), (2, (0, 0)), (2, (1, 2)), (3, None)])
@pytest.mark.parametrize("spread", Spread)
def test_values_are_as_frequent_as_counts_are_estimated(
    axis: int, values: tuple[float, float] | None, spread: Spread
) -> None:
    """The mean over many draws is what a COUNT query says about the same set of values."""
    index = publish("burel").estimator.index
    column, shares = index.columns[axis], index.shares(spread)[axis]
    days = (datetime.date(2024, 3, 1) - datetime.date(1970, 1, 1)).days
    low, high = (days, days + 100) if values is None else values
    wanted = ValueSet.of([(low, high)], is_discrete=column.is_discrete)
    label = np.repeat(np.arange(index.n_labels[axis]), 1000)
    chance = (np.arange(len(label)) % 1000 + 0.5) / 1000
    named = (len(column.leaves),) if isinstance(column, NamedColumn) else ()
    drawn = shares.draw(label, chance, *named)
    share = ((drawn >= low) & (drawn <= high)).reshape(-1, 1000).mean(axis=1)
    assert np.abs(share - label_weights(shares, wanted)[0]).max() < 0.005


@pytest.mark.parametrize(("axis", "edges"), [(0, [20.0, 31.0, 45.0]), (1, [40.0, 61.5, 70.0]), (2, [])])
def test_parts_of_labels_are_the_shares_that_counts_are_estimated_with(axis: int, edges: list[float]) -> None:
    index = publish("burel").estimator.index
    shares, column = index.shares(Spread.DENSITY)[axis], index.columns[axis]
    if isinstance(shares, OrderedShares):
        label, ends = np.arange(index.n_labels[axis]), [*edges[1:], 1000.0]
        parts = shares.parts(label, np.array(edges))
        last = [end - 1 if column.is_discrete else np.nextafter(end, 0) for end in ends]
    else:
        assert isinstance(column, NamedColumn)
        label = np.flatnonzero(shares.row >= 0)
        parts, edges, last = shares.parts(label, len(column.leaves)), [0, 1, 2, 3], [0, 1, 2, 3]
    assert parts.sum(axis=1) == pytest.approx(np.ones(len(label)))
    for place, (low, high) in enumerate(zip(edges, last, strict=True)):
        wanted = ValueSet.of([(low, high)], is_discrete=column.is_discrete)
        assert parts[:, place] == pytest.approx(label_weights(shares, wanted)[0][label], abs=1e-6)


def test_draws_keep_more_of_a_relation_than_the_density_of_each_column_alone() -> None:
    """Groups know which values go together; the true correlation is that of the table."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 100, 4000)
    y = np.clip(x // 10 + rng.integers(-3, 4, 4000), 0, 9)
    frame = pl.DataFrame({"x": x, "y": y})
    release = betalike.publish(frame, quasi_identifiers=["x"], sensitive="y", beta=2, scheme="burel", seed=1)
    index = release.estimator.index
    ec, label = Completion(release.estimator).rows
    chance = np.random.default_rng(2).random(4000)
    alone = index.shares(Spread.DENSITY)[0].draw(index.ids[:, 0][ec].astype(int), chance)  # type: ignore[call-arg]
    values = np.array([int(value) for value in release.estimator.values])[label]
    drawn = np.mean([np.corrcoef(table["x"], table["y"])[0, 1] for table in release.draws(3, seed=1)])
    assert np.corrcoef(alone, values)[0, 1] + 0.02 < drawn < np.corrcoef(x, y)[0, 1]


def test_perturbed_values_are_drawn_by_what_the_quasi_identifiers_say_too() -> None:
    """By the published value alone the relation would be weaker by far."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 20, 6000)
    y = np.where(rng.random(6000) < x / 25, "ill", "well")
    frame = pl.DataFrame({"x": x, "y": y})
    asked = {"quasi_identifiers": ["x"], "sensitive": "y", "beta": 0.5, "scheme": "perturb"}
    release = betalike.publish(frame, seed=3, **asked)
    published, *drawn = (np.corrcoef(t["x"], t["y"] == "ill")[0, 1] for t in (release.frame, *release.draws(4, seed=2)))
    truth = np.corrcoef(x, y == "ill")[0, 1]
    assert published < 0.6 * truth
    assert np.mean(drawn) == pytest.approx(truth, rel=0.2)


def test_values_that_were_left_out_are_drawn_from_the_distribution() -> None:
    completed = Completion(publish("baseline").estimator).sample(SeededRandomness(6))
    counts = np.bincount(completed.values[:, -1].astype(int), completed.count)
    assert counts / 1500 == pytest.approx(publish("baseline").estimator.counts / 1500, abs=0.05)


def test_an_exact_release_is_completed_to_its_own_rows() -> None:
    release = publish("perturb").estimator
    completed = Completion(release).sample(SeededRandomness(7))
    original = original_sample(release, *count_original(release, PEOPLE))
    places = range(len(NAMES))
    for place in places:
        mine, theirs = (np.sort(np.repeat(s.values[:, place], s.count.astype(int))) for s in (completed, original))
        assert np.array_equal(mine, theirs, equal_nan=True)


def test_values_without_a_name_are_drawn_from_those_that_have_one() -> None:
    """Without a hierarchy, a release does not name the values that `*` hides."""
    frame = pl.DataFrame({"city": [f"c{i % 40}" for i in range(400)], "ill": ["a", "b", "a", "c"] * 100})
    release = betalike.publish(frame, quasi_identifiers=["city"], sensitive="ill", beta=0.5, scheme="burel", seed=1)
    completion = Completion(release.estimator)
    ((drawn,), _) = completion.draw(*completion.rows, SeededRandomness(1))
    named = len(release.estimator.quasi_identifiers[0].leaves)  # type: ignore[union-attr]
    assert (drawn < max(named, 1)).all() or named == 0
    assert completion.sample(SeededRandomness(1)).n_rows == 400


def test_the_original_is_sampled_as_it_is_and_another_table_is_refused() -> None:
    release = publish().estimator
    sample = original_sample(release, *count_original(release, PEOPLE))
    assert sample.n_rows == 1500
    assert np.average(sample.values[:, 0], weights=sample.count) == pytest.approx(PEOPLE["age"].mean())
    assert np.nansum(np.isnan(sample.values[:, 2]) * sample.count) == PEOPLE["city"].null_count()
    with pytest.raises(InputError, match="not those of the release"):
        original_sample(release, *count_original(release, people(seed=2)))


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["seam", "perturb", "baseline"])
def test_utility_has_every_figure_and_a_sentence_for_each(scheme: str) -> None:
    found = publish(scheme).utility(PEOPLE, seed=1, queries=50)
    assert [figure.column for figure in found.distributions] == [*NAMES, "ill"]
    assert [figure.column for figure in found.two_ways] == NAMES
    assert [figure.column for figure in found.means] == ["age", "weight"]
    assert len(found.correlations) == 3
    assert found.counts is not None
    assert len(found.sentences) == 5 + 4 + 2 + 3 + 1
    assert found.to_dict()["means"][0]["meaning"] in found.sentences
    assert found._repr_html_().count("<tr>") > len(found.sentences)
    if scheme != "seam":  # quasi-identifiers are exact
        assert max(figure.distance for figure in found.distributions[:-1]) < 1e-12


def test_utility_is_the_same_for_the_same_seed_and_needs_no_queries() -> None:
    release = publish(names=["age", "city"])
    first, second = (release.utility(PEOPLE, draws=2, queries=0, seed=3) for _ in range(2))
    assert first.to_dict() == second.to_dict()
    assert first.counts is None
    with pytest.raises(ParameterError, match="draws is 0"):
        release.utility(PEOPLE, draws=0)
