"""Cores and seam under caps and floors, against a search through everything that they could hold."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from betalike.promises import Likeness
from betalike.schemes.seam.lifting import can_lift, most_lifted
from betalike.schemes.seam.problem import pose
from betalike.schemes.seam.splitting import split_set
from betalike.table.cells import Plan
from examples import examples
from seam_tables import draws, random_cells

SHARES = st.fractions(0, 1, max_denominator=7)


def is_within(count: int, size: int, bounds: tuple[Fraction, Fraction]) -> bool:
    return bounds[0] * size <= count <= bounds[1] * size


@examples(400)
@given(data=st.data())
def test_parts_can_be_formed_just_if_some_choice_of_tuples_forms_them(data: st.DataObject) -> None:
    n_values = data.draw(st.integers(1, 3))
    counts = st.lists(st.integers(0, 4), min_size=n_values, max_size=n_values)
    left, right = data.draw(counts), data.draw(counts)
    bounds = [tuple(sorted(data.draw(st.tuples(SHARES, SHARES)))) for _ in range(n_values)]
    total = [a + b for a, b in zip(left, right, strict=True)]
    size_left, size_right = data.draw(st.integers(0, sum(left))), data.draw(st.integers(0, sum(right)))
    sizes = (size_left, size_right, sum(total) - size_left - size_right)

    def forms(cores: tuple[tuple[int, int], ...]) -> bool:
        parts = [
            [x for x, _ in cores],
            [y for _, y in cores],
            [t - x - y for t, (x, y) in zip(total, cores, strict=True)],
        ]
        return all(
            sum(part) == size and all(is_within(n, size, bound) for n, bound in zip(part, bounds, strict=True))
            for part, size in zip(parts, sizes, strict=True)
        )

    choices = [list(itertools.product(range(a + 1), range(b + 1))) for a, b in zip(left, right, strict=True)]
    expected = any(forms(cores) for cores in itertools.product(*choices))
    cap = np.array([float(high) for _, high in bounds])
    margin = np.array([0.5 / high.denominator for _, high in bounds])
    floor = np.array([float(low) for low, _ in bounds])
    as_floats = [np.array(numbers, dtype=np.float64) for numbers in (left, total)]
    assert can_lift(*as_floats, tuple(map(float, sizes)), cap, margin, floor) == expected


@given(counts=st.lists(st.integers(0, 30), min_size=1, max_size=4), floors=st.lists(SHARES, min_size=4, max_size=4))
def test_the_largest_part_has_enough_of_every_value(counts: list[int], floors: list[Fraction]) -> None:
    floors = floors[: len(counts)]
    found = most_lifted(np.array(counts, dtype=np.float64), np.array([float(f) for f in floors]))
    sizes = [size for size in range(1000) if all(n >= f * size for n, f in zip(counts, floors, strict=True))]
    assert found == (max(sizes) if any(floors) else np.inf)


@examples(40)
@given(seed=st.integers(0, 2**32), beta=st.sampled_from([0.5, 1, 2, 4, 9]), reserve=st.sampled_from([0.0, 0.1, 0.3]))
def test_every_class_of_a_split_is_within_caps_and_floors(seed: int, beta: float, reserve: float) -> None:
    cells = random_cells(seed)
    for model in (Likeness(beta, negative_beta="symmetric"), Likeness(beta, negative_beta=0.6)):
        everything = np.arange(len(cells.count), dtype=np.int32)
        plan = Plan(cells, *split_set(pose(cells, model), everything, cells.count, reserve, False, 0, draws()))
        assert model.judge(plan.class_counts, cells.value_counts, cells.sensitive).holds
        assert np.bincount(plan.cell, plan.count, len(cells.count)).tolist() == cells.count.tolist()
