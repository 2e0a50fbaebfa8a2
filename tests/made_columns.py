"""Columns as real tables have them, drawn with a seed: names, dates, amounts, codes, texts."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

FIRST = [
    "Anna",
    "Ben",
    "Carla",
    "David",
    "Emma",
    "Felix",
    "Greta",
    "Hugo",
    "Ida",
    "Jonas",
    "Klara",
    "Leon",
    "Mia",
    "Noah",
]
LAST = [
    "Adams",
    "Baker",
    "Clark",
    "Davis",
    "Evans",
    "Foster",
    "Garcia",
    "Hughes",
    "Ito",
    "Jones",
    "King",
    "Lopez",
    "Moore",
    "Nguyen",
    "Owens",
    "Perez",
    "Quinn",
    "Reyes",
    "Silva",
    "Turner",
    "Ueda",
    "Vance",
    "White",
    "Xu",
    "Young",
    "Zhang",
]
STREETS = ["Main", "Oak", "Maple", "Cedar", "Elm", "Lake", "Hill", "Park", "Pine", "River", "Church", "Mill"]
CITIES = ["Springfield", "Riverside", "Franklin", "Clinton", "Georgetown", "Salem", "Fairview", "Madison", "Arlington"]
SENTENCES = """
    patient reports pain since monday no fever was given advice to rest and return if symptoms get worse feels better
    today family asked about results second opinion wanted call back next week about the letter from her doctor
"""
ICD = [f"{letter}{number:02}" for letter in "ABCEFGIJKMNR" for number in (1, 10, 25, 40, 63)]


class Maker:
    """Draws the columns of a table."""

    def __init__(self, seed: int, rows: int) -> None:
        self.rng, self.rows = np.random.default_rng(seed), rows

    def pick(self, values: Sequence[Any], skew: float = 1.0) -> list[Any]:
        shares = 1 / np.arange(1, len(values) + 1) ** skew
        return [values[place] for place in self.rng.choice(len(values), self.rows, p=shares / shares.sum())]

    def whole(self, low: int, high: int) -> list[int]:
        return [int(number) for number in self.rng.integers(low, high, self.rows)]

    def money(self, median: float, spread: float = 0.6, digits: int = 0) -> list[float]:
        drawn = median * np.exp(self.rng.normal(0, spread, self.rows))
        return [int(amount) for amount in drawn] if digits == 0 else [round(float(amount), digits) for amount in drawn]

    def days(self, first: str, last: str) -> list[datetime.date]:
        start, end = datetime.date.fromisoformat(first), datetime.date.fromisoformat(last)
        return [start + datetime.timedelta(days=day) for day in self.whole(0, (end - start).days)]

    def names(self) -> list[str]:
        return [f"{a} {b}" for a, b in zip(self.pick(FIRST, 0.3), self.pick(LAST, 0.3), strict=True)]

    def emails(self) -> list[str]:
        pairs = zip(self.names(), self.whole(1, 9999), strict=True)
        return [f"{name.replace(' ', '.').lower()}{number}@example.org" for name, number in pairs]

    def phones(self) -> list[str]:
        return [f"({a}) 555-{b:04}" for a, b in zip(self.whole(200, 999), self.whole(0, 9999), strict=True)]

    def streets(self) -> list[str]:
        return [f"{n} {street} Street" for n, street in zip(self.whole(1, 999), self.pick(STREETS, 0.2), strict=True)]

    def zips(self, count: int = 60) -> list[str]:
        return self.pick([f"{code:05}" for code in range(1001, 1001 + 37 * count, 37)], 0.5)

    def texts(self, n_words: int = 12) -> list[str]:
        return [" ".join(self.rng.choice(SENTENCES.split(), n_words)) for _ in range(self.rows)]

    def numbers(self, digits: int, prefix: str = "") -> list[str]:
        drawn = self.rng.choice(9 * 10 ** (digits - 1), self.rows, replace=False) + 10 ** (digits - 1)
        return [f"{prefix}{number}" for number in drawn]

    def coin(self, yes: Any, no: Any, share: float) -> list[Any]:
        return [yes if draw < share else no for draw in self.rng.random(self.rows)]


def repeat(people: pl.DataFrame, seed: int, rows: int) -> pl.DataFrame:
    """Give people several rows each, in random order."""
    chosen = np.random.default_rng(seed).integers(0, people.height, rows)
    return people[chosen]
