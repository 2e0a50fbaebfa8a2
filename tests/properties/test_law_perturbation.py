"""Laws of the schemes that publish rows exactly: the promise for thousands of priors, and releases of random tables."""

from __future__ import annotations

import csv
import itertools
import json
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import betalike
import twins
from betalike.errors import InfeasibleError
from betalike.promises import UNITS, Form, Likeness, judge_transition
from betalike.schemes.perturbation import DrawingRule, Mechanism, Perturbation
from examples import examples
from random_tables import BETAS, FORMS, Table, tables

FEW = examples(40)
EXACT = pytest.mark.parametrize("scheme", ["perturb", "baseline"])


@st.composite
def priors(draw: st.DrawFn) -> list[int]:
    """Counts from even to very skewed, of tables from two rows to a thousand million."""
    n_values = draw(st.integers(2, 12))
    exponent = draw(st.integers(0, 8))
    counts = draw(st.lists(st.integers(1, 10**exponent), min_size=n_values, max_size=n_values))
    counts[0] *= draw(st.sampled_from([1, 1, 10, 1000]))
    return draw(st.permutations(counts))


@examples(300)
@example(counts=[1] * 5, beta=0.3, form="enhanced")  # three at the cap leave .22 for a fourth, which is likelier too
@given(counts=priors(), beta=BETAS | st.sampled_from([1e-3, 100, 1e6]), form=FORMS)
def test_definition_6_holds_for_every_prior_and_every_set(counts: list[int], beta: float, form: str) -> None:
    model = Likeness(beta, Form(form))
    try:
        perturbing = Perturbation(Mechanism.SETS).perturbing(np.array(counts), model)
    except InfeasibleError:  # said only where it is true: a set says next to nothing of a single row
        assert sum(counts) * min(beta, 3) < 8 * len(counts)
        return
    matrix = [[Fraction(units, UNITS) for units in row] for row in perturbing.transition.units.tolist()]
    assert twins.broken_pairs(matrix, counts, beta, form) == []
    assert all(sum(row) == 1 for row in matrix)
    assert judge_transition(model, perturbing.transition, np.array(counts)).holds
    seen = [sum(n * row[o] for n, row in zip(counts, matrix, strict=True)) for o in range(len(matrix[0]))]
    caps = [twins.cap(Fraction(n, sum(counts)), twins.promised(beta), form) for n in counts]
    for o, total in enumerate(seen):  # a label says all that it may: of each of its values, or that it is one of them
        after = [float(n * row[o] / total) for n, row in zip(counts, matrix, strict=True)]
        members = [i for i, row in enumerate(matrix) if row[o] * sum(counts) > total]
        everything = min(sum(caps[i] for i in members), 1.0)
        assert sum(after[i] for i in members) > 0.998 * everything
    named = [
        "|".join(str(i) for i, row in enumerate(matrix) if row[o] * sum(counts) > seen[o]) for o in range(len(seen))
    ]
    assert perturbing.labels({str(i): n for i, n in enumerate(counts)}) == named
    assert len({*named}) == len(named)


@examples(800)
@given(counts=priors(), beta=BETAS | st.sampled_from([1e-6, 1e-3, 100, 1e6]), form=FORMS)
def test_definition_6_holds_for_every_prior(counts: list[int], beta: float, form: str) -> None:
    model = Likeness(beta, Form(form))
    try:
        perturbing = Perturbation().perturbing(np.array(counts), model)
    except InfeasibleError:  # said only where it is true: not even the best retentions keep one row's value
        assert sum(counts) * min(beta, 3) < 8 * len(counts)
        return
    matrix = [[Fraction(units, UNITS) for units in row] for row in perturbing.transition.units.tolist()]
    assert twins.broken_pairs(matrix, counts, beta, form) == []
    assert all(sum(row) == 1 for row in matrix)
    assert (perturbing.transition.retention > 0).all()
    verdict = judge_transition(model, perturbing.transition, np.array(counts))
    assert verdict.holds
    assert perturbing.rule is DrawingRule.THEOREM_3 or verdict.worst_ratio > 0.999_999


