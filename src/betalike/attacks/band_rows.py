"""Band rows: which rows SEAM sends to a seam reveals something, because it sends values of which a side has too many.

An adversary who knows everybody's quasi-identifiers, who is in which part, and the values of each part does not know
which side of a seam has which values. An assignment counts if SEAM would have filled its cores with these values; its
weight is the chance that SEAM draws these rows from the bands beside the cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from betalike.attacks.band_sampler import walk_band
from betalike.promises import Model, plain_likeness_of
from betalike.runtime.arrays import Bools, Floats, Ids, Ints, Words
from betalike.runtime.draws import draws_from
from betalike.runtime.randomness import Randomness
from betalike.schemes.seam import WAYS
from betalike.schemes.seam.group import Group, gather
from betalike.schemes.seam.problem import SplitProblem, pose
from betalike.schemes.seam.splitting import box_loss, box_of, cut_set
from betalike.table.cells import Cells

BURNED, ROUNDS = 20, 30


@dataclass(frozen=True)
class BandCut:
    """A cut that left a seam: its members with part, side, place and value, and whether they lie in a band.

    Values are numbered as in the group. `is_class` says which parts are final classes.
    """

    group: Group
    part: Ids
    side: Ids
    is_near: Bools
    place: Ints
    value: Ids
    is_class: tuple[bool, bool, bool]

    @property
    def cores(self) -> Floats:
        """Tuples of each value in both cores."""
        cores = np.zeros((2, len(self.group.total)))
        in_core = self.part < 2
        np.add.at(cores, (self.part[in_core], self.value[in_core]), 1.0)
        return cores


def cuts_of_seam(cells: Cells, model: Model, randomness: Randomness) -> list[BandCut]:
    """Return every cut by SEAM that left a seam, split the most promising way and not improved afterwards."""
    problem, draws = pose(cells, plain_likeness_of(model, "seam")), draws_from(randomness)
    reserve, looks_ahead = WAYS[0]
    number = np.full(cells.sensitive.size, -1, dtype=np.int32)
    cuts: list[BandCut] = []

    def cut(cell: Ids, count: Ints) -> tuple[Ids, Ints] | None:
        side, kept = np.zeros(len(cell), dtype=np.int8), np.zeros(len(cell), dtype=np.int64)
        is_cut = cut_set(problem, cell, count, reserve, looks_ahead, number, draws, side, kept)
        return (side.astype(np.int32), kept) if is_cut else None

    everything = np.arange(len(cells.count), dtype=np.int32)
    first = cut(everything, cells.count)
    stack = [] if first is None else [(everything, cells.count, first)]
    while stack:
        cell, count, (side, kept) = stack.pop()
        is_class = []
        for tuples in (np.where(side == 0, kept, 0), np.where(side == 1, kept, 0), count - kept):
            some = tuples > 0
            found = cut(cell[some], tuples[some]) if some.any() else None
            is_class.append(bool(some.any()) and found is None)
            if found is not None:
                stack.append((cell[some], tuples[some], found))
        if (count > kept).any() and any(is_class):
            members = _members(problem, cells, (cell, count, side, kept), reserve, number)
            if members is not None:
                cuts.append(replace(members, is_class=(is_class[0], is_class[1], is_class[2])))
    return cuts


def _members(
    problem: SplitProblem, cells: Cells, of: tuple[Ids, Ints, Ids, Ints], reserve: float, number: Ids
) -> BandCut | None:
    """Return the members of a cut along the axis that separates its sides; None if several do, or a core is empty."""
    cell, count, side, kept = of
    codes = cells.points[cells.point[cell]].astype(np.int64)
    apart = [i for i in range(codes.shape[1]) if not np.intersect1d(codes[side == 0, i], codes[side == 1, i]).size]
    if len(apart) != 1 or any(not kept[side == each].any() for each in (0, 1)):
        return None
    code, sent = codes[:, apart[0]], count - kept
    is_near = np.zeros(len(cell), dtype=bool)
    for each, sign in ((0, 1), (1, -1)):
        far = sign * code[(side == each) & (sent > 0)]
        is_near |= (side == each) & (sign * code >= far.min(initial=np.iinfo(np.int64).max))
    group = gather(problem, cell, count, box_loss(problem, *box_of(problem, cell)), reserve, number)
    rows = [np.repeat(np.arange(len(cell)), tuples) for tuples in (kept, sent)]
    row = np.concatenate(rows)
    part = np.concatenate([side[rows[0]], np.full(len(rows[1]), 2)]).astype(np.int32)
    place = np.unique(np.column_stack([part, codes[row]]), axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    return BandCut(group, part, side[row], is_near[row], place, group.value[row], (False, False, False))


def chances_in_cut(cut: BandCut, words: Words) -> tuple[Floats, Floats] | None:
    """Return the chances of each value at each place, from two halves of the walks; None if hardly any walk starts."""
    order = np.argsort(cut.part, kind="stable").astype(np.int32)
    starts = np.searchsorted(cut.part[order], np.arange(4)).astype(np.int64)
    shape = int(cut.place.max()) + 1, len(cut.group.total)
    tallies = np.zeros((2, *shape))
    n_found = 0
    for state in np.split(words.copy(), len(words)):
        own = cut.value.copy()
        members = own, cut.part, cut.side, cut.is_near, order, starts, cut.place
        n_found += walk_band(cut.group, cut.cores, *members, tallies[n_found % 2], BURNED, ROUNDS, state)
    if 2 * n_found < len(words) or n_found < 2:
        return None
    first, second = (tally / np.maximum(tally.sum(axis=1, keepdims=True), 1.0) for tally in tallies)
    return first, second


def parts_of(cut: BandCut) -> Iterator[Ints]:
    """Yield the members of each part that is a final class."""
    for number, is_class in enumerate(cut.is_class):
        if is_class:
            yield np.flatnonzero(cut.part == number)
