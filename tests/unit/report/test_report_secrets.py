"""What a report must never have: a count of one or two people, an unpublished cell, a path or a seed."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import betalike
from betalike.report.analyst_part import pool_few
from betalike.report.officer_part import EDGES, size_rows

AUDIENCES = ("officer", "analyst", "public")
SEED = 987_654_321
PEOPLE = ("unique", "above.0.05", "above.0.09", "above.0.2")  # figures that are shares of people


class Texts(HTMLParser):
    """Everything that a reader, a screen reader or a program can read in a page, except its style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.figures: dict[str, float] = {}
        self.tables: list[list[list[str]]] = []
        self.is_hidden = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.is_hidden = tag == "style"
        drawn = {"d", "transform", "viewbox", "width", "height", "class", "fill", "stroke", "content"}
        self.texts += [value for name, value in attrs if value and name not in drawn]
        if tag == "data":
            self.figures[str(given["data-figure"])] = float(str(given["value"]))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.is_hidden = False

    def handle_data(self, data: str) -> None:
        if self.is_hidden:
            return
        self.texts.append(data)
        if self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data

    @property
    def words(self) -> set[str]:
        return set(re.findall(r"[\w.-]+", " ".join(self.texts).replace(",", "")))


def people(seed: int, n_rows: int) -> pl.DataFrame:
    """People with long numbers and names that nothing else in a page can look like; many values are rare."""
    rng = np.random.default_rng(seed)

    def names(letter: str, n: int, steepness: float) -> list[str]:
        place = np.minimum(rng.geometric(steepness, n_rows), n)
        return [f"{letter}{p:02}zq{(p * 7919) % 9973:04}" for p in place]

    wealth = rng.integers(1_000_000, 9_999_999, n_rows)
    return pl.DataFrame(
        {
            "person": [f"canary{i:05}" for i in range(n_rows)],
            "wealth": [None if rng.random() < 0.9 * (seed % 2) else int(w) for w in wealth],
            "town": names("t", 25, 0.25),
            "size": rng.integers(1_500_000, 1_500_012, n_rows),
            "illness": names("i", 12, 0.35),
        }
    )


@pytest.mark.some(2)
@pytest.mark.parametrize(("seed", "scheme"), [(1, "whole"), (2, "lmondrian"), (3, "perturb"), (4, "whole")])
def test_pages_on_small_tables_show_no_one_and_no_two_people_and_no_hidden_cell(seed: int, scheme: str) -> None:
    table = people(seed, 40 + 30 * seed)
    known = {"quasi_identifiers": ["wealth", "town", "size"], "sensitive": "illness"}
    release = betalike.publish(table, beta=4, scheme=scheme, seed=SEED, **known)
    published = json.dumps(release.certificate) + release.frame.write_csv()
    counts = dict(table["illness"].value_counts().iter_rows())
    rare = {value for value, count in counts.items() if count < 3}
    hidden = {
        str(cell)
        for name in ("person", "wealth", "town", "size")
        for cell, count in table[name].value_counts().iter_rows()
        if cell is not None and (count < 3 or name == "town")
    } - set(re.findall(r"[\w.-]+", published))
    assert rare
    assert len(hidden) >= table.height  # at least the names
    for audience in AUDIENCES:
        is_quick = not (seed == 4 and audience == "officer")  # attacks take longest
        html = release.report(original=table, audience=audience, quick=is_quick, seed=1).html
        page = Texts(html)
        assert page.words & (hidden | rare) == set(), audience
        assert str(SEED) not in html
        text = " ".join(page.texts)
        assert not re.search(r"(?<![\d.,])[12] (people|persons|rows|person|row)\b", text), audience
        for name in PEOPLE:
            assert round(page.figures.get(f"risk.{name}", 0.0) * table.height) not in (1, 2), name
        for size, _, posterior, _ in (row for rows in page.tables for row in rows if row[:1] and len(row) == 4):
            if size.replace(",", "").isdigit() and posterior.endswith(" %"):
                assert round(int(size.replace(",", "")) * float(posterior[:-2]) / 100) >= 3
        assert "illness" in html
        assert len(html) < 400_000


def test_a_mean_of_two_people_is_left_out() -> None:
    rows = 60
    wealth = [7_654_321, 1_234_567, *[None] * (rows - 2)]
    table = pl.DataFrame({"wealth": wealth, "age": [*range(20, 20 + rows)], "illness": ["a", "b", "c"] * (rows // 3)})
    release = betalike.publish(table, quasi_identifiers=["wealth", "age"], sensitive="illness", beta=4)
    found = release.utility(table, queries=0, seed=1)
    assert [mean.column for mean in found.means] == ["age"]
    assert found.correlations == ()
    assert found.regression is None


def test_a_value_of_one_person_is_not_explained_by_the_persons_cells() -> None:
    rng = np.random.default_rng(1)
    rows = 400
    illness = ["no"] * rows
    illness[0] = "secretillness"
    table = pl.DataFrame(
        {"age": [77, *rng.integers(20, 60, rows - 1)], "town": rng.choice(["A", "B"], rows), "illness": illness}
    )
    release = betalike.publish(table, quasi_identifiers=["age", "town"], sensitive="illness", beta=4)
    assert release.utility(table, queries=0, seed=1).regression is None
    for audience in AUDIENCES:
        html = release.report(original=table, audience=audience, quick=True, seed=1).html
        assert "secretillness" not in html, audience


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.lists(st.integers(0, 12), min_size=12, max_size=12))
def test_groups_of_one_or_two_people_cannot_be_found_by_subtraction(before: list[int], after: list[int]) -> None:
    rows = sum(before)
    if rows < 3:
        return
    groups = [(f"g{i}", n / rows, after[i] / 100) for i, n in enumerate(before)]
    shown = pool_few(groups, rows)
    assert sum(share for _, share, _ in shown) == pytest.approx(1)
    assert sum(share for *_, share in shown) == pytest.approx(sum(after[: len(before)]) / 100)
    assert all(round(share * rows) not in (1, 2) for _, share, _ in shown)
    assert [group for group in shown if group in groups] == [group for group in groups if group in shown]


SIZES = st.lists(
    st.one_of(st.integers(1, 6), st.sampled_from([9, 10, 49, 50, 999, 1000, 5000])), min_size=1, max_size=9
)


@given(SIZES, SIZES)
def test_ranges_of_class_sizes_have_no_one_or_two_people(release: list[int], original: list[int]) -> None:
    rows = size_rows({"release": np.array(release), "original": np.array(original)})
    for series, sizes in (("release", release), ("original", original)):
        mine = [row for row in rows if row["series"] == series]
        counts = [round(row["share"] * sum(sizes)) for row in mine]
        assert sum(counts) == sum(sizes)
        if sum(release) > 2 and sum(original) > 2:
            assert not {1, 2} & set(counts)
        ends = [int(re.sub(r"\D.*", "", row["label"].replace(",", ""))) for row in mine]
        assert ends[0] == 1
        assert set(ends) <= {1, *EDGES}
        for (low, high), count in zip(pairwise([*ends, 2**62]), counts, strict=True):
            assert count == sum(size for size in sizes if low <= size < high)
