"""What tests of queries need of releases that are not published: the paper's matrix, and certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from betalike.release.certificate import (
    Certificate,
    ColumnFacts,
    Levels,
    PromiseFacts,
    PublishedFile,
    ReleaseFacts,
    RiskFacts,
    Scheme,
    TableFacts,
    Tool,
)


def theorem_3_matrix(prior: np.ndarray, beta: float) -> np.ndarray:
    """The paper's transition matrix: Theorem 3 and Eq. 12, original by published."""
    m = len(prior)
    cap = prior * (1 + np.minimum(beta, -np.log(prior)))
    odds = cap / prior * (1 - prior) / (1 - cap)
    least = 1 / (odds.max() + m - 1)
    retention = (m * odds * least - 1) / (m - 1)
    return np.diag(retention) + ((1 - retention) / m)[:, None]


def counts_of(frame: pl.DataFrame, sensitive: str) -> dict[str, int]:
    """How often each sensitive value occurs, in their order."""
    counted = frame[sensitive].value_counts().sort(sensitive)
    return {"" if value is None else str(value): count for value, count in counted.iter_rows()}


def describe(frame: pl.DataFrame, names: Sequence[str], trees: Mapping[str, list[list[str]]]) -> list[ColumnFacts]:
    columns = []
    for name in names:
        column = frame[name]
        has_missing = column.null_count() > 0
        if name in trees:
            columns.append(
                ColumnFacts(
                    name,
                    "categorical",
                    1.0,
                    leaves=len(trees[name]) + has_missing,
                    hierarchy=trees[name],
                    has_missing=has_missing,
                )
            )
        else:
            kind = {pl.Date: "date", pl.Float64: "real", pl.Decimal: "decimal"}.get(column.dtype.base_type(), "integer")
            columns.append(
                ColumnFacts(name, kind, 1.0, domain=(str(column.min()), str(column.max())), has_missing=has_missing)
            )
    return columns


def make_certificate(
    scheme: str,
    frame: pl.DataFrame,
    names: Sequence[str],
    sensitive: str,
    trees: Mapping[str, list[list[str]]],
) -> Certificate:
    """A certificate with everything that queries need; its promise is not meant."""
    counts = counts_of(frame, sensitive)
    n = frame.height
    return Certificate(
        tool=Tool("betalike", "0"),
        promise=PromiseFacts("enhanced-likeness", 4.0, 1, True, 0.0, 0.0),
        scheme=Scheme(scheme),
        table=TableFacts(n, list(names), sensitive, [], describe(frame, names, trees)),
        release=ReleaseFacts(n, n, n, 1, 0.0, {}),
        also=Levels(1, 1, 1.0, 1.0, 0.0, 0.0, "equal", None, None, None),
        risk=RiskFacts(1.0, None, 1.0, 1.0, {}, 0.0),
        prior={value: count / n for value, count in counts.items()},
        prior_counts=counts,
        randomness="seeded: for experiments, not for release",
        files={"published.csv": PublishedFile("0", n)},
        seconds={},
    )
