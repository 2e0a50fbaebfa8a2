"""Compile kernels in two processes at once, before tests and timings: `python -m experiments.warming`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import betalike
from betalike.datasets import census_like, census_like_hierarchies
from betalike.schemes import SCHEMES

SLOW = ("seam",)  # takes as long to compile as all others together
PROJECT = Path(__file__).parent.parent


def compile_kernels() -> None:
    """Fill the cache with all kernels; if they are already there, this takes a few seconds."""
    others = [scheme for scheme in SCHEMES if scheme not in SLOW]
    commands = [[sys.executable, "-m", "experiments.warming", *schemes] for schemes in (SLOW, others)]
    for process in [subprocess.Popen(command, cwd=PROJECT) for command in commands]:
        if process.wait():
            raise SystemExit("the kernels could not be compiled.")


def use(schemes: list[str]) -> None:
    """Publish a small table with some schemes, and ask it for counts."""
    betalike.compare(
        census_like(500, seed=1),
        quasi_identifiers=["age", "gender", "education"],
        sensitive="salary_class",
        hierarchies=census_like_hierarchies(),
        schemes=schemes,
        t=0.3,
        queries=0 if schemes == list(SLOW) else 10,
        seed=1,
    )


if __name__ == "__main__":
    if sys.argv[1:]:
        use(sys.argv[1:])
    else:
        compile_kernels()
