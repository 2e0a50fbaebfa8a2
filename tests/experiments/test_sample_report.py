"""The sample report of the documentation can be made again, and the one that is there has the present sections."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments import sample_report

DOCS = Path(__file__).parents[2] / "docs"


def test_the_sample_report_is_made_and_has_the_sections_of_the_present_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # without a browser, which would take longer than all the rest
    assert sample_report.main(["--out", str(tmp_path), "--rows", "1500", "--quick"]) == 0
    assert "wrote" in capsys.readouterr().out
    made, stored = ((folder / "sample-report.html").read_text(encoding="utf-8") for folder in (tmp_path, DOCS))
    for pattern in (r'<section id="(\w+)"', r"<style>(.*?)</style>", r"<caption>(.*?)</caption>"):
        of_made, of_stored = (re.findall(pattern, html, re.DOTALL) for html in (made, stored))
        assert set(of_made) <= set(of_stored), "run: python -m experiments.sample_report"
    assert "20,000 rows" in stored
    assert str(tmp_path) not in made
