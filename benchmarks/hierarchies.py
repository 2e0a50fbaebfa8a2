"""What a hierarchy from a recipe is worth, and what round ends cost: losses of a column, published in several ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import betalike
from benchmarks.tables import adult

BETA = 2
SEEDS, QUICK_SEEDS = (1, 2, 3), (1,)
ROWS, QUICK_ROWS = 10_000, 3_000
ZIPS, CODES = 1_200, 420
EDUCATION = {
    "school": ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"],
    "college": ["Some-college", "Assoc-voc", "Assoc-acdm"],
    "degree": ["Bachelors", "Masters", "Prof-school", "Doctorate"],
}


@dataclass(frozen=True)
class Column:
    """A quasi-identifier to publish beside two others, and the ways to publish it: arguments of `publish`."""

    name: str
    words: str
    ways: Mapping[str, Mapping[str, Any]]
    beside: list[str] = field(default_factory=lambda: ["age", "sex"])


def recipe(column: str, words: str, given: Mapping[str, Any]) -> Column:
    """Return a column that is published along a flat hierarchy, and along one from a recipe."""
    flat = {"kinds": {column: "categorical"}}
    shown = str(dict(given)) if len(str(given)) < 60 else "three groups"
    beside = [name for name in ("age", "sex") if name != column]
    return Column(column, words, {"flat": flat, f"`{shown}`": {"hierarchies": {column: given}}}, beside)


BUILT = [
    recipe("zip", "postcodes (invented)", {"prefix": [4, 3, 2, 1]}),
    recipe("icd", "ICD-10 codes (invented)", {"prefix": [3, 2, 1]}),
    recipe("birth", "birth dates (Adult's ages, days drawn)", {"dates": ["month", "year", "decade"]}),
    recipe("age", "ages (Adult)", {"intervals": [5, 10, 20], "bottom": 20, "top": 80}),
    recipe("native-country", "countries (Adult)", {"frequency": 100}),
    recipe("native-country", "countries (Adult)", {"auto": True}),
    recipe("education", "education (Adult)", {"groups": EDUCATION}),
    recipe("education", "education (Adult)", {"auto": True}),
]
COUNTED = {"domains": {"age": (0, 110)}}
ROUNDED = [
    Column(
        "age",
        "ages (Adult), domain 0 to 110",
        {
            "as they are": COUNTED,
            "`round = 5`": {**COUNTED, "round": {"age": 5}},
            "`round = 10`": {**COUNTED, "round": {"age": 10}},
            "`round = 5`, `bottom = 20`, `top = 80`": {
                **COUNTED,
                "round": {"age": 5},
                "bottom": {"age": 20},
                "top": {"age": 80},
            },
        },
        ["sex", "education"],
    ),
    Column(
        "birth",
        "birth dates (Adult's ages, days drawn)",
        {
            "as they are": {},
            **{f"`round = {unit!r}`": {"round": {"birth": unit}} for unit in ("month", "quarter", "year")},
        },
        ["sex", "education"],
    ),
    Column(
        "admitted",
        "admissions to the minute (invented)",
        {
            "as they are": {},
            **{f"`round = {unit!r}`": {"round": {"admitted": unit}} for unit in ("hour", "day", "month")},
        },
        ["sex", "education"],
    ),
    Column(
        "salary",
        "salaries (invented)",
        {
            "as they are": {},
            "`round = 1000`": {"round": {"salary": 1000}},
            "`round = 5000`": {"round": {"salary": 5000}},
            "`round = 1000`, `top = 150000`": {"round": {"salary": 1000}, "top": {"salary": 150_000}},
        },
        ["sex", "education"],
    ),
]


@dataclass(frozen=True)
class Measured:
    """What a column loses, what all columns lose on average, and the share of the column's rows that are `*`."""

    loss: float
    average: float
    hidden: float


def run(folder: Path, quick: bool = False) -> list[str]:
    """Return a table of recipes as Markdown; the folder is not needed."""
    table, seeds, head = _prepared(quick)
    lines = [f"## Hierarchies: {head}", ""]
    lines += ["| column | values | recipe | loss, flat | built | average loss, flat | built | rows `*`, flat | built |"]
    lines += ["|---|---|---|---|---|---|---|---|---|"]
    for column in BUILT:
        (_, one), (shown, other) = column.ways.items()
        flat, built = (measure(table, column, way, seeds) for way in (one, other))
        lines.append(
            f"| {column.words} | {table[column.name].n_unique():,} | {shown} | {flat.loss:.3f} | {built.loss:.3f} | "
            f"{flat.average:.3f} | {built.average:.3f} | {flat.hidden:.0%} | {built.hidden:.0%} |"
        )
    return lines


