"""Where random choices come from: the operating system, or a seed for experiments."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Protocol

import numpy as np

from betalike.errors import ParameterError
from betalike.runtime.arrays import Floats, Words


class Randomness(Protocol):
    """A source of independent 64-bit words; kernels receive the words, never a generator."""

    is_seeded: bool

    def words(self, count: int) -> Words:
        """Return the next `count` words."""
        ...


class SystemRandomness:
    """The operating system's generator: what protects people in a release."""

    is_seeded = False

    def words(self, count: int) -> Words:
        """Return the next `count` words."""
        return np.frombuffer(bytearray(os.urandom(8 * count)), dtype=np.uint64)  # which can be written


class SeededRandomness:
    """A repeatable stream for experiments and tests; anyone who knows the seed can undo the hidden choices."""

    is_seeded = True

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def words(self, count: int) -> Words:
        """Return the next `count` words."""
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)


def randomness(seed: int | None = None) -> Randomness:
    """Return the operating system's randomness, or a repeatable stream if a seed is given."""
    if seed is None:
        return SystemRandomness()
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ParameterError(f"seed is {seed!r}; it must be a whole number of 0 or more, or left out.")
    return SeededRandomness(int(seed))


def uniform(count: int, randomness: Randomness) -> Floats:
    """Return random numbers between 0 and 1."""
    return np.asarray((randomness.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)
