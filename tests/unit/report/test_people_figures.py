"""Figures of people with several rows, on an officer's page, counted again with sets of persons."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from shown_figures import Pictures, approx, classes_of, read_rows, shares_by_series, shows, shows_most, table_named

pytestmark = pytest.mark.xdist_group("people figures")  # one process makes what these tests share

BETA, PEOPLE = 3, 160
Classes = dict[tuple[str, ...], dict[str, set[str]]]
Rows = list[dict[str, str]]
Seen = tuple[str, Pictures, Classes, Rows, Rows]  # a page, its pictures, who has what in each class, the rows


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """A page on visits whose numbers are published, and who has which value in each class."""
    rng, folder = np.random.default_rng(7), tmp_path_factory.mktemp("people")
    who = np.repeat(np.arange(PEOPLE), rng.integers(1, 5, PEOPLE))
    own = np.where(np.arange(len(who)) % 9, who, who - 1)  # whose illness each row has: nearly always the person's
    table = pl.DataFrame(
        {
            "visit": np.arange(len(who)),
            "patient": [f"p{number}" for number in who],
            "age": rng.integers(20, 30, PEOPLE)[who],
            "town": rng.choice(["Ulm", "Rom"], PEOPLE)[who],
            "illness": rng.choice(["flu", "cold", "gout"], PEOPLE, p=[0.5, 0.3, 0.2])[own],
        }
    )
    table.write_csv(folder / "visits.csv")
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "town"], "sensitive": "illness", "person": "patient"}
    asked["scheme"] = "lmondrian"
    release = betalike.publish(
        folder / "visits.csv", out=folder / "out", keep=["visit"], keep_identifiers=True, beta=BETA, seed=1, **asked
    )
    pictures = Pictures()
    with pictures.collected():
        page = release.report(original=folder / "visits.csv", quick=True).html
    before = read_rows(folder / "visits.csv")
    person = {row["visit"]: row["patient"] for row in before}
    classes: Classes = {}
    published = read_rows(folder / "out" / "published.csv")
    for row in published:
        having = classes.setdefault((row["age"], row["town"]), {})
        having.setdefault(row["illness"], set()).add(person[row["visit"]])
    return page, pictures, classes, before, published


def prior_of(rows: list[dict[str, str]]) -> dict[str, float]:
    having: dict[str, set[str]] = {}
    for row in rows:
        having.setdefault(row["illness"], set()).add(row["patient"])
    return {value: len(people) / PEOPLE for value, people in having.items()}


def test_guesses_gains_and_sizes_are_those_of_people(seen: Seen) -> None:
    page, pictures, classes, before, after = seen
    crowds = [set().union(*having.values()) for having in classes.values()]
    shares = [
        (value, len(people) / len(crowd))
        for having, crowd in zip(classes.values(), crowds, strict=True)
        for value, people in having.items()
    ]
    prior = prior_of(before)
    ((_, surest, gain),) = table_named(page, "How much a reader learns")
    assert shows_most(surest, max(share for _, share in shares))
    in_people = re.search(r"Counted in people, the largest gain is ([\d.]+)", page)
    assert in_people is not None
    assert shows(in_people[1], max(share / prior[value] for value, share in shares) - 1, digits=4)
    rows = classes_of(after, ["age", "town"], "illness").values()
    share = Counter(row["illness"] for row in before)
    in_rows = max(n / ec.total() / share[v] * len(before) for ec in rows for v, n in ec.items()) - 1
    assert float(in_people[1]) > in_rows
    assert gain == in_people[1]  # the larger of the two
    least = {person: min(len(crowd) for crowd in crowds if person in crowd) for person in set().union(*crowds)}
    drawn = shares_by_series(pictures.rows("How many people share"), "release")
    for label, share in drawn.items():
        low, _, high = label.replace(" or more", " to 1000000").partition(" to ")
        assert share == approx(sum(int(low) <= n <= int(high) for n in least.values()) / PEOPLE)
    assert re.search(r"Smallest class</dt><dd>(\d+) people", page)[1] == str(min(map(len, crowds)))  # type: ignore[index]


def test_the_worst_classes_have_shares_of_people(seen: Seen) -> None:
    page, _, classes, before, _ = seen
    prior = prior_of(before)
    caps = {value: p * (1 + min(BETA, -math.log(p))) for value, p in prior.items()}
    found = []
    for having in classes.values():
        size = len(set().union(*having.values()))
        used = {value: len(people) / size / caps[value] for value, people in having.items()}
        worst = max(used, key=lambda value: used[value])
        found.append((used[worst], size, worst, len(having[worst])))
    shown = table_named(page, "The classes nearest to the limit")
    assert shown
    for people, share, posterior, cap in shown:
        assert any(
            people == str(size) and shows(posterior, count / size) and shows(share, prior[value])
            for _, size, value, count in found
            if shows(cap, caps[value])
        )
    ratios = [float(posterior[:-2]) / float(cap[:-2]) for *_, posterior, cap in shown]
    assert ratios == sorted(ratios, reverse=True)


def test_rows_near_the_promise_are_counted_as_rows(seen: Seen) -> None:
    page, _, _, before, after = seen
    share = {value: n / len(before) for value, n in Counter(row["illness"] for row in before).items()}
    caps = {value: p * (1 + min(BETA, -math.log(p))) for value, p in share.items()}
    near = 0
    for counts in classes_of(after, ["age", "town"], "illness").values():
        size = counts.total()
        near += size * (max(n / size / caps[value] for value, n in counts.items()) >= 0.9)
    found = re.search(r"(\w+) in classes that use at least 90 % of what the promise allows: ([\d.]+ %)", page)
    assert found is not None
    assert found[1] == "Rows"
    assert shows(found[2], near / len(after))