def run_rounding(folder: Path, quick: bool = False) -> list[str]:
    """Return a table of rounded ranges as Markdown."""
    table, seeds, head = _prepared(quick)
    lines = [f"## Rounded ranges: {head}", "", "| column | published | loss | average loss |", "|---|---|---|---|"]
    for column in ROUNDED:
        for shown, way in column.ways.items():
            found = measure(table, column, way, seeds)
            lines.append(f"| {column.words} | {shown} | {found.loss:.3f} | {found.average:.3f} |")
    return lines


def _prepared(quick: bool) -> tuple[pl.DataFrame, tuple[int, ...], str]:
    table, seeds = people(adult()), QUICK_SEEDS if quick else SEEDS
    table = table.sample(QUICK_ROWS if quick else ROWS, seed=1)
    runs = "one run" if len(seeds) == 1 else f"mean of {len(seeds)} runs"
    return table, seeds, f"{table.height:,} rows, sensitive column occupation, beta {BETA}, `seam`, {runs}"


def measure(table: pl.DataFrame, column: Column, way: Mapping[str, Any], seeds: tuple[int, ...]) -> Measured:
    """Publish a column in one way with each seed, and return what is lost on average over the seeds."""
    found = []
    for seed in seeds:
        release = betalike.publish(
            table,
            quasi_identifiers=[*column.beside, column.name],
            sensitive="occupation",
            beta=BETA,
            scheme="seam",
            seed=seed,
            **way,
        )
        facts, hidden = release.certificate["release"], (release.frame[column.name] == "*").mean()
        found.append((facts["loss"][column.name], facts["average_loss"], hidden))
    return Measured(*map(float, np.mean(found, axis=0)))


def people(table: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """Add columns that Adult lacks: birth dates from its ages, and invented postcodes, codes, admissions, salaries."""
    rng = np.random.default_rng(seed)
    rows, age = table.height, table["age"].to_numpy()
    is_rich = (table["salary-class"] == ">50K").to_numpy()
    born = np.datetime64("1994-03-01") - (age * 365.25 + rng.uniform(0, 365.25, rows)).astype("m8[D]")
    minute = np.datetime64("2023-01-01T00:00") + rng.integers(0, 2 * 365 * 24 * 60, rows).astype("m8[m]")
    salary = np.round(rng.lognormal(10.2 + 0.6 * is_rich, 0.45, rows), 2)
    return table.with_columns(
        pl.Series("birth", born),
        pl.Series("admitted", minute.astype("M8[us]")),
        pl.Series("salary", salary),
        pl.Series("zip", _drawn(rng, postcodes(rng), (is_rich * 0.5 + rng.uniform(0, 1, rows)) / 1.5)),
        pl.Series("icd", _drawn(rng, diagnoses(rng), (age / 90 + rng.uniform(0, 1, rows)) / 2)),
    )


def postcodes(rng: np.random.Generator) -> list[str]:
    """Return invented postcodes of five digits, many of them in a few regions, in order."""
    region = rng.choice(90, ZIPS, p=_falling(90)) + 10
    return sorted({f"{first}{rng.integers(0, 30):02}{rng.integers(0, 10)}" for first in region.tolist()})


def diagnoses(rng: np.random.Generator) -> list[str]:
    """Return invented codes in the form of ICD-10, such as E11.9, in order."""
    chapter = rng.choice(list("ACEFGHIJKMNRSTZ"), CODES)
    return sorted({f"{letter}{rng.integers(0, 60):02}.{rng.integers(0, 10)}" for letter in chapter.tolist()})


def _drawn(rng: np.random.Generator, codes: list[str], place: np.ndarray) -> list[str]:
    """Draw a code for each row: near its place among the codes, and some codes far more often than others."""
    popular = np.sort(rng.choice(len(codes), len(place), p=rng.permutation(_falling(len(codes)))))
    order = np.argsort(np.argsort(place + rng.normal(0, 0.3, len(place))))
    return [codes[i] for i in popular[order].tolist()]


def _falling(number: int) -> np.ndarray:
    shares = 1 / np.arange(2, number + 2)
    return np.asarray(shares / shares.sum())
