"""Reports on tables in which a person may have several rows: risks are those of people, not of rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.errors import ParameterError
from betalike.io.frames import to_polars

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
    return betalike.publish(visits, quasi_identifiers=KNOWN, sensitive="illness", beta=4, person="patient", seed=1)


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


def people_alike(rows: pl.DataFrame) -> list[int]:
    """Return, for each person, the fewest people who share the labels of one of the person's rows."""
    classes: dict[tuple[Any, ...], set[Any]] = {}
    for *cells, who in rows.select(*KNOWN, "patient").iter_rows():
        classes.setdefault(tuple(cells), set()).add(who)
    least: dict[Any, int] = {}
    for people in classes.values():
        for who in people:
            least[who] = min(least.get(who, 10**9), len(people))
    return list(least.values())


@pytest.fixture(scope="module")
def numbered(visits: pl.DataFrame) -> pl.DataFrame:
    """The same visits with numbers, which are published, so that everybody can see which row became which."""
    return visits.with_row_index("visit").with_columns(pl.col("age") + pl.col("visit") % 3)


@pytest.mark.parametrize("is_opened", [False, True])
def test_thresholds_and_risks_are_counted_in_people(numbered: pl.DataFrame, tmp_path: Path, is_opened: bool) -> None:
    asked: dict[str, Any] = {"quasi_identifiers": KNOWN, "sensitive": "illness", "beta": 4, "person": "patient"}
    release = betalike.publish(
        numbered, keep=["visit"], keep_identifiers=True, out=tmp_path / "out" if is_opened else None, **asked, seed=1
    )
    if is_opened:
        release = betalike.open_release(tmp_path / "out")
    published = to_polars(release.frame).with_columns(pl.col("visit").cast(pl.UInt32))
    after = people_alike(published.join(numbered.select("visit", "patient"), on="visit"))
    before = least_people(numbered)
    found = release.risk(numbered, thresholds=[0.3, 0.015], population=1000)
    assert found.unit == "people"
    assert found.before is not None
    for figures, alike in ((found.before.risk, before), (found.after.risk, after)):
        assert figures.rows == len(alike) == 200
        assert figures.prosecutor_maximum == 1 / min(alike)
        assert figures.prosecutor_average == pytest.approx(sum(1 / people for people in alike) / 200)
        assert figures.unique == sum(people == 1 for people in alike) / 200
        assert figures.above == {t: sum(1 / people > t for people in alike) / 200 for t in (0.3, 0.015)}
        assert figures.marketer == figures.journalist_average == pytest.approx(figures.prosecutor_average / 5)
    assert found.after.risk.to_dict()["above"].keys() == {"0.3", "0.015"}
    assert found.in_rows is not None
    assert found.in_rows.after.risk.rows == 1000
    assert found.in_rows.after.risk.prosecutor_average < found.after.risk.prosecutor_average
    page = release.report(original=numbered, quick=True, thresholds=[0.3, 0.015]).html
    shown = dict(re.findall(r'<data data-figure="risk.above.([\d.]+)" value="([\d.]+)"', page))
    assert {float(name): float(share) for name, share in shown.items()} == {
        t: share for t, share in found.after.risk.above.items() if round(share * 200) not in (1, 2, 198, 199)
    }


def test_risks_without_the_original_are_those_of_the_certificate(visits: pl.DataFrame, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"quasi_identifiers": KNOWN, "sensitive": "illness", "beta": 4, "person": "patient"}
    betalike.publish(visits, out=tmp_path / "out", **asked, seed=1)
    release = betalike.open_release(tmp_path / "out")
    found, certified = release.risk(), release.certificate["people"]
    assert (found.unit, found.before) == ("people", None)
    figures = found.after.to_dict()
    for name in ("surest_guess", "prosecutor_maximum", "prosecutor_average", "above", "unique"):
        assert figures[name] == certified["risk"][name], name
    assert figures["largest_gain"] == certified["worst_gain"]
    assert (
        found.to_dict()["in_rows"]["after"]["prosecutor_average"] == release.certificate["risk"]["prosecutor_average"]
    )
    with pytest.raises(ParameterError, match=r"no figure for the threshold 0\.3; it has: 0\.05.*Name the original"):
        release.risk(thresholds=[0.3])
    with pytest.raises(ParameterError, match=r"no figure for the threshold 0\.3"):
        release.report(quick=True, thresholds=[0.3])
    with pytest.raises(ParameterError, match="a threshold is 7"):
        release.report(quick=True, original=visits, thresholds=[7])
    page = release.report(quick=True).html
    assert "can be counted only with the original" in page


def test_a_population_of_fewer_people_is_refused(release: Any) -> None:
    assert release.report(quick=True, population=200).html
    with pytest.raises(ParameterError, match="the table has 200 people"):
        release.report(quick=True, population=199)


def test_no_figure_of_utility_rests_on_two_people_with_many_rows() -> None:
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(60), 40)
    town = np.where(who < 2, "Raretown", rng.choice(["A", "B"], 60)[who])
    wealth = [int(rng.integers(7_000_000, 7_900_000)) if number < 2 else None for number in who]
    smokes = np.where(who < 2, 1, 0)
    ill = np.where(rng.random(2400) < 0.3 + 0.3 * (town == "A"), "yes", "no")
    table = pl.DataFrame(
        {"who": who, "town": town, "age": rng.integers(20, 60, 60)[who], "smokes": smokes, "ill": ill},
    ).with_columns(pl.Series("wealth", wealth))
    known = ["town", "age", "smokes", "wealth"]
    release = betalike.publish(table, quasi_identifiers=known, sensitive="ill", beta=4, person="who", seed=1)
    found = release.utility(table, queries=0, seed=1)
    assert [mean.column for mean in found.means] == ["age"]
    assert not any({"wealth", "smokes"} & {pair.first, pair.second} for pair in found.correlations)
    towns = found.distributions[0]
    assert dict(zip(towns.groups, towns.people, strict=True))["Raretown"] == 2
    for audience in ("officer", "analyst", "public"):
        html = release.report(original=table, audience=audience, quick=True, seed=1).html
        assert "Raretown" not in html
        assert not re.search(r"smokes</th><td class=\"n\">[\d.]+</td>", html)