@examples(150)
@given(
    counted=st.dictionaries(st.integers(0, 40), st.integers(1, 20), min_size=3, max_size=8),
    width=st.sampled_from([1, 1.5, 2.65, 4, 7]),
    with_values=st.booleans(),
    form=FORMS,
)
@example(
    counted=dict(zip([0, 2, 8, 16, 30, 43, 47, 53], [3, 2, 13, 5, 6, 5, 2, 6], strict=True)),
    width=2.65,  # as many intervals as values, one of them with two
    with_values=False,
    form="enhanced",
)
def test_intervals_of_values_keep_their_caps(
    counted: dict[int, int], width: float, with_values: bool, form: str
) -> None:
    numbers, reach = sorted(counted), Fraction(str(width))
    assume(numbers[-1] - numbers[0] > reach)
    secret = [number for number in numbers for _ in range(counted[number])]
    try:
        release = betalike.publish(
            pl.DataFrame({"a": range(len(secret)), "secret": secret}),
            quasi_identifiers=["a"],
            sensitive="secret",
            scheme="perturb",
            beta=1.7,
            promise=form,
            width=width,
            with_values=with_values,
            seed=1,
        )
    except InfeasibleError:
        assume(False)
    # chances are whole units, which a float tells to the last one
    units = {i: {j: round(release.transition[str(i)][str(j)] * UNITS) for j in numbers} for i in numbers}
    joint = [[counted[i] * units[i][j] for i in numbers] for j in numbers]
    starts = sorted({x for n in numbers for x in (Fraction(n), n - reach) if numbers[0] <= x <= numbers[-1] - reach})
    starts += [(one + other) / 2 for one, other in itertools.pairwise(starts)]
    sets = [[i for i, n in enumerate(numbers) if start <= n <= start + reach] for start in starts]
    sets += [[i] for i in range(len(numbers)) if with_values]
    for inside in sets:
        share = Fraction(sum(counted[numbers[i]] for i in inside), len(secret))
        cap = twins.limit(share, twins.promised(1.7), form)[0]
        assert all(sum(row[i] for i in inside) <= cap * sum(row) for row in joint)


def publish(table: Table, scheme: str, **arguments: Any) -> betalike.Release:
    """Publish a random table; it has no classes, and tables of few rows may be refused."""
    try:
        return table.publish(scheme=scheme, k=1, **arguments)
    except InfeasibleError:
        assume(False)
        raise


def text_of(value: Any) -> str:
    return "" if value is None else str(value)


@FEW
@EXACT
@given(table=tables())
def test_every_row_is_published_once_and_exactly(scheme: str, table: Table) -> None:
    frame = publish(table, scheme).frame
    original = table.frame
    rows = frame["row"].to_list()
    assert sorted(rows) == list(range(table.n_rows))
    names = [*table.columns, *(["secret"] if scheme == "perturb" else []), "row"]
    assert frame.columns == names
    for name in table.columns:
        assert frame[name].to_list() == original[rows][name].to_list()
        assert frame[name].dtype == original[name].dtype
    if scheme == "perturb":
        assert set(frame["secret"].to_list()) <= set(table.sensitive)


