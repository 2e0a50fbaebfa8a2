"""Attacks count rows, and say so: where a person has several rows, "people" would be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import Desk, people, run, to_csv

import betalike

ATTACKS = "naive-bayes,skewness,corruption,composition"


@pytest.fixture
def table(desk: Desk) -> Path:
    """420 rows of 140 people."""
    rows = [[f"P{number // 3}", *row[1:]] for number, row in enumerate(people(420))]
    return desk.write("stays.csv", to_csv(rows))


def test_attacks_say_rows(desk: Desk, table: Path) -> None:
    assert desk.publish(table=table, person="name", seed=1).status == 0
    done = run("attack", desk.out, "--original", table, "--attacks", ATTACKS, "--seed", 1)
    assert done.status == 0
    assert "shares of rows guessed right" in done.text
    assert "people" not in done.text
    report = betalike.attack(desk.out, original=table, attacks=["naive-bayes"], seed=1)
    assert report["naive-bayes"].people == 420
    assert "<th>rows</th>" in report._repr_html_()
    assert run("attack", desk.out, "--original", table, "--attacks", "skewness", "--json").document["attacks"][0][
        "people"
    ]
