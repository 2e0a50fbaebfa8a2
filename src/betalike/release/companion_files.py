"""The small files beside a published table: how values were perturbed, and how often each occurs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from betalike.promises import Transition
from betalike.schemes import Perturbing
from betalike.schemes.perturbation import DrawingRule

TRANSITION_FILE, SENSITIVE_FILE = "transition.csv", "sensitive.csv"
CORNER = "original"


def write_transition(path: Path, counts: Mapping[str, int], perturbing: Perturbing) -> None:
    """Write the matrix: a line for each original value with the chance of each published label, exactly."""
    lines = ([value, *row] for value, row in zip(counts, perturbing.transition.texts(), strict=True))
    _write(path, [CORNER, *perturbing.labels(counts)], lines)


def read_transition(path: Path, counts: Mapping[str, int], rule: DrawingRule) -> Perturbing:
    """Read the matrix of these values back; ValueError if it is not a matrix of this rule, to the last digit."""
    header, *lines = _read(path)
    if [line[0] for line in lines if line] != list(counts):
        raise ValueError("the values are not those of the table")
    perturbing = Perturbing(Transition.from_texts([line[1:] for line in lines]), rule)
    if header != [CORNER, *perturbing.labels(counts)]:
        raise ValueError("the labels are not those of the matrix")
    return perturbing


def write_distribution(path: Path, counts: dict[str, int]) -> None:
    """Write how many rows have each sensitive value."""
    _write(path, ["value", "count"], ([label, str(count)] for label, count in counts.items()))


def read_distribution(path: Path) -> dict[str, int]:
    """Read how many rows have each sensitive value; ValueError if the file does not say it."""
    header, *lines = _read(path)
    if header != ["value", "count"] or any(len(line) != 2 for line in lines):
        raise ValueError("the columns are not 'value' and 'count'")
    return {label: int(count) for label, count in lines}


def _write(path: Path, header: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    rows = [header, *lines]
    # Python before 3.13 leaves a carriage return without quotes, and then reads it as the end of a line.
    has_return = any("\r" in cell for row in rows for cell in row)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL).writerows(
            rows
        )


def _read(path: Path) -> list[list[str]]:
    """Read the lines of a file; there is at least one."""
    if path.exists() and not path.is_file():
        raise ValueError("it is not a regular file")
    with path.open(encoding="utf-8", newline="") as file:
        try:
            lines = list(csv.reader(file, strict=True))
        except csv.Error as error:
            raise ValueError("the file is not CSV") from error
    if not lines:
        raise ValueError("the file is empty")
    return lines
