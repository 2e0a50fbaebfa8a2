"""What would otherwise be compiled late is compiled meanwhile on a second core: `python -m experiments.warming`."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from experiments.bench import Bench
from experiments.entrants import KEEP_CLOSENESS
from experiments.figure_9 import WHO
from experiments.settings import ATTRIBUTES, BETA, N_PREDICATES, QUICK, SELECTIVITY

PROJECT = Path(__file__).parent.parent
T = 0.1


@contextlib.contextmanager
def warming() -> Iterator[None]:
    """Compile kernels in a process of their own; their machine code is shared through Numba's cache on disk."""
    command = [sys.executable, "-m", "experiments.warming"]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Use every kernel that the first experiment comes to last, and those of queries, on a small table."""
    with tempfile.TemporaryDirectory(prefix="betalike-warming-") as folder:
        bench = Bench(QUICK, Path(folder))
        for name in KEEP_CLOSENESS:
            bench.outcome(name, T)
        for scheme, method in (*WHO.values(), ("lmondrian", "uniform")):
            bench.error(scheme, method, BETA, len(ATTRIBUTES), N_PREDICATES, SELECTIVITY)


if __name__ == "__main__":
    main()
