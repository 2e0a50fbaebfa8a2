"""With a person column every release keeps its promise in people: checked with fractions, on the published text.

Every row keeps its number, so the person of each published row is known without any matching.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import betalike
import twins
from examples import examples
from random_tables import EVERY_SCHEME, EVERY_SCHEME_OF_LIKENESS, Table, tables

People = dict[tuple[str | None, ...], dict[Any, set[str]]]  # who has each value, for each class
CLOSE = ("tmondrian", "sabre")  # keep t-closeness, which cannot be counted in people


@st.composite
def visits(draw: st.DrawFn, max_rows: int = 30) -> tuple[Table, list[str]]:
    """A random table, and the person of each of its rows: a few, so that most have several rows."""
    table = draw(tables(max_rows))
    names = [f"person {number}" for number in range(draw(st.integers(1, 12)))]
    persons = draw(st.lists(st.sampled_from(names), min_size=table.n_rows, max_size=table.n_rows))
    return table.with_arguments(k=draw(st.integers(1, len(set(persons))))), persons


def publish(table: Table, persons: list[str], **arguments: Any) -> betalike.Release:
    """Publish a table with the column of its persons."""

    class WithPersons(Table):
        @property
        def frame(self) -> pl.DataFrame:
            return super().frame.with_columns(pl.Series("who", persons))

    return WithPersons(**vars(table)).publish(person="who", **arguments)


def people_of(table: Table, persons: list[str], frame: pl.DataFrame) -> People:
    """Who is in each class, with each value: by the number of each published row."""
    people: People = defaultdict(lambda: defaultdict(set))
    for labels, row in zip(table.published_labels(frame), frame["row"].to_list(), strict=True):
        people[labels][table.sensitive[row]].add(persons[row])
    return people


def shares(table: Table, persons: list[str]) -> dict[Any, Fraction]:
    """The share of all people who have each value in one of their rows."""
    having: dict[Any, set[str]] = defaultdict(set)
    for value, person in zip(table.sensitive, persons, strict=True):
        having[value].add(person)
    return {value: Fraction(len(who), len(set(persons))) for value, who in having.items()}


@pytest.mark.some(3)
@examples(30)
@EVERY_SCHEME_OF_LIKENESS
@given(drawn=visits())
def test_no_value_becomes_likelier_than_promised_for_a_person(
    scheme: dict[str, Any], drawn: tuple[Table, list[str]]
) -> None:
    table, persons = drawn
    release = publish(table, persons, **scheme)
    prior, beta, form = shares(table, persons), twins.promised(table.beta), table.arguments["promise"]
    gains, sizes, guesses = [], [], []
    least: dict[str, int] = {}
    for who in people_of(table, persons, release.frame).values():
        here = set().union(*who.values())
        size = len(here)
        sizes.append(size)
        guesses += [len(having) / size for having in who.values()]
        least |= {person: min(size, least.get(person, size)) for person in here}
        assert size >= table.arguments["k"]
        for value, having in who.items():
            assert twins.is_allowed(len(having), size, prior[value], beta, form)
            gains.append(Fraction(len(having), size) / prior[value] - 1)
    told = release.certificate["people"]
    assert (told["people"], told["smallest_class"], told["holds"]) == (len(set(persons)), min(sizes), True)
    assert told["worst_gain"] == pytest.approx(float(max(gains)), abs=1e-9)
    number, found = len(least), told["risk"]
    assert found["surest_guess"] == pytest.approx(max(guesses))
    assert found["prosecutor_maximum"] == pytest.approx(1 / min(sizes))
    assert found["prosecutor_average"] == pytest.approx(sum(1 / size for size in least.values()) / number)
    assert found["unique"] == pytest.approx(sum(size == 1 for size in least.values()) / number)
    fewer = {"0.05": 20, "0.09": 12, "0.2": 5}  # a class of at least so many people has no higher risk
    expected = {name: sum(size < most for size in least.values()) / number for name, most in fewer.items()}
    assert found["above"] == pytest.approx(expected)
    having = sorted(int(share * len(set(persons))) for share in prior.values())
    assert sorted(told["prior_counts"].values()) == having
    assert "who" not in release.frame.columns


@pytest.mark.some(3)
@examples(10)
@EVERY_SCHEME_OF_LIKENESS
@given(drawn=visits())
def test_the_promise_in_rows_is_kept_as_well(scheme: dict[str, Any], drawn: tuple[Table, list[str]]) -> None:
    table, persons = drawn
    release = publish(table, persons, **scheme)
    classes = table.published_classes(release.frame).values()
    asked = table.arguments
    assert twins.broken_classes(classes, table.prior, table.beta, asked["promise"], asked["k"]) == []


@examples(10)
@pytest.mark.parametrize(
    "promise",
    [
        {"promise": "delta-disclosure", "beta": None, "delta": 0.7},
        {"promise": "distinct-l-diversity", "beta": None, "l": 2},
        {"promise": "k-anonymity", "beta": None},
        {"negative_beta": 0.5},
    ],
    ids=["delta-disclosure", "distinct-l-diversity", "k-anonymity", "two-sided"],
)
@given(drawn=visits())
def test_other_promises_are_kept_in_people_too(promise: dict[str, Any], drawn: tuple[Table, list[str]]) -> None:
    table, persons = drawn
    k = table.arguments["k"]
    if promise.get("promise") == "k-anonymity" and k == 1:
        return
    release = publish(table, persons, scheme="mondrian", **promise)
    prior = shares(table, persons)
    for who in people_of(table, persons, release.frame).values():
        size = len(set().union(*who.values()))
        assert size >= k
        assert len(who) >= promise.get("l", 1)
        for value, share in prior.items():
            here = Fraction(len(who.get(value, ())), size)
            if "delta" in promise:
                assert share / Fraction("2.01376") < here < share * Fraction("2.01376")  # e to the 0.7
            if "negative_beta" in promise:
                assert here >= share / 2


@pytest.mark.some(4)
@examples(8)
@EVERY_SCHEME
@given(drawn=visits(), seed=st.integers(0, 10**6), form=st.sampled_from(["csv", "parquet"]))
def test_the_original_in_any_order_shows_the_same_figures(
    scheme: dict[str, Any], drawn: tuple[Table, list[str]], seed: int, form: str
) -> None:
    """No column is kept, so rows are matched; verifying finds the people that publishing found."""
    table, persons = drawn
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        wish = {**scheme, "keep": [], "out": out, "format": form}
        if scheme["scheme"] in CLOSE:
            with pytest.raises(betalike.errors.ParameterError, match="cannot be promised in people"):
                publish(table, persons, **wish)
            return
        publish(table, persons, **wish)
        shuffled = table.frame.with_columns(pl.Series("who", persons)).sample(fraction=1, shuffle=True, seed=seed)
        report = betalike.verify(out, original=shuffled)
        assert report.holds, report.explanations
        assert report.checks["people"]
        assert "people" not in report.not_checked
        assert "people" in betalike.verify(out).not_checked


def test_a_release_with_a_cap_by_a_function_verifies_in_people(tmp_path: Path) -> None:
    """Its certificate lists the caps by rows and by people: here the same numbers mean other shares."""
    rows = [(age, f"patient {age // 2}", ("flu", "gout", "cough")[age % 3]) for age in range(40) for _ in range(3)]
    table = pl.DataFrame(rows, schema=["age", "who", "disease"], orient="row")
    wish: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": "disease", "person": "who"}
    betalike.publish(table, cap=lambda share: min(1.0, 2 * share), out=tmp_path / "release", **wish, seed=1)
    report = betalike.verify(tmp_path / "release", original=table)
    assert report.holds, report.explanations
    assert report.checks["people"]


def test_a_table_that_keeps_beta_2_and_k_5_in_rows_has_a_gain_of_12_6_in_people() -> None:
    """Ward A has the six visits of one patient; one visit is for gout, which 5 of 68 patients have: 68 / 5 - 1."""
    rows = [("A", "patient 0", disease) for disease in ("gout", "flu", "flu", "cough", "cough", "asthma")]
    for number in range(1, 68):
        usual = ["gout"] * 4 if number < 5 else ["flu", "cough", "asthma", "flu" if number % 2 else "cough"]
        rows += [("B", f"patient {number}", disease) for disease in usual]
    table = pl.DataFrame(rows, schema=["ward", "who", "disease"], orient="row")
    asked: dict[str, Any] = {"quasi_identifiers": ["ward"], "sensitive": "disease", "beta": 2, "k": 5}
    assert betalike.audit(table, original=table, **asked).holds
    report = betalike.audit(table, original=table, person="who", **asked)
    assert report.people is not None
    assert (report.holds, report.people.smallest_class) == (False, 1)
    assert report.people.worst_gain == pytest.approx(12.6)
    release = betalike.publish(table, person="who", **asked, seed=1)
    assert release.certificate["people"]["worst_gain"] <= 2
    assert release.certificate["people"]["smallest_class"] >= 5
