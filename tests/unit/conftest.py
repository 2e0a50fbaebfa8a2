"""What several unit tests share: random hierarchies in the form of their files."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

RowMaker = Callable[[random.Random, int], list[list[str]]]


@pytest.fixture(scope="session")
def random_rows() -> RowMaker:
    """Lines of a random hierarchy over so many leaves, in random order; some nodes have a single child."""

    def make(rng: random.Random, n_leaves: int) -> list[list[str]]:
        rows = [[f"leaf {leaf}"] for leaf in range(n_leaves)]
        n_nodes = n_leaves
        for level in range(1, rng.randint(1, 4)):
            n_above = rng.randint(1, n_nodes)
            above = {node: rng.randrange(n_above) for node in sorted({row[-1] for row in rows})}
            for row in rows:
                row.append(f"node {level}.{above[row[-1]]}")
            n_nodes = n_above
        rng.shuffle(rows)
        return [[*row, "*"] for row in rows]

    return make
