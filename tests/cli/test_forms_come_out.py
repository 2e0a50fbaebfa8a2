"""Values of a CSV file come out in the form in which they were written: 1.10, 007, 1e3, +5, 31.12.1980."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from pathlib import Path

import pytest

import betalike
from betalike.schemes import SCHEMES

FORMS = {
    "price": ["1.10", "2.50", "3", "4.0", "-0.0"],
    "code": ["007", "012", "100"],
    "large": ["1e3", "2E2", "15", "1e-05"],
    "signed": ["+5", "6", "-3", "+1.50"],
    "comma": ["1,10", "2,5", "3"],
    "birth": ["31.12.1980", "01.02.1975", "09.10.1999"],
    "moment": ["2024-03-25 10:00", "2024-03-26T11:30"],
    "strange": ["NaN", "1.50", "2.0"],
}
NAMES = ["age", *FORMS, "disease"]
EXACT = ("perturb", "baseline")
PROMISES = {"tmondrian": {"t": 0.4}, "sabre": {"t": 0.4}}


def rows() -> list[tuple[str, ...]]:
    values = [[forms[(i * i + i // 7) % len(forms)] for forms in FORMS.values()] for i in range(60)]
    return [(str(20 + i % 30), *row, ["flu", "cough", "ulcer"][i % 3]) for i, row in enumerate(values)]


def write(folder: Path) -> Path:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([NAMES, *rows()])
    path = folder / "table.csv"
    path.write_text(text.getvalue())
    return path


def read(folder: Path) -> list[dict[str, str]]:
    with (folder / "published.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def count(published: list[dict[str, str]], names: list[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(row[name] for name in names) for row in published)


def original(names: list[str]) -> Counter[tuple[str, ...]]:
    return count([dict(zip(NAMES, row, strict=True)) for row in rows()], names)


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", EXACT)
@pytest.mark.parametrize("read_as", ["held", "batches", "compressed"])
def test_exact_quasi_identifiers(tmp_path: Path, scheme: str, read_as: str) -> None:
    path, names = write(tmp_path), ["age", *FORMS]
    if read_as == "compressed":
        packed = tmp_path / "table.csv.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    asked = {
        "quasi_identifiers": names,
        "sensitive": "disease",
        "beta": 2,
        "scheme": scheme,
        "seed": 1,
        "engine": "auto" if read_as == "held" else "batches",
    }
    betalike.publish(path, out=tmp_path / "out", **asked)
    shown = [name for name in names if name != "strange"]  # NaN is a number for other programs too
    assert count(read(tmp_path / "out"), shown) == original(shown)
    assert betalike.verify(tmp_path / "out", original=path).holds
    kinds = [column.kind for column in betalike.open_release(tmp_path / "out").facts.table.columns]
    in_memory = betalike.publish(path, **asked)
    assert kinds == [column.kind for column in in_memory.facts.table.columns]
    assert in_memory.frame["price"].dtype.is_float()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_kept_columns_and_the_sensitive_column(tmp_path: Path, scheme: str) -> None:
    path, more = write(tmp_path), PROMISES.get(scheme, {"beta": 3})
    for sensitive in ("price", "birth") if scheme in ("seam", *EXACT) else ("large",):
        kept = [name for name in FORMS if name != sensitive]
        asked = {
            "quasi_identifiers": ["age"],
            "sensitive": sensitive,
            "keep": kept,
            "scheme": scheme,
            "seed": 1,
            **more,
        }
        betalike.publish(path, out=tmp_path / sensitive, **asked)
        published = read(tmp_path / sensitive)
        assert count(published, kept) == original(kept)
        if scheme not in EXACT:
            assert count(published, [sensitive, *kept]) == original([sensitive, *kept])
        elif scheme == "perturb":
            assert {row[sensitive] for row in published} <= {*FORMS[sensitive]}