@FEW
@given(table=tables())
def test_the_certificate_of_a_perturbed_table_tells_the_truth(table: Table) -> None:
    release = publish(table, "perturb")
    told, prior, asked = release.certificate, table.prior, table.arguments
    labels = list(told["prior_counts"])
    assert told["prior_counts"] == {text_of(value): count for value, count in prior.items()}
    assert list(release.transition) == labels
    matrix = [[release.transition[i][j] for j in labels] for i in labels]
    counts = [told["prior_counts"][label] for label in labels]
    seen = [sum(n * row[v] for n, row in zip(counts, matrix, strict=True)) for v in range(len(labels))]
    posterior = [[n * row[v] / seen[v] for v in range(len(labels))] for n, row in zip(counts, matrix, strict=True)]
    shares = [n / table.n_rows for n in counts]
    gain = max(q / p - 1 for p, row in zip(shares, posterior, strict=True) for q in row)
    caps = [twins.cap(Fraction(n, table.n_rows), twins.promised(table.beta), asked["promise"]) for n in counts]
    ratio = max(q / cap for cap, row in zip(caps, posterior, strict=True) for q in row)
    assert told["promise"]["worst_gain"] == pytest.approx(gain, abs=1e-9)
    assert told["promise"]["worst_ratio"] == pytest.approx(ratio, abs=1e-9)
    assert told["promise"]["worst_ratio"] <= 1
    assert told["also"]["l"] == pytest.approx(1 / max(map(max, posterior)))
    assert told["also"]["basic_beta"] == pytest.approx(gain, abs=1e-9)
    is_enhanced = all(q <= p * (1 - np.log(p)) + 1e-12 for p, row in zip(shares, posterior, strict=True) for q in row)
    assert (told["also"]["enhanced_beta"] is not None) <= is_enhanced
    assert told["release"]["average_loss"] == 0
    assert told["release"]["loss"] == dict.fromkeys(table.columns, 0.0)
    for name in ("classes", "formed_classes", "smallest_class"):
        assert told["release"][name] is None
    for name in ("k", "distinct_l", "average_l", "average_t"):
        assert told["also"][name] is None
    assert any("no identity anonymity" in warning for warning in told["warnings"])


@FEW
@given(table=tables())
def test_the_baseline_tells_nobody_more_than_the_prior(table: Table) -> None:
    told = publish(table, "baseline").certificate
    assert told["promise"]["worst_gain"] == pytest.approx(0, abs=1e-12)
    assert told["also"]["t"] == pytest.approx(0, abs=1e-12)
    assert told["also"]["l"] == pytest.approx(table.n_rows / max(table.prior.values()))
    assert told["promise"]["holds"] is True
    assert told["release"]["classes"] is None
    assert any("no identity anonymity" in warning for warning in told["warnings"])


@FEW
@EXACT
@given(table=tables(max_rows=25), form=st.sampled_from(["csv", "parquet"]))
def test_what_is_written_verifies_and_says_nothing_of_the_seed(scheme: str, table: Table, form: str) -> None:
    seed = 918273645
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        publish(table, scheme, out=out, format=form, seed=seed)
        checked = betalike.verify(out, original=table.frame)
        contents = {path.name: path.read_bytes() for path in out.iterdir()}
    assert checked.holds, checked.explanations
    assert set(contents) == {
        f"published.{form}",
        "certificate.json",
        "transition.csv" if scheme == "perturb" else "sensitive.csv",
    }
    assert not any(str(seed).encode() in content for content in contents.values())
    told = json.loads(contents["certificate.json"])
    assert "not for release" in told["randomness"]
    assert any("not for release" in warning for warning in told["warnings"])
    if scheme == "baseline":
        lines = list(csv.reader(contents["sensitive.csv"].decode().splitlines(keepends=True)))[1:]
        assert {value: int(count) for value, count in lines} == Counter(map(text_of, table.sensitive))
        return
    header, *lines = csv.reader(contents["transition.csv"].decode().splitlines(keepends=True))
    counts = [told["prior_counts"][label] for label in header[1:]]
    matrix = [[Fraction(cell) for cell in line[1:]] for line in lines]
    assert [line[0] for line in lines] == header[1:] == list(told["prior_counts"])
    assert twins.broken_pairs(matrix, counts, table.beta, table.arguments["promise"]) == []


@FEW
@EXACT
@given(table=tables())
def test_a_seed_repeats_an_exact_release(scheme: str, table: Table) -> None:
    one, other = publish(table, scheme), publish(table, scheme)
    assert one.frame.equals(other.frame)
    assert one.certificate["promise"] == other.certificate["promise"]
    unseeded = publish(table, scheme, seed=None).certificate
    assert unseeded["randomness"] == "operating system"
    assert not any("not for release" in warning for warning in unseeded["warnings"])


@EXACT
@given(table=tables())
def test_classes_are_refused(scheme: str, table: Table) -> None:
    with pytest.raises(betalike.errors.ParameterError, match="k 2"):
        table.publish(scheme=scheme, k=2)
