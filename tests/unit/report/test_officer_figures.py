"""Each figure of an officer's page, computed again from the two CSV files with Python's fractions."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from statsmodels.stats.proportion import proportion_confint

import betalike
from betalike.report.summary import print_release
from shown_figures import (
    ASKED,
    TREE,
    Pictures,
    approx,
    classes_of,
    read_rows,
    shares_by_series,
    shows,
    shows_most,
    table_named,
    words,
    write_people,
)

pytestmark = pytest.mark.xdist_group("officer figures")  # one process makes what these tests share

POPULATION = 6000


@dataclass(frozen=True)
class Seen:
    """A page with its pictures and attacks, and the rows before and after."""

    release: Any
    sensitive: str
    page: str
    pictures: Pictures
    attacks: Any
    before: list[dict[str, str]]
    after: list[dict[str, str]]

    @property
    def names(self) -> list[str]:
        return list(ASKED[self.sensitive]["quasi_identifiers"])

    @property
    def classes(self) -> list[Counter[str]]:
        return list(classes_of(self.after, self.names, self.sensitive).values())

    @property
    def prior(self) -> dict[str, Fraction]:
        counts = Counter(row[self.sensitive] for row in self.before)
        return {value: Fraction(count, len(self.before)) for value, count in counts.items()}

    @property
    def caps(self) -> dict[str, float]:
        beta = ASKED[self.sensitive].get("beta", 2)
        return {value: float(p) * (1 + min(beta, -math.log(p))) for value, p in self.prior.items()}

    def alike(self, rows: list[dict[str, str]]) -> list[int]:
        """How many rows look like each row, itself included."""
        sizes = Counter(tuple(row[name] for name in self.names) for row in rows)
        return [sizes[tuple(row[name] for name in self.names)] for row in rows]


@pytest.fixture(scope="module", params=list(ASKED))
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder, sensitive = tmp_path_factory.mktemp("officer"), request.param
    write_people(folder / "people.csv")
    asked = {"beta": 2, "hierarchies": {"city": TREE}, "seed": 1, "sensitive": sensitive, **ASKED[sensitive]}
    release = betalike.publish(folder / "people.csv", out=folder / "out", **asked)
    pictures = Pictures()
    with pictures.collected():
        page = release.report(original=folder / "people.csv", population=POPULATION, seed=1).html
    attacks = betalike.attack(release, original=folder / "people.csv", seed=1)
    before, after = read_rows(folder / "people.csv"), read_rows(folder / "out" / "published.csv")
    return Seen(release, sensitive, page, pictures, attacks, before, after)


def test_risks_before_and_after_are_averages_over_rows(seen: Seen) -> None:
    shown = {name: cells for name, *cells in table_named(seen.page, "How surely a reader finds")}
    sampled, n = Fraction(len(seen.before), POPULATION), len(seen.before)
    for column, rows in enumerate((seen.before, seen.after)):
        alike = seen.alike(rows)
        greatest, average = Fraction(1, min(alike)), sum(Fraction(1, each) for each in alike) / n
        expected = {
            "Prosecutor, greatest": greatest,
            "Prosecutor, average": average,
            "Journalist, greatest": greatest * sampled,
            "Journalist, average": average * sampled,
            "Marketer": average * sampled,
            "Unique rows": Fraction(alike.count(1), n),
        }
        for threshold in ("0.05", "0.09", "0.2"):
            above = sum(Fraction(1, each) > Fraction(threshold) for each in alike)
            expected[f"Above {threshold}"] = Fraction(above, n)
        assert shown.keys() == expected.keys()
        for name, figure in expected.items():
            if shown[name][column] == "left out":
                assert 0 < figure < 1
            else:
                assert shows(shown[name][column], figure), (name, column)
    figures = dict(re.findall(r'data-figure="risk\.([^"]+)" value="([^"]+)"', seen.page))
    assert float(figures["prosecutor_average"]) == approx(float(average))


def test_guesses_gains_and_people_near_the_promise_are_counted_class_by_class(seen: Seen) -> None:
    shares = [{v: Fraction(n, ec.total()) for v, n in ec.items()} for ec in seen.classes]
    surest = max(max(of.values()) for of in shares)
    gain = max(q / seen.prior[value] - 1 for of in shares for value, q in of.items())
    ((name, shown_surest, shown_gain),) = table_named(seen.page, "How much a reader learns")
    assert name == seen.sensitive
    assert shows_most(shown_surest, surest)
    assert shows(shown_gain, gain, digits=4)
    used = [max(float(q) / seen.caps[value] for value, q in of.items()) for of in shares]
    near = sum(ec.total() for ec, ratio in zip(seen.classes, used, strict=True) if ratio >= 0.9 - 1e-9)
    said = re.search(r"at least 90 % of what the promise allows: ([^<]*)\.</p>", seen.page)
    assert said is not None
    assert shows(said[1], Fraction(near, len(seen.after)))
    glance = dict(re.findall(r"<div><dt>([^<]*)</dt><dd>(.*?)</dd></div>", seen.page))
    assert words(glance["Rows"]) == str(len(seen.after))
    assert words(glance["Classes"]) == str(len(seen.classes))
    assert words(glance["Smallest class"]).removesuffix(" people") in (str(min(seen.alike(seen.after))), "fewer than 3")
    assert shows_most(words(glance["Surest guess of a value"]), surest)
    assert shows(words(glance["Largest gain"]), gain, digits=4)
    worst = re.search(r'data-figure="promise.worst_ratio" value="([^"]*)"', seen.page)
    assert worst is not None
    assert float(worst[1]) == approx(max(used))


def test_the_three_questions_have_these_figures(seen: Seen) -> None:
    answers = dict(re.findall(r"<dt><strong>([^<]*)</strong></dt><dd>([^<]*)</dd>", seen.page))
    n, sampled = len(seen.before), Fraction(len(seen.before), POPULATION)
    alone = [Fraction(seen.alike(rows).count(1), n) for rows in (seen.after, seen.before)]
    for text, share in zip(re.findall(r"[\d.]+ %", answers["Singling out"]), alone, strict=True):
        assert shows(text, share)
    after, most, before = re.findall(r"[\d.]+ %", answers["Linkability"])
    for text, rows in ((after, seen.after), (before, seen.before)):
        assert shows(text, sum(Fraction(1, each) for each in seen.alike(rows)) / n * sampled)
    assert shows_most(most, Fraction(1, min(seen.alike(seen.after))))
    surest, everybody = re.findall(r"[\d.]+ %", answers["Inference"])
    shares = [(Fraction(count, ec.total()), value) for ec in seen.classes for value, count in ec.items()]
    assert shows_most(surest, max(q for q, _ in shares))
    assert shows(everybody, Fraction(sum(max(ec.values()) for ec in seen.classes), n))
    times = re.search(r"no value is more than ([\d.]+) times as likely", answers["Inference"])
    assert times is not None
    exact = float(max(q / seen.prior[value] for q, value in shares))
    assert exact - 1e-9 <= float(times[1]) < exact + 0.0011  # rounded up


def test_sizes_of_classes_are_shares_of_people(seen: Seen) -> None:
    rows = seen.pictures.rows("How many people share")
    for series, people in (("release", seen.after), ("original", seen.before)):
        alike, shares = seen.alike(people), shares_by_series(rows, series)
        for label, share in shares.items():
            low, _, high = label.replace(" or more", " to 1000000").partition(" to ")
            assert share == approx(sum(int(low) <= each <= int(high) for each in alike) / len(alike)), (series, label)
        assert sum(shares.values()) == approx(1)


def test_the_worst_classes_are_the_first_that_show_nobody(seen: Seen) -> None:
    shown = table_named(seen.page, "The classes nearest to the limit")
    counts, n, expected = Counter(row[seen.sensitive] for row in seen.before), len(seen.before), []
    for ec in seen.classes:
        value = max(ec, key=lambda v: (ec[v] / ec.total() / seen.caps[v], ec[v]))
        expected.append((ec.total(), value, ec[value]))
    expected.sort(key=lambda it: (-it[2] / it[0] / seen.caps[it[1]], -it[2] / it[0]))
    kept, outside = [], dict(counts)
    for size, value, count in expected:
        groups = (count, size - count, n - size, outside[value] - count)
        if all(group <= 0 or group >= 3 for group in groups):
            outside[value] -= count
            kept.append((size, value, count))
    assert 3 <= len(shown) == min(len(kept), 10)
    for (people, prior, posterior, cap), (size, value, count) in zip(shown, kept, strict=False):
        assert people == str(size)
        assert shows(prior, seen.prior[value])
        assert shows(posterior, Fraction(count, size))
        assert shows(cap, seen.caps[value])


def test_values_are_drawn_with_their_shares_their_highest_shares_and_their_caps(seen: Seen) -> None:
    rows = seen.pictures.rows(f"{seen.sensitive}: share of each value")
    assert len(rows) == len(seen.prior)
    for row in rows:
        value = "" if row["value"] == "(missing)" else row["value"]
        assert row["prior"] == approx(float(seen.prior[value]))
        assert row["highest"] == approx(max(ec[value] / ec.total() for ec in seen.classes))
        assert row["cap"] == approx(seen.caps[value])


def test_attacks_have_wilsons_intervals_and_gains_above_baseline_and_control(seen: Seen) -> None:
    shown = {
        name: (success, baseline, control, gain)
        for name, success, baseline, control, gain in table_named(seen.page, "Shares of rows guessed right")
    }
    intervals = dict(
        re.findall(r'<th scope="row">([a-z-]*)</th><td class="n">[\d.]* <small>([^<]*)</small>', seen.page)
    )
    assert {"naive-bayes", "definetti", "skewness", "corruption", "composition"} <= shown.keys()
    for name, (success, baseline, control, gain) in shown.items():
        found = seen.attacks[name]
        for text, rate in ((success, found.success), (baseline, found.baseline), (control, found.control)):
            assert shows(f"{text} %", rate.rate)
        if name != "minimality":  # its interval is a bootstrap of classes
            low, high = proportion_confint(found.success.rate * found.people, found.people, method="wilson")
            assert (found.success.low, found.success.high) == approx((low, high))
        for text, end in zip(intervals[name].split(" to "), (found.success.low, found.success.high), strict=True):
            assert shows(f"{text} %", end)
        above = found.success.rate - max(found.baseline.rate, found.control.rate)
        is_sure = found.success.low > max(found.baseline.high, found.control.high)
        assert gain == "none" if not is_sure else shows(gain, 100 * above, places=2)
    drawn = {row["attack"]: row for row in seen.pictures.rows("Share of rows whose value")}
    assert {name: row["success"] for name, row in drawn.items()} == {n: seen.attacks[n].success.rate for n in shown}
    right = sum(max(ec.values()) for ec in seen.classes)
    assert shows(f"{shown['skewness'][0]} %", Fraction(right, len(seen.after)))
    assert shows(f"{shown['skewness'][1]} %", max(seen.prior.values()))


def test_a_terminal_shows_the_classes_and_the_risk(seen: Seen) -> None:
    out = io.StringIO()
    print_release(Console(file=out, width=100), seen.release)
    text = " ".join(out.getvalue().split())
    sizes = sorted(ec.total() for ec in seen.classes)
    middle = (sizes[len(sizes) // 2] + sizes[(len(sizes) - 1) // 2]) / 2
    assert f"{len(sizes)}, of {sizes[0]} to {sizes[-1]} rows (median {middle:g})" in text
    average, most = 100 * len(sizes) / len(seen.after), 100 / sizes[0]
    assert f"finding a person's row: {average:.2f} % on average, at most {most:.2f} %" in text
    highest = max(n / ec.total() for ec in seen.classes for n in ec.values())
    gain = max(n / ec.total() / float(seen.prior[v]) - 1 for ec in seen.classes for v, n in ec.items())
    assert f"also: k = {sizes[0]}, l = {1 / highest:.1f}, t = " in text
    assert f"largest gain {gain:.3f}, which is {1 + gain:.4g} times as likely" in text


def test_a_perturbed_release_is_as_sure_as_its_matrix_says(tmp_path: Path) -> None:
    write_people(tmp_path / "people.csv")
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "city"], "sensitive": "grade", "beta": 1, "seed": 1}
    release = betalike.publish(tmp_path / "people.csv", scheme="perturb", **asked)
    counts = Counter(row["grade"] for row in read_rows(tmp_path / "people.csv"))
    joint = {v: {label: chance * counts[v] for label, chance in row.items()} for v, row in release.transition.items()}
    total: Counter[str] = Counter()
    for row in joint.values():
        total.update(row)
    chances = {v: max(row[label] / total[label] for label in row) for v, row in joint.items()}
    pictures = Pictures()
    with pictures.collected():
        page = release.report(original=tmp_path / "people.csv", quick=True).html
    ((_, surest, gain),) = table_named(page, "How much a reader learns")
    assert shows_most(surest, max(chances.values()))
    assert shows(gain, max(chances[v] * counts.total() / counts[v] for v in counts) - 1, digits=4)
    drawn = {row["value"]: row["highest"] for row in pictures.rows("grade: share of each value")}
    assert drawn == approx(chances)
