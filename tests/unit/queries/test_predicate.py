"""Predicates: random ones against DuckDB on a table without any generalization, and what is refused."""

from __future__ import annotations

import datetime
import random

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import QueryError
from betalike.queries.estimator import Estimator, open_frame
from examples import examples
from query_certificates import make_certificate

CITIES = {"Ulm": "north", "Kiel": "north", "Rom": "south", "Bari": "south", "it's": "else"}
TREES = {
    "city": [[city, region, "*"] for city, region in CITIES.items()],
    "grade": [[str(n), "low" if n < 5 else "high", "*"] for n in (1, 2, 3, 10, 11)],
}
DISEASES = ["flu", "gout", "NULL", "5"]


def some_people(n_rows: int = 150) -> pl.DataFrame:
    rng = random.Random(4)
    day = datetime.date(2024, 1, 1)
    return pl.DataFrame(
        {
            "age": [rng.choice([None, *range(20, 32)]) for _ in range(n_rows)],
            "income": [rng.choice([None, -1.5, 0.0, 2.25, 7.0, 1e3]) for _ in range(n_rows)],
            "born": [day + datetime.timedelta(days=rng.randrange(9)) for _ in range(n_rows)],
            "city": [rng.choice([None, *CITIES]) for _ in range(n_rows)],
            "grade": [rng.choice([1, 2, 3, 10, 11]) for _ in range(n_rows)],
            "disease": [rng.choice([None, *DISEASES]) for _ in range(n_rows)],
        },
        schema_overrides={"age": pl.Int64, "income": pl.Float64},
    )


PEOPLE = some_people()
NAMES = [name for name in PEOPLE.columns if name != "disease"]


def opened() -> Estimator:
    """The table as a release in which nothing is generalized."""
    certificate = make_certificate("seam", PEOPLE, NAMES, "disease", TREES)
    return open_frame(PEOPLE.with_columns(pl.all().cast(pl.String)), certificate, {})


RELEASE = opened()


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


NUMBERS = st.sampled_from(["19", "20", "25", "25.5", "31", "32", "-1.5", "2.25", "7", "1e3", "-(3)", "0"])
GRADES = st.sampled_from(["1", "3", "4", "10", "2.5"])
DATES = st.integers(0, 10).map(lambda n: f"DATE '2024-01-{n + 1:02}'") | st.just("'2024-01-05'")
LITERALS = {
    "age": NUMBERS,
    "income": NUMBERS,
    "born": DATES,
    "grade": GRADES,
    "city": st.sampled_from([quoted(city) for city in CITIES]),
    "disease": st.sampled_from([quoted(name) for name in DISEASES]),
}
ORDERED = {"age", "income", "born", "grade"}


@st.composite
def comparisons(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(list(LITERALS)))
    literal = LITERALS[name]
    signs = ["=", "<>", "!="] + (["<", "<=", ">", ">="] if name in ORDERED else [])
    forms = ["sign", "turned", "in", "null"] + (["between"] if name in ORDERED else [])
    form = draw(st.sampled_from(forms))
    negation = draw(st.sampled_from(["", "NOT "]))
    if form == "sign":
        return f"{name} {draw(st.sampled_from(signs))} {draw(literal)}"
    if form == "turned":
        return f"{draw(literal)} {draw(st.sampled_from(signs))} {name}"
    if form == "in":
        return f"{name} {negation}IN ({', '.join(draw(st.lists(literal, min_size=1, max_size=3)))})"
    if form == "null":
        return f"{name} IS {negation}NULL"
    return f"{name} {negation}BETWEEN {draw(literal)} AND {draw(literal)}"


PREDICATES = st.recursive(
    comparisons(),
    lambda inner: (
        st.builds(lambda a, b: f"({a} AND {b})", inner, inner)
        | st.builds(lambda a, b: f"({a} OR {b})", inner, inner)
        | inner.map(lambda a: f"NOT ({a})")
    ),
    max_leaves=6,
)


