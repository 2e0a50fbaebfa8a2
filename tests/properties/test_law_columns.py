"""Laws of several sensitive columns: each keeps the promise on its own, judged by twins from what was published."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import betalike
import twins
import wider_twins
from betalike.errors import InfeasibleError
from examples import examples
from promise_twins import Prior, worst_gain
from random_tables import Table, sensitive_columns, tables

SECRETS = ["secret", "other"]


@dataclass(frozen=True)
class Columns:
    """A table with two sensitive columns, and how it is to be published."""

    table: Table
    other: list[Any]
    negative_beta: float | str | None

    @property
    def frame(self) -> pl.DataFrame:
        return self.table.frame.with_columns(pl.Series("other", self.other))

    def promise(self) -> dict[str, Any]:
        """What is promised of each column, as the twins take it."""
        asked = self.table.arguments
        parameters = {} if self.negative_beta is None else {"negative_beta": self.negative_beta}
        return {"model": asked["promise"], "beta": asked["beta"], "k": asked["k"], "parameters": parameters}

    def publish(self, **arguments: Any) -> betalike.Release:
        table = self.table
        columns = table.columns.items()
        everything = {
            "quasi_identifiers": list(table.columns),
            "sensitive": SECRETS,
            "hierarchies": {name: column.rows for name, column in columns if column.rows is not None},
            "kinds": {name: column.kind for name, column in columns if column.kind is not None},
            "weights": dict(zip(table.columns, table.weights, strict=True)),
            "missing_sensitive": "value",
            "negative_beta": self.negative_beta,
            **table.arguments,
            **arguments,
        }
        return betalike.publish(self.frame, **everything)

    def prior(self, name: str) -> Prior:
        counts = Counter(map(text_of, self.frame[name].to_list()))
        return Prior(counts, sorted(counts))


@st.composite
def several(draw: st.DrawFn) -> Columns:
    """Two sensitive columns that may be alike, or unlike."""
    table = draw(tables())
    other = draw(sensitive_columns(table.n_rows) | st.just([str(value) for value in table.sensitive]))
    return Columns(table, other, draw(st.sampled_from([None, None, "symmetric", 0.8])))


def text_of(value: Any) -> str:
    return "" if value is None else str(value)


def classes_of(labels: Sequence[tuple[Any, ...]], values: Sequence[Any]) -> list[dict[Any, int]]:
    return [dict(ec) for ec in twins.classes_of(labels, [text_of(value) for value in values]).values()]


@pytest.mark.some(2)
@examples(50)
@pytest.mark.parametrize("scheme", ["lmondrian", "seam", "whole"])
@given(columns=several())
def test_each_column_keeps_the_promise_on_its_own(scheme: str, columns: Columns) -> None:
    release = columns.publish(scheme=scheme)
    told, promise = release.certificate, columns.promise()
    labels = columns.table.published_labels(release.frame)
    found = {name: classes_of(labels, release.frame[name].to_list()) for name in SECRETS}
    for name, classes in found.items():
        assert all(wider_twins.keeps(promise, ec, columns.prior(name)) for ec in classes)
    used = max(wider_twins.used(promise, ec, columns.prior(name)) for name in SECRETS for ec in found[name])
    gains = [worst_gain(found[name], columns.prior(name).counts) for name in SECRETS]
    assert told["promise"]["worst_ratio"] == pytest.approx(used, abs=1e-9)
    assert told["promise"]["worst_gain"] == pytest.approx(max(gains), abs=1e-9)
    assert told["also"]["basic_beta"] == pytest.approx(max(*gains, 0), abs=1e-9)
    assert told["promise"]["parameters"]["columns"] == told["table"]["sensitive_columns"] == SECRETS
    pairs = Counter(zip(*(map(text_of, release.frame[name].to_list()) for name in SECRETS), strict=True))
    original = Counter(zip(*(map(text_of, columns.frame[name].to_list()) for name in SECRETS), strict=True))
    assert pairs == original  # the columns belong together as they did
    assert {tuple(json.loads(label)): n for label, n in told["prior_counts"].items()} == original


@examples(25)
@given(
    columns=several(), scheme=st.sampled_from(["lmondrian", "seam", "whole"]), form=st.sampled_from(["csv", "parquet"])
)
def test_what_was_written_passes_verify_and_an_audit_of_each_column(columns: Columns, scheme: str, form: str) -> None:
    columns = Columns(columns.table, columns.other, None)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        columns.publish(scheme=scheme, out=out, format=form)
        checked = betalike.verify(out, original=columns.frame)
        audits = [
            betalike.audit(
                out,
                quasi_identifiers=list(columns.table.columns),
                sensitive=name,
                certificate=out,
                beta=columns.table.beta,
                promise=columns.table.arguments["promise"],
                k=columns.table.arguments["k"],
            )
            for name in SECRETS
        ]
    assert checked.holds, checked.explanations
    assert all(audited.holds for audited in audits)


@examples(40)
@given(columns=several())
def test_perturbation_tells_little_of_each_column_whatever_combination_is_seen(columns: Columns) -> None:
    columns = Columns(columns.table.with_arguments(k=1), columns.other, columns.negative_beta)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        try:
            release = columns.publish(scheme="perturb", out=out)
        except InfeasibleError:
            assume(False)
        checked = betalike.verify(out, original=columns.frame)
        header, *lines = csv.reader((out / "transition.csv").read_text(encoding="utf-8").splitlines(keepends=True))
    assert checked.holds, checked.explanations
    told, promise = release.certificate, columns.promise()
    labels = [json.loads(label) for label in header[1:]]
    for seen in range(len(labels)):
        joint = [told["prior_counts"][line[0]] * Fraction(line[1 + seen]) for line in lines]
        for place, name in enumerate(SECRETS):
            prior = columns.prior(name).counts
            for value, count in prior.items():
                held = [mass for mass, label in zip(joint, labels, strict=True) if label[place] == value]
                q = sum(held, Fraction(0)) / sum(joint, Fraction(0))
                assert wider_twins.is_kept(promise, q, Fraction(count, columns.table.n_rows))
    drawn = {tuple(map(text_of, row)) for row in release.frame.select(SECRETS).iter_rows()}
    assert drawn <= set(map(tuple, labels))


@examples(15)
@given(columns=several())
def test_the_baseline_leaves_all_sensitive_columns_out(columns: Columns) -> None:
    columns = Columns(columns.table.with_arguments(k=1), columns.other, columns.negative_beta)
    with tempfile.TemporaryDirectory() as folder:
        release = columns.publish(scheme="baseline", out=Path(folder) / "release")
        checked = betalike.verify(Path(folder) / "release", original=columns.frame)
    assert checked.holds, checked.explanations
    assert release.frame.columns == list(columns.table.columns)
    assert release.certificate["promise"]["worst_gain"] == pytest.approx(0, abs=1e-12)
