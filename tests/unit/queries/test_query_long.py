"""Long and deep predicates: right answers, and work that grows with the length alone."""

from __future__ import annotations

import datetime
import random
import sys
from collections.abc import Callable
from decimal import Decimal
from types import FrameType
from typing import Any

import polars as pl
import pytest

from betalike.errors import QueryError
from betalike.queries.estimator import Estimator, open_frame
from query_certificates import make_certificate

pytestmark = pytest.mark.xdist_group("query-long")  # one process makes what these tests share

N_ROWS = 500
MANY = 100_000
FIRST = datetime.date(1900, 1, 1)
NAMES = [f"n{i:05}" for i in range(400)]
TREES = {
    "place": [[name, name[:4], "*"] for name in NAMES],
    "grade": [[str(n), "low" if n < 150 else "high", "*"] for n in range(300)],
}


def some_rows() -> pl.DataFrame:
    rng = random.Random(18)

    def column(make: Callable[[], Any], missing: float = 0.1) -> list[Any]:
        return [None if rng.random() < missing else make() for _ in range(N_ROWS)]

    return pl.DataFrame(
        {
            "age": column(lambda: rng.randrange(3 * MANY)),
            "income": column(lambda: rng.randrange(3 * MANY) / 4),
            "price": column(lambda: Decimal(rng.randrange(3 * MANY)) / 100),
            "born": column(lambda: FIRST + datetime.timedelta(days=rng.randrange(60_000))),
            "place": column(lambda: rng.choice(NAMES)),
            "grade": column(lambda: rng.randrange(300), missing=0),
            "disease": [NAMES[i % len(NAMES)] for i in range(N_ROWS)],
        },
        schema_overrides={"price": pl.Decimal(10, 2)},
    )


ROWS = some_rows()
QUASI_IDENTIFIERS = [name for name in ROWS.columns if name != "disease"]
EVERY_SECOND: dict[str, list[Any]] = {
    "age": list(range(0, 2 * MANY, 2)),
    "income": [i / 2 for i in range(MANY)],
    "price": [Decimal(2 * i) / 100 for i in range(MANY)],
    "born": [FIRST + datetime.timedelta(days=2 * i % 60_000) for i in range(MANY)],
    "place": [NAMES[2 * i % len(NAMES)] for i in range(MANY)],
    "grade": list(range(0, 2 * MANY, 2)),
    "disease": [NAMES[2 * i % len(NAMES)] for i in range(MANY)],
}


@pytest.fixture(scope="module")
def release() -> Estimator:
    """The table as a release in which nothing is generalized, so that counts are exact."""
    certificate = make_certificate("seam", ROWS, QUASI_IDENTIFIERS, "disease", TREES)
    return open_frame(ROWS.with_columns(pl.all().cast(pl.String)), certificate, {})


def written(value: Any) -> str:
    return str(value) if isinstance(value, int | float | Decimal) else f"'{value}'"


def count_rows(name: str, holds: Callable[[Any], bool]) -> int:
    return sum(holds(value) for value in ROWS[name].to_list() if value is not None)


QUICK = ["age", "price", "place", "disease"]  # a number, a decimal, a name in a tree, the sensitive column


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in ROWS.columns]
)
def test_a_list_of_100_000_is_answered_on_every_kind_of_column(release: Estimator, name: str) -> None:
    listed = EVERY_SECOND[name]
    wanted = set(listed)
    values = ", ".join(map(written, random.Random(1).sample(listed, len(listed))))
    inside = count_rows(name, lambda value: value in wanted)
    assert 0 < inside < count_rows(name, lambda value: True)
    assert release.count(f"{name} IN ({values})").count == inside
    assert release.count(f"{name} NOT IN ({values})").count == count_rows(name, lambda value: value not in wanted)


