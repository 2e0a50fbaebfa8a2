"""One function for each parser: bytes in, and the way that they would take through betalike.

The first byte of an input chooses among the ways there are; the rest is the file, or the text, that is read.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

import betalike
from betalike.io.hierarchies import read_hierarchy
from betalike.io.specification import read_specification
from betalike.io.tables import load
from betalike.table.hierarchy import Hierarchy

from . import samples
from .samples import PLAIN_TOWNS, QUASI_IDENTIFIERS, SENSITIVE, Sample

ASKED: dict[str, Any] = {
    "quasi_identifiers": QUASI_IDENTIFIERS,
    "sensitive": SENSITIVE,
    "beta": 4,
    "scheme": "burel",
    "seed": 1,
}
LATEST = len(samples.CHOICES)


def read_table(data: bytes, folder: Path) -> None:
    """Read a table from a file in one of the ways that commands read tables."""
    mode, path = data[0] % 16 if data else 0, folder / "table"
    path.write_bytes(data[1:])
    if mode < 4:
        load(path)
    elif mode < 7:
        load(path, [*QUASI_IDENTIFIERS, SENSITIVE], ["town"], ["NA", "?"], ";" if mode == 6 else None)
    elif mode < 9:
        betalike.describe(path).to_toml()
    elif mode < 11:
        betalike.audit(path, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE)
    elif mode < 14:
        betalike.publish(path, **ASKED, keep=["since"] if mode == 13 else [])
    elif mode == 14:
        betalike.publish(path, **ASKED, out=folder / "out", memory="256MB", engine="batches")
    else:
        put_release(samples.releases()[0], folder / "release")
        betalike.verify(folder / "release", original=path)


def put_release(sample: Sample, folder: Path, certificate: bytes | None = None) -> None:
    """Write a release, or one with another certificate."""
    folder.mkdir(exist_ok=True)
    for name, content in sample.files.items():
        (folder / name).write_bytes(content)
    (folder / "certificate.json").write_bytes(certificate or msgspec.json.encode(sample.certificate))


def read_certificate(data: bytes, folder: Path) -> None:
    """Check a release with this certificate, or ask it for a count."""
    mode, sample = _choose_release(data)
    put_release(sample, folder / "release", data[1:] or b" ")
    _use_release(mode, sample, folder / "release")


def read_labels(data: bytes, folder: Path) -> None:
    """Check a release whose table is this, and which its certificate says it is, or ask it for a count."""
    mode, sample = _choose_release(data)
    table, name = data[1:], sample.published
    rows = max(table.count(b"\n") - 1, 0) if name.endswith("csv") else len(samples.ROWS)
    facts = {"sha256": hashlib.sha256(table).hexdigest(), "rows": rows}
    certificate = {**sample.certificate, "files": {**sample.certificate["files"], name: facts}}
    put_release(sample, folder / "release", msgspec.json.encode(certificate))
    (folder / "release" / name).write_bytes(table)
    _use_release(mode, sample, folder / "release")


def _choose_release(data: bytes) -> tuple[int, Sample]:
    first = data[0] if data else 0
    return first // LATEST % 4, samples.releases()[first % LATEST]


def _use_release(mode: int, sample: Sample, folder: Path) -> None:
    if mode == 0:
        betalike.verify(folder)
    elif mode == 1:
        betalike.verify(folder, original=_tables()[0])
    elif mode == 2:
        opened = betalike.open_release(folder)
        opened.count("age < 70000 OR town IN ('Ulm', 'n')")
        opened.count("NOT illness = 'kvzqxj' AND age BETWEEN 1 AND 2")
    else:
        names = sample.certificate["table"]["quasi_identifiers"]
        path = folder / sample.published
        betalike.audit(path, quasi_identifiers=names, sensitive=SENSITIVE, certificate=folder, beta=2)


@functools.cache
def _tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    return samples.table(), samples.table(PLAIN_TOWNS)


def read_hierarchy_file(data: bytes, folder: Path) -> None:
    """Read a hierarchy and publish with it, for a quasi-identifier or for the sensitive column."""
    mode = data[0] % 8 if data else 0
    path = folder / "town.csv"
    path.write_bytes(data[1:])
    if mode < 3:
        read_hierarchy(path)
    elif mode == 3:
        lines = data[1:].decode("utf-8", errors="replace").split("\n")
        Hierarchy.from_rows([line.split(";") for line in lines])
    elif mode < 7:
        betalike.publish(_tables()[mode % 2], **ASKED, hierarchies=folder)
    else:
        asked = {"quasi_identifiers": ["age", "sex"], "sensitive": "town", "beta": 4, "scheme": "burel", "seed": 1}
        betalike.publish(_tables()[1], **asked, hierarchies=folder, groups=["north"])


def read_release_toml(data: bytes, folder: Path) -> None:
    """Read a specification and publish as it says, but the table of the samples."""
    path = folder / "release.toml"
    path.write_bytes(data[1:])
    (folder / "town.csv").write_bytes(samples.HIERARCHY)
    (folder / "table.csv").write_bytes(samples.HIERARCHY)
    arguments = read_specification(path).arguments(folder)
    betalike.publish(**{"seed": 1, **arguments, "table": _tables()[data[0] % 2]})


def read_predicate(data: bytes, folder: Path) -> None:
    """Ask a release for the count of a predicate."""
    _opened()[data[0] % len(_opened()) if data else 0].count(data[1:].decode("utf-8", errors="replace"))


@functools.cache
def _opened() -> list[betalike.Release]:
    import tempfile

    found = []
    for sample in samples.releases():
        with tempfile.TemporaryDirectory() as folder:
            put_release(sample, Path(folder))
            if (
                "sensitive_columns" not in sample.certificate["table"]
                or not (sample.certificate["table"]["sensitive_columns"])
            ):
                found.append(betalike.open_release(folder))
    return found


def prepare(name: str) -> None:
    """Make what a target uses for every input, so that it is not taken for what an input left behind."""
    samples.releases()
    _tables()
    if name == "predicates":
        _opened()


TARGETS = {
    "csv": read_table,
    "compressed": read_table,
    "parquet": read_table,
    "arrow": read_table,
    "hierarchies": read_hierarchy_file,
    "release.toml": read_release_toml,
    "certificate": read_certificate,
    "predicates": read_predicate,
    "labels": read_labels,
}
SECRET = {"csv", "compressed", "parquet", "arrow"}  # the others are a user's own words, or published
