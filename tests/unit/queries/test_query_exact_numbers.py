"""Queries on numbers that floats cannot hold: every comparison is exact."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import betalike

NOON = 1_577_880_000_000_000_000
COLUMNS: dict[str, pl.Series] = {
    "2^53": pl.Series([2**53 + i for i in range(-2, 6)], dtype=pl.Int64),
    "64 bits": pl.Series([-(2**63), -(2**63) + 1, -1, 0, 5, 6, 2**63 - 2, 2**63 - 1], dtype=pl.Int64),
    "128 bits": pl.Series([2**100 + i for i in range(8)], dtype=pl.Int128),
    "decimals": pl.Series([Decimal("12345678901234567890.12") + i * Decimal("0.01") for i in range(8)]),
    "nanoseconds": pl.Series([NOON + i for i in range(8)]).cast(pl.Datetime("ns")),
}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "<>": operator.ne,
}


@pytest.mark.parametrize("scheme", ["baseline", "seam"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_comparisons_with_numbers_beyond_floats_are_exact(kind: str, scheme: str) -> None:
    values = COLUMNS[kind]
    n = 6 * len(values)
    table = pl.DataFrame(
        {"n": values.gather([i % len(values) for i in range(n)]), "s": ["a", "b", "c", "c"] * (n // 4)}
    )
    release = betalike.publish(table, quasi_identifiers=["n"], sensitive="s", beta=8, scheme=scheme, seed=1)
    texts = values.cast(pl.String).to_list()
    order = [Fraction(i) for i in range(len(values))]
    is_exact = release.certificate["release"]["average_loss"] == 0
    for sign, holds in COMPARISONS.items():
        for place, text in enumerate(texts):
            literal = f"'{text}'" if kind == "nanoseconds" else text
            answer = release.count(f"n {sign} {literal}")
            truth = 6 * sum(holds(number, order[place]) for number in order)
            assert answer.at_least <= truth <= answer.at_most, (sign, text)
            if is_exact:
                assert answer.count == pytest.approx(truth)
