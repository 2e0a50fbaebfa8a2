"""Cells, plans and class counts, and how rows are folded into them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import InputError
from betalike.table import cells as table_cells
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells, ClassCounts, Plan, fold
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind


@st.composite
def coded_columns(draw: st.DrawFn) -> tuple[list[np.ndarray], list[int]]:
    """Columns of codes with their sizes: from a few bits together up to hundreds."""
    n_rows = draw(st.integers(1, 40))
    sizes = draw(st.lists(st.sampled_from([1, 2, 7, 1000, 2**20, 2**31 - 1]), min_size=1, max_size=8))
    columns = []
    for size in sizes:
        pool = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=4))
        columns.append(
            np.array(draw(st.lists(st.sampled_from(pool), min_size=n_rows, max_size=n_rows)), dtype=np.int64)
        )
    return columns, sizes


def check_fold(columns: list[np.ndarray], sizes: list[int]) -> None:
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    distinct = sorted(set(rows))
    row_of_combination, number = fold(columns, sizes)
    assert [rows[row] for row in row_of_combination] == distinct
    assert number.tolist() == [distinct.index(row) for row in rows]
    assert number.dtype == np.int32


@given(coded_columns())
def test_fold_numbers_distinct_rows_in_the_order_of_their_codes(columns: tuple[list[np.ndarray], list[int]]) -> None:
    check_fold(*columns)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 5, 40])
def test_fold_goes_beyond_63_bits(n_columns: int) -> None:
    rng = np.random.default_rng(n_columns)
    size = 2**31 - 1
    columns = [rng.choice([0, 5, size - 1], size=200) for _ in range(n_columns)]
    check_fold(columns, [size] * n_columns)


@pytest.mark.parametrize(("n_rows", "size"), [(50, 2**22), (50, 2**22 + 1)])
def test_fold_is_the_same_on_both_sides_of_the_dense_limit(n_rows: int, size: int) -> None:
    column = np.random.default_rng(0).integers(0, size, n_rows)
    check_fold([np.append(column, size - 1)], [size])


def test_fold_takes_unsigned_and_short_integers() -> None:
    check_fold([np.array([1, 0, 255], dtype=np.uint8), np.array([3, 3, 3], dtype=np.int16)], [256, 4])


def test_more_rows_than_can_be_numbered_are_refused() -> None:
    class ManyRows:
        def __len__(self) -> int:
            return 2**31

    with pytest.raises(InputError, match="2147483648 rows"):
        fold([ManyRows()], [2])  # type: ignore[list-item]


@pytest.fixture
def cells() -> Cells:
    """Three points, four cells: (20, a) holds x and y, (30, a) x, (20, b) y."""
    axes = (
        OrderedAxis("age", Kind.INTEGER, np.array([20, 30]), (20.0, 30.0)),
        HierarchyAxis("place", Hierarchy.flat(["a", "b"])),
    )
    return Cells(
        axes=axes,
        sensitive=HierarchyAxis("illness", Hierarchy.flat(["x", "y", "z"])),
        weights=(1.0, 1.0),
        points=np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32),
        point=np.array([0, 0, 1, 2], dtype=np.int32),
        value=np.array([0, 1, 1, 0], dtype=np.int32),
        count=np.array([2, 3, 1, 4]),
    )


def test_cells_count_rows_and_values(cells: Cells) -> None:
    assert cells.n_rows == 10
    assert cells.value_counts.tolist() == [6, 4, 0]
    assert cells.positions.tolist() == [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]


def test_a_plan_has_boxes_and_counts_for_each_class(cells: Cells) -> None:
    plan = Plan(
        cells,
        cell=np.array([0, 2, 0, 1, 3], dtype=np.int32),
        count=np.array([1, 1, 1, 3, 4]),
        ec=np.array([0, 0, 1, 1, 1], dtype=np.int32),
        n_classes=2,
    )
    low, high = plan.boxes
    assert low.tolist() == [[0, 0], [0, 0]]
    assert high.tolist() == [[0, 1], [1, 0]]
    counts = plan.class_counts
    assert counts.sizes.tolist() == [2, 8]
    assert list(zip(counts.ec, counts.value, counts.count, strict=True)) == [(0, 0, 1), (0, 1, 1), (1, 0, 5), (1, 1, 3)]


@given(
    st.integers(1, 4).flatmap(
        lambda n_classes: st.lists(
            st.tuples(st.integers(0, n_classes - 1), st.integers(0, 4), st.integers(1, 10**12)), max_size=30
        ).map(lambda extra: [(ec, ec, 1) for ec in range(n_classes)] + extra)
    )
)
def test_class_counts_add_up_what_belongs_together(parts: list[tuple[int, int, int]]) -> None:
    totals: dict[tuple[int, int], int] = {}
    for ec, value, count in parts:
        totals[ec, value] = totals.get((ec, value), 0) + count
    columns = (np.array(column) for column in zip(*parts, strict=True))
    counts = ClassCounts.of(*columns, n_values=6)
    assert dict(
        zip(zip(counts.ec.tolist(), counts.value.tolist(), strict=True), counts.count.tolist(), strict=True)
    ) == (totals)
    assert list(zip(counts.ec, counts.value, strict=True)) == sorted(totals)
    n_classes = 1 + max(ec for ec, _ in totals)
    sizes = [sum(n for (ec, _), n in totals.items() if ec == c) for c in range(n_classes)]
    assert counts.sizes.tolist() == sizes
    assert counts.value_counts.tolist() == [sum(n for (_, v), n in totals.items() if v == w) for w in range(6)]
    for c in range(n_classes):
        assert set(counts.ec[counts.starts[c] : counts.starts[c + 1]].tolist()) == {c}
    assert counts.starts[-1] == len(totals)


def test_combinations_are_numbered_in_order_whether_the_codes_could_be_few_or_many() -> None:
    codes = np.array([9, 3, 9], dtype=np.int32)
    for size in (10, 2**40):
        firsts, number = table_cells.fold([codes], [size])
        assert number.tolist() == [1, 0, 1]
        assert firsts.tolist() == [1, 0]
