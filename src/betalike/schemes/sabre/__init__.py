"""SABRE: bucketize sensitive values by their distance, then redistribute tuples to classes, for t-closeness.

After J. Cao, P. Karras, P. Kalnis and K.-L. Tan, 2011.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from betalike.errors import ParameterError
from betalike.promises import Closeness, Model, Rule
from betalike.promises.distances import Ground
from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.schemes.fragments import count_fragments, spread_cells
from betalike.schemes.packing import pack_axes
from betalike.schemes.retrieval import Entries, Retrieval, fill_classes
from betalike.schemes.sabre.buckets import bucket_sizes, near_buckets
from betalike.schemes.sabre.draws import class_draws
from betalike.schemes.sabre.parting import part_classes
from betalike.table.cells import Cells, Plan, shuffle_within


class Redistribution(StrEnum):
    """What determines how many tuples a class draws from each bucket."""

    SPACE = "space"
    COUNTS = "counts"


@dataclass(frozen=True)
class Sabre:
    """Classes that draw from each bucket of near values about as the table does.

    With `counts`, as published, the draws are fixed before any tuple is read, and each class is filled along the
    Hilbert curve around a random tuple. With `space`, classes are cut where tuples lie, so that draws follow the tuples
    as far as t allows; a class that no cut is allowed for is halved along the curve, bucket by bucket.
    """

    redistribution: Redistribution = Redistribution.SPACE
    randomness: Randomness = field(default_factory=SystemRandomness)

    def __post_init__(self) -> None:
        if self.redistribution not in list(Redistribution):
            raise ParameterError(
                f"redistribution is '{self.redistribution}'; it must be one of: {', '.join(Redistribution)}."
            )

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "sabre"

    def plan(self, cells: Cells, model: Model, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise."""
        if not isinstance(model, Closeness):
            raise ParameterError(
                f"the scheme 'sabre' keeps t-closeness, not {model.name}. Take the scheme 'mondrian', which keeps "
                "every promise."
            )
        rule = model.rule(cells.value_counts, cells.sensitive)
        starts = near_buckets(rule, model.ground_of(cells.sensitive) is Ground.ORDERED)
        if self.redistribution == Redistribution.COUNTS:
            members, class_start = self._fill(cells, rule, starts, progress)
        else:
            members, class_start = self._part(cells, rule, starts, progress)
        fragments = count_fragments(members, class_start, len(cells.count))
        details = {"redistribution": str(self.redistribution), "buckets": len(starts) - 1}
        return Plan(cells, *fragments, len(class_start) - 1, details)

    def _fill(self, cells: Cells, rule: Rule, starts: Ints, progress: Progress) -> tuple[Ids, Ints]:
        draws = class_draws(rule, starts, bucket_sizes(rule.prior, starts))
        return fill_classes(cells, _values(starts), draws, Retrieval.HILBERT, self.randomness, progress)

    def _part(self, cells: Cells, rule: Rule, starts: Ints, progress: Progress) -> tuple[Ids, Ints]:
        progress.start("parting classes")
        entries = Entries.of(cells, _values(starts))
        tuples, tuple_start = spread_cells(entries.cell_start, entries.cells, cells.count)
        shuffle_within(tuples, tuple_start, self.randomness)
        return part_classes(
            tuples,
            tuple_start[entries.bucket_start],
            pack_axes(cells.axes, cells.weights),
            cells.points,
            cells.point,
            cells.value,
            rule,
            cells.sensitive.size,
        )


def _values(starts: Ints) -> list[Ints]:
    """Return the values of each bucket."""
    return [np.arange(begin, end) for begin, end in itertools.pairwise(starts)]
