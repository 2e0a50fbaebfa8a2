"""Small random tables for the tests of SEAM, and its arithmetic in exact integers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from betalike.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.hierarchy import Hierarchy
from betalike.models import Form, Likeness
from betalike.schema import Kind
from betalike.schemes.seam.packing import pack_axes
from betalike.schemes.seam.problem import Problem, pose
from betalike.table import Cells, Plan

DEEP = Hierarchy.from_rows(
    [[f"leaf {i}", f"pair {i // 2}", f"{'low' if i < 6 else 'high'}", "*"] for i in range(9)]  # pair 4: one child
)


def random_axes(rng: np.random.Generator) -> tuple[Axis, ...]:
    """A number, a deep hierarchy and a flat one; some with missing values."""
    n_numbers = int(rng.integers(2, 12))
    numbers = np.sort(rng.choice(50, n_numbers, replace=False))
    lost = rng.random(3) < 0.4
    return (
        OrderedAxis("number", Kind.INTEGER, numbers, (-1.0, 55.0), has_missing=bool(lost[0])),
        HierarchyAxis("place", DEEP, has_missing=bool(lost[1])),
        HierarchyAxis("word", Hierarchy.flat("abcde"), has_missing=bool(lost[2])),
    )


def random_cells(seed: int, n_cells: int = 80, most: int = 9) -> Cells:
    """Cells whose sensitive value depends on the number to a random degree; two sensitive values never occur."""
    rng = np.random.default_rng(seed)
    axes = random_axes(rng)
    sizes = [axis.size for axis in axes]
    corners = rng.integers(0, [*sizes, 6], (n_cells, 4))
    follows = rng.random(n_cells) < rng.choice([0.0, 0.3, 0.8])
    corners[follows, 3] = corners[follows, 0] * 6 // sizes[0]
    distinct = np.unique(corners, axis=0)
    points, point = np.unique(distinct[:, :3], axis=0, return_inverse=True)
    weights = rng.choice([1.0, 1.0, 0.5, 3.0, 0.0], 3)
    return Cells(
        axes=axes,
        sensitive=HierarchyAxis("illness", Hierarchy.flat("stuvwxyz")),
        weights=tuple(weights.tolist()) if weights.any() else (1.0, 1.0, 1.0),
        points=points.astype(np.int32),
        point=point.ravel().astype(np.int32),
        value=distinct[:, 3].astype(np.int32),
        count=rng.integers(1, most, len(distinct)),
    )


def problem_of(counts: list[int], beta: float, form: Form = Form.ENHANCED, k: int = 1) -> Problem:
    """A problem with these sensitive values and no places, for what works on counts alone."""
    axis = OrderedAxis("number", Kind.INTEGER, np.arange(2), (0.0, 1.0))
    caps = Likeness(beta, form).caps(np.array(counts))
    none = np.zeros(0, dtype=np.int32)
    points = np.zeros((0, 1), dtype=np.int32)
    packed = pack_axes([axis], [1.0])
    return Problem(packed, points, none, none, caps.numerator, caps.denominator, caps.frequencies, k)


@dataclass(frozen=True)
class Cut:
    """The counts left and right of a cut of an allowed set, and the problem that it belongs to."""

    problem: Problem
    left: list[int]
    right: list[int]

    @property
    def values(self) -> list[int]:
        """The sensitive values that occur in the set."""
        return [v for v, pair in enumerate(zip(self.left, self.right, strict=True)) if any(pair)]

    @property
    def size(self) -> int:
        """Tuples on both sides."""
        return sum(self.left) + sum(self.right)


def most(problem: Problem, v: int, size: int) -> int:
    """The most tuples of a value that a set of this size may hold, exactly."""
    return int(problem.numerator[v]) * size // int(problem.denominator[v])


def is_allowed(problem: Problem, counts: list[int]) -> bool:
    """Whether a set keeps the promise; an empty one does."""
    return all(count <= most(problem, v, sum(counts)) for v, count in enumerate(counts))


def random_cut(seed: int, largest: int = 60, k: int = 1) -> Cut:
    """A cut of a whole table, or of an allowed part of it, from even to wholly one-sided."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    table = rng.integers(1, max(largest // m, 2), m)
    form, beta = list(Form)[int(rng.integers(2))], float(rng.choice([0.3, 1, 2, 4]))
    problem = problem_of(table.tolist(), beta, form, k)
    part = rng.binomial(table, rng.choice([0.3, 0.6, 1.0]))
    if not is_allowed(problem, part.tolist()) or not part.any():
        part = table
    left = rng.binomial(part, rng.random(m) ** rng.choice([0.3, 1, 3]))
    return Cut(problem, left.tolist(), (part - left).tolist())


def check_plan(plan: Plan, cells: Cells, model: Likeness) -> None:
    """Every tuple is handed out once, and every class keeps the promise."""
    handed_out: Counter[int] = Counter()
    for cell, count in zip(plan.cell.tolist(), plan.count.tolist(), strict=True):
        assert count > 0
        handed_out[cell] += count
    assert handed_out == dict(enumerate(cells.count.tolist()))
    fragments = list(zip(plan.cell.tolist(), plan.ec.tolist(), strict=True))
    assert len(set(fragments)) == len(fragments)
    assert sorted(set(plan.ec.tolist())) == list(range(plan.n_classes))
    problem = pose(cells, model)
    for ec in range(plan.n_classes):
        inside = plan.ec == ec
        counts = np.bincount(cells.value[plan.cell[inside]], plan.count[inside], cells.sensitive.size).astype(int)
        assert is_allowed(problem, counts.tolist())
        assert counts.sum() >= model.k
