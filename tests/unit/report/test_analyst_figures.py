"""Each figure of an analyst's page, computed again from the CSV files and the completed tables.

Distributions and widths are counted in plain Python, means and correlations by NumPy, Cramer's V by
SciPy. Counts are asked one by one.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats.contingency import association

import betalike
from betalike.queries.completion import Completion
from betalike.queries.utility import N_PREDICATES, SELECTIVITY
from betalike.queries.workload import draw_queries
from betalike.report.page import N_QUERIES
from betalike.runtime.randomness import randomness
from shown_figures import (
    ASKED,
    KINDS,
    TREE,
    Pictures,
    approx,
    ask_one_by_one,
    read,
    read_rows,
    shares_by_series,
    shows,
    table_named,
    widths_and_loss,
    write_people,
)

pytestmark = pytest.mark.xdist_group("analyst figures")  # one process makes what these tests share

FEW = "groups of few"
SEED, CONFIDENCE = 2, 0.5
Table = dict[str, list[Any]]  # the cells of each column; None is missing


@dataclass
class Seen:
    """A page with its pictures, and what it was made from: the rows, the completed tables, the queries."""

    sensitive: str
    page: str = ""
    pictures: Pictures = field(default_factory=Pictures)
    release: Any = None
    before: list[dict[str, str]] = field(default_factory=list)
    after: list[dict[str, str]] = field(default_factory=list)
    samples: list[Any] = field(default_factory=list)
    found: Any = None
    queries: list[Any] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return list(ASKED[self.sensitive]["quasi_identifiers"])

    @property
    def original(self) -> Table:
        """The original's cells: numbers, days since 1970, or names."""
        table: Table = {name: [read(row[name], KINDS[name]) for row in self.before] for name in self.names}
        return {**table, self.sensitive: [row[self.sensitive] or None for row in self.before]}

    @property
    def completed(self) -> list[Table]:
        """The completed tables, row by row."""
        tables = []
        for sample in self.samples:
            rows = np.repeat(sample.values, sample.count.astype(int), axis=0)
            columns = zip(sample.columns, rows.T.tolist(), strict=True)
            tables.append({c.name: [None if math.isnan(x) else named(c, x) for x in values] for c, values in columns})
        return tables

    def kind(self, name: str) -> str:
        return KINDS.get(name, "name")


def named(column: Any, number: float) -> Any:
    return number if column.levels is None else column.levels[int(number)]


@pytest.fixture(scope="module", params=list(ASKED))
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder, it = tmp_path_factory.mktemp("analyst"), Seen(request.param)
    write_people(folder / "people.csv")
    asked = {"beta": 2, "hierarchies": {"city": TREE}, "seed": 1, "sensitive": it.sensitive, **ASKED[it.sensitive]}
    it.release = betalike.publish(folder / "people.csv", out=folder / "out", **asked)
    it.before, it.after = read_rows(folder / "people.csv"), read_rows(folder / "out" / "published.csv")
    with it.pictures.collected(), pytest.MonkeyPatch.context() as patch:
        # At the confidence of pages, the intervals of this small table hold every exact count.
        patch.setattr("betalike.queries.workload.CONFIDENCE", CONFIDENCE)
        it.page = it.release.report(original=folder / "people.csv", audience="analyst", seed=SEED).html
    it.found = it.release.utility(folder / "people.csv", queries=0, seed=SEED)
    chance, asked_release = randomness(SEED), it.release.estimator  # the page draws the same
    completion, names = Completion(asked_release), asked_release.quasi_identifiers
    it.samples = [completion.sample(chance) for _ in range(3)]
    n_predicates = min(N_PREDICATES, len(names))
    it.queries = draw_queries(names, asked_release.sensitive, N_QUERIES, n_predicates, SELECTIVITY, chance)
    return it


