"""The summary of a release on a terminal: risk, a warning of small classes, and the same words after verifying."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import betalike
from betalike.report.summary import print_checks, print_release

FRAME = pl.DataFrame({"age": [i // 3 for i in range(60)], "ill": [["flu", "gout", "cough"][i % 3] for i in range(60)]})
SMALL = "Some classes have fewer than 5 rows, the smallest 3; a k asks for larger ones."


def publish(folder: Path | None = None, **more: Any) -> betalike.Release:
    asked = {"quasi_identifiers": ["age"], "sensitive": "ill", "beta": 2, "scheme": "lmondrian", **more}
    return betalike.publish(FRAME, out=folder, **asked, seed=1)


def printed(show: Callable[[Console, Any], None], what: Any) -> list[str]:
    """The lines that are printed, without the frame."""
    out = io.StringIO()
    show(Console(file=out, width=200), what)
    return [line.strip(" │") for line in out.getvalue().splitlines()]


def test_the_risk_is_that_of_the_classes() -> None:
    assert "Risk     of finding a person's row: 33.33 % on average, at most 33.33 %" in printed(
        print_release, publish()
    )
    assert "surest guess of a value: at most 33.4 %, in one class" in printed(print_release, publish())


def test_the_median_of_two_classes_is_between_them() -> None:
    frame = pl.DataFrame({"age": [1] * 3 + [2] * 4, "ill": ["flu", "gout", "cough", "flu", "gout", "cough", "flu"]})
    release = betalike.publish(frame, quasi_identifiers=["age"], sensitive="ill", beta=2, scheme="lmondrian", seed=1)
    assert any("2, of 3 to 4 rows (median 3.5)" in line for line in printed(print_release, release))


@pytest.mark.parametrize(("asked", "is_warned"), [({}, True), ({"k": 2}, False), ({"beta": 0.1, "k": 6}, False)])
def test_small_classes_are_warned_of_if_no_size_was_asked(asked: dict[str, Any], is_warned: bool) -> None:
    assert (SMALL in printed(print_release, publish(**asked))) is is_warned


@pytest.mark.parametrize("scheme", ["lmondrian", "perturb", "baseline"])
def test_verify_prints_the_summary_of_publish(tmp_path: Path, scheme: str) -> None:
    release = publish(tmp_path / "out", scheme=scheme)
    before = printed(print_release, release)
    after = printed(print_checks, betalike.verify(release))
    starts = (
        "Promise",
        "Loss",
        "Risk",
        "Columns",
        "surest guess",
        "largest gain",
        "also:",
        "Some classes",
        "The promise",
    )
    shared = [line for line in before if line.startswith(starts)]
    assert len(shared) >= 5
    assert [line for line in after if line in shared] == shared
    assert f"60 rows verified, published with {scheme}" in " ".join(after)


def test_what_could_not_be_verified_is_not_summarized(tmp_path: Path) -> None:
    publish(tmp_path / "out")
    path = tmp_path / "out" / "certificate.json"
    certificate = json.loads(path.read_text())
    certificate["release"]["smallest_class"] = 0
    path.write_text(json.dumps(certificate))
    lines = printed(print_checks, betalike.verify(tmp_path / "out"))
    assert "The certificate says, but it could NOT be verified:" in lines
    assert not any(line.startswith("Risk") for line in lines)
