"""Reports on tables in which a person may have several rows: risks are those of people, not of rows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.errors import ParameterError

KNOWN = ["age", "town"]


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    """Five visits of each of 200 people; two of them have an illness that nobody else has."""
    rng = np.random.default_rng(3)
    illness = rng.choice(["flu", "cold", "gout"], 200, p=[0.5, 0.3, 0.2]).astype(object)
    illness[:2] = "rareillness"
    towns = rng.choice(["A", "B"], 200).astype(object)
    towns[:2] = "Raretown"
    people = pl.DataFrame({"age": rng.integers(20, 60, 200), "town": list(towns), "illness": list(illness)})
    return people.with_row_index("patient").select(pl.all().repeat_by(5)).explode(pl.all())


@pytest.fixture(scope="module")
def release(visits: pl.DataFrame) -> Any:
    return betalike.publish(visits, quasi_identifiers=KNOWN, sensitive="illness", beta=4, person="patient")


def least_people(visits: pl.DataFrame) -> list[int]:
    """Return, for each person, how many people share the quasi-identifiers of one of the person's rows at least."""
    classes: dict[tuple[Any, ...], set[Any]] = {}
    for *cells, who in visits.select(*KNOWN, "patient").iter_rows():
        classes.setdefault(tuple(cells), set()).add(who)
    least: dict[Any, int] = {}
    for people in classes.values():
        for who in people:
            least[who] = min(least.get(who, 10**9), len(people))
    return list(least.values())


def test_an_officer_sees_risks_in_people(visits: pl.DataFrame, release: Any) -> None:
    html = release.report(original=visits, quick=True, population=900).html
    figures = {name: float(value) for name, value in re.findall(r'data-figure="risk\.([^"]+)" value="([^"]+)"', html)}
    risk = release.certificate["people"]["risk"]
    assert risk["prosecutor_maximum"] > release.certificate["risk"]["prosecutor_maximum"]
    for name in ("prosecutor_maximum", "prosecutor_average", "unique"):
        if name in figures:
            assert figures[name] == risk[name]
    assert figures["journalist_average"] == pytest.approx(risk["prosecutor_average"] * 200 / 900)
    assert {name: figures[f"above.{name}"] for name in risk["above"]} == risk["above"]
    before = dict(
        re.findall(r'<th scope="row">([A-Z][a-z, ]+) <small>[^<]*</small></th><td class="n">([^<]*)</td>', html)
    )
    alike = least_people(visits)
    average, alone = sum(1 / people for people in alike) / 200, sum(people == 1 for people in alike) / 200
    assert before["Prosecutor, greatest"] == f"{100 / min(alike):.3g} %"
    assert before["Prosecutor, average"] == f"{100 * average:.3g} %"
    assert before["Unique rows"] == f"{100 * alone:.3g} %"


def test_the_smallest_class_is_counted_in_people(release: Any) -> None:
    people = release.certificate["people"]["smallest_class"]
    assert people < release.certificate["release"]["smallest_class"]
    shown = re.findall(r"Smallest class</dt><dd>([^<]*) people", release.report(quick=True).html)
    assert shown == ["fewer than 3" if people < 3 else str(people)]


@pytest.mark.parametrize("audience", ["officer", "analyst", "public"])
def test_values_of_two_people_with_many_rows_are_left_out(visits: pl.DataFrame, release: Any, audience: str) -> None:
    html = release.report(original=visits, quick=True, audience=audience, seed=1).html
    assert "rareillness" not in html
    assert "Raretown" not in html


def test_a_population_of_fewer_people_and_thresholds_without_a_figure_are_refused(release: Any) -> None:
    assert release.report(quick=True, population=200).html
    with pytest.raises(ParameterError, match="the table has 200 people"):
        release.report(quick=True, population=199)
    with pytest.raises(ParameterError, match=r"no figure for the threshold 0\.3; it has: 0\.05, 0\.09, 0\.2"):
        release.report(quick=True, thresholds=[0.3])
