"""Random cells planned by every scheme, and each plan judged from its counts alone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from betalike.errors import InfeasibleError, InputError
from betalike.promises import MonotoneCap
from betalike.promises.catalogue import fit, make_model
from betalike.runtime.randomness import randomness
from betalike.schemes import make_generalizing
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells
from betalike.table.hierarchy import Hierarchy
from betalike.table.joint import JointAxis
from betalike.table.schema import Kind

from .outcome import Outcome, refusal
from .promises import Promise, Secret, delta_for, is_near, judge
from .trees import random_tree
from .wishes import CAPS, random_promise, random_scheme


@dataclass(frozen=True)
class Draft:
    """Cells, and the truth about their sensitive values."""

    cells: Cells
    secret: Secret


def check_plan(seed: int) -> Outcome:
    """Plan random cells and judge the plan; everything follows from the seed."""
    rng = random.Random(seed)
    draft = random_cells(rng)
    scheme, options = random_scheme(rng, draft.secret, is_planning=True)
    promise = random_promise(rng, scheme, draft.secret)
    outcome = Outcome(seed, "plan", f"{scheme} {promise.model}")
    try:
        chosen = make_generalizing(scheme, randomness(seed), **options)
        model = fit(_model(promise, draft.secret), draft.cells.value_counts, draft.cells.sensitive)
        plan = chosen.plan(draft.cells, model)
    except (InputError, InfeasibleError) as error:
        outcome.refused = refusal(error)
        return outcome
    if promise.model == "delta-disclosure" and promise.beta is not None:
        delta = model.parameters["delta"]
        outcome.expect(is_near(delta, delta_for(promise.beta, draft.secret.counts)), "figure", "delta for beta")
        promise = Promise(promise.model, None, promise.k, {"delta": delta})
    _check_counts(outcome, draft.cells, plan)
    if outcome.failures:
        return outcome
    matrix = np.zeros((plan.n_classes, len(draft.secret.counts)), dtype=np.int64)
    np.add.at(matrix, (plan.ec, draft.cells.value[plan.cell]), plan.count)
    judged = judge(matrix, draft.secret, promise)
    outcome.bounds += judged.compared
    outcome.expect(judged.broken == 0, "promise", f"{judged.broken} bounds of {promise.model} broken by {scheme}")
    return outcome


def _model(promise: Promise, secret: Secret) -> Any:
    parameters = dict(promise.parameters)
    if promise.cap is not None:
        return make_model("enhanced", promise.k, {"cap": _checked_cap(CAPS.index(promise.cap)), **parameters})
    return make_model(promise.model, promise.k, {"beta": promise.beta, **parameters})


@cache
def _checked_cap(number: int) -> MonotoneCap:
    return MonotoneCap(CAPS[number])


def _check_counts(outcome: Outcome, cells: Cells, plan: Any) -> None:
    """Every tuple of every cell is in one class, every class has tuples, and its box holds them."""
    placed = np.bincount(plan.cell, weights=plan.count, minlength=len(cells.count))
    outcome.expect(bool((plan.count > 0).all()), "rows", "a fragment without rows")
    outcome.expect(np.array_equal(placed, cells.count), "rows", "cells do not keep their counts")
    outcome.expect(len(np.unique(plan.ec)) == plan.n_classes, "rows", "an empty class, or one beyond their number")
    if outcome.failures:
        return
    corner = cells.points[cells.point[plan.cell]]
    low = np.full((plan.n_classes, corner.shape[1]), 2**30)
    high = np.full((plan.n_classes, corner.shape[1]), -1)
    np.minimum.at(low, plan.ec, corner)
    np.maximum.at(high, plan.ec, corner)
    outcome.expect(np.array_equal(plan.boxes[0], low) and np.array_equal(plan.boxes[1], high), "label", "wrong boxes")


def random_cells(rng: random.Random) -> Draft:
    """A small table, already counted."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    draw = rng.random()
    n_rows = rng.randint(2, 60) if draw < 0.97 else rng.randint(60, 400) if draw < 0.998 else rng.randint(400, 4000)
    axes = [_random_axis(rng, f"q{i}") for i in range(rng.choice([1, 1, 2, 2, 3, 4]))]
    codes = [numbers.integers(0, axis.size, n_rows) for axis in axes]
    if rng.random() < 0.3 and len(axes) > 1:  # columns that depend on each other
        codes[1] = np.minimum(codes[0], axes[1].size - 1)
    value = _random_values(rng, numbers, n_rows)
    sensitive, secret, value = _random_secret(rng, numbers, value)
    keys = np.zeros(n_rows, dtype=np.int64)
    for code, axis in zip(codes, axes, strict=True):
        keys = keys * axis.size + code
    _, first, point = np.unique(keys, return_index=True, return_inverse=True)
    cell_key, count = np.unique(point * len(secret.counts) + value, return_counts=True)
    points = np.column_stack(codes)[first].astype(np.int32)
    weights = tuple(rng.choice([1.0, 1.0, 2.0, 0.1]) for _ in axes)
    n_values = len(secret.counts)
    cells = Cells(
        tuple(axes),
        sensitive,
        weights,
        points,
        (cell_key // n_values).astype(np.int32),
        (cell_key % n_values).astype(np.int32),
        count.astype(np.int64),
    )
    return Draft(cells, secret)


def _random_values(rng: random.Random, numbers: np.random.Generator, n_rows: int) -> np.ndarray:
    """Codes of sensitive values, from even to very skewed, without gaps and at least two."""
    most = min(n_rows, rng.choice([2, 3, 5, 8, 20, 50]))
    steepness = rng.choice([0.0, 0.5, 1.0, 2.0])
    shares = 1 / np.arange(1, most + 1) ** steepness
    value = np.searchsorted(np.cumsum(shares / shares.sum())[:-1], numbers.random(n_rows), side="right")
    value[0], value[-1] = 0, 1
    return np.unique(numbers.permutation(most)[value], return_inverse=True)[1]


@cache
def _fixed_axes(name: str) -> list[Any]:
    """A stock of axes, for building each takes longer than planning."""
    rng = random.Random(f"axes of {name}")
    axes: list[Any] = []
    for size in (1, 2, 3, 5, 9, 20, 60):
        for has_missing in (False, True):
            values = np.array(sorted(rng.sample(range(-500, 500), size)), dtype=np.int64)
            ends = (int(values[0]), int(values[-1]))
            axes.append(OrderedAxis(name, Kind.INTEGER, values, ends, has_missing))
            wide = np.sort(np.array([rng.gauss(0, 1) * 10 ** rng.randint(-9, 9) for _ in range(size)]))
            axes.append(OrderedAxis(name, Kind.REAL, wide, (float(wide[0]), float(wide[-1])), has_missing))
            tree = random_tree(rng, [f"leaf {i}" for i in range(size)])
            axes.append(HierarchyAxis(name, Hierarchy.from_rows(tree), has_missing, is_declared=True))
            axes.append(HierarchyAxis(name, Hierarchy.flat([f"v{i}" for i in range(size)]), has_missing))
    return axes


def _random_axis(rng: random.Random, name: str) -> Any:
    return rng.choice(_fixed_axes(name))


def _random_secret(
    rng: random.Random, numbers: np.random.Generator, value: np.ndarray
) -> tuple[Any, Secret, np.ndarray]:
    counts = np.bincount(value).astype(np.int64)
    size = len(counts)
    kind = rng.choice(["flat", "ordered", "tree", "joint"])
    if kind == "ordered":
        has_missing = size > 2 and rng.random() < 0.2
        found = sorted(rng.sample(range(1000), size - has_missing))
        axis = OrderedAxis("s", Kind.REAL, np.array(found, dtype=np.float64), (found[0], found[-1]), has_missing)
        return axis, Secret(counts, numbers=[Fraction(n) for n in found]), value
    if kind == "tree" and size <= 20:
        tree = Hierarchy.from_rows(random_tree(rng, [f"s{i}" for i in range(size)]))
        return HierarchyAxis("s", tree, is_declared=True), Secret(counts, paths=tree.paths), value
    if kind == "joint" and size > 2 and (joined := _join(numbers, value, size)) is not None:
        codes, value = joined
        secret = Secret(np.bincount(value).astype(np.int64), columns=("s", "u"), codes=codes)
        return JointAxis.of("s + u", ("s", "u"), codes), secret, value
    return HierarchyAxis("s", _flat(size)), Secret(counts), value


@cache
def _flat(size: int) -> Hierarchy:
    return Hierarchy.flat(map(str, range(size)))


def _join(numbers: np.random.Generator, value: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray] | None:
    """A second column of two or three values, and the combinations that occur."""
    other = np.minimum(numbers.integers(0, 3, len(value)), numbers.integers(0, 3, len(value)))
    other = np.unique(other, return_inverse=True)[1]
    if other.max() == 0:
        return None
    keys, combined = np.unique(value * 3 + other, return_inverse=True)
    return np.column_stack([keys // 3, keys % 3]).astype(np.int64), combined