def test_losses_and_widths_are_those_of_the_published_labels(seen: Seen) -> None:
    shown = {column: cells for column, *cells in table_named(seen.page, "Width of the labels")}
    drawn = {row["label"]: row["share"] for row in seen.pictures.rows("Loss of each column")}
    columns = {column: cells for column, *cells in table_named(seen.page, "What became of each column")}
    losses = {}
    for name in seen.names:
        kind, labels = seen.kind(name), [row[name] for row in seen.after]
        widths, losses[name] = widths_and_loss(seen.before, seen.after, name)
        assert drawn[name] == approx(losses[name])
        assert columns[name][2] == "exact" or shows(columns[name][2].split(" lost")[0].split(": ")[1], losses[name])
        exact, *at_most = shown[name]
        n_exact = sum(width == (1 if kind == "name" else 0) for width in widths)
        assert exact == "fewer than 3 people" if n_exact in (1, 2) else shows(exact, Fraction(n_exact, len(widths)))
        for text, part in zip(at_most, (Fraction(1, 2), Fraction(9, 10), 1), strict=True):
            least = next(w for w in sorted(widths) if sum(width <= w for width in widths) >= part * len(widths))
            unit = {"name": "value", "date": "day"}.get(kind)
            if text == "not known":  # the release does not show how wide a hidden value may be
                assert "*" in labels
                assert part == 1
                continue
            assert shows(text.split(" ")[0], least, digits=4)
            assert unit is None or text.split(" ")[1] == (unit if least == 1 else f"{unit}s")
    average = re.search(r'data-figure="release.average_loss" value="([^"]*)"', seen.page)
    assert average is not None
    assert float(average[1]) == approx(statistics.mean(losses.values()))


def holds(label: str, cell: Any, kind: str) -> bool:
    """Whether a cell is in the group with this label."""
    if label in ("missing", FEW) or cell is None:
        return label == "missing" and cell is None
    if kind == "name":
        return label == cell
    if label.startswith("below "):
        return cell < read(label.removeprefix("below "), kind)
    if label.endswith(" or more"):
        return cell >= read(label.removesuffix(" or more"), kind)
    low, is_range, high = label.partition(" to ")
    if is_range and kind == "real":
        return read(low, kind) <= cell < read(high, kind)
    return read(low, kind) <= cell <= read(high or low, kind)


def grouped(cells: Sequence[Any], labels: Sequence[str], kind: str) -> list[str]:
    """The label of each cell; what no group holds is among the few."""
    found = {cell: [label for label in labels if holds(label, cell, kind)] or [FEW] for cell in set(cells)}
    assert all(len(labels) == 1 for labels in found.values())
    return [found[cell][0] for cell in cells]


def test_distributions_are_counts_of_rows(seen: Seen) -> None:
    for name in (*seen.names, seen.sensitive):
        rows = seen.pictures.rows(f"{name}: share of rows")
        before, after = (shares_by_series(rows, series) for series in ("original", "release"))
        assert before.keys() == after.keys()
        counts = [Counter(grouped(t[name], list(before), seen.kind(name))) for t in (seen.original, *seen.completed)]
        n = len(seen.before)
        assert before == approx({label: counts[0][label] / n for label in before})
        assert after == approx({label: sum(c[label] for c in counts[1:]) / n / 3 for label in before})
        assert all(counts[0][label] not in (1, 2) for label in before)
        away = sum(abs(before[label] - after[label]) for label in before) / 2
        said = re.search(rf"<figcaption>{name}: share of rows. (.*?) would have to change groups", seen.page)
        assert said is not None
        assert shows(said[1], round(away, 12))
        assert sum(before.values()) == approx(1) == sum(after.values())


def numbers(table: Table, name: str) -> Any:
    return np.array([np.nan if cell is None else float(cell) for cell in table[name]])


