"""BUREL: BUcketize the sensitive values, then REallocate tuples to classes, for beta-Likeness. Paper: Section 4."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from betalike.promises import Caps, Model, plain_likeness_of
from betalike.runtime.arrays import Ids, IntGrid, Ints
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.schemes.burel.buckets import fewest_buckets
from betalike.schemes.burel.ectree import class_draws
from betalike.schemes.burel.further_split import split_further
from betalike.schemes.fragments import count_fragments, gather_classes
from betalike.schemes.retrieval import Retrieval, fill_classes, keys_of_grid, take_nearest_on_curve
from betalike.table.cells import Cells, Plan

__all__ = ["Burel", "Retrieval"]


@dataclass(frozen=True)
class Burel:
    """The paper's generalization scheme; `split` adds a step that the paper's figures used but its text omits."""

    split: bool = False
    retrieval: Retrieval = Retrieval.HILBERT
    randomness: Randomness = field(default_factory=SystemRandomness)

    @property
    def kernels(self) -> tuple[object, ...]:
        """Those that take long to compile."""
        retrieving = (take_nearest_on_curve, keys_of_grid) if self.retrieval == Retrieval.HILBERT else ()
        splitting = (split_further,) if self.split else ()
        return (*retrieving, class_draws, gather_classes, count_fragments, *splitting)

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "burel+split" if self.split else "burel"

    def plan(self, cells: Cells, model: Model, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise. Paper: 4.5, Algorithm BUREL."""
        caps = plain_likeness_of(model, self.name).caps(cells.value_counts)
        buckets = fewest_buckets(cells.value_counts, caps)
        rarest = np.array([bucket[0] for bucket in buckets])
        bucket_sizes = np.array([cells.value_counts[bucket].sum() for bucket in buckets])
        draws = class_draws(bucket_sizes, caps.numerator[rarest], caps.denominator[rarest], model.k)
        members, class_start = fill_classes(cells, buckets, draws, self.retrieval, self.randomness, progress)
        if self.split:
            members, class_start = _split(members, class_start, draws, cells, caps, model.k)
        cell, count, ec = count_fragments(members, class_start, len(cells.count))
        return Plan(cells, cell, count, ec, len(class_start) - 1, {"buckets": len(buckets), "leaves": len(draws)})


def _split(members: Ids, class_start: Ints, draws: IntGrid, cells: Cells, caps: Caps, k: int) -> tuple[Ids, Ints]:
    return split_further(members, class_start, draws, cells.value, caps.numerator, caps.denominator, k)
