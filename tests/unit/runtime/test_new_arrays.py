"""New arrays that kernels make, compared with NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from betalike.runtime.new_arrays import (
    greatest_number,
    new_float_grid,
    new_floats,
    new_id_grid,
    new_ids,
    new_ints,
    numbers_below,
)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_arrays_are_as_long_as_asked_and_hold_one_value(n: int) -> None:
    pairs = [
        (new_ints(n, -1), np.full(n, -1)),
        (new_ids(n, 7), np.full(n, 7, dtype=np.int32)),
        (new_floats(n, 0.5), np.full(n, 0.5)),
        (new_id_grid(n, 3, -1), np.full((n, 3), -1, dtype=np.int32)),
        (new_float_grid(n, 3, 0.0), np.zeros((n, 3))),
        (numbers_below(n), np.arange(n)),
    ]
    for made, expected in pairs:
        assert made.dtype == expected.dtype
        assert made.flags.c_contiguous
        np.testing.assert_array_equal(made, expected)


def test_the_greatest_number_is_found_wherever_it_is() -> None:
    for values in ([0], [2, 1, 0], [0, 5, 3], [1, 2, 9]):
        assert greatest_number(np.array(values)) == max(values)
    assert greatest_number(np.zeros(0, dtype=np.int64)) == -1
