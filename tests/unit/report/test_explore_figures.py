"""Each figure of the page of `explore`, computed again from releases that are published one by one."""

from __future__ import annotations

import io
import math
import re
import statistics
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import betalike
from betalike.queries.utility import N_PREDICATES, SELECTIVITY
from betalike.queries.workload import draw_queries
from betalike.report.exploration import print_exploration, write_exploration
from betalike.runtime.randomness import randomness
from shown_figures import (
    TREE,
    Pictures,
    ask_one_by_one,
    classes_of,
    read_rows,
    shows,
    table_named,
    widths_and_loss,
    write_people,
)

pytestmark = pytest.mark.xdist_group("explored figures")  # one process makes what these tests share

NAMES, SENSITIVE, BETAS = ["age", "city"], "grade", (1, 2, 3, 6)
ASKED: dict[str, Any] = {"sensitive": SENSITIVE, "hierarchies": {"city": TREE}, "seed": 1}
N_QUERIES = 40
Seen = tuple[str, Pictures, Any, list[Any]]  # a page, its pictures, the exploration and its queries


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    write_people(folder / "people.csv", 200)
    return folder


@pytest.fixture(scope="module")
def seen(folder: Path) -> Seen:
    asked = {"schemes": ["lmondrian"], "consider": ["day"], "queries": N_QUERIES, "quasi_identifiers": NAMES, **ASKED}
    pictures, found = Pictures(), betalike.explore(folder / "people.csv", beta=BETAS, **asked)
    with pictures.collected():
        write_exploration(found, folder / "page.html", force=True)
    release = betalike.open_release(published(folder, BETAS[0], NAMES)[0]).estimator
    asked_of = release.quasi_identifiers, release.sensitive
    queries = draw_queries(*asked_of, N_QUERIES, min(N_PREDICATES, len(NAMES)), SELECTIVITY, randomness(1))
    return (folder / "page.html").read_text(encoding="utf-8"), pictures, found, queries


def published(folder: Path, beta: float, names: list[str]) -> tuple[Path, dict[str, float], list[Counter[str]]]:
    """A release, the loss of each column, and the values of each class."""
    out = folder / f"{beta}-{'-'.join(names)}"
    if not out.exists():
        asked = {"beta": beta, "scheme": "lmondrian", "quasi_identifiers": names, **ASKED}
        betalike.publish(folder / "people.csv", out=out, **asked)
    before, after = read_rows(folder / "people.csv"), read_rows(out / "published.csv")
    losses = {name: widths_and_loss(before, after, name)[1] for name in names}
    return out, losses, list(classes_of(after, names, SENSITIVE).values())


def test_each_beta_costs_and_protects_what_its_release_does(folder: Path, seen: Seen) -> None:
    page, pictures, found, queries = seen
    rows, curve = table_named(page, "The same in figures"), []
    assert len(rows) == len(BETAS)
    for (_, shown_beta, *cells), beta in zip(rows, BETAS, strict=True):
        out, losses, classes = published(folder, beta, NAMES)
        curve.append(statistics.mean(losses.values()))
        surest = max(Fraction(count, ec.total()) for ec in classes for count in ec.values())
        asked = ask_one_by_one(betalike.open_release(out), read_rows(folder / "people.csv"), queries)
        error = statistics.median(abs(answer.count - exact) / exact for answer, exact in asked if exact)
        smallest = min(ec.total() for ec in classes)
        assert shown_beta == str(beta)
        figures = (curve[-1], surest, Fraction(len(classes), 200), error)
        for cell, figure in zip(cells[:4], figures, strict=True):
            assert shows(cell, figure), (beta, cell, figure)
        assert cells[4] == ("fewer than 3" if smallest < 3 else str(smallest))
    drawn = [row["share"] for row in pictures.rows("Average loss of the quasi-identifiers")]
    assert drawn == pytest.approx(curve)
    steps = [math.log(beta) / math.log(6) for beta in BETAS]
    below = [(1 - s) - (loss - curve[-1]) / (curve[0] - curve[-1]) for s, loss in zip(steps, curve, strict=True)]
    assert found.knees == {"lmondrian": BETAS[below.index(max(below[1:-1]))]}
    assert f"beta <strong>{found.knees['lmondrian']:g}</strong>" in page


def test_a_terminal_shows_the_figures_of_the_page(seen: Seen) -> None:
    page, _, found, _ = seen
    out = io.StringIO()
    print_exploration(Console(file=out, width=120), found)
    lines = [" ".join(re.sub(r" \*| considered", "", line).split()) for line in out.getvalue().splitlines()]
    for caption in ("The same in figures", "Shown are the most frequent", "Average loss of the other"):
        for cells in table_named(page, caption):
            smallest = str(found.trials[0].smallest_class)
            assert " ".join(cells).replace("fewer than 3", smallest) in lines


def test_values_may_reach_their_caps(folder: Path, seen: Seen) -> None:
    counts = Counter(row[SENSITIVE] for row in read_rows(folder / "people.csv"))
    shown = table_named(seen[0], "Shown are the most frequent and the rarest values")
    assert [counts[value] for value, *_ in shown] == [count for _, count in counts.most_common()]
    for value, share, *caps in shown:
        prior = counts[value] / 200
        assert shows(share, prior)
        expected = [prior * (1 + min(beta, -math.log(prior))) for beta in BETAS]
        assert all(shows(cap, figure) for cap, figure in zip(caps, expected, strict=True))


def test_a_column_costs_what_the_others_lose_and_risk_with_it(folder: Path, seen: Seen) -> None:
    page, _, found, _ = seen
    shown = {name.removesuffix(" considered"): cells for name, *cells in table_named(page, "Average loss of the other")}
    assert list(shown) == ["age", "city", "day"]
    beta = int(found.column_beta)
    for name, (loss_without, loss_with, risk_without, risk_with) in shown.items():
        others = [each for each in NAMES if each != name]
        sides = (
            (loss_without, risk_without, others),
            (loss_with, risk_with, [*NAMES, "day"] if name == "day" else NAMES),
        )
        for loss, risk, columns in sides:
            _, losses, classes = published(folder, beta, columns)
            assert shows(loss, statistics.mean(losses[other] for other in others))
            assert shows(risk, Fraction(len(classes), 200))
