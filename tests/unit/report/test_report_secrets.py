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
from betalike.measures.alike import LookAlikes, visible_values
from betalike.measures.exposure import most_exposed, shown_classes
from betalike.measures.risk import measure_risk, shown_cuts, shown_shares
from betalike.report.analyst_part import ShownGroup, pool_few
from betalike.report.officer_part import EDGES, size_rows
from betalike.table.cells import ClassCounts

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


def test_a_page_on_two_rows_does_not_count_them() -> None:
    table = pl.DataFrame({"age": [5, 6], "illness": ["u", "v"]})
    release = betalike.publish(table, quasi_identifiers=["age"], sensitive="illness", beta=4, seed=1)
    html = release.report(original=table, quick=True, seed=1).html
    assert "Report on a release of fewer than 3 rows" in html
    assert "2 rows" not in html
    assert 'data-figure="release.rows"' not in html


def test_a_mean_of_two_people_is_left_out() -> None:
    rows = 60
    wealth = [7_654_321, 1_234_567, *[None] * (rows - 2)]
    table = pl.DataFrame({"wealth": wealth, "age": [*range(20, 20 + rows)], "illness": ["a", "b", "c"] * (rows // 3)})
    release = betalike.publish(table, quasi_identifiers=["wealth", "age"], sensitive="illness", beta=4, seed=1)
    found = release.utility(table, queries=0, seed=1)
    assert [mean.column for mean in found.means] == ["age"]
    assert found.correlations == ()


def test_a_value_of_one_person_is_on_no_page() -> None:
    rng = np.random.default_rng(1)
    rows = 400
    illness = ["no"] * rows
    illness[0] = "secretillness"
    table = pl.DataFrame(
        {"age": [77, *rng.integers(20, 60, rows - 1)], "town": rng.choice(["A", "B"], rows), "illness": illness}
    )
    release = betalike.publish(table, quasi_identifiers=["age", "town"], sensitive="illness", beta=4, seed=1)
    for audience in AUDIENCES:
        html = release.report(original=table, audience=audience, quick=True, seed=1).html
        assert "secretillness" not in html, audience


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=12),
    st.lists(st.integers(0, 12), min_size=12, max_size=12),
    st.booleans(),
)
def test_groups_of_one_or_two_people_cannot_be_found_by_subtraction(
    before: list[int], after: list[int], are_people: bool
) -> None:
    rows = sum(before)
    if rows < 3 or (are_people and max(before) < 3):
        return
    groups = [ShownGroup(f"g{i}", n, n / rows, after[i] / 100) for i, n in enumerate(before)]
    shown = pool_few(groups, are_people)
    assert sum(group.original for group in shown) == pytest.approx(1)
    assert sum(group.release for group in shown) == pytest.approx(sum(after[: len(before)]) / 100)
    assert all(round(group.original * rows) not in (1, 2) for group in shown)
    pooled = [group.people for group in groups if group not in shown]
    assert not pooled or not are_people or max(pooled) >= 3  # two groups may be the same people
    assert [group for group in shown if group in groups] == [group for group in groups if group in shown]


@pytest.mark.some(1)
@pytest.mark.parametrize("audience", AUDIENCES)
def test_pages_can_be_drawn_whatever_the_values_look_like(audience: str) -> None:
    """Vega cut long labels of signs beyond the first 65,536 in the middle of a sign, and failed."""
    face = chr(0x1F600)
    values = [face * 50, face * 50 + "b", "</title><script>1</script>", '"><b>', chr(0x202E) + "rtl", "v" * 10_000]
    table = pl.DataFrame(
        {
            "Column": [number % 40 for number in range(300)],
            "Risk ": [f"{face * 30}{number % 2}" for number in range(300)],
            "illness": [values[number % 6] for number in range(300)],
        }
    )
    release = betalike.publish(table, quasi_identifiers=["Column", "Risk "], sensitive="illness", beta=4, seed=1)
    html = release.report(original=table, audience=audience, quick=True, seed=1).html
    assert "<script" not in html
    assert face in html
    assert html.count("…") >= 2


SIZES = st.lists(
    st.one_of(st.integers(1, 6), st.sampled_from([9, 10, 49, 50, 999, 1000, 5000])), min_size=1, max_size=9
)


def differences(counts: list[int], total: int) -> set[int]:
    """All that can be computed by subtracting counts of people, each of which includes the smaller ones."""
    known = [0, *counts, total]
    return {abs(one - other) for one in known for other in known}


@given(SIZES, SIZES)
def test_ranges_of_class_sizes_and_thresholds_have_no_one_or_two_people(
    release: list[int], original: list[int]
) -> None:
    sizes = {"release": release, "original": original}
    alike = {name: LookAlikes.of_classes(np.array(each)) for name, each in sizes.items()}
    risks = {name: measure_risk(np.array(each)) for name, each in sizes.items()}
    rows = size_rows(alike, {name: shown_cuts(risk) for name, risk in risks.items()})
    for series, of_classes in sizes.items():
        mine, total = [row for row in rows if row["series"] == series], sum(of_classes)
        counts = [round(row["share"] * total) for row in mine]
        assert sum(counts) == total
        ends = [int(re.sub(r"\D.*", "", row["label"].replace(",", ""))) for row in mine]
        assert ends[0] == 1
        assert set(ends) <= {1, *EDGES}
        for (low, high), count in zip(pairwise([*ends, 2**62]), counts, strict=True):
            assert count == sum(size for size in of_classes if low <= size < high)
        shares = [text for text in shown_shares(risks[series]).values() if text.endswith(" %")]
        in_table = [round(float(text[:-2].replace("over ", "")) * total / 100) for text in shares if total < 500]
        if total > 2:
            assert not {1, 2} & differences([*in_table, *np.cumsum(counts).tolist()], total), (in_table, counts)


COUNTS = st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=2, max_size=5)


@given(COUNTS)
def test_values_of_few_classes_show_no_one_or_two_people(table: list[list[int]]) -> None:
    """A reader may know the sizes of all classes, and how many people of each class have each value that is shown."""
    counts = np.array(table)
    is_shown = visible_values(counts.sum(axis=0), counts, are_people=False)
    for of_class in (*counts, counts.sum(axis=0)):
        known = of_class[is_shown].tolist()
        assert not {1, 2} & {*known, int(of_class.sum()) - sum(known)}


@given(COUNTS)
def test_the_worst_classes_show_no_one_or_two_people(table: list[list[int]]) -> None:
    counts = np.array([row for row in table if sum(row)])
    if not len(counts):
        return
    ec, value = np.nonzero(counts)
    classes = ClassCounts.of(ec, value, counts[ec, value], 3)
    totals, n_people = counts.sum(axis=0), int(counts.sum())
    is_shown = visible_values(totals, counts, are_people=False)
    exposed = most_exposed(classes, np.maximum(totals, 1), n_people, None)
    shown = shown_classes(exposed, n_people, is_shown, most=10)
    for it in shown:
        same = sum(other.count for other in shown if other.value == it.value)
        others = (it.size - it.count, it.total - it.count, it.total - same, n_people - it.size)
        assert not {1, 2} & {it.count, it.total, *others}
