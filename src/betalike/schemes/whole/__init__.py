"""WHOLE: people with the same quasi-identifiers stay together; points are grouped until every class is allowed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from betalike.errors import ParameterError
from betalike.promises import Model, likeness_of
from betalike.runtime.arrays import Ints
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.schemes.whole.problem import pose
from betalike.schemes.whole.searching import KERNELS, Schedule, Search
from betalike.table.cells import Cells, Plan

MOST_EFFORT = 1000


@dataclass(frozen=True)
class Whole:
    """Groups whole points: everybody with the same quasi-identifiers is in the same class.

    Near points are merged until every class is allowed. Then points move between classes, and neighbourhoods are
    dissolved and merged again, as long as that lowers the loss. If `strict`, sets are proposed from quasi-identifiers
    and loss alone, and sensitive values only answer whether a set is allowed.
    """

    randomness: Randomness = field(default_factory=SystemRandomness)
    effort: int = 1
    strict: bool = False
    kernels = KERNELS
    schedule = Schedule()

    def __post_init__(self) -> None:
        """Check the options."""
        if isinstance(self.effort, bool) or not isinstance(self.effort, int) or not 0 <= self.effort <= MOST_EFFORT:
            raise ParameterError(f"effort is {self.effort!r}; it must be a whole number from 0 to {MOST_EFFORT}.")
        if not isinstance(self.strict, bool):
            raise ParameterError(f"strict is {self.strict!r}; it must be true or false.")

    @property
    def name(self) -> str:
        """The scheme's name in a certificate and on the command line."""
        return "whole"

    def plan(self, cells: Cells, model: Model, progress: Progress = SILENT) -> Plan:
        """Form classes that keep the promise."""
        search = Search(pose(cells, likeness_of(model, self.name)), self.strict, self.randomness, self.schedule)
        label = search.merge()
        lengths = search.rounds(self.effort)
        for number in progress.track(list(range(len(lengths))), "improving classes"):
            search.improve(label, number, lengths[number])
        return _plan(cells, label, {"strict": self.strict})


def _plan(cells: Cells, label: Ints, details: dict[str, object]) -> Plan:
    used, ec = np.unique(label, return_inverse=True)
    every = np.arange(len(cells.count), dtype=np.int32)
    return Plan(cells, every, cells.count, ec[cells.point].astype(np.int32), len(used), details)
