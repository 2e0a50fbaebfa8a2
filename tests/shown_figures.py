"""Figures as a reader of a page sees them, and one small table whose releases they are computed from again."""

from __future__ import annotations

import contextlib
import csv
import datetime
import html
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Cells = tuple[str, ...]

TREE = [["Ulm", "north", "*"], ["Kiel", "north", "*"], ["Rom", "south", "*"], ["Bari", "south", "*"]]
NAMES = ["age", "weight", "day", "city", "grade", "ill"]
KINDS = {"age": "whole", "weight": "real", "day": "date", "city": "name"}  # of the quasi-identifiers
EPOCH = datetime.date(1970, 1, 1)
FIRST_DAY = datetime.date(2024, 1, 1)
# Two releases of the same table: whole numbers and a number to explain; fractions, dates and names.
ASKED: dict[str, dict[str, Any]] = {
    "grade": {"quasi_identifiers": ["age", "city"], "scheme": "seam", "beta": 1.5},
    "ill": {"quasi_identifiers": ["weight", "day", "city"], "scheme": "lmondrian", "missing_sensitive": "value"},
}


def write_people(path: Path, n: int = 420) -> None:
    """Write a table in which cells are missing, values depend on each other, and some rows are unique."""
    rng = np.random.default_rng(7)
    age, day = rng.integers(20, 60, n), rng.integers(0, 90, n)
    weight = np.round(rng.normal(60 + age / 4, 8) * 2) / 2
    city = rng.choice(["Ulm", "Kiel", "Rom", "Bari"], n, p=[0.4, 0.3, 0.2, 0.1])
    score = age / 12 + 1.5 * (city == "Rom") + rng.normal(0, 1.5, n)
    grade = np.array(["1", "2", "3", "5"])[np.searchsorted(np.quantile(score, [0.35, 0.6, 0.85]), score)]
    ill = np.where(rng.random(n) < weight / 150, "flu", np.where(rng.random(n) < 0.6, "cough", "gout"))
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(NAMES)
        for i in range(n):
            lines.writerow(
                [
                    "" if i % 13 == 0 else age[i],
                    "" if i % 29 == 0 else weight[i],
                    FIRST_DAY + datetime.timedelta(days=int(day[i])),
                    "" if i % 17 == 0 else city[i],
                    grade[i],
                    "" if i % 31 == 0 else ill[i],
                ]
            )


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a file of comma-separated values with Python's own reader."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def classes_of(rows: Sequence[dict[str, str]], names: Sequence[str], sensitive: str) -> dict[Cells, Counter[str]]:
    """Count the sensitive values of each class."""
    found: dict[Cells, Counter[str]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), Counter())[row[sensitive]] += 1
    return found


def read(text: str, kind: str) -> Any:
    """Return a cell as a number, as days since 1970, or as a name; None if it is missing."""
    if text == "":
        return None
    if kind == "date":
        return float((datetime.date.fromisoformat(text) - EPOCH).days)
    return text if kind == "name" else float(text)


def widths_and_loss(
    before: Sequence[dict[str, str]], after: Sequence[dict[str, str]], name: str
) -> tuple[list[float], float]:
    """Return the width of each published label of a column, and the average part of the domain that they cover."""
    kind, labels = KINDS[name], [row[name] for row in after]
    if kind == "name":
        n_names = len({row[name] for row in before})  # a missing one is one too
        under = {**{path[0]: 1 for path in TREE}, "north": 2, "south": 2, "*": n_names, "": 1}
        sizes = [under[label] for label in labels]
        lost = sum(Fraction(0 if size == 1 else size, n_names) for size in sizes)
        return [float(size) for size in sizes], float(lost / len(labels))
    known = [read(row[name], kind) for row in before if row[name] != ""]
    whole = max(known) - min(known)
    widths = []
    for label in labels:
        low, _, high = label.strip("[]").partition(", ")
        widths.append(0.0 if label == "" else whole if label == "*" else read(high or low, kind) - read(low, kind))
    return widths, math.fsum(width / whole for width in widths) / len(widths)


