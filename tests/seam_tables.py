"""Small random tables for the tests of SEAM, and its arithmetic in exact integers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from betalike.promises import Form, Likeness
from betalike.runtime.draws import Draws, draws_from
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes.packing import pack_axes
from betalike.schemes.seam.group import Group, gather
from betalike.schemes.seam.problem import SplitProblem, pose
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells, Plan
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

Size = TypeVar("Size", int, NDArray[np.int64])
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


def wide_cells(seed: int, n_cells: int = 600) -> Cells:
    """Cells of a table with more numbers, and more words in one flat hierarchy, than can be told apart at once."""
    rng = np.random.default_rng(seed)
    words = HierarchyAxis("word", Hierarchy.flat(map(str, range(400))), has_missing=True)
    points = np.unique(np.column_stack((rng.integers(0, 901, n_cells), rng.integers(0, 401, n_cells))), axis=0)
    return Cells(
        axes=(OrderedAxis("number", Kind.INTEGER, np.arange(900), (0.0, 899.0), has_missing=True), words),
        sensitive=HierarchyAxis("illness", Hierarchy.flat("stuvwxyz")),
        weights=(1.0, 1.0),
        points=points.astype(np.int32),
        point=np.arange(len(points), dtype=np.int32),
        value=((points[:, 0] // 300 + rng.integers(0, 4, len(points))) % 6).astype(np.int32),
        count=rng.integers(1, 5, len(points)),
    )


def problem_of(counts: list[int], beta: float, form: Form = Form.ENHANCED, k: int = 1) -> SplitProblem:
    """A problem with a cell for each sensitive value and no places, for what works on counts alone."""
    axis = OrderedAxis("number", Kind.INTEGER, np.arange(2), (0.0, 1.0))
    caps = Likeness(beta, form).caps(np.array(counts))
    none = np.zeros(0, dtype=np.int32)
    points = np.zeros((0, 1), dtype=np.int32)
    value = np.arange(len(counts), dtype=np.int32)
    return SplitProblem(pack_axes([axis], [1.0]), points, none, value, caps.numerator, caps.denominator, k)


def group_of(problem: SplitProblem, counts: list[int], reserve: float = 0.0, loss: float = 1.0) -> Group:
    """A group with so many tuples of each sensitive value; those that do not occur have no number in it."""
    held = np.flatnonzero(counts).astype(np.int32)
    return gather(problem, held, np.array(counts)[held], loss, reserve, scratch(problem))


def scratch(problem: SplitProblem) -> NDArray[np.int32]:
    """What `gather` asks for: a place for each sensitive value."""
    return np.full(len(problem.numerator), -1, dtype=np.int32)


def draws(seed: int = 0) -> Draws:
    """Random words that are the same for the same seed."""
    return draws_from(SeededRandomness(seed))


@dataclass(frozen=True)
class Cut:
    """The counts left and right of a cut of an allowed set, and the problem that it belongs to."""

    problem: SplitProblem
    left: list[int]
    right: list[int]

    @property
    def values(self) -> list[int]:
        """The sensitive values that occur in the set."""
        return [v for v, pair in enumerate(zip(self.left, self.right, strict=True)) if any(pair)]

    @property
    def total(self) -> list[int]:
        """How often each sensitive value occurs on both sides."""
        return [a + b for a, b in zip(self.left, self.right, strict=True)]

    @property
    def size(self) -> int:
        """Tuples on both sides."""
        return sum(self.total)

    def numbered(self, counts: list[int]) -> NDArray[np.float64]:
        """Counts as a group holds them: of the values that occur alone, as floats."""
        return np.array([counts[v] for v in self.values], dtype=np.float64)


def most(problem: SplitProblem, v: int, size: Size) -> Size:
    """The most tuples of a value that a set of this size may hold, exactly."""
    return int(problem.numerator[v]) * size // int(problem.denominator[v])


def is_allowed(problem: SplitProblem, counts: list[int]) -> bool:
    """Whether a set keeps the promise; an empty one does."""
    return all(count <= most(problem, v, sum(counts)) for v, count in enumerate(counts))


def can_part_into(problem: SplitProblem, left: list[int], right: list[int]) -> NDArray[np.bool_]:
    """For each pair of core sizes, whether both cores and the rest can be allowed: a flow from values to sets.

    It exists just if no set of values and sets is short of room, which the sums below tell; k is looked at too.
    """
    in_cores = np.mgrid[: sum(left) + 1, : sum(right) + 1]
    sizes = (*in_cores, sum(left) + sum(right) - in_cores.sum(axis=0))
    is_size = np.all([(size == 0) | (size >= problem.k) for size in sizes], axis=0)
    most_left, most_right, for_seam, only_left, only_right, short = np.zeros((6, *is_size.shape), dtype=np.int64)
    for v, (a, b) in enumerate(zip(left, right, strict=True)):
        in_left, in_right = np.minimum(most(problem, v, sizes[0]), a), np.minimum(most(problem, v, sizes[1]), b)
        not_in_seam = np.maximum(a + b - most(problem, v, sizes[2]), 0)
        most_left += in_left
        most_right += in_right
        for_seam += a + b - not_in_seam
        only_left += np.maximum(not_in_seam - in_right, 0)
        only_right += np.maximum(not_in_seam - in_left, 0)
        short += np.maximum(not_in_seam - in_left - in_right, 0)
    is_full = (most_left >= sizes[0]) & (most_right >= sizes[1]) & (for_seam >= sizes[2])
    return is_size & is_full & (only_left <= sizes[0]) & (only_right <= sizes[1]) & (short == 0)


def best_gain(problem: SplitProblem, left: list[int], right: list[int], gains: tuple[float, float]) -> float:
    """The most that cores of any sizes gain, if each tuple of theirs gains so much."""
    sizes = np.mgrid[: sum(left) + 1, : sum(right) + 1]
    return float((sizes[0] * gains[0] + sizes[1] * gains[1])[can_part_into(problem, left, right)].max(initial=0.0))


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
