"""Published rows are matched to original rows exactly: what is true passes, what no matching explains fails."""

from __future__ import annotations

import datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import betalike
from betalike.release.original_rows import match_exact
from betalike.release.recount import scan_published

N_ROWS = 90
BIG = 2**53


def table(**columns: list[Any]) -> pl.DataFrame:
    diseases = [["flu", "cough", "ulcer"][(i * i + i // 5) % 3] for i in range(N_ROWS)]
    return pl.DataFrame({**columns, "disease": diseases})


KINDS: dict[str, list[Any]] = {
    "whole numbers": [7 * i % 40 for i in range(N_ROWS)],
    "large whole numbers": [BIG * 64 + 7 * i % 40 for i in range(N_ROWS)],
    "negative numbers": [-(7 * i % 40) for i in range(N_ROWS)],
    "reals": [(7 * i % 40) / 7 for i in range(N_ROWS)],
    "small reals": [(7 * i % 40) * 1e-9 for i in range(N_ROWS)],
    "dates": [datetime.date(1900, 1, 1) + datetime.timedelta(days=977 * i % 40000) for i in range(N_ROWS)],
    "moments": [datetime.datetime(1700, 1, 1) + datetime.timedelta(microseconds=977 * i % 40) for i in range(N_ROWS)],
    "texts": [f"[{i % 7}, {i % 3}]" for i in range(N_ROWS)],
    "missing": [None if i % 5 == 0 else i % 11 for i in range(N_ROWS)],
    "missing texts": [None if i % 5 == 0 else "ab"[i % 2] for i in range(N_ROWS)],
}


@pytest.mark.some(10)
@pytest.mark.parametrize("scheme", ["seam", "burel", "perturb", "baseline"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_true_original_passes_and_another_fails(tmp_path: Path, kind: str, scheme: str) -> None:
    frame = table(x=KINDS[kind], y=["ab"[i % 2] for i in range(N_ROWS)])
    out = tmp_path / "out"
    betalike.publish(frame, quasi_identifiers=["x", "y"], sensitive="disease", beta=1.5, scheme=scheme, out=out, seed=1)
    checked = betalike.verify(out, original=frame)
    assert checked.holds, checked.explanations
    mirrored = frame.with_columns(y=pl.col("y").replace({"a": "b", "b": "a"}))
    if (kind, scheme) != ("texts", "burel"):  # where all texts become `*`, so that the mirrored rows may fit as well
        assert not betalike.verify(out, original=mirrored).holds
    assert not betalike.verify(out, original=frame.with_columns(y=pl.lit("a"))).holds


@pytest.mark.some(2)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_formats(tmp_path: Path, form: str) -> None:
    frame = table(age=KINDS["missing"], born=KINDS["dates"], weight=KINDS["reals"])
    frame = frame.with_columns(note=pl.int_range(pl.len()) / 8, day=pl.Series(KINDS["dates"]))
    qis, options = ["age", "born", "weight"], {"format": form, "keep": ["note", "day"]}
    betalike.publish(frame, quasi_identifiers=qis, sensitive="disease", beta=2, seed=1, out=tmp_path / "out", **options)
    checked = betalike.verify(tmp_path / "out", original=frame)
    assert checked.holds, checked.explanations
    for column in ("note", "day", "weight", "born"):
        false = frame.with_columns(frame[column].reverse())
        assert not betalike.verify(tmp_path / "out", original=false).holds, column


def test_a_text_file_with_its_own_missing_value_and_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    frame = table(age=KINDS["missing"], city=KINDS["missing texts"])
    frame.write_csv(path, separator=";", null_value="?")
    out, options = tmp_path / "out", {"missing": ["?"], "delimiter": ";"}
    betalike.publish(path, quasi_identifiers=["age", "city"], sensitive="disease", beta=2, seed=1, out=out, **options)
    assert betalike.verify(out, original=path, **options).holds


def test_several_sensitive_columns(tmp_path: Path) -> None:
    frame = table(age=KINDS["whole numbers"], job=["xyz"[i % 3] for i in range(N_ROWS)])
    out = tmp_path / "out"
    betalike.publish(frame, quasi_identifiers=["age"], sensitive=["disease", "job"], beta=3, seed=1, out=out)
    assert betalike.verify(out, original=frame).holds
    assert not betalike.verify(out, original=frame.with_columns(frame["age"].reverse())).holds


def test_exact_rows_are_compared_in_turns_with_the_same_result(tmp_path: Path) -> None:
    frame = table(age=KINDS["whole numbers"], city=KINDS["missing texts"])
    qis, out = ["age", "city"], tmp_path / "out"
    release = betalike.publish(
        frame, quasi_identifiers=qis, sensitive="disease", beta=2, scheme="perturb", seed=1, out=out
    )
    published = partial(scan_published, out / "published.csv", release.facts)
    false = frame.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(41).otherwise(pl.col("age")).alias("age"))
    for original, n_unmatched in ((frame, 0), (false, 2)):
        for at_once in (7, 1000):
            found = match_exact(published, lambda rows=original: iter([rows]), release.facts, N_ROWS, at_once)
            assert found.n_unmatched == n_unmatched


def test_an_original_that_is_not_of_the_columns_kinds(tmp_path: Path) -> None:
    frame = table(age=KINDS["whole numbers"])
    betalike.publish(frame, quasi_identifiers=["age"], sensitive="disease", beta=2, seed=1, out=tmp_path / "out")
    false = frame.with_columns(age=pl.lit("old"))
    assert not betalike.verify(tmp_path / "out", original=false).holds
