"""Releases of many classes are verified in turns, some of the classes at a time, with the same result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import betalike
from betalike.datasets import census_like
from betalike.release.promise import promised_model
from betalike.release.recount import count_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = census_like(2000, seed=1)
    qis = ["age", "gender", "education"]
    betalike.publish(table, quasi_identifiers=qis, sensitive="salary_class", beta=4, out=tmp_path / "out", seed=1)
    return tmp_path / "out"


def test_turns_find_what_one_look_finds(folder: Path) -> None:
    certificate = betalike.open_release(folder).facts
    assert certificate.release.classes > 20
    checks: list[bool] = []

    def check(name: str, passed: bool, explanation: str) -> bool:
        checks.append(passed)
        return passed

    given = folder / "published.csv", certificate, promised_model(certificate), check
    figures = []
    for number in (7, 500_000):
        found = count_files(*given, classes_at_once=number)
        assert found is not None
        assert found.sizes is not None
        verdict, labels = found.verdict, [dict(column.labels) for column in found.columns]
        figures.append((verdict.worst_gain, verdict.near_rows, sorted(found.sizes.tolist()), labels))
    assert all(checks)
    assert figures[0] == figures[1]
    assert len(figures[0][2]) == certificate.release.classes


@pytest.mark.some(2)
@pytest.mark.parametrize("classes", [10**15, -3, 0])
def test_a_false_number_of_classes_is_not_believed(folder: Path, classes: int) -> None:
    path = folder / "certificate.json"
    certificate = json.loads(path.read_text())
    certificate["release"]["classes"] = classes
    path.write_text(json.dumps(certificate))
    assert not betalike.verify(folder).holds
