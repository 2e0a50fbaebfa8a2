"""Annealing of finished classes: what it conserves, that it keeps the promise, and that it pays."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from betalike.measures.loss import plan_loss
from betalike.promises import Likeness
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import Seam
from betalike.schemes.seam.cooling import Cooling, cut_fragments, number_labels
from betalike.table.cells import Plan
from seam_tables import check_plan, random_cells

MODELS = st.one_of(
    st.builds(Likeness, beta=st.sampled_from([0.3, 1, 2, 4, 9]), k=st.sampled_from([1, 1, 5, 20])),
    st.builds(Likeness, beta=st.sampled_from([1, 4]), negative_beta=st.sampled_from([0.6, "symmetric"])),
)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), model=MODELS, share=st.sampled_from([30, 50_000]))
def test_annealing_conserves_every_cell_and_keeps_the_promise(seed: int, model: Likeness, share: int) -> None:
    cells = random_cells(seed, n_cells=150)
    randomness = SeededRandomness(seed)
    plan = Cooling(cells, model, randomness, share).cool(Seam(randomness, effort=0).plan(cells, model))
    assert np.bincount(plan.cell, plan.count, len(cells.count)).tolist() == cells.count.tolist()
    assert set(plan.ec.tolist()) == set(range(plan.n_classes))
    assert model.judge(plan.class_counts, cells.value_counts, cells.sensitive).holds


def test_annealing_is_repeated_by_a_seed_and_pays() -> None:
    gains = []
    for seed in range(6):
        cells, model = random_cells(seed, n_cells=300), Likeness(1)
        start = Seam(SeededRandomness(seed), effort=1).plan(cells, model)
        one, other = (Cooling(cells, model, SeededRandomness(seed)).cool(start) for _ in range(2))
        assert one.ec.tolist() == other.ec.tolist()
        check_plan(one, cells, model)
        gains.append(plan_loss(start).average - plan_loss(one).average)
    assert sum(gain > 0 for gain in gains) >= 3


def test_classes_that_lose_nothing_stay_as_they_are() -> None:
    cells = random_cells(1)
    alone = np.arange(len(cells.count), dtype=np.int32)
    points = Plan(cells, alone, cells.count, cells.point, len(cells.points))
    assert Cooling(cells, Likeness(1), SeededRandomness(1)).cool(points) is points


@given(fragments=st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9)), min_size=1, max_size=20))
def test_pieces_add_up_to_their_fragments(fragments: list[tuple[int, int]]) -> None:
    count, most = np.array(fragments).T
    fragment, rows = cut_fragments(count, most)
    assert np.bincount(fragment, rows).tolist() == count.tolist()
    assert (rows >= 1).all()
    assert (rows <= most[fragment]).all()
    assert len(rows) == sum(-(-n // m) for n, m in fragments)


def test_labels_are_numbered_without_gaps() -> None:
    assert number_labels(np.array([7, 3, 7, 9])).tolist() == [1, 0, 1, 2]
