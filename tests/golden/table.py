"""The invented table that the releases of the golden corpus are made of: one column of each kind."""

from __future__ import annotations

import datetime
import random
from typing import Any

import polars as pl

ROWS = 420
DIAGNOSES = {  # the share of each, in parts; chapters are nodes of the hierarchy
    "flu": ("respiratory", 30), "asthma": ("respiratory", 14), "bronchitis": ("respiratory", 9),
    "gastritis": ("digestive", 20), "ulcer": ("digestive", 11), "hepatitis": ("digestive", 5),
    "depression": ("mental", 12), "anxiety": ("mental", 8), "hiv": ("infections", 3), "measles": ("infections", 4),
}  # fmt: skip
JOBS = {
    "clerk": "office",
    "manager": "office",
    "nurse": "health",
    "doctor": "health",
    "cook": "service",
    "guard": "service",
}
FIRST_DAY = datetime.date(1931, 3, 5)
FIRST_MOMENT = datetime.datetime(2024, 1, 1, 6, 30)


def make_table(rows: int = ROWS, seed: int = 5, holes: float = 0.0) -> pl.DataFrame:
    """Draw the table; `holes` is the share of quasi-identifiers that are missing.

    Python's own generator draws it, whose numbers are the same everywhere.
    """
    rng = random.Random(seed)
    names, shares = list(DIAGNOSES), [share for _, share in DIAGNOSES.values()]
    lines: list[dict[str, Any]] = []
    for number in range(rows):
        age = min(94, 18 + int(rng.expovariate(1 / 25)))
        days = rng.randrange(24_000)
        lines.append(
            {
                "age": age,
                "height": round(rng.gauss(171, 9), 1),
                "exact": rng.uniform(-1e-7, 1e9) if number % 7 else rng.uniform(-1e-7, 1e-7),
                "huge": rng.choice([2**62, 2**62 + 5, -(2**62), 7]) + rng.randrange(3),
                "born": FIRST_DAY + datetime.timedelta(days),
                "born text": (FIRST_DAY + datetime.timedelta(days)).strftime("%d.%m.%Y"),
                "seen": FIRST_MOMENT + datetime.timedelta(minutes=rng.randrange(200_000)),
                "sex": rng.choice("fm"),
                "job": rng.choice(list(JOBS)),
                "zip": f"{rng.choice(['01', '02', '80'])}{rng.randrange(30):03}",
                "town": rng.choice(["Ulm", "Bonn", "a, b", 'in "x"', "[1, 2]"]),
                "insured": rng.random() < 0.8,
                "person": f"p{rng.randrange(rows * 2 // 3)}",
                "region": rng.choice(["north", "south"]),
                "diagnosis": rng.choices(names, [s * (2 if age > 50 and n > 4 else 1) for n, s in enumerate(shares)])[
                    0
                ],
                "salary": 900 + 50 * int(rng.expovariate(1 / 30)),
                "smokes": rng.choice(["yes", "no", "no", "no"]),
            }
        )
    holed = ("age", "height", "born", "sex", "job", "zip", "seen")
    for line in lines:
        for name in holed:
            if rng.random() < holes:
                line[name] = None
    return pl.DataFrame(lines, infer_schema_length=None)


def hierarchies() -> dict[str, Any]:
    """The hierarchies of some columns: paths from the leaf, and recipes."""
    return {
        "job": [[job, room, "*"] for job, room in JOBS.items()],
        "zip": {"prefix": [3, 2]},
        "diagnosis": [[name, chapter, "*"] for name, (chapter, _) in DIAGNOSES.items()],
    }
