"""Types of arguments from annotations: the same that Numba finds for the arguments themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import typeof

import betalike
from betalike.datasets import census_like, census_like_hierarchies
from betalike.runtime.arrays import Bools, Floats, IdGrid, Ids, IntGrid, Ints, Words
from betalike.runtime.kernel_digest import kernels_called
from betalike.runtime.kernel_types import argument_types
from betalike.schemes import Seam, Whole


class Inner(NamedTuple):
    places: IdGrid
    k: int


class Outer(NamedTuple):
    inner: Inner
    share: float


def of_numbers(a: int, b: float, c: bool, d: np.uint32) -> None: ...


def of_arrays(a: Ints, b: Ids, c: Floats, d: Bools, e: Words, f: IntGrid, g: IdGrid) -> None: ...


def of_tuples(a: tuple[float, float], b: tuple[Ints, float], c: Outer) -> None: ...


INNER = Inner(np.zeros((2, 2), dtype=np.int32), 3)
FLAT = [np.zeros(2, dtype=kind) for kind in (np.int64, np.int32, np.float64, np.bool_, np.uint64)]
GRIDS = [np.zeros((2, 3), dtype=kind) for kind in (np.int64, np.int32)]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (of_numbers, (1, 0.5, True, np.uint32(3))),
        (of_arrays, (*FLAT, *GRIDS)),
        (of_tuples, ((0.5, 0.5), (FLAT[0], 0.5), Outer(INNER, 0.5))),
    ],
)
def test_annotations_give_the_types_of_the_arguments(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    assert argument_types(function) == tuple(typeof(argument) for argument in arguments)


def test_an_open_or_missing_annotation_gives_no_types() -> None:
    def of_anything(keys: Any) -> None: ...

    def of_unnamed(keys) -> None: ...  # type: ignore[no-untyped-def]  # that is the case here

    assert argument_types(of_anything) is None
    assert argument_types(of_unnamed) is None


def kernels_below(kernels: Iterable[Any]) -> dict[Any, Any]:
    """Return the types of the annotations of some kernels and of all that they call."""
    waiting, found = list(kernels), {}
    while waiting:
        kernel = waiting.pop()
        if kernel not in found and (types := argument_types(kernel.py_func)) is not None:
            found[kernel] = types
            waiting += kernels_called(kernel)
    return found


def overloads(kernel: Any) -> set[Any]:
    return set(kernel.overloads) | set(kernel.within.overloads)


@pytest.mark.parametrize(("scheme", "least"), [(Seam(), 40), (Whole(), 20)], ids=["seam", "whole"])
def test_every_kernel_is_compiled_for_the_types_of_its_annotations_alone(scheme: Seam | Whole, least: int) -> None:
    kernels = kernels_below(scheme.kernels)
    before = {kernel: overloads(kernel) for kernel in kernels}  # other tests may call them with other types
    betalike.publish(
        census_like(2000, seed=1),
        quasi_identifiers=["age", "gender", "education"],
        sensitive="salary_class",
        beta=4,
        hierarchies=census_like_hierarchies(),
        scheme=scheme,
        seed=1,
    )
    assert len(kernels) > least
    for kernel, types in kernels.items():
        assert overloads(kernel) - before[kernel] <= {types}, kernel.__qualname__
