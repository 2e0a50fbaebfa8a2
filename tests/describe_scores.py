"""Guesses of `describe` beside the truth, and the table of them in docs/reference/describe.md.

Run this file to write the table again after the rules have changed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import betalike
from betalike.io.description import Description
from described_tables import ADULT, CENSUS, TABLES, Truth

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "describe.md"
START, END = "<!-- guesses -->", "<!-- end of guesses -->"
REAL = {"Adult": ("adult/adult.csv", ADULT), "CENSUS": ("census/census.csv.xz", CENSUS)}


@dataclass(frozen=True)
class Judged:
    """A column: what it is, what it was taken for, and the same of its type; a type of None does not matter."""

    column: str
    meaning: str
    guess: str
    kind: str | None
    kind_guess: str

    @property
    def is_right(self) -> bool:
        return self.meaning == self.guess

    @property
    def has_right_type(self) -> bool:
        return self.kind is None or self.kind == self.kind_guess

    @property
    def is_identifier_published(self) -> bool:
        return self.meaning in ("identifier", "person key", "household key") and self.guess == "quasi-identifier"


def judge(description: Description, truth: Truth) -> list[Judged]:
    """Compare each guess with the truth."""
    return [
        Judged(column.name, truth[column.name][0], str(column.meaning), truth[column.name][1], str(column.kind))
        for column in description.columns
    ]


def judge_made(name: str, folder: Path) -> list[Judged]:
    """Describe one of the made tables, as a CSV file."""
    frame, truth = TABLES[name]()
    path = folder / "table.csv"
    frame.write_csv(path)
    return judge(betalike.describe(path), truth)


def judge_real(name: str, data: Path) -> list[Judged]:
    """Describe one of the real tables."""
    path, truth = REAL[name]
    return judge(betalike.describe(data / path), truth)


def lines_of(name: str, judged: list[Judged]) -> Iterator[str]:
    """Yield the lines of the page about one table."""
    for one in judged:
        kind = "" if one.kind is None else one.kind
        kind_guess = "" if one.kind is None else one.kind_guess
        marked = [
            guess if is_right else f"**{guess}**"
            for guess, is_right in ((one.guess, one.is_right), (kind_guess, one.has_right_type))
        ]
        yield f"| {name} | `{one.column}` | {one.meaning} | {marked[0]} | {kind} | {marked[1]} |"


def main() -> None:
    """Write the table of guesses into the page."""
    data = Path(os.environ.get("BETALIKE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    with tempfile.TemporaryDirectory() as folder:
        tables = {name: judge_made(name, Path(folder)) for name in TABLES}
    tables |= {name: judge_real(name, data) for name in REAL}
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    head = ["| table | column | it is | guessed | type | guessed type |", "|---|---|---|---|---|---|"]
    lines = [*head, *(line for name, judged in tables.items() for line in lines_of(name, judged))]
    PAGE.write_text("\n".join([before + START, "", *lines, "", END]) + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
