"""Measure how often the 95 % intervals of counts hold the exact count, on real tables: `--help` lists the options.

CENSUS and Adult are found through BETALIKE_DATA. `--tables` names a folder of further CSV files whose last column is
sensitive; all others are quasi-identifiers. Tables that are not there are left out with a note.

Each release is asked two sets of queries. `random` is the paper's workload (6.2). `written` is what people write: one
category, one number or a range of numbers, one or two sensitive values, sometimes OR. Queries whose exact count is 0
count like all others.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import betalike
from betalike.api import make_schema
from betalike.engines.local import LocalEngine
from betalike.errors import BetalikeError
from betalike.queries.answer import to_answers
from betalike.queries.boxes import Box, intersect, unite
from betalike.queries.columns import NamedColumn, OrderedColumn, QueryColumn
from betalike.queries.estimator import Estimator
from betalike.queries.value_sets import ValueSet
from betalike.queries.workload import count_exactly, draw_queries, exact_index
from betalike.runtime.randomness import SeededRandomness

PROJECT = Path(__file__).resolve().parent.parent
SCHEMES = ("whole", "seam", "burel", "burel+split", "lmondrian", "perturb", "baseline")
BETAS = (1.0, 2.0, 4.0)
SELECTIVITIES = (0.05, 0.1, 0.2, 0.3)
CONFIDENCE = 0.95
WANTED = 0.94
FIELDS = ("table", "rows", "scheme", "beta", "method", "queries", "random", "written", "all", "error", "width")
Questions = list[Sequence[Box]]


@dataclass(frozen=True)
class Source:
    """A table with its quasi-identifiers, sensitive column and hierarchies."""

    name: str
    frame: pl.DataFrame
    quasi_identifiers: list[str]
    sensitive: str
    hierarchies: Path | None = None


@dataclass(frozen=True)
class Asked:
    """Queries with their exact counts; the first `n_random` are the paper's."""

    questions: Questions
    exact: NDArray[np.float64]
    n_random: int


def sources(folder: Path | None, names: Sequence[str]) -> Iterator[Source]:
    """Read the tables, or those of them that are named."""
    data = Path(os.environ.get("BETALIKE_DATA", PROJECT.parent / "shared" / "data"))
    known = {"census": _census, "adult": _adult}
    further = {path.stem: path for path in sorted(folder.glob("*.csv"))} if folder else {}
    for name in names or [*known, *further]:
        try:
            yield known[name](data) if name in known else _further(further[name])
        except (FileNotFoundError, KeyError):
            print(f"left out: {name}, which is not there", file=sys.stderr)


def _census(data: Path) -> Source:
    text = lzma.decompress((data / "census" / "census.csv.xz").read_bytes())
    columns = ["age", "gender", "education", "marital_status", "work_class"]
    return Source("census", pl.read_csv(text), columns, "salary_class", data / "census" / "hierarchies")


def _adult(data: Path) -> Source:
    frame = pl.read_csv(data / "adult" / "adult.csv", separator=";")
    columns = ["age", "sex", "education", "marital-status", "workclass"]
    return Source("adult", frame, columns, "occupation", data / "adult" / "hierarchies")


def _further(path: Path) -> Source:
    frame = pl.read_csv(path, infer_schema_length=None)
    frame = frame.filter(pl.col(frame.columns[-1]).is_not_null())
    return Source(path.stem, frame, frame.columns[:-1], frame.columns[-1])


def publish(source: Source, scheme: str, beta: float) -> Estimator:
    """Publish a table in memory and open it for queries."""
    release = betalike.publish(
        source.frame.select(*source.quasi_identifiers, source.sensitive),
        quasi_identifiers=source.quasi_identifiers,
        sensitive=source.sensitive,
        beta=beta,
        scheme=scheme,
        hierarchies=source.hierarchies,
        seed=1,
    )
    return release.estimator