def exact_count(predicate: str) -> int:
    people = PEOPLE  # noqa: F841 - DuckDB finds it by its name
    return int(duckdb.sql(f"SELECT COUNT(*) FROM people WHERE {predicate}").fetchall()[0][0])


@given(
    PREDICATES, st.sampled_from(["{}", "SELECT COUNT(*) FROM people WHERE {}", "select count(*) as n from t where {}"])
)
@examples(400)
def test_counts_are_exact_where_nothing_is_generalized(predicate: str, form: str) -> None:
    exact = exact_count(predicate)
    for method in ("density", "uniform"):
        answer = RELEASE.count(form.format(predicate), method=method)
        assert (answer.at_least, answer.count, answer.at_most) == (exact, exact, exact), predicate
        assert answer.standard_error == 0


@pytest.mark.parametrize(
    ("predicate", "meant"),
    [
        ("city = 'north'", "city IN ('Ulm', 'Kiel')"),
        ("city <> 'north'", "city NOT IN ('Ulm', 'Kiel')"),
        ("grade IN ('low', 11)", "grade IN (1, 2, 3, 11)"),
        ("grade BETWEEN 2 AND 10", "grade IN (2, 3, 10)"),
        ("AGE > 25", "age > 25"),
        ('people."age" > 25', "age > 25"),
        ("age > 25 -- over 25", "age > 25"),
        ("TRUE", "TRUE"),
        ("age > 25 AND FALSE", "FALSE"),
        ("born < TIMESTAMP '2024-01-03 00:00:00'", "born < DATE '2024-01-03'"),
        ("age = 25.5", "FALSE"),
        ("age BETWEEN 30 AND 20", "FALSE"),
        ("born = CAST('2024-01-03' AS DATE)", "born = DATE '2024-01-03'"),
        ("born IN ('2024-01-03'::date, timestamp'2024-01-04')", "born IN (DATE '2024-01-03', DATE '2024-01-04')"),
        ("(25) < age AND (age < (30))", "age BETWEEN 26 AND 29"),
        ("((25) < age)", "age > 25"),
        ("age IN (+25, -(-26), ((27)))", "age IN (25, 26, 27)"),
        ("age IN (25 /* or */, 26)", "age IN (25, 26)"),
        ("age NOT IN (25)", "age <> 25"),
        ("age /* years */ > -- more\n 25", "age > 25"),
        ("city = 'it''s' -- it's", "city = 'it''s'"),
        ("age NOT BETWEEN 22 AND 25 AND age < 30", "age NOT BETWEEN 22 AND 25 AND age < 30"),
        ("NOT age BETWEEN 22 AND 25 OR age = 23", "NOT age BETWEEN 22 AND 25 OR age = 23"),
        ("NOT NOT NOT (age = 25 OR NOT city = 'Ulm')", "NOT (age = 25 OR NOT city = 'Ulm')"),
        ("age = 25 OR age = 26 AND city = 'Ulm'", "age = 25 OR (age = 26 AND city = 'Ulm')"),
        ("age==25 or AGE=26;", "age IN (25, 26)"),
        ("SELECT COUNT(*) n FROM a.people p WHERE p.age = 25;", "age = 25"),
    ],
)
def test_what_a_predicate_means(predicate: str, meant: str) -> None:
    assert RELEASE.count(predicate).count == exact_count(meant)


def test_without_a_condition_all_rows_are_counted() -> None:
    assert RELEASE.count("SELECT COUNT(*) FROM people").count == PEOPLE.height


