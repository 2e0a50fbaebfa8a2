"""Releases of many classes are verified in turns, some of the classes at a time, with the same result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import betalike
from betalike.datasets import census_like
from betalike.release import recount


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = census_like(2000, seed=1)
    qis = ["age", "gender", "education"]
    betalike.publish(table, quasi_identifiers=qis, sensitive="salary_class", beta=4, out=tmp_path / "out", seed=1)
    return tmp_path / "out"


def test_turns_find_what_one_look_finds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads((folder / "certificate.json").read_text())["release"]["classes"] > 20
    at_once = betalike.verify(folder)
    monkeypatch.setattr(recount, "CLASSES_AT_ONCE", 7)
    in_turns = betalike.verify(folder)
    assert at_once.holds
    assert in_turns.checks == at_once.checks


@pytest.mark.some(2)
@pytest.mark.parametrize("classes", [10**15, -3, 0])
def test_a_false_number_of_classes_is_not_believed(folder: Path, monkeypatch: pytest.MonkeyPatch, classes: int) -> None:
    path = folder / "certificate.json"
    certificate = json.loads(path.read_text())
    certificate["release"]["classes"] = classes
    path.write_text(json.dumps(certificate))
    monkeypatch.setattr(recount, "CLASSES_AT_ONCE", 500)
    assert not betalike.verify(folder).holds
