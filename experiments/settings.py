"""What is varied and what stays fixed: the paper's Section 6, and a small form of it for a quick run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ATTRIBUTES = ("age", "gender", "education", "marital_status", "work_class")
SENSITIVE = "salary_class"
BETA_TITLE = "beta (relative gain that is promised)"
SEED = 1
BETA = 4  # where it is not varied
N_ATTRIBUTES = 3  # in figures of loss, where it is not varied
N_PREDICATES, SELECTIVITY = 3, 0.1  # of queries, where they are not varied; queries go over all five attributes


@dataclass(frozen=True)
class Settings:
    """The values that a run tries."""

    name: str
    betas: tuple[int, ...] = (1, 2, 3, 4, 5)
    attributes: tuple[int, ...] = (1, 2, 3, 4, 5)
    shares_of_rows: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.0)
    predicates: tuple[int, ...] = (1, 2, 3, 4, 5)
    selectivities: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.25)
    n_matches: int = 6
    steps: int = 10
    n_queries: int = 10_000
    repeats: int = 5
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of schemes, in addition to their defaults


FULL = Settings("full")
QUICK = Settings(
    "quick",
    betas=(1, 4),
    attributes=(1, 3, 5),
    shares_of_rows=(0.5, 1.0),
    predicates=(1, 3, 5),
    selectivities=(0.05, 0.1, 0.25),
    n_matches=2,
    steps=4,
    n_queries=500,
    repeats=1,
    options={"seam": {"effort": 0}, "whole": {"effort": 0}},
)
QUICK_ROWS = 2_000
