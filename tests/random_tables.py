"""Small random tables for Hypothesis, with everything that the twins need to know of them."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

import betalike
import twins
from betalike.schemes import GENERALIZING, Redistribution, Retrieval

BETAS = st.sampled_from([0.1, 0.3, 0.5, 1, 1.0, 1.7, 2, 3.3, 4, 10]) | st.floats(0.01, 12)
FORMS = st.sampled_from(["basic", "enhanced"])
# Labels that a careless reader of releases, or of CSV, could take for something else.
WORDS = ["red", "blue", "[1, 2]", "7", "a, b", 'say "x"', " space", "ümlaut", "NA", "null", "[", "0.5"]


HALVING = {"attribute": "narrowest", "second_try": False}
# The sets of options that schemes are to be tried with, and the promises of those that do not keep likeness.
FORMS_OF: dict[str, list[dict[str, Any]]] = {
    "whole": [{}, {"strict": True}],
    "burel": [{"retrieval": retrieval} for retrieval in Retrieval],
    "burel+split": [{"retrieval": retrieval} for retrieval in Retrieval],
    "lmondrian": [{}, HALVING],
    "sabre": [{"redistribution": redistribution} for redistribution in Redistribution],
}
OTHER_PROMISES: dict[str, dict[str, Any]] = {
    "dmondrian": {"promise": None},  # a delta for the table's beta
    "tmondrian": {"promise": None, "beta": None, "t": 0.3},
    "mondrian": {"promise": "distinct-l-diversity", "beta": None, "l": 2},
    "sabre": {"promise": None, "beta": None, "t": 0.3},
}


def _each(names: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "scheme",
        [
            pytest.param(
                {"scheme": name, "options": options, **OTHER_PROMISES.get(name, {})},
                id="-".join([name, *map(str, options.values())]),
            )
            for name in names
            for options in FORMS_OF.get(name, [{}])
        ],
    )


# Schemes that form classes; those that publish rows exactly have laws of their own.
EVERY_SCHEME = _each(GENERALIZING)
EVERY_SCHEME_OF_LIKENESS = _each(name for name in GENERALIZING if name not in OTHER_PROMISES)


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: the cell of each row, what publish() is told of it, and its twin."""

    cells: list[Any]
    dtype: Any
    twin: twins.Column
    text: Callable[[Any], str] = str
    kind: str | None = None
    domain: tuple[Any, Any] | None = None
    rows: list[list[str]] | None = None

    @property
    def texts(self) -> list[str | None]:
        """The cells as text."""
        return [None if cell is None else self.text(cell) for cell in self.cells]


@dataclass(frozen=True)
class Table:
    """A table, and how it is to be published."""

    columns: dict[str, Column]
    sensitive: list[Any]
    weights: list[float]
    arguments: dict[str, Any] = field(default_factory=dict)
    sensitive_rows: list[list[str]] | None = None  # its hierarchy

    @property
    def frame(self) -> pl.DataFrame:
        """The table as a frame, with a number for each row."""
        series = [pl.Series(name, column.cells, dtype=column.dtype) for name, column in self.columns.items()]
        rows = pl.Series("row", range(len(self.sensitive)))
        return pl.DataFrame([*series, pl.Series("secret", self.sensitive), rows])

    @property
    def prior(self) -> Counter:
        """How often each sensitive value occurs."""
        return Counter(self.sensitive)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.sensitive)

    @property
    def beta(self) -> float:
        """The beta to publish with."""
        return self.arguments["beta"]

    def with_arguments(self, **arguments: Any) -> Table:
        """The same table, to be published in another way."""
        return replace(self, arguments={**self.arguments, **arguments})

    def publish(self, **arguments: Any) -> betalike.Release:
        """Publish the table, with the rows' numbers."""
        columns = self.columns.items()
        rows = {**{name: column.rows for name, column in columns}, "secret": self.sensitive_rows}
        everything = {
            "quasi_identifiers": list(self.columns),
            "sensitive": "secret",
            "hierarchies": {name: lines for name, lines in rows.items() if lines is not None},
            "kinds": {name: column.kind for name, column in columns if column.kind is not None},
            "domains": {name: column.domain for name, column in columns if column.domain is not None},
            "weights": dict(zip(self.columns, self.weights, strict=True)),
            "missing_sensitive": "value",
            "keep": ["row"],
            "keep_identifiers": True,
            **self.arguments,
            **arguments,
        }
        return betalike.publish(self.frame, **everything)

    def twin_columns(self) -> list[twins.Column]:
        """The twins of the quasi-identifiers."""
        return [column.twin for column in self.columns.values()]

    def published_labels(self, frame: pl.DataFrame) -> list[tuple[str | None, ...]]:
        """The labels of each published row."""
        return frame.select(list(self.columns)).rows()

    def published_classes(self, frame: pl.DataFrame) -> dict[tuple[str | None, ...], Counter]:
        """The classes of a published frame, by the twin."""
        return twins.classes_of(self.published_labels(frame), frame["secret"].to_list())


@st.composite
def hierarchies(draw: st.DrawFn, leaves: Sequence[str]) -> list[list[str]]:
    """A random tree over some leaves; chains of single children, whose nodes may share a label, are common."""
    groups = [[leaf] for leaf in leaves]
    paths = {leaf: [leaf] for leaf in leaves}
    for level in range(draw(st.integers(0, 3))):
        joined: list[list[str]] = []
        for group in groups:
            if joined and draw(st.booleans()):
                joined[-1].extend(group)
            else:
                joined.append(list(group))
        for number, group in enumerate(joined):
            is_alone = len({paths[leaf][-1] for leaf in group}) == 1
            is_named_alike = is_alone and draw(st.booleans())
            for leaf in group:
                paths[leaf].append(paths[leaf][-1] if is_named_alike else f"level {level}, group {number}")
        groups = joined
    rows = [[*path, "*"] for path in paths.values()]
    return draw(st.permutations(rows))


