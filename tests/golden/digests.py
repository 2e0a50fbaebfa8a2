"""Digests of a release: of its rows, whatever their order, and of its certificate, without times and versions."""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from .cases import CASES, Case

DIGITS = 12  # of a float that count: sums in another order differ in the last ones
CHANGING = {"seconds", "files", "tool"}  # a file's digest depends on the order of rows, and Spark draws its name


def make_digests(cases: Iterable[Case] = CASES) -> dict[str, dict[str, str]]:
    """Publish each case, and return the digests of its rows and certificate by its name."""
    numbers = {case.name: number for number, case in enumerate(CASES)}
    with tempfile.TemporaryDirectory() as name:
        return {case.name: digest_folder(case.publish(Path(name), numbers[case.name])) for case in cases}


def digest_folder(folder: Path) -> dict[str, str]:
    """Return the digests of a release folder."""
    certificate = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    parts = {"rows": sorted(read_rows(folder)), "certificate": without_changing(certificate)}
    return {name: _digest(json.dumps(part, sort_keys=True, ensure_ascii=False)) for name, part in parts.items()}


def read_rows(folder: Path) -> list[str]:
    """Read the published rows as texts, with the names of the columns, and the matrix of a perturbed release."""
    (path,) = folder.glob("published.*")
    parts = [path] if path.is_file() else [part for part in path.iterdir() if part.suffix in (".csv", ".parquet")]
    matrix = [
        repr(row) for path in folder.glob("transition.csv") for row in csv.reader(path.read_text("utf-8").splitlines())
    ]
    return [row for part in parts for row in _read(part)] + matrix


def _read(path: Path) -> list[str]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as lines:
            return [repr(row) for row in csv.reader(lines)]
    if path.suffix in (".sav", ".dta"):
        import pyreadstat

        read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
        columns, about = read(path, output_format="dict")
        rows = zip(*columns.values(), strict=True)
        return [
            repr(sorted(about.variable_value_labels.items())),
            *(repr([*zip(columns, row, strict=True)]) for row in rows),
        ]
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_excel(path)
    return [repr(list(row.items())) for row in frame.iter_rows(named=True)]


def without_changing(part: Any) -> Any:
    """Return a part of a certificate without what differs from run to run."""
    if isinstance(part, dict):
        return {name: without_changing(value) for name, value in part.items() if name not in CHANGING}
    if isinstance(part, list):
        return [without_changing(value) for value in part]
    return f"{part:.{DIGITS}g}" if isinstance(part, float) else part


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]
