"""BUREL put together: entries, plans that conserve every cell, and work in steps that changes nothing it promises."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import ParameterError
from betalike.promises import Form, Likeness
from betalike.runtime.progress import SILENT
from betalike.runtime.randomness import SeededRandomness, SystemRandomness, randomness
from betalike.schemes import DEFAULT_SCHEME, SCHEMES, Burel, Retrieval, make_scheme
from betalike.schemes import retrieval as filling
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells, Plan, shuffle_within
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

SCHEME_NAMES = ["burel", "burel+split"]


def random_cells(seed: int, n_cells: int = 60, most: int = 9) -> Cells:
    rng = np.random.default_rng(seed)
    ages = OrderedAxis("age", Kind.INTEGER, np.arange(8), (0.0, 7.0))
    places = HierarchyAxis("place", Hierarchy.flat("abcd"), has_missing=True)
    corners = rng.integers(0, [8, 5, 6], (n_cells, 3))
    distinct = np.unique(corners, axis=0)
    points, point = np.unique(distinct[:, :2], axis=0, return_inverse=True)
    return Cells(
        axes=(ages, places),
        sensitive=HierarchyAxis("illness", Hierarchy.flat("stuvwxyz")),  # two values never occur
        weights=(1.0, 1.0),
        points=points.astype(np.int32),
        point=point.ravel().astype(np.int32),
        value=distinct[:, 2].astype(np.int32),
        count=rng.integers(1, most, len(distinct)),
    )


def check_plan(plan: Plan, cells: Cells, model: Likeness) -> None:
    handed_out: Counter[int] = Counter()
    for cell, count in zip(plan.cell.tolist(), plan.count.tolist(), strict=True):
        assert count > 0
        handed_out[cell] += count
    assert handed_out == dict(enumerate(cells.count.tolist()))
    fragments = list(zip(plan.cell.tolist(), plan.ec.tolist(), strict=True))
    assert len(set(fragments)) == len(fragments)
    assert sorted(set(plan.ec.tolist())) == list(range(plan.n_classes))
    verdict = model.judge(plan.class_counts, cells.value_counts)
    assert verdict.holds
    assert verdict.smallest_class >= model.k


@given(
    seed=st.integers(0, 10**6),
    beta=st.sampled_from([0.3, 1, 2, 4, 9]),
    form=st.sampled_from(list(Form)),
    k=st.sampled_from([1, 3, 20]),
    split=st.booleans(),
    retrieval=st.sampled_from(list(Retrieval)),
)
def test_a_plan_hands_out_every_cell_and_keeps_the_promise(
    seed: int, beta: float, form: Form, k: int, split: bool, retrieval: Retrieval
) -> None:
    cells, model = random_cells(seed), Likeness(beta, form, k)
    check_plan(Burel(split, retrieval, SeededRandomness(seed)).plan(cells, model), cells, model)


@pytest.mark.parametrize("retrieval", Retrieval)
def test_classes_that_are_filled_in_steps_of_any_length_are_the_same(retrieval: Retrieval) -> None:
    """Words are drawn in the same order whatever the steps, so a seed gives the same classes."""
    cells = random_cells(1, n_cells=150)
    entries = filling.Entries.of(cells, [np.arange(cells.sensitive.size)])
    draws = np.full((int(cells.count.sum()) // 4, 1), 4)
    whole, stepwise = (
        filling.retrieve(draws, entries, retrieval, SeededRandomness(3), SILENT, step) for step in (5_000, 3)
    )
    for one, other in zip(whole, stepwise, strict=True):
        assert one.tolist() == other.tolist()


@given(sizes=st.lists(st.integers(0, 9), min_size=1), step=st.integers(1, 20), seed=st.integers(0, 99))
def test_segments_that_are_shuffled_in_steps_of_any_length_are_the_same(sizes: list[int], step: int, seed: int) -> None:
    starts = np.cumsum([0, *sizes])
    whole, stepwise = (np.arange(starts[-1], dtype=np.int32) for _ in range(2))
    shuffle_within(whole, starts, SeededRandomness(seed))
    shuffle_within(stepwise, starts, SeededRandomness(seed), step)
    assert whole.tolist() == stepwise.tolist()


def test_a_seed_repeats_the_plan_and_another_changes_it() -> None:
    cells, model = random_cells(2, n_cells=150), Likeness(4)
    plans = [Burel(True, randomness=SeededRandomness(seed)).plan(cells, model) for seed in (1, 1, 2)]
    drawn = [list(zip(p.cell.tolist(), p.count.tolist(), p.ec.tolist(), strict=True)) for p in plans]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_splitting_further_never_makes_fewer_classes() -> None:
    cells, model = random_cells(3, n_cells=200), Likeness(4)
    plain, split = (Burel(s, randomness=SeededRandomness(0)).plan(cells, model) for s in (False, True))
    assert split.n_classes >= plain.n_classes == plain.details["leaves"] == split.details["leaves"]


def test_entries_are_the_points_of_each_bucket_along_the_curve() -> None:
    cells = random_cells(4)
    buckets = [np.array([0, 1]), np.array([2, 3, 4, 5])]
    entries = filling.Entries.of(cells, buckets)
    assert sorted(entries.cells.tolist()) == list(range(len(cells.count)))
    for number, bucket in enumerate(buckets):
        first, last = entries.bucket_start[number], entries.bucket_start[number + 1]
        assert (np.diff(entries.key[first:last].astype(np.int64)) >= 0).all()
        points = set()
        for entry in range(first, last):
            members = entries.cells[entries.cell_start[entry] : entries.cell_start[entry + 1]]
            (point,) = set(cells.point[members].tolist())
            assert set(cells.value[members].tolist()) <= set(bucket.tolist())
            assert entries.count[entry] == cells.count[members].sum()
            assert entries.positions[entry].tolist() == cells.positions[point].tolist()
            points.add(point)
        assert len(points) == last - first


@pytest.mark.parametrize("name", SCHEME_NAMES)
def test_schemes_are_made_by_their_name(name: str) -> None:
    scheme = make_scheme(name, randomness(1), retrieval=Retrieval.EXACT)
    assert (scheme.name, scheme.retrieval) == (name, Retrieval.EXACT)


def test_the_default_scheme_is_one_of_them() -> None:
    assert DEFAULT_SCHEME in SCHEMES
    assert set(SCHEME_NAMES) <= set(SCHEMES)


def test_a_scheme_without_a_seed_asks_the_operating_system() -> None:
    assert isinstance(Burel().randomness, SystemRandomness)


def test_unknown_schemes_and_options_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"no scheme 'burell'.*Did you mean 'burel'"):
        make_scheme("burell", randomness(1))
    with pytest.raises(ParameterError, match="colour"):
        make_scheme("burel", randomness(1), colour="red")
    with pytest.raises(ParameterError, match="retrieval"):
        make_scheme("burel", randomness(1), retrieval="nearest")
