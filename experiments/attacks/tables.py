"""The two tables to attack, and a small invented one for a quick run."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.tables import THREE, census
from betalike.datasets import census_like, census_like_hierarchies
from experiments.settings import SEED

PROJECT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Attacked:
    """A table with its columns; hierarchies of the sensitive column group its values."""

    name: str
    frame: pl.DataFrame
    quasi_identifiers: list[str]
    sensitive: str
    hierarchies: Any

    def sampled(self, most: int) -> Attacked:
        """Return the same table with at most some number of its rows, drawn at random."""
        return self if self.frame.height <= most else replace(self, frame=self.frame.sample(most, seed=SEED))

    def publishing(self, scheme: str, beta: float, seed: int) -> dict[str, Any]:
        """Return the arguments of `betalike.publish`."""
        return {
            "quasi_identifiers": self.quasi_identifiers,
            "sensitive": self.sensitive,
            "hierarchies": self.hierarchies,
            "scheme": scheme,
            "beta": beta,
            "seed": seed,
        }


def tables(folder: Path, is_quick: bool) -> list[Attacked]:
    """Return CENSUS and Adult, if they are available."""
    if is_quick:
        rows = census_like(1_000, seed=1).with_columns(pl.col("salary_class") // 5)
        return [Attacked("quick", rows, THREE, "salary_class", census_like_hierarchies())]
    table = census(folder)
    found = [Attacked(table.name, pl.read_csv(table.path), THREE, "salary_class", table.hierarchies)]
    adult = Path(os.environ.get("BETALIKE_DATA", PROJECT.parent / "shared" / "data")) / "adult"
    if (adult / "adult.csv").is_file():
        names = ["sex", "education", "marital-status", "workclass", "occupation"]
        trees = {name: _rows(adult / "hierarchies" / f"{name}.csv") for name in names}
        frame = pl.read_csv(adult / "adult.csv", separator=";")
        found.append(Attacked("Adult", frame, ["age", *names[:-1]], "occupation", trees))
    return found


def _rows(path: Path) -> list[list[str]]:
    return [line.split(";") for line in path.read_text(encoding="utf-8").splitlines() if line]