def test_long_lists_are_joined_by_and_and_or(release: Estimator) -> None:
    ages, incomes = (", ".join(map(written, EVERY_SECOND[name])) for name in ("age", "income"))
    rows = ROWS.select("age", "income").rows()
    known = {name: set(EVERY_SECOND[name]) for name in ("age", "income")}
    either = sum(age in known["age"] or income in known["income"] for age, income in rows)
    both = sum(age in known["age"] and income in known["income"] for age, income in rows)
    assert release.count(f"age IN ({ages}) OR income IN ({incomes})").count == either
    assert release.count(f"age IN ({ages}) AND income IN ({incomes})").count == both


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["age", "income", "price", "grade"])
def test_long_chains_of_comparisons(release: Estimator, name: str) -> None:
    listed = EVERY_SECOND[name][:3000]
    known = set(listed)
    inside = count_rows(name, lambda value: value in known)
    outside = count_rows(name, lambda value: value not in known)
    assert release.count(" OR ".join(f"{name} = {value}" for value in listed)).count == inside
    assert release.count(" AND ".join(f"{name} <> {value}" for value in listed)).count == outside
    assert release.count("NOT (" + " OR ".join(f"{name} = {value}" for value in listed) + ")").count == outside


@pytest.mark.parametrize("depth", [1, 100, 1000])
def test_deep_nesting_is_read(release: Estimator, depth: int) -> None:
    young = release.count("age < 1000").count
    old = release.count("age >= 1000").count
    assert release.count("(" * depth + "age < 1000" + ")" * depth).count == young
    assert release.count("NOT (" * depth + "age < 1000" + ")" * depth).count == (old if depth % 2 else young)
    assert release.count("NOT " * depth + "age < 1000").count == (old if depth % 2 else young)
    terms = "".join(f" {'OR' if i % 2 else 'AND'} age >= {i})" for i in range(depth))
    assert release.count("(" * depth + "age < 1000" + terms).count >= 0
    assert release.count(f"age = {'(' * depth}-5{')' * depth}").count == 0


@pytest.mark.parametrize("depth", [1001, 100_000])
@pytest.mark.parametrize(
    ("before", "after"), [("(", ")"), ("NOT (", ")"), ("NOT ", ""), ("(NOT ", ")"), ("age = 1 AND (", ")")]
)
def test_nesting_without_end_is_refused(release: Estimator, depth: int, before: str, after: str) -> None:
    with pytest.raises(QueryError, match=r"nested too deeply.*1,000 deep.*several queries"):
        release.count(before * depth + "age < 1000" + after * depth)


@pytest.mark.parametrize("text", ["(", ")", "NOT ", "age = (", "age IN (", "CAST(", "- ", "/*", "'", '"', ",", "AND "])
def test_repeated_words_that_mean_nothing_are_refused(release: Estimator, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        release.count(text * MANY)
    assert len(str(caught.value)) < 500


def count_lines(work: Callable[[], object]) -> int:
    """How many lines of betalike's are run."""
    n_lines = 0

    def follow(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal n_lines
        if "betalike" not in frame.f_code.co_filename:
            return None
        n_lines += event == "line"
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        work()
    finally:
        sys.settrace(before)
    return n_lines


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "write",
    [
        lambda n: f"age IN ({', '.join(map(str, range(0, 2 * n, 2)))})",
        lambda n: f"age NOT IN ({', '.join(map(str, range(0, 2 * n, 2)))})",
        lambda n: f"place IN ({', '.join(repr(NAMES[i % 400]) for i in range(n))})",
        lambda n: f"grade IN ({', '.join(f'({i})' for i in range(n))})",
        lambda n: f"age IN ({', '.join(f'{i} /* {i} */' for i in range(n))})",
        lambda n: " OR ".join(f"age = {2 * i}" for i in range(n)),
        lambda n: " AND ".join(f"age <> {2 * i}" for i in range(n)),
        lambda n: " OR ".join(f"age = {2 * i} OR income = {i} OR grade = {i}" for i in range(n)),
        lambda n: " AND ".join(f"age <> {2 * i} AND income > {i}" for i in range(n)),
        lambda n: "(" * n + "age = 1" + ")" * n,
    ],
    ids=["IN", "NOT IN", "names", "parentheses", "comments", "OR", "AND", "OR on three", "AND on two", "nested"],
)
def test_work_grows_with_the_length(release: Estimator, write: Callable[[int], str]) -> None:
    once, twice = (count_lines(lambda n=n: release.count(write(n))) for n in (400, 800))  # type: ignore[misc]
    assert twice < 2.4 * once
