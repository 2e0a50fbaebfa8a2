"""Compilation: what it changes in Numba gives the same answers."""

from __future__ import annotations

import subprocess
import sys

SAME_ANSWERS = """
import itertools
from numba.core.compiler import Flags
from betalike.runtime.compilation import compare_options_quickly

def options():
    for nrt, nogil, boundscheck in itertools.product((None, False, True), repeat=3):
        flags = Flags()
        for name, value in (("nrt", nrt), ("release_gil", nogil), ("boundscheck", boundscheck)):
            if value is not None:
                setattr(flags, name, value)
        yield flags

def answers():
    equal = [one == other for one, other in itertools.product(list(options()), list(options()))]
    return equal, [flags == "flags" for flags in options()], len(set(options()))

before = answers()
compare_options_quickly()
assert answers() == before
assert any(before[0]) and not all(before[0])
"""


def test_options_of_compilation_are_equal_exactly_when_they_were() -> None:
    subprocess.run([sys.executable, "-c", SAME_ANSWERS], check=True)
