"""The tables to measure: CENSUS if it is available, the built-in table otherwise."""

from __future__ import annotations

import lzma
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from betalike.datasets import census_like, census_like_hierarchies
from betalike.engines.local import LocalEngine
from betalike.io.arguments import make_schema
from betalike.io.tables import load
from betalike.table.cells import Cells

THREE = ["age", "gender", "education"]
FIVE = [*THREE, "marital_status", "work_class"]


@dataclass(frozen=True)
class Census:
    """A CSV file with the columns of CENSUS, and its hierarchies."""

    path: Path
    hierarchies: Any
    name: str


def data_folder() -> Path:
    """Return the folder of tables that are not part of the project."""
    root = Path(__file__).resolve().parent.parent
    return Path(os.environ.get("BETALIKE_DATA", root.parent / "shared" / "data"))


def adult() -> pl.DataFrame:
    """Return UCI Adult; an error if it is not available."""
    return pl.read_csv(data_folder() / "adult" / "adult.csv", separator=";")


def census(folder: Path) -> Census:
    """Return CENSUS as a plain CSV file; `census_like` of the same size if CENSUS is not available."""
    data = data_folder() / "census"
    path = folder / "census.csv"
    if (data / "census.csv.xz").is_file():
        path.write_bytes(lzma.decompress((data / "census.csv.xz").read_bytes()))
        return Census(path, data / "hierarchies", "CENSUS")
    census_like(500_000).write_csv(path)
    return Census(path, census_like_hierarchies(), "census_like (CENSUS is not at hand)")


def counted_cells(path: Path, columns: Sequence[str], sensitive: str, hierarchies: Any = None) -> Cells:
    """Return the cells that a scheme sees, read from a file as `publish` reads it."""
    schema = make_schema(columns, sensitive, hierarchies, None, None, None, (), False)
    as_text = {attribute.name for attribute in schema.quasi_identifiers if attribute.hierarchy is not None}
    return LocalEngine(load(path, schema.names, {*as_text, sensitive}), schema).count_cells()
