"""A forger: has a release folder, changes its files, and may put the digests, or everything, right again."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import betalike

CITIES = ["Ulm", "Bonn", "Kiel", "Rom", "Bari", "Pisa"]
TREE = [(city, "north" if place < 3 else "south", "*") for place, city in enumerate(CITIES)]
DISEASES = ["flu", "cough", "ulcer", "gout", "asthma"]
QIS = ["age", "weight", "born", "gender", "city"]
OPTIONS: dict[str, dict[str, Any]] = {
    "labels": {"keep": ["note"]},
    "rounded": {"round": {"age": 5}, "bottom": {"age": 25}, "top": {"age": 75}},
    "parquet": {"format": "parquet", "keep": ["note"]},
    "xlsx": {"format": "xlsx", "keep": ["note"]},
    "perturb": {"scheme": "perturb", "keep": ["note"]},
    "sets": {"scheme": "perturb", "options": {"mechanism": "sets"}, "keep": ["note"]},
    "baseline": {"scheme": "baseline"},
    "closeness": {"scheme": "tmondrian", "beta": None, "t": 0.4},
    "diversity": {"scheme": "mondrian", "promise": "recursive-l-diversity", "beta": None, "l": 2, "c": 4, "k": 3},
    "disclosure": {"scheme": "mondrian", "promise": "delta-disclosure", "beta": None, "delta": 1.5},
    "two-sided": {"negative_beta": 0.9},
    "several": {"sensitive": ["disease", "note"]},
}
GENERALIZED, EXACT = ("labels", "rounded", "parquet"), ("perturb", "sets", "baseline")


def people(n_rows: int = 150) -> pl.DataFrame:
    """A small table with numbers, dates, categories and missing values."""
    rows = range(n_rows)
    return pl.DataFrame(
        {
            "age": [None if i % 29 == 7 else 20 + 7 * i % 60 for i in rows],
            "weight": [50.5 + (i * 31 % 97) / 4 for i in rows],
            "born": [f"19{50 + i * 13 % 50}-0{1 + i % 9}-1{i % 7}" for i in rows],
            "gender": ["M" if i * 7 % 5 < 2 else "F" for i in rows],
            "city": [CITIES[(5 * i + i // 11) % 6] for i in rows],
            "disease": [DISEASES[(i * i + i // 7) % 5] for i in rows],
            "note": [f"n{i % 4}" for i in rows],
        }
    ).with_columns(pl.col("born").str.to_date())


def publish(table: pl.DataFrame, folder: Path, kind: str, **changes: Any) -> None:
    """Publish one of the kinds of releases."""
    arguments = {
        "sensitive": "disease",
        "beta": 1,
        "hierarchies": {"city": TREE},
        "out": folder,
        "force": True,
        "seed": 1,  # some falsifications need classes of the same size with other values, which not every release has
        **OPTIONS[kind],
        **changes,
    }
    betalike.publish(table, quasi_identifiers=arguments.pop("qis", QIS), **arguments)


class Forger:
    """Somebody with write access to a copy of a release, who also has the original."""

    def __init__(self, folder: Path, kind: str, original: pl.DataFrame) -> None:
        self.folder, self.kind, self.original = folder, kind, original

    @property
    def published(self) -> Path:
        return next(self.folder.glob("published.*"))

    def certify(self, edit: Callable[[Any], object]) -> None:
        """Change the certificate."""
        path = self.folder / "certificate.json"
        certificate = json.loads(path.read_bytes())
        edit(certificate)
        path.write_text(json.dumps(certificate))

    def rehash(self) -> None:
        """Put the digests of the listed files into the certificate."""

        def edit(certificate: Any) -> None:
            for name, facts in certificate["files"].items():
                if (self.folder / name).is_file():
                    facts["sha256"] = hashlib.sha256((self.folder / name).read_bytes()).hexdigest()

        self.certify(edit)

    def rows(self, edit: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        """Change the published rows, and put the digest right."""
        path = self.published
        if path.suffix == ".parquet":
            edit(pl.read_parquet(path)).write_parquet(path)
        else:
            edit(pl.read_csv(path, infer_schema=False)).write_csv(path)
        self.rehash()

    def publish(self, edit: Callable[[pl.DataFrame], pl.DataFrame], **changes: Any) -> None:
        """Publish a falsified table: every digest and every figure of the forgery is right."""
        shutil.rmtree(self.folder)
        publish(edit(self.original), self.folder, self.kind, **changes)
