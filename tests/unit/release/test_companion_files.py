"""transition.csv and sensitive.csv: what is written is read again, and nothing else is."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from betalike.promises import Likeness, Transition
from betalike.release.companion_files import read_distribution, read_transition, write_distribution, write_transition
from betalike.schemes.perturbation import DrawingRule, Mechanism, Perturbation, Perturbing

AWKWARD = ["original", "", 'say "x"', "a, b", "two\nlines", "007", " space", "é"]


RULE = DrawingRule.BEST_RETENTION


def matrix(*retention: float) -> Perturbing:
    return Perturbing(Transition.of_retention(np.array(retention)), RULE)


@pytest.mark.parametrize("mechanism", Mechanism)
def test_the_matrix_is_read_as_it_was_written(tmp_path: Path, mechanism: Mechanism) -> None:
    counts = {value: 100 + 10 * place for place, value in enumerate([*AWKWARD, "a|b", "\\", "=1+1"])}
    made = Perturbation(mechanism).perturbing(np.array(list(counts.values())), Likeness(1))
    write_transition(tmp_path / "t.csv", counts, made)
    read = read_transition(tmp_path / "t.csv", counts, made.rule)
    assert read.transition.units.tolist() == made.transition.units.tolist()
    assert read.labels(counts) == made.labels(counts)


def test_a_matrix_of_sets_is_none_of_values(tmp_path: Path) -> None:
    counts = {"flu": 30, "gout": 20, "hiv": 10, "ulcer": 10}
    made = Perturbation(Mechanism.SETS).perturbing(np.array(list(counts.values())), Likeness(1))
    write_transition(tmp_path / "t.csv", counts, made)
    with pytest.raises(ValueError, match="the matrix is not of the values"):
        read_transition(tmp_path / "t.csv", counts, RULE)


def test_labels_of_sets_follow_from_the_chances(tmp_path: Path) -> None:
    counts = {"flu": 30, "gout": 20, "hiv": 10}
    made = Perturbation(Mechanism.SETS).perturbing(np.array([30, 20, 10]), Likeness(1))
    write_transition(tmp_path / "t.csv", counts, made)
    lines = (tmp_path / "t.csv").read_text().splitlines()
    labels = lines[0].split(",")
    (tmp_path / "t.csv").write_text("\n".join([",".join([labels[0], *labels[:0:-1]]), *lines[1:]]) + "\n")
    with pytest.raises(ValueError, match="labels"):
        read_transition(tmp_path / "t.csv", counts, DrawingRule.SETS)


def test_the_form_of_the_file(tmp_path: Path) -> None:
    made = Perturbing(Transition(np.array([[75, 25], [0, 100]]) * 10**13), RULE)
    write_transition(tmp_path / "t.csv", {"flu": 3, "gout": 4}, made)
    assert (tmp_path / "t.csv").read_text() == "original,flu,gout\nflu,0.75,0.25\ngout,0,1\n"


@pytest.mark.parametrize("labels", [["flu"], ["gout", "flu"], ["flu", "gout", "hiv"], []])
def test_another_set_of_values_is_refused(tmp_path: Path, labels: list[str]) -> None:
    write_transition(tmp_path / "t.csv", {"flu": 3, "gout": 4}, matrix(0.5, 0.5))
    with pytest.raises(ValueError, match="values"):
        read_transition(tmp_path / "t.csv", dict.fromkeys(labels, 5), RULE)


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\xff\xfe", b"original,flu,gout\n", b'original,flu,gout\nflu,"0.5\n', b"original,flu,gout\n\n\n"],
)
def test_what_is_no_matrix(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ValueError):  # noqa: PT011 - whichever it is
        read_transition(tmp_path / "t.csv", {"flu": 3, "gout": 4}, RULE)


def test_the_distribution_is_read_as_it_was_written(tmp_path: Path) -> None:
    counts = {label: number for number, label in enumerate(AWKWARD, 1)}
    write_distribution(tmp_path / "s.csv", counts)
    assert read_distribution(tmp_path / "s.csv") == counts
    with (tmp_path / "s.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["value", "count"]


@pytest.mark.parametrize("content", [b"", b"value\nflu\n", b"value,count\nflu\n", b"value,count\nflu,many\n"])
def test_what_is_no_distribution(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.csv").write_bytes(content)
    with pytest.raises(ValueError):  # noqa: PT011 - whichever it is
        read_distribution(tmp_path / "s.csv")