def tables_of(page: str) -> dict[str, list[list[str]]]:
    """Return the cells of each table of a page, by its caption."""
    found = {}
    for table in re.findall(r"<table>(.*?)</table>", page, re.DOTALL):
        caption = words(re.search(r"<caption>(.*?)</caption>", table, re.DOTALL)[1])  # type: ignore[index]
        body = re.search(r"<tbody>(.*)</tbody>", table, re.DOTALL)[1]  # type: ignore[index]
        rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
        found[caption] = [[words(cell) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)] for row in rows]
    return found


def table_named(page: str, start: str) -> list[list[str]]:
    """Return the rows of the table whose caption starts like this."""
    (caption,) = [caption for caption in tables_of(page) if caption.startswith(start)]
    return tables_of(page)[caption]


def words(markup: str) -> str:
    """Return what a reader sees of some markup, without the small print."""
    return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<small>.*?</small>", "", markup))).strip()


def shows(text: str, figure: float | Fraction | None, *, digits: int = 3, places: int | None = None) -> bool:
    """Return whether a text is a figure that was rounded to so many digits, or places after the point."""
    if figure is None:
        return text == "none"
    exact = float(figure) * (100 if text.endswith(" %") else 1)
    number = float(text.removesuffix(" %").replace(",", ""))
    if places is None:
        places = digits - 1 - math.floor(math.log10(abs(exact))) if exact else 9
    return abs(number - exact) <= 0.5001 * 10.0**-places


def shows_most(text: str, figure: float | Fraction) -> bool:
    """Return whether a text is a share that was rounded up to three digits."""
    number, exact = float(text.removesuffix(" %")), 100 * float(figure)
    return exact - 1e-9 <= number < exact + 10.0 ** (math.floor(math.log10(exact)) - 2) + 1e-9


@dataclass
class Pictures:
    """What the pictures of pages are drawn from, by the start of their captions."""

    data: dict[str, list[list[dict[str, Any]]]] = field(default_factory=dict)

    def draw(self, chart: Any, name: str, title: str, description: str) -> str:
        """Keep the data of a chart, in place of drawing it."""
        self.data[title] = list(_data_of(chart.to_dict()))
        return "<svg></svg>"

    @contextlib.contextmanager
    def collected(self) -> Iterator[None]:
        """Keep the data of what pages draw meanwhile."""
        with pytest.MonkeyPatch.context() as patch:
            # A drawn picture has shapes only, from which no figure can be read.
            patch.setattr("betalike.report.pictures.draw", self.draw)
            yield

    def rows(self, start: str) -> list[dict[str, Any]]:
        """Return the rows behind the first layer of a picture."""
        (caption,) = [caption for caption in self.data if caption.startswith(start)]
        return self.data[caption][0]


def _data_of(part: Any) -> Iterator[list[dict[str, Any]]]:
    if isinstance(part, dict):
        if isinstance(part.get("data"), dict) and "values" in part["data"]:
            yield part["data"]["values"]
        for name, each in part.items():
            if name != "data":
                yield from _data_of(each)
    elif isinstance(part, list):
        for each in part:
            yield from _data_of(each)


def ask_one_by_one(
    release: Any, rows: Sequence[dict[str, str]], queries: Sequence[Any], confidence: float = 0.95
) -> list[tuple[Any, int]]:
    """Ask a release each query as a text, and count the original's rows that it selects."""
    found = []
    for query in queries:
        parts, selected = [], list(rows)
        for name, values in query.items():
            ((low, high),), kind = values.spans, KINDS.get(name, "name")
            if kind == "name":
                leaves = release.estimator.columns[name].leaves[int(low) : int(high) + 1]
                parts.append(f"{name} IN ({', '.join(map(repr, leaves))})")
                selected = [row for row in selected if row[name] in leaves]
                continue
            ends = [str(EPOCH + datetime.timedelta(days=end)) if kind == "date" else float(end) for end in (low, high)]
            parts.append("{} BETWEEN {!r} AND {!r}".format(name, *ends))
            selected = [row for row in selected if row[name] and low <= read(row[name], kind) <= high]
        found.append((release.count(" AND ".join(parts), confidence=confidence), len(selected)))
    return found


def shares_by_series(rows: Sequence[dict[str, Any]], series: str) -> dict[str, float]:
    """Return the share of each label of one series of a picture."""
    return {row["label"]: row["share"] for row in rows if row["series"] == series}


def approx(figures: Any) -> Any:
    """Return figures that others equal but for the last digits."""
    return pytest.approx(figures, rel=1e-9, abs=1e-12)
