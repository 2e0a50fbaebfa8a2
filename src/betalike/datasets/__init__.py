"""Tables to try betalike on: simulated people, so that a release can harm nobody.

`census_like` draws a table with the columns and domains of the CENSUS table in the paper. Every number behind it is
invented; nothing is copied from, or fitted to, real people.
"""

from __future__ import annotations

import operator

import numpy as np
import polars as pl

from betalike.datasets.population import QUASI_IDENTIFIERS, SALARY_PER_MILLE, Population
from betalike.errors import ParameterError
from betalike.runtime.arrays import Floats, Ints

__all__ = ["census_like", "census_like_hierarchies"]

CHUNK_ROWS = 1 << 18  # keeps temporary arrays small however long the table is
MOST_ROWS = 10**10


def census_like(rows: int = 100_000, seed: int = 0) -> pl.DataFrame:
    """Draw a simulated census table: seven quasi-identifiers and a salary class that depends on them moderately.

    The same rows and seed give the same table. This is a simulation: its randomness protects nobody.

    >>> census_like(rows=3).columns[-1]
    'salary_class'
    """
    n_rows = check_integer("rows", rows, at_least=1)
    if n_rows > MOST_ROWS:
        raise ParameterError(f"rows is {n_rows}; there can be up to {MOST_ROWS}.")
    rng = np.random.Generator(np.random.PCG64(check_integer("seed", seed, at_least=0)))
    population = Population()
    scores = np.empty(n_rows)
    columns = {name: np.empty(n_rows, dtype=np.int64) for name in QUASI_IDENTIFIERS}
    for start in range(0, n_rows, CHUNK_ROWS):
        chunk = slice(start, min(start + CHUNK_ROWS, n_rows))
        people, scores[chunk] = population.draw(rng, chunk.stop - chunk.start)
        for name, values in people.items():
            columns[name][chunk] = values
    columns["salary_class"] = rank_into_classes(scores, SALARY_PER_MILLE)
    return pl.DataFrame(columns)


def census_like_hierarchies() -> dict[str, list[list[str]]]:
    """Return generalization hierarchies for `census_like`: one row per leaf, from the leaf to its ancestors, '*' last.

    >>> census_like_hierarchies()["marital_status"][0]
    ['1', 'married', '*']
    """
    return {
        "gender": [["1", "*"], ["2", "*"]],
        "marital_status": [
            ["1", "married", "*"],  # lives with the spouse
            ["2", "married", "*"],  # spouse lives elsewhere
            ["3", "married", "*"],  # separated
            ["4", "unmarried", "*"],  # divorced
            ["5", "unmarried", "*"],  # widowed
            ["6", "unmarried", "*"],  # never married
        ],
        "work_class": [
            ["1", "unpaid", "no-employer", "*"],  # never worked
            ["2", "unpaid", "no-employer", "*"],  # helps in a family business
            ["3", "self-employed", "no-employer", "*"],  # alone
            ["4", "self-employed", "no-employer", "*"],  # employs others
            ["5", "private", "employee", "*"],  # company
            ["6", "private", "employee", "*"],  # charity
            ["7", "government", "employee", "*"],  # town
            ["8", "government", "employee", "*"],  # state
            ["9", "government", "employee", "*"],  # federal
            ["10", "government", "employee", "*"],  # armed forces
        ],
    }


def check_integer(name: str, value: object, at_least: int) -> int:
    """Return the value as a plain integer, or raise an error that names the parameter."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # the TypeError is what we are asking for
    except TypeError:
        number = at_least - 1
    if isinstance(value, bool) or number < at_least:
        raise ParameterError(
            f"{name} cannot be {value!r}. Allowed: an integer of {at_least} or more. Pass, for example, {name}=1000."
        )
    return number


def rank_into_classes(scores: Floats, per_mille: Ints) -> Ints:
    """Return the class of each score: the lowest scores fill class 0, and so on; shares are exact to within a row."""
    starts = (np.cumsum(per_mille)[:-1] * len(scores) + 500) // 1000  # rank of the first score of classes 1, 2, ...
    # In a small table the last classes may start past the last row: they stay empty and need no cut.
    cuts = np.sort(scores)[starts[starts < len(scores)]]
    return np.searchsorted(cuts, scores, side="right").astype(np.int64, copy=False)
