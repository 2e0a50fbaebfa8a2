"""SEAM: Split with an Exchange At the Margin, the scheme that loses least at the same promise."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from betalike.loss import plan_loss
from betalike.models import Likeness
from betalike.progress import SILENT, Progress
from betalike.randomness import Randomness, SystemRandomness
from betalike.schemes.seam.improving import improve
from betalike.schemes.seam.problem import Problem, pose
from betalike.schemes.seam.splitting import split_set
from betalike.table import Cells, Plan

WINDOWS = (8, 8, 4, 16)  # neighbouring classes that are merged and split anew, pass by pass
# Ways to split, the most promising first: how much slack to reserve, and whether to look ahead in hierarchies.
WAYS = tuple(
    (reserve, looks_ahead)
    for reserves in ((0.1, 0.15), (0.05, 0.2), (0.15, 0.1), (0.2, 0.05), (0.0, 0.0), (0.3, 0.3))
    for reserve, looks_ahead in zip(reserves, (True, False), strict=True)
)
# How much is tried: tables of up to so many cells are split in so many ways, and so many of the best results improved
# in so many passes; a split that starts worse may end better.
EFFORTS = ((25_000, 12, 4, 12), (60_000, 2, 1, 2))
LEAST_EFFORT = (1, 1, 0)


@dataclass(frozen=True)
class Seam:
    """Cuts like Mondrian, and repairs each cut with the fewest tuples, taken from beside it.

    It looks at sensitive values when it cuts, so Section 7's argument against minimality attacks does not cover it.
    """

    randomness: Randomness = field(default_factory=SystemRandomness)

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "seam"

    def plan(self, cells: Cells, model: Likeness, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise: split in several ways, and improve the best result."""
        problem = pose(cells, model)
        fitting = [effort[1:] for effort in EFFORTS if len(cells.count) <= effort[0]]
        n_ways, n_kept, n_passes = fitting[0] if fitting else LEAST_EFFORT
        with ThreadPoolExecutor(2) as pool:
            plans = list(pool.map(lambda way: _split(problem, cells, *way), WAYS[:n_ways]))
        kept = sorted(plans, key=lambda plan: plan_loss(plan).average)[:n_kept]
        steps = [(number, place) for place in range(n_kept) for number in range(n_passes)]
        for number, place in progress.track(steps, "improving classes"):
            reserve, looks_ahead = WAYS[number % len(WAYS)]
            window = WINDOWS[number % len(WINDOWS)]
            offset = window // 2 * (number % 2)
            kept[place] = improve(problem, kept[place], window, offset, reserve, looks_ahead, turn=number // 2)
        return min(kept, key=lambda plan: plan_loss(plan).average)


def _split(problem: Problem, cells: Cells, reserve: float, looks_ahead: bool) -> Plan:
    everything = np.arange(len(cells.count), dtype=np.int32)
    return Plan(cells, *split_set(problem, everything, cells.count, reserve, looks_ahead))