def test_means_deviations_and_correlations_are_those_of_numpy(seen: Seen) -> None:
    columns = [name for name in (*seen.names, "grade") if name != "city" and name in seen.original]
    shown = {name: cells for name, *cells in table_named(seen.page, "Means and standard deviations")}
    assert list(shown) == [name for name in columns if name != "day"]  # a day has no mean
    for name, cells in shown.items():
        values = [numbers(table, name) for table in (seen.original, *seen.completed)]
        means, variances = [np.nanmean(each) for each in values], [np.nanvar(each) for each in values]
        expected = (means[0], np.mean(means[1:]), math.sqrt(variances[0]), math.sqrt(np.mean(variances[1:])))
        assert all(shows(cell, float(figure), digits=4) for cell, figure in zip(cells, expected, strict=True))
    shown = {name: cells for name, *cells in table_named(seen.page, "Correlations")}
    assert sorted(shown) == sorted(", ".join(pair) for pair in combinations(columns, 2))
    for name, cells in shown.items():
        found = []
        for table in (seen.original, *seen.completed):
            both = np.array([numbers(table, each) for each in name.split(", ")])
            found.append(np.corrcoef(both[:, ~np.isnan(both).any(axis=0)])[0, 1])
        assert shows(cells[0], found[0], places=3)
        assert shows(cells[1], np.mean(found[1:]), places=3)


def test_strengths_of_relations_are_those_of_scipy(seen: Seen) -> None:
    shown = {name: cells for name, *cells in table_named(seen.page, "Strength of the relation")}
    found = seen.found
    assert list(shown) == seen.names == [each.column for each in found.two_ways]
    for each in found.two_ways:
        crossed = []
        for table in (seen.original, *seen.completed):
            sides = [grouped(table[each.column], each.groups, seen.kind(each.column))]
            sides.append(grouped(table[seen.sensitive], each.values, "name"))
            counts = Counter(zip(*sides, strict=True))
            crossed.append([[counts[row, column] for column in each.values] for row in each.groups])
        before, after = np.array(crossed[0]), np.sum(crossed[1:], axis=0)  # the tables together, so whole numbers
        assert np.array(each.original) == approx(before / before.sum())
        assert np.array(each.release) == approx(after / after.sum())
        strengths = [association(t[t.any(axis=1)][:, t.any(axis=0)], method="cramer") for t in (before, after)]
        away = np.abs(before / before.sum() - after / after.sum()).sum() / 2
        first, second, moved = shown[each.column]
        assert shows(first, strengths[0], places=3)
        assert shows(second, strengths[1], places=3)
        assert shows(moved, float(away))


def test_errors_of_counts_are_those_of_queries_that_are_asked_one_by_one(seen: Seen) -> None:
    asked = [
        (answer, exact)
        for answer, exact in ask_one_by_one(seen.release, seen.before, seen.queries, CONFIDENCE)
        if exact
    ]
    errors = [abs(answer.count - exact) / exact for answer, exact in asked]
    covered = [answer.low <= exact <= answer.high for answer, exact in asked]
    said = re.search(
        r"asked ([\d,]+) random COUNT queries on (\d) quasi-.*? off by at most (.*?)\. .*? in (.*?) of the cases",
        seen.page,
    )
    assert said is not None
    assert (int(said[1].replace(",", "")), int(said[2])) == (len(errors), len(seen.names))
    assert len(errors) > 50
    assert 0 < sum(covered) < len(covered)
    assert shows(said[3], statistics.median(errors))
    assert shows(said[4], Fraction(sum(covered), len(covered)))
    drawn = {row["label"]: row["share"] for row in seen.pictures.rows("Relative error of the answers")}
    assert sum(drawn.values()) == approx(1)
    for label, share in drawn.items():
        low, high = (float(text.removeprefix("over ").removesuffix(" %")) / 100 for text in _ends(label))
        assert share == approx(sum(low <= error < high for error in errors) / len(errors)), label


def _ends(label: str) -> tuple[str, str]:
    low, _, high = label.partition(" to ")
    return low, high or "inf"
