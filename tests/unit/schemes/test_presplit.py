"""Sets that a large table is divided into before it is split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.promises import Likeness
from betalike.promises.verdict import one_class
from betalike.schemes.presplit import ROOM, part
from betalike.table.cells import Cells, Plan
from seam_tables import random_cells, wide_cells

SEEDS = st.integers(0, 10**6)


def worst_ratio(cells: Cells, model: Likeness, sets: Plan | None = None) -> float:
    classes = one_class(cells.value_counts) if sets is None else sets.class_counts
    return model.judge(classes, cells.value_counts, cells.sensitive).worst_ratio


@given(seed=SEEDS, beta=st.sampled_from([0.5, 2, 9]), share=st.integers(1, 10))
def test_sets_keep_the_promise_and_every_cell_is_in_one_of_them(seed: int, beta: float, share: int) -> None:
    cells, model = random_cells(seed), Likeness(beta)
    sets = part(cells, model, cells.n_rows // share)
    assert sets.cell.tolist() == list(range(len(cells.count)))
    assert sets.count.tolist() == cells.count.tolist()
    assert sorted(set(sets.ec.tolist())) == list(range(sets.n_classes))
    assert model.judge(sets.class_counts, cells.value_counts, cells.sensitive).holds


@given(seed=SEEDS, beta=st.sampled_from([0.5, 2, 9]))
def test_sets_use_little_of_what_the_promise_leaves_free(seed: int, beta: float) -> None:
    cells, model = random_cells(seed), Likeness(beta)
    sets = part(cells, model, cells.n_rows // 8)
    used = worst_ratio(cells, model)
    assert worst_ratio(cells, model, sets) <= used + ROOM * (1 - used) + 1e-12


@given(seed=SEEDS)
def test_a_table_is_one_set_unless_it_is_too_large(seed: int) -> None:
    cells = random_cells(seed)
    assert part(cells, Likeness(2), cells.n_rows).n_classes == 1


@pytest.mark.parametrize("n_parts", [2, 4, 8])
def test_many_codes_are_cut_at_medians(n_parts: int) -> None:
    cells = wide_cells(1, n_cells=4000)
    sets = part(cells, Likeness(9), cells.n_rows // n_parts + 20)
    sizes = np.bincount(sets.ec, sets.count)
    assert len(sizes) == n_parts
    assert sizes.max() - sizes.min() <= 40
