"""Parsers against inputs that Hypothesis makes, and makes smaller where they fail."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from examples import examples

from . import samples
from .conftest import Check
from .dictionaries import CELLS, LITERALS, NAMES, OPERATORS, TOML_KEYS, TOML_VALUES

MODE = st.integers(0, 255).map(lambda mode: bytes([mode]))
CELL = st.sampled_from([*CELLS, *samples.TOWNS]) | st.text(max_size=6)
few = examples(120)


def join(rows: list[list[str]], delimiter: str, end: str) -> bytes:
    return end.join(delimiter.join(row) for row in rows).encode("utf-8", errors="replace")


GRIDS = st.lists(st.lists(CELL, min_size=1, max_size=6), max_size=6)


@few
@given(MODE, GRIDS, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_csv(check: Check, mode: bytes, rows: list[list[str]], delimiter: str, end: str, has_header: bool) -> None:
    header = [samples.HEADER] if has_header else []
    check("csv", mode + join([*header, *rows], delimiter, end))


@few
@given(MODE, st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode(errors="replace")))
def test_bytes_that_are_no_table(check: Check, mode: bytes, data: bytes) -> None:
    check("csv", mode + data)


@few
@given(MODE, st.lists(st.lists(CELL | st.sampled_from(["Ulm", "Bonn", "north", "*"]), max_size=5), max_size=6))
def test_hierarchies(check: Check, mode: bytes, rows: list[list[str]]) -> None:
    words = [[cell for cell in row if not samples.MARKER.search(cell)] for row in rows]
    check("hierarchies", mode + join(words, ";", "\n"))


@few
@given(MODE, st.dictionaries(st.sampled_from(TOML_KEYS), st.sampled_from(TOML_VALUES), max_size=4), st.data())
def test_specifications(check: Check, mode: bytes, entries: dict[str, str], data: st.DataObject) -> None:
    lines = samples.SPECIFICATION.split("\n")
    for key, value in entries.items():
        lines.insert(data.draw(st.integers(0, len(lines))), f"{key} = {value}")
    check("release.toml", mode + "\n".join(lines).encode())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(CELLS) | st.integers(-(2**70), 2**70),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["age", "name", ""]), inner, max_size=3)
    ),
    max_leaves=6,
)


@few
@given(st.integers(0, 31), st.lists(st.tuples(st.lists(st.integers(0, 30), min_size=1, max_size=4), JSON), max_size=3))
def test_certificates(check: Check, mode: int, changes: list[tuple[list[int], Any]]) -> None:
    tree = copy.deepcopy(samples.releases()[mode % len(samples.CHOICES)].certificate)
    for path, value in changes:
        replace(tree, path, value)
    check("certificate", bytes([mode]) + json.dumps(tree).encode())


def replace(tree: Any, path: list[int], value: Any) -> None:
    """Put a value at a place that is named by numbers."""
    for step, number in enumerate(path):
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = keys[number % len(keys)]
        if step == len(path) - 1 or not isinstance(tree[key], dict | list):
            tree[key] = value
            return
        tree = tree[key]


COMPARISON = st.builds(
    lambda name, operator, literal: f"{name} {operator} {literal}",
    st.sampled_from(NAMES),
    st.sampled_from([*OPERATORS, "IN", "BETWEEN 1 AND", "NOT IN"]),
    st.sampled_from(LITERALS)
    | st.lists(st.sampled_from(LITERALS), max_size=3).map(lambda many: f"({', '.join(many)})"),
)
PREDICATES = st.recursive(
    COMPARISON,
    lambda inner: (
        inner.map(lambda one: f"NOT ({one})") | st.lists(inner, min_size=2, max_size=4).map(" OR ".join)
        | st.lists(inner, min_size=2, max_size=4).map(" AND ".join)
    ),
    max_leaves=8,
)  # fmt: skip


@few
@given(MODE, PREDICATES | st.text(max_size=40))
def test_predicates(check: Check, mode: bytes, predicate: str) -> None:
    check("predicates", mode + predicate.encode("utf-8", errors="replace"))


@few
@given(st.integers(0, 31), st.lists(st.tuples(st.integers(0, 17), st.integers(0, 5), CELL), max_size=6))
def test_labels(check: Check, mode: int, changes: list[tuple[int, int, str]]) -> None:
    sample = samples.releases()[mode % len(samples.CHOICES)]
    if not sample.published.endswith("csv"):
        return
    lines = [line.split(",") for line in sample.files[sample.published].decode().splitlines()]
    for row, column, label in changes:
        lines[1 + row % (len(lines) - 1)][column % len(lines[0])] = '"' + label.replace('"', '""') + '"'
    check("labels", bytes([mode]) + join([*lines, [""]], ",", "\n"))
