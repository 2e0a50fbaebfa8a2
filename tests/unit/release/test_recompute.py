"""The certificate that is built again from the files of a release."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import betalike
from betalike.release.certify import ONCE


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        (ONCE, True),
        (ONCE.replace("anyone who", "whoever"), True),
        (ONCE.replace("anyone who", "nobody who"), False),
        (ONCE.replace("publish it once", "publish it again"), False),
        ("", False),
    ],
)
def test_a_warning_in_the_words_of_version_0_1_is_accepted(tmp_path: Path, words: str, holds: bool) -> None:
    table = pl.DataFrame({"age": [20, 30, 40, 50] * 5, "disease": ["flu", "cold"] * 10})
    betalike.publish(table, quasi_identifiers=["age"], sensitive="disease", beta=4, out=tmp_path / "out")
    path = tmp_path / "out" / "certificate.json"
    content = path.read_text(encoding="utf-8")
    assert content.count(ONCE) == 1
    path.write_text(content.replace(ONCE, words), encoding="utf-8")
    assert betalike.verify(tmp_path / "out").holds is holds
