"""Well-formed inputs to start from: a small table whose cells are markers, and releases of it."""

from __future__ import annotations

import functools
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

import betalike

# Cells of the table are made of these letters and digits alone, so that even a part of one is recognized in a message.
MARKER = re.compile(r"[zqxjkv]{5,}|[73]{5,}", re.IGNORECASE)
TOWNS = ["zqxjkv", "qzjxvk", "jjkvqz", "vkxzqj"]
ILLNESSES = ["kvzqxj", "xjqzkv", "qqzzxj"]
QUASI_IDENTIFIERS, SENSITIVE = ["age", "sex", "town"], "illness"
HEADER = ["name", "age", "sex", "town", "since", "illness"]
ROWS = [
    [
        f"{'zqxjkv'[i % 6]}{TOWNS[i % 4]}{'jkv'[i % 3]}",
        ["73373", "77337", "33773", "37337", "73777"][i * i % 5],
        "fm"[i % 2],
        TOWNS[i * 5 % 4],
        f"{1973 + i % 4}-0{3 + 4 * (i % 2)}-07",
        ILLNESSES[(i * i + i // 3) % 3],
    ]
    for i in range(18)
]
PLAIN_TOWNS = ["Ulm", "Bonn", "Rom", "Bari"]
HIERARCHY = b"Ulm;north;*\nBonn;north;*\nRom;south;*\nBari;south;*\n"
SPECIFICATION = """delimiter = ","

[promise]
beta = 4
name = "enhanced"
k = 2

[release]
scheme = "burel"
format = "csv"
missing = ["NA", "?"]
options = {retrieval = "exact"}

[columns.name]
role = "identifier"

[columns.age]
role = "quasi-identifier"
type = "numeric"
domain = [0, 99999]
weight = 2.0

[columns.sex]
role = "quasi-identifier"
type = "categorical"

[columns.town]
role = "quasi-identifier"
hierarchy = "town.csv"

[columns.since]
role = "kept"

[columns.illness]
role = "sensitive"
missing = "value"
"""


def table(towns: list[str] | None = None) -> pl.DataFrame:
    """The table as a frame, or with other names for its towns."""
    frame = pl.DataFrame(ROWS, schema=HEADER, orient="row").with_columns(
        pl.col("age").cast(pl.Int64), pl.col("since").str.to_date()
    )
    return frame if towns is None else frame.with_columns(pl.col("town").replace(dict(zip(TOWNS, towns, strict=True))))


@dataclass(frozen=True)
class Sample:
    """A release: the texts of its files, and its certificate."""

    files: dict[str, bytes]
    certificate: dict[str, Any]

    @property
    def published(self) -> str:
        """The name of its published table."""
        return next(name for name in self.files if name.startswith("published."))


CHOICES: list[dict[str, Any]] = [
    {"scheme": "burel"},
    {"scheme": "burel", "round": {"age": 10, "since": "year"}, "quasi_identifiers": ["age", "since", "town"]},
    {"scheme": "burel", "towns": PLAIN_TOWNS, "hierarchies": {"town": [["Ulm", "n", "*"], ["Bonn", "n", "*"],
                                                                      ["Rom", "s", "*"], ["Bari", "s", "*"]]}},
    {"scheme": "perturb"},
    {"scheme": "baseline"},
    {"scheme": "mondrian", "beta": None, "promise": "t-closeness", "t": 0.5},
    {"scheme": "lmondrian", "sensitive": ["illness", "sex"], "quasi_identifiers": ["age", "town"]},
    {"scheme": "burel", "format": "parquet"},
]  # fmt: skip


@functools.cache
def releases() -> list[Sample]:
    """One release of each kind that is read back in a way of its own."""
    return [_release(**choice) for choice in CHOICES]


def _release(towns: list[str] | None = None, **choice: Any) -> Sample:
    given = {"quasi_identifiers": QUASI_IDENTIFIERS, "sensitive": SENSITIVE, "beta": 4, "seed": 1, **choice}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        betalike.publish(table(towns), out=out, **given)
        files = {path.name: path.read_bytes() for path in out.iterdir() if path.name != "certificate.json"}
        certificate = msgspec.json.decode((out / "certificate.json").read_bytes())
    certificate["seconds"] = dict.fromkeys(certificate["seconds"], 0.5)  # the same in each process
    return Sample(files, certificate)
