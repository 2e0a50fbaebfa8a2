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

RESERVES = (0.1, 0.15, 0.05, 0.2, 0.3)
WINDOW = 8
SMALL_TABLE = 100_000  # cells; below, time hardly matters, and more is tried
LARGE_TABLE = 400_000


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
        """Form classes that keep the promise: split, with several reserves of slack, and improve the best result."""
        problem = pose(cells, model)
        n_cells = len(cells.count)
        n_reserves, n_passes = (5, 8) if n_cells < SMALL_TABLE else (2, 2) if n_cells < LARGE_TABLE else (1, 1)
        with ThreadPoolExecutor(2) as pool:
            plans = list(pool.map(lambda reserve: _split(problem, cells, reserve), RESERVES[:n_reserves]))
        plan = min(plans, key=lambda plan: plan_loss(plan).average)
        for number in progress.track(range(n_passes), "improving classes"):
            plan = improve(problem, plan, WINDOW, WINDOW // 2 * (number % 2), RESERVES[number % 4], turn=number // 2)
        return plan


def _split(problem: Problem, cells: Cells, reserve: float) -> Plan:
    everything = np.arange(len(cells.count), dtype=np.int32)
    cell, count, ec, n_classes = split_set(problem, everything, cells.count, reserve)
    return Plan(cells, cell, count, ec, n_classes)
