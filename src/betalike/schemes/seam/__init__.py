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
WAYS = ((0.1, True), (0.15, False), (0.05, True), (0.2, False), (0.1, False), (0.15, True), (0.05, False), (0.2, True))
# How much is tried: tables of up to so many cells are split in so many ways and improved in so many passes.
EFFORTS = ((25_000, 8, 12), (400_000, 2, 2))
LEAST_EFFORT = (1, 1)


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
        n_ways, n_passes = fitting[0] if fitting else LEAST_EFFORT
        with ThreadPoolExecutor(2) as pool:
            plans = list(pool.map(lambda way: _split(problem, cells, *way), WAYS[:n_ways]))
        plan = min(plans, key=lambda plan: plan_loss(plan).average)
        for number in progress.track(range(n_passes), "improving classes"):
            reserve, looks_ahead = WAYS[number % len(WAYS)]
            window = WINDOWS[number % len(WINDOWS)]
            plan = improve(problem, plan, window, window // 2 * (number % 2), reserve, looks_ahead, turn=number // 2)
        return plan


def _split(problem: Problem, cells: Cells, reserve: float, looks_ahead: bool) -> Plan:
    everything = np.arange(len(cells.count), dtype=np.int32)
    return Plan(cells, *split_set(problem, everything, cells.count, reserve, looks_ahead))