@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        ("", ["empty"]),
        ("  ", ["empty"]),
        ("agee > 3", ["'agee > 3'", "Did you mean 'age'?", "disease"]),
        ("age > 'x'", ["'age > 'x''", "integer", "give a number"]),
        ("income = '2'", ["real", "number"]),
        ("born > 3", ["'born > 3'", "date such as"]),
        ("born > '2024-13-01'", ["date such as"]),
        ("city = 'Ulmm'", ["no value 'Ulmm'", "Did you mean 'Ulm'?"]),
        ("city > 'Ulm'", ["no order", "IN"]),
        ("disease = 5.5", ["no value '5.5'"]),
        ("grade > 'x'", ["compare 'grade' with a number"]),
        ("age <", ["near 'age <'"]),
        ("age = 'x", ["cannot be read", "not closed"]),
        ("age = 1 /* x", ["cannot be read", "not closed"]),
        ("age = 1)", ["near 'age = 1)'"]),
        ("age = 1 AND", ["near 'age = 1 AND'"]),
        ("OR age = 1", ["near 'OR'"]),
        ("()", ["near '()'"]),
        ("age IN (1, )", ["near"]),
        ("age IN (1, 2) 3", ["not supported"]),
        ("age = (1, 2)", ["'(1, 2)' is not a number"]),
        ("(1, 2) = age", ["'(1, 2)' is not a number"]),
        ("age BETWEEN (1, 2) AND 3", ["'(1, 2)' is not a number"]),
        ("age BETWEEN 1", ["near"]),
        ("age = 1 city = 'Ulm'", ["'1 city = 'Ulm'' is not a number"]),
        ("age = --1", ["near 'age ='"]),
        ("age = 1.2.3", ["is not a number"]),
        ("(age) = 3", ["'(age)' is not a column"]),
        ("NULL = age", ["Use IS NULL"]),
        ("age NOT LIKE '3%'", ["'age NOT LIKE '3%'' is not supported"]),
        ("age = 1 XOR age = 2", ["is not a number"]),
        ("SELECT COUNT(*) FROM a, b", ["', b' is not supported"]),
        ("city = '" + "x" * 9000 + "'", ["no value 'xxx"]),
        ("((age = 1", ["near"]),
        ("age LIKE '3%'", ["'age LIKE '3%'' is not supported", "BETWEEN"]),
        ("age = city", ["'city' is not a number or a text"]),
        ("age + 1 = 3", ["'age + 1' is not a column"]),
        ("ABS(age) = 3", ["is not a column"]),
        ("age = NULL", ["Use IS NULL"]),
        ("age = 20 + 1", ["is not a number or a text"]),
        ("age IN (SELECT 3)", ["not supported"]),
        ("age IN ()", ["not supported"]),
        ("age BETWEEN SYMMETRIC 3 AND 1", ["not supported"]),
        ("age IS TRUE", ["not supported"]),
        ("age", ["'age' is not supported"]),
        ("age = 1; age = 2", ["not one predicate"]),
        ("age = 1 UNION SELECT 1", ["not one predicate"]),
        ("age = 1 GROUP BY city", ["'GROUP BY city' is not supported"]),
        ("SELECT age FROM people", ["'SELECT age' is not supported"]),
        ("SELECT COUNT(age) FROM people", ["only SELECT COUNT(*) is"]),
        ("SELECT COUNT(*), 1 FROM people", ["only SELECT COUNT(*) is"]),
        ("SELECT COUNT(*) FROM people LIMIT 1", ["'LIMIT 1' is not supported"]),
        ("SELECT COUNT(*) FROM (SELECT 1)", ["name one table"]),
        ("SELECT COUNT(*) FROM a JOIN b USING (k) WHERE age = 1", ["not supported"]),
        ("DROP TABLE people", ["cannot be read"]),
        ("age = :x", ["is not a number"]),
        ("(" * 3000 + "age = 1" + ")" * 3000, ["predicate"]),
    ],
)
def test_what_cannot_be_answered_is_told_with_the_piece(predicate: str, words: list[str]) -> None:
    with pytest.raises(QueryError) as caught:
        RELEASE.count(predicate)
    for word in words:
        assert word in str(caught.value)
    assert len(str(caught.value)) < 500


def test_too_many_parts_are_refused() -> None:
    pairs = [f"(age = {20 + i % 12} AND income = {i})" for i in range(1200)]
    parts = [f"(age = {i} AND income = {i}.5)" for i in range(1200)]
    assert RELEASE.count(" OR ".join(pairs)).count >= 0  # one box for each age
    with pytest.raises(QueryError, match="more than 1000 parts"):
        RELEASE.count(" OR ".join(parts))
