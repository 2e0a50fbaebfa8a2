"""Small random classes for Hypothesis, with promises that they keep, break, or just reach."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

import promise_twins
from betalike.promises import Anonymity, Closeness, Disclosure, Diversity, Form, Likeness, Model, Variety
from betalike.promises.distances import Ground
from betalike.table.axis import Axis, HierarchyAxis, OrderedAxis
from betalike.table.cells import ClassCounts
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind
from random_tables import hierarchies

NAMES = (
    "enhanced-likeness",
    "basic-likeness",
    "t-closeness",
    "delta-disclosure",
    "distinct-l-diversity",
    "entropy-l-diversity",
    "recursive-l-diversity",
    "k-anonymity",
)


def class_counts(matrix: Sequence[Sequence[int]]) -> ClassCounts:
    """Classes with these counts of each value."""
    counts = np.array(matrix)
    ec, value = np.nonzero(counts)
    return ClassCounts.of(ec, value, counts[ec, value], counts.shape[1])


def told(model: Model) -> dict[str, Any]:
    """A promise as a certificate tells it."""
    return {"model": model.name, "beta": model.beta, "k": model.k, "parameters": dict(model.parameters)}


@dataclass(frozen=True)
class Case:
    """Classes, the counts of a table, and the values that both are of."""

    matrix: list[list[int]]
    counts: list[int]
    axis: Axis

    @property
    def classes(self) -> ClassCounts:
        """The classes for the models."""
        return class_counts(self.matrix)

    @property
    def table(self) -> np.ndarray:
        """The counts of the table for the models."""
        return np.array(self.counts, dtype=np.int64)

    @property
    def twins(self) -> list[Counter]:
        """The classes for the twins."""
        return [Counter({v: n for v, n in enumerate(row) if n}) for row in self.matrix]

    @cached_property
    def prior(self) -> promise_twins.Prior:
        """The counts of the table for the twins."""
        order = range(len(self.counts))
        if not isinstance(self.axis, HierarchyAxis):
            return promise_twins.Prior(dict(enumerate(self.counts)), order)
        rows = self.axis.hierarchy.paths
        missing = [("missing",) * (len(rows[0]) - 1) + ("*",)] * self.axis.has_missing
        return promise_twins.Prior(dict(enumerate(self.counts)), order, [*rows, *missing])

    @property
    def grounds(self) -> list[Ground]:
        """The distances that the values have."""
        own = Ground.HIERARCHICAL if isinstance(self.axis, HierarchyAxis) else Ground.ORDERED
        return [Ground.EQUAL, own]


@st.composite
def axes(draw: st.DrawFn, n_values: int) -> Axis:
    """Numbers, or values in a random hierarchy, perhaps with a missing one."""
    has_missing = n_values > 2 and draw(st.booleans())
    n_present = n_values - has_missing
    if draw(st.booleans()):
        return OrderedAxis("s", Kind.REAL, np.arange(n_present) ** 2.0, (0.0, (n_present - 1) ** 2.0), has_missing)
    tree = Hierarchy.from_rows(draw(hierarchies([f"value {i}" for i in range(n_present)])))
    return HierarchyAxis("s", tree, has_missing)


@st.composite
def cases(draw: st.DrawFn, most: int = 9) -> Case:
    """Some classes that make up a table; or a table of its own, which may be smaller than they are."""
    n_values = draw(st.integers(2, 5))
    row = st.lists(st.integers(0, most), min_size=n_values, max_size=n_values).filter(any)
    matrix = draw(st.lists(row, min_size=1, max_size=4))
    counts = np.sum(matrix, axis=0).tolist()
    if draw(st.booleans()):
        counts = [min(n, 1) * draw(st.integers(1, most)) for n in counts]
    return Case(matrix, counts, draw(axes(n_values)))


def near(number: float) -> st.SearchStrategy[float]:
    """A number, or one of its two neighbours."""
    return st.sampled_from([math.nextafter(number, 0), number, math.nextafter(number, math.inf)])


@st.composite
def models(draw: st.DrawFn, name: str, case: Case) -> Model:
    """A promise, often one that some class just reaches, or just does not."""
    k = draw(st.integers(1, 3) | st.just(sum(case.matrix[0])))
    is_near = draw(st.booleans())
    ec = draw(st.sampled_from(case.twins))
    size = ec.total()
    if name.endswith("-likeness"):
        value, count = draw(st.sampled_from(sorted(ec.items())))
        gain = count * sum(case.counts) / (size * case.counts[value]) - 1
        beta = draw(near(gain)) if is_near and gain > 0 else draw(st.floats(0.1, 5))
        return Likeness(beta, Form(name.removesuffix("-likeness")), k)
    if name == "t-closeness":
        ground = draw(st.sampled_from(case.grounds))
        reached = float(promise_twins.distance(str(ground), case.prior, ec))
        return Closeness(draw(near(reached)) if is_near and 0 < reached < 1 else draw(st.floats(0.01, 1)), ground, k)
    if name == "delta-disclosure":
        value, count = draw(st.sampled_from(sorted(ec.items())))
        change = abs(math.log(count * sum(case.counts) / (size * case.counts[value])))
        return Disclosure(draw(near(change)) if is_near and change > 0 else draw(st.floats(0.01, 3)), k)
    if name == "entropy-l-diversity":
        worth = math.exp(-sum(n / size * math.log(n / size) for n in ec.values()))
        least = draw(near(worth) | st.just(round(worth))) if is_near else draw(st.floats(1, 5))
        return Diversity(max(least, 1), Variety.ENTROPY, k=k)
    rank = draw(st.integers(1, 4))
    if name == "distinct-l-diversity":
        return Diversity(rank, Variety.DISTINCT, k=k)
    if name == "recursive-l-diversity":
        top, tail = promise_twins.top_and_tail(ec, rank)
        return Diversity(
            rank, Variety.RECURSIVE, draw(near(top / tail)) if is_near and tail else draw(st.floats(0.1, 9)), k
        )
    return Anonymity(draw(st.integers(2, 20)))
