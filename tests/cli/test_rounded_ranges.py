"""Rounded ranges from end to end: options, specification and Python alike; verified, asked and attacked."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from workbench import Desk, people, run

import betalike
from betalike.engines.local import LocalEngine
from betalike.queries.columns import Literal
from betalike.queries.workload import count_exactly, exact_index
from betalike.report.label_widths import measure_widths
from betalike.table.schema import Attribute, Role, Schema

SPECIFICATION = """
table = "people.csv"
promise.beta = 2
[columns.age]
role = "quasi-identifier"
round = 5
bottom = 24
top = 70
domain = [0, 110]
[columns.gender]
role = "quasi-identifier"
[columns.disease]
role = "sensitive"
"""


@pytest.fixture
def released(desk: Desk) -> Path:
    """A release with coded extremes."""
    desk.table()
    desk.write("release.toml", SPECIFICATION)
    assert run("publish", "--spec", desk.folder / "release.toml", "--out", desk.out, "--seed", 1).status == 0
    return desk.out


def labels_of(folder: Path) -> list[str]:
    with (folder / "published.csv").open(encoding="utf-8", newline="") as file:
        return [row["age"] for row in csv.DictReader(file)]


def test_options_specification_and_python_publish_the_same(desk: Desk) -> None:
    table = desk.table()
    desk.write("release.toml", SPECIFICATION.replace("domain = [0, 110]", ""))  # which is no option
    by_file = desk.folder / "by-file"
    assert run("publish", "--spec", desk.folder / "release.toml", "--out", by_file, "--seed", 1).status == 0
    words = ["--round", "age=5", "--bottom", "age=24", "--top", "age=70", "--seed", 1]
    arguments = ["--qi", "age,gender", "--sensitive", "disease", "--beta", 2, "--out", desk.folder / "other"]
    assert run("publish", table, *arguments, *words).status == 0
    by_hand = betalike.publish(
        table,
        quasi_identifiers=["age", "gender"],
        sensitive="disease",
        beta=2,
        round={"age": 5},
        bottom={"age": 24},
        top={"age": 70},
        seed=1,
    )
    assert sorted(labels_of(by_file)) == sorted(labels_of(desk.folder / "other")) == sorted(by_hand.frame["age"])


def test_every_label_is_of_round_ends(released: Path) -> None:
    for label in labels_of(released):
        numbers = [int(number) for number in re.findall(r"\d+", label)]
        if label.startswith("["):
            assert numbers[0] % 5 == 0
        assert label == "*" or numbers[-1] in (24, 70) or numbers[-1] % 5 == (0 if label.endswith("+") else 4)


def test_the_certificate_records_what_was_asked(released: Path) -> None:
    facts = json.loads((released / "certificate.json").read_text())["table"]["columns"][0]
    assert [facts[word] for word in ("round", "bottom", "top", "domain")] == ["5", "24", "70", ["0", "110"]]


def test_a_changed_label_is_found(desk: Desk, released: Path) -> None:
    """Even if its digest is put right: neither a range that is not round, nor one beyond a code."""
    original = (released / "published.csv").read_text()
    for other in ("37", '"[35, 38]"', "<= 29", "80+"):
        changed = re.sub(r'"\[\d+, \d+\]"', other, original, count=1)
        _replace(released, changed)
        checks = run("verify", released, "--json").document["checks"]
        assert not all(checks.values()), other
    _replace(released, original)
    assert run("verify", released, "--original", desk.folder / "people.csv").status == 0


def test_a_certificate_that_claims_coarser_bins_is_refused(released: Path) -> None:
    path = released / "certificate.json"
    path.write_text(path.read_text().replace('"round": "5"', '"round": "20"'))
    assert run("verify", released).status == 1


def test_unreadable_rounding_in_a_certificate_is_refused(released: Path) -> None:
    path = released / "certificate.json"
    path.write_text(path.read_text().replace('"round": "5"', '"round": "five"'))
    assert run("verify", released).status in (1, 2)
    assert run("query", released, "age < 30").status == 2


def _replace(folder: Path, content: str) -> None:
    (folder / "published.csv").write_text(content)
    path = folder / "certificate.json"
    certificate: dict[str, Any] = json.loads(path.read_text())
    certificate["files"]["published.csv"]["sha256"] = hashlib.sha256(content.encode()).hexdigest()
    path.write_text(json.dumps(certificate))


def test_counts_lie_within_their_certain_bounds(released: Path) -> None:
    ages = pl.Series([int(row[1]) for row in people()])
    labels = labels_of(released)
    for predicate, is_inside in [
        ("age <= 24", ages <= 24),
        ("age >= 70", ages >= 70),
        ("age > 24 AND age < 70", ages.is_between(25, 69)),
    ]:
        answer = betalike.query(released, predicate)
        assert answer.at_least <= is_inside.sum() <= answer.at_most, predicate
    assert len(labels) == len(ages)
    assert betalike.query(released, "age >= 0 OR age < 0").count == len(ages)


def test_a_workload_counts_the_original_exactly(desk: Desk, released: Path) -> None:
    """Also below the bottom, where the release has only one value."""
    ages = pl.Series([int(row[1]) for row in people()])
    release = betalike.open_release(released).estimator
    cells = LocalEngine(
        pl.read_csv(desk.folder / "people.csv"),
        Schema((Attribute("age", Role.QUASI_IDENTIFIER),), Attribute("disease", Role.SENSITIVE)),
    )
    alone = replace(release, quasi_identifiers=release.quasi_identifiers[:1])
    index = exact_index(alone, cells.count_cells(), cells.sensitive_labels)
    queries = [{"age": release.columns["age"].compare("<=", Literal(str(age), True, ""))} for age in (20, 23, 24, 71)]
    counts = count_exactly(index, release, queries)
    assert counts.tolist() == [(ages <= age).sum() for age in (20, 23, 24, 71)]


def test_labels_have_widths(desk: Desk, released: Path) -> None:
    facts = betalike.open_release(released).facts.table.columns[0]
    widths = measure_widths(facts, {"<= 24": 1, "[25, 29]": 1, "70+": 1, "*": 1})
    assert (widths.exact, widths.half, widths.all) == (0.0, 24.0, 110.0)


def test_a_release_can_be_measured_and_attacked(desk: Desk, released: Path) -> None:
    table = desk.folder / "people.csv"
    assert betalike.open_release(released).utility(table) is not None
    assert betalike.workload(released, original=table, queries=50, predicates=1, seed=1).to_dict()["queries"] > 0
    assert run("attack", released, "--original", table, "--seed", 1, "--json").status == 0


def test_compare_ignores_rounding(desk: Desk, released: Path) -> None:
    spec = desk.folder / "release.toml"
    assert run("compare", "--spec", spec, "--schemes", "burel,lmondrian", "--queries", 0).status == 0
