"""transition.csv and sensitive.csv: what is written is read again, and nothing else is."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from betalike.promises import Transition
from betalike.release.companion_files import read_distribution, read_transition, write_distribution, write_transition

AWKWARD = ["original", "", 'say "x"', "a, b", "two\nlines", "007", " space", "é"]


@pytest.fixture
def transition() -> Transition:
    return Transition.of_retention(np.linspace(0.1, 0.7, len(AWKWARD)))


def test_the_matrix_is_read_as_it_was_written(tmp_path: Path, transition: Transition) -> None:
    write_transition(tmp_path / "t.csv", AWKWARD, transition)
    assert read_transition(tmp_path / "t.csv", AWKWARD).units.tolist() == transition.units.tolist()


def test_the_form_of_the_file(tmp_path: Path) -> None:
    write_transition(tmp_path / "t.csv", ["flu", "gout"], Transition(np.array([[75, 25], [0, 100]]) * 10**13))
    assert (tmp_path / "t.csv").read_text() == "original,flu,gout\nflu,0.75,0.25\ngout,0,1\n"


@pytest.mark.parametrize("labels", [["flu"], ["gout", "flu"], ["flu", "gout", "hiv"], []])
def test_another_set_of_values_is_refused(tmp_path: Path, labels: list[str]) -> None:
    write_transition(tmp_path / "t.csv", ["flu", "gout"], Transition.of_retention(np.array([0.5, 0.5])))
    with pytest.raises(ValueError, match="values"):
        read_transition(tmp_path / "t.csv", labels)


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\xff\xfe", b"original,flu,gout\n", b'original,flu,gout\nflu,"0.5\n', b"original,flu,gout\n\n\n"],
)
def test_what_is_no_matrix(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ValueError):  # noqa: PT011 - whichever it is
        read_transition(tmp_path / "t.csv", ["flu", "gout"])


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
