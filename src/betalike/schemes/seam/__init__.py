"""SEAM: Split with an Exchange At the Margin, the scheme that loses least at the same promise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from betalike.errors import ParameterError
from betalike.measures.loss import plan_loss
from betalike.promises import Model, likeness_of
from betalike.runtime.draws import draws_from
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.schemes.presplit import part
from betalike.schemes.seam.cooling import Cooling
from betalike.schemes.seam.improving import improve, resplit_windows
from betalike.schemes.seam.problem import SplitProblem, pose
from betalike.schemes.seam.splitting import split_set
from betalike.table.cells import Cells, Plan

WINDOWS = (8, 8, 4, 16)  # neighbouring classes that are merged and split again, pass by pass
# Ways to split, the most promising first: how much slack to reserve, and whether to look ahead in hierarchies.
WAYS = tuple(
    (reserve, looks_ahead)
    for reserves in ((0.1, 0.15), (0.05, 0.2), (0.15, 0.1), (0.2, 0.05), (0.0, 0.0), (0.3, 0.3))
    for reserve, looks_ahead in zip(reserves, (True, False), strict=True)
)
# How much is tried, in cells: a table is split, and the best split improved, as often as it fits into these, at least
# once and at most as often as given.
CELLS_TO_SPLIT, MOST_WAYS = 200_000, len(WAYS)
CELLS_TO_REPEAT, MOST_ROUNDS = 10_000, 4  # all ways again with other draws, which matter in small tables
WAYS_WITHOUT_EFFORT = 2  # tried once, and the better split is left as it is
CELLS_TO_IMPROVE, MOST_PASSES = 550_000, 80
SMALL = 20_000  # tables with fewer cells are improved twice as often, which is still quick
MOST_EFFORT = 1000
FIRST_PARTS = 16  # the table is divided into about this many sets, which are then split on all cores
# A table with too many cells to be split in two ways, and few rows per cell, is first cut at medians. That loses less.
ROWS_PER_CELL, PRESPLIT_PARTS, WAY_TO_SPLIT_PARTS = 2, 8, (0.3, True)


@dataclass(frozen=True)
class Seam:
    """Cuts like Mondrian, and repairs each cut with the fewest tuples, taken from beside it.

    It reads sensitive values when it cuts, so Section 7's argument against minimality attacks does not cover it.
    """

    randomness: Randomness = field(default_factory=SystemRandomness)
    effort: int = 1
    kernels = (split_set, resplit_windows)  # which take long to compile

    def __post_init__(self) -> None:
        """Check the effort."""
        if isinstance(self.effort, bool) or not isinstance(self.effort, int) or not 0 <= self.effort <= MOST_EFFORT:
            raise ParameterError(f"effort is {self.effort!r}; it must be a whole number from 0 to {MOST_EFFORT}.")

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "seam"

    def plan(self, cells: Cells, model: Model, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise: split in several ways, improve the best result, and anneal it."""
        likeness = likeness_of(model, self.name)
        problem, cooling = pose(cells, likeness), Cooling(cells, likeness, self.randomness)
        n_ways = min(max(CELLS_TO_SPLIT // len(cells.count), 1), MOST_WAYS)
        n_rounds = min(max(CELLS_TO_REPEAT // (MOST_WAYS * len(cells.count)), 1), MOST_ROUNDS)
        if self.effort == 0:
            n_ways, n_rounds = min(n_ways, WAYS_WITHOUT_EFFORT), 1
        more = 2 if len(cells.count) < SMALL else 1
        n_passes = min(max(more * CELLS_TO_IMPROVE // len(cells.count), 1), MOST_PASSES)
        passes = list(range(self.effort * n_passes))
        parts = _presplit(cells, model)
        if parts is None:
            plans = [_split(problem, cells, *way, self.randomness) for way in WAYS[:n_ways] * n_rounds]
        else:
            plans = [improve(problem._replace(is_hasty=True), parts, 1, 0, *WAY_TO_SPLIT_PARTS, self.randomness)]
            passes = passes[1:]  # one pass would cost half as much as the split, and gain a hundredth
        before = plan = min(plans, key=_loss) if len(plans) > 1 else plans[0]
        for number in progress.track(passes, "improving classes"):
            if number >= n_passes and number % n_passes == 0:  # each effort after the first begins with annealing
                before, plan = plan, cooling.cool(plan)
            reserve, looks_ahead = WAYS[number % len(WAYS)]
            window = WINDOWS[number % len(WINDOWS)]
            offset = window // 2 * (number % 2)
            plan = improve(problem, plan, window, offset, reserve, looks_ahead, self.randomness, turn=number // 2)
            if number >= n_passes and (number + 1) % n_passes == 0:  # annealing may have lost more
                plan = min(before, plan, key=_loss)
        return plan


def _loss(plan: Plan) -> float:
    return plan_loss(plan).average


def _split(problem: SplitProblem, cells: Cells, reserve: float, looks_ahead: bool, randomness: Randomness) -> Plan:
    everything = np.arange(len(cells.count), dtype=np.int32)
    small = len(everything) // FIRST_PARTS
    plan = Plan(
        cells, *split_set(problem, everything, cells.count, reserve, looks_ahead, small, draws_from(randomness))
    )
    return improve(problem, plan, 1, 0, reserve, looks_ahead, randomness)


def _presplit(cells: Cells, model: Model) -> Plan | None:
    """Return the parts of a large table that are split on their own, if it has any."""
    if len(cells.count) <= CELLS_TO_SPLIT or cells.n_rows > ROWS_PER_CELL * len(cells.count):
        return None
    parts = part(cells, model, cells.n_rows // (PRESPLIT_PARTS - 1))
    return parts if parts.n_classes > 1 else None
