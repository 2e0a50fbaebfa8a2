"""t-closeness: the distribution in a class is never far from the table's. Paper: Section 2, after Li et al."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from betalike.errors import ParameterError
from betalike.promises.caps import fraction_below
from betalike.promises.distances import Ground, earth_movers_distances, edges_of, natural_ground
from betalike.promises.parameters import choose
from betalike.promises.rule import ANYTHING, Rule
from betalike.promises.verdict import Model, Verdict, apply, exact, verdict_on
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis, HierarchyAxis
from betalike.table.cells import ClassCounts


@dataclass(frozen=True)
class Closeness(Model):
    """The promise that the earth mover's distance of every class from the table is at most t.

    Without a ground distance, the natural one is taken: ordered for numbers, along the hierarchy if there is one.
    """

    t: float
    ground: Ground | str | None = None
    k: int = 1

    name = "t-closeness"

    def __post_init__(self) -> None:
        if self.ground is not None:
            object.__setattr__(self, "ground", choose(Ground, self.ground, "ground"))
        super().__post_init__()

    def ground_of(self, sensitive: Axis) -> Ground:
        """Return how distances between values of this attribute are measured."""
        return natural_ground(sensitive) if self.ground is None else Ground(self.ground)

    def settle(self, counts: Ints, sensitive: Axis) -> Closeness:
        """Decide on the ground distance; refuse values that have no such distance."""
        ground = self.ground_of(sensitive)
        if ground is Ground.ORDERED and not sensitive.kind.is_ordered:
            raise ParameterError(
                f"the ground is 'ordered', but the sensitive column '{sensitive.name}' is categorical. Take 'equal', "
                "or 'hierarchical' with a hierarchy of its values."
            )
        if ground is Ground.HIERARCHICAL and not isinstance(sensitive, HierarchyAxis):
            raise ParameterError(
                f"the ground is 'hierarchical', but the sensitive column '{sensitive.name}' holds numbers or dates. "
                "Take 'ordered' or 'equal', or give a hierarchy of its values."
            )
        return replace(self, ground=ground)

    def rule(self, counts: Ints, sensitive: Axis, largest_class: int = 0) -> Rule:
        """Demand a distance of at most t."""
        edges = edges_of(self.ground_of(sensitive), sensitive, len(counts))
        n_rows = int(counts.sum())
        largest = max(n_rows, largest_class)
        if edges.scale * n_rows * largest >= 2**62:
            most = math.isqrt(2**62 // edges.scale)
            raise ParameterError(
                f"t-closeness is decided exactly for up to {most} rows with {len(counts)} sensitive values, but there "
                f"are {largest}. Group the sensitive values first, or choose another promise."
            )
        work = exact(self.t) * edges.scale * n_rows
        part = fraction_below(work - math.floor(work), largest)
        return ANYTHING._replace(
            k=self.k,
            prior=counts,
            first=edges.first,
            last=edges.last,
            length=edges.length,
            whole=math.floor(work),
            part_numerator=part.numerator,
            part_denominator=part.denominator,
        )

    def judge(self, classes: ClassCounts, counts: Ints, sensitive: Axis) -> Verdict:
        """Decide, exactly, whether every class keeps the promise."""
        distances = earth_movers_distances(classes, counts / counts.sum(), self.ground_of(sensitive), sensitive)
        rule = self.rule(counts, sensitive, int(classes.sizes.max()))
        with np.errstate(over="ignore"):  # a tiny t makes them infinite
            shares = distances / self.t
        return verdict_on(apply(rule, classes), shares, classes, counts)