def ask(source: Source, release: Estimator, n_queries: int) -> Asked:
    """Draw both sets of queries for a release, and count them exactly in the table."""
    most = min(3, len(release.quasi_identifiers))
    kinds = [(n, selectivity) for n in range(1, most + 1) for selectivity in SELECTIVITIES]
    questions: Questions = []
    for seed, (n, selectivity) in enumerate(kinds):
        each = -(-n_queries // len(kinds))
        drawn = draw_queries(release.quasi_identifiers, release.sensitive, each, n, selectivity, SeededRandomness(seed))
        questions += [[box] for box in drawn]
    n_random = len(questions)
    rng = np.random.default_rng(1)
    questions += [write_query(release, rng) for _ in range(n_queries)]
    schema = make_schema(source.quasi_identifiers, source.sensitive, source.hierarchies, None, None, None, (), False)
    engine = LocalEngine(source.frame.select(schema.names), schema)
    index = exact_index(release, engine.count_cells(), engine.sensitive_labels)
    parts = count_exactly(index, release, [box for question in questions for box in question])
    owner = [number for number, question in enumerate(questions) for _ in question]
    return Asked(questions, np.bincount(owner, parts, len(questions)), n_random)


def write_query(release: Estimator, rng: np.random.Generator) -> Sequence[Box]:
    """Draw a query as people write them: conditions on one to three columns and some sensitive values."""
    columns = release.quasi_identifiers
    n_columns = int(rng.integers(1, min(3, len(columns)) + 1))
    conditions = [
        [{columns[axis].name: _condition(columns[axis], rng)}]
        for axis in rng.choice(len(columns), n_columns, replace=False)
    ]
    query: Sequence[Box] = conditions[0]
    for condition in conditions[1:]:
        query = unite([query, condition]) if rng.random() < 0.25 else intersect([query, condition])
    n_values = min(int(rng.choice([1, 1, 2, 3])), len(release.values))
    codes = rng.choice(len(release.sensitive.leaves), min(n_values, len(release.sensitive.leaves)), replace=False)
    wanted = ValueSet.of([(int(code), int(code)) for code in codes], is_discrete=True)
    return intersect([query, [{release.sensitive.name: wanted}]])


def _condition(column: QueryColumn, rng: np.random.Generator) -> ValueSet:
    if isinstance(column, NamedColumn):
        code = int(rng.integers(max(len(column.leaves), 1)))
        return ValueSet.of([(code, code)], is_discrete=True)
    assert isinstance(column, OrderedColumn)
    low, high = (float(end) for end in column.domain)
    ends = np.sort(rng.uniform(low, high, 2)) if not column.is_discrete else np.sort(rng.integers(low, high + 1, 2))
    start, end = ends.tolist()
    kind = rng.choice(["one value", "at most", "at least", "between"])
    if kind == "one value" and column.is_discrete:
        return ValueSet.of([(start, start)], is_discrete=True)
    spans = {"at most": (low, end), "at least": (start, high)}
    return ValueSet.of([spans.get(str(kind), (start, end))], is_discrete=column.is_discrete)


def measure(release: Estimator, asked: Asked, method: str) -> dict[str, float]:
    """Return the share of exact counts in their intervals, the mean error and the mean width of the intervals."""
    answers = to_answers(release.estimate(asked.questions, method), CONFIDENCE, method)
    held = np.array([a.low <= exact <= a.high for a, exact in zip(answers, asked.exact, strict=True)])
    errors = [abs(a.count - exact) for a, exact in zip(answers, asked.exact, strict=True)]
    n = asked.n_random
    return {
        "random": float(held[:n].mean()),
        "written": float(held[n:].mean()),
        "all": float(held.mean()),
        "error": float(np.mean(errors)),
        "width": float(np.mean([a.high - a.low for a in answers])),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every table, scheme, beta and method, print a row for each, and name the cells below 94 %."""
    parser = argparse.ArgumentParser(prog="python -m experiments.interval_coverage", description=__doc__)
    parser.add_argument("--tables", type=Path, help="folder of further CSV files; the last column is the sensitive one")
    parser.add_argument("--only", nargs="*", default=[], help="names of the tables to measure; by default all")
    parser.add_argument("--schemes", nargs="*", default=list(SCHEMES))
    parser.add_argument("--betas", nargs="*", type=float, default=list(BETAS))
    parser.add_argument("--queries", type=int, default=1200, help="queries of each of the two sets")
    options = parser.parse_args(arguments)
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    short = 0
    for source in sources(options.tables, options.only):
        for scheme in options.schemes:
            for beta in options.betas:
                for row in _measured(source, scheme, beta, options.queries):
                    writer.writerow({name: f"{x:.4g}" if isinstance(x, float) else x for name, x in row.items()})
                    sys.stdout.flush()
                    short += float(str(row["all"])) < WANTED
    print(f"{short} rows below {WANTED:.0%}", file=sys.stderr)
    return 0


def _measured(source: Source, scheme: str, beta: float, n_queries: int) -> Iterator[dict[str, object]]:
    try:
        release = publish(source, scheme, beta)
    except BetalikeError as error:
        print(f"left out: {source.name}, {scheme}, beta {beta:g}: {error}", file=sys.stderr)
        return
    asked = ask(source, release, n_queries)
    for method in release.methods:
        cell = {"table": source.name, "rows": source.frame.height, "scheme": scheme, "beta": beta, "method": method}
        yield {**cell, "queries": len(asked.questions), **measure(release, asked, method)}


if __name__ == "__main__":
    sys.exit(main())