def _cells(draw: st.DrawFn, pool: Sequence[Any], n_rows: int, has_missing: bool) -> list[Any]:
    choices = st.sampled_from([*pool, None] if has_missing else list(pool))
    return draw(st.lists(choices, min_size=n_rows, max_size=n_rows))


ORDERED: dict[str, tuple[Any, Any, Callable[[str], Fraction], Callable[[Any], str]]] = {
    "integer": (st.integers(-99, 2000), pl.Int64, twins.number_of, str),
    "real": (st.floats(-1e6, 1e6, allow_subnormal=False), pl.Float64, twins.number_of, repr),
    "date": (
        st.dates(datetime.date(1890, 1, 1), datetime.date(2090, 1, 1)),
        pl.Date,
        twins.days_of,
        datetime.date.isoformat,
    ),
    "month": (
        st.dates(datetime.date(1890, 1, 1), datetime.date(2090, 1, 1))
        .filter(lambda day: (day.year + 1) % 100 != day.month)  # not a school year
        .map(lambda day: day.isoformat()[:7]),
        pl.String,
        twins.months_of,
        str,
    ),
    "datetime": (
        st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2050, 1, 1)),
        pl.Datetime("us"),
        twins.microseconds_of,
        lambda moment: moment.isoformat(sep=" "),
    ),
}


@st.composite
def ordered_columns(draw: st.DrawFn, n_rows: int) -> Column:
    """Integers, reals, dates or moments; a declared domain is wider than what the table shows."""
    kind = draw(st.sampled_from(list(ORDERED)))
    values, dtype, read, text = ORDERED[kind]
    pool = sorted(draw(st.lists(values, min_size=2, max_size=7, unique=True)))
    is_declared = draw(st.booleans())
    inner = pool[1:-1] if is_declared and len(pool) > 3 else pool
    cells = _cells(draw, inner, n_rows, draw(st.booleans()))
    present = [cell for cell in cells if cell is not None]
    # One present value besides missing ones is a case of its own; see test_law_input.py.
    if len(set(present)) == 1 and None in cells:
        cells = [cell if cell is not None else present[0] for cell in cells]
    ends = (pool[0], pool[-1]) if is_declared or not present else (min(present), max(present))
    domain = (read(text(ends[0])), read(text(ends[1])))
    declared = tuple(map(text, ends)) if kind in ("date", "datetime") else ends
    twin = twins.Ordered(domain, read, None in cells)
    return Column(cells, dtype, twin, text, domain=declared if is_declared else None)


@st.composite
def categorical_columns(draw: st.DrawFn, n_rows: int) -> Column:
    """Words or codes, flat or in a hierarchy that may have leaves which the table does not show."""
    is_coded = draw(st.booleans())
    pool = draw(
        st.lists(st.integers(1, 12) if is_coded else st.sampled_from(WORDS), min_size=1, max_size=7, unique=True)
    )
    cells = _cells(draw, pool, n_rows, draw(st.booleans()))
    dtype = pl.Int64 if is_coded else pl.String
    has_missing = None in cells
    if draw(st.booleans()):
        rows = draw(hierarchies([str(value) for value in pool]))
        return Column(cells, dtype, twins.Tree(rows, has_missing), rows=rows)
    shown = {str(cell) for cell in cells if cell is not None}
    flat = [[leaf, "*"] for leaf in sorted(shown)]
    return Column(cells, dtype, twins.Tree(flat, has_missing), kind="categorical")


@st.composite
def sensitive_columns(draw: st.DrawFn, n_rows: int) -> list[Any]:
    """At least two distinct values, from even to very skewed; words, codes or reals, perhaps with missing ones."""
    pool: list[Any] = draw(
        st.sampled_from(
            [[3, 1, 2, 10, 7, 5], ["flu", "hiv", "a, b", "none", "é", "NA"], [0.5, -1.25, 3.0, 2.5, 9.75, 1e9]]
        )
    )
    pool = pool[: draw(st.integers(2, 6))]
    if draw(st.integers(0, 3)) == 0:
        pool = [*pool[:-1], None]
    favourite = draw(st.integers(0, 8))
    rest = draw(st.lists(st.sampled_from([*pool, *[pool[0]] * favourite]), min_size=n_rows - 2, max_size=n_rows - 2))
    return draw(st.permutations([pool[0], pool[1], *rest])) if n_rows < 8 else [pool[0], *rest, pool[1]]


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 40) -> Table:
    """A random table and a feasible way to publish it: whatever is asked here, one class of all rows would keep it."""
    n_rows = draw(st.integers(2, max_rows))
    kinds = draw(st.lists(st.sampled_from([ordered_columns, categorical_columns]), min_size=1, max_size=3))
    columns = {f"column {i}": draw(kind(n_rows)) for i, kind in enumerate(kinds)}
    weights = draw(st.lists(st.sampled_from([1.0, 2.0, 0.1, 0.0]), min_size=len(kinds), max_size=len(kinds)))
    if not any(weights):
        weights = [1.0] * len(kinds)
    arguments = {
        "beta": draw(BETAS),
        "promise": draw(FORMS),
        "k": draw(st.integers(1, n_rows) | st.integers(1, min(4, n_rows))),
        "seed": draw(st.integers(0, 2**32)),
    }
    return Table(columns, draw(sensitive_columns(n_rows)), weights, arguments)
