"""Values are numbered on two threads, which may be the first to use what libraries load late."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOWLY = """
import polars as pl  # before NumPy, so that Polars loads it later
from polars import _dependencies

kind = getattr(_dependencies, "_LazyModule", None)
if not isinstance(_dependencies.numpy, kind or ()):
    raise SystemExit(7)
load = kind._import

import threading
together = threading.Barrier(2)

def load_together(self):
    if threading.current_thread() is not threading.main_thread():
        together.wait()
    return load(self)

kind._import = load_together

from betalike.engines.combinations import count_combinations

counted = count_combinations([pl.DataFrame({"age": [1, 2, 2], "height": [1, 1, 3]})], ["age", "height"])
assert sorted(counted.count) == [1, 1, 1]
"""


def test_two_threads_may_be_the_first_that_need_numpy() -> None:
    done = subprocess.run([sys.executable, "-c", SLOWLY], capture_output=True, text=True)
    if done.returncode == 7:
        pytest.skip("this Polars loads NumPy in another way")
    assert done.returncode == 0, done.stderr
