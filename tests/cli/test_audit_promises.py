"""Every promise given to `audit` is checked or refused, against classes that are counted here by hand."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from workbench import Desk, assert_refused, run

import betalike
from betalike.errors import CertificateError, ParameterError

QI = ["--qi", "age", "--sensitive", "disease"]
# Classes of 4, 4 and 4 rows; the prior is 6 a, 4 b, 2 c.
CLASSES = {"young": "aabc", "middle": "aabb", "old": "aabc"}


@pytest.fixture
def table(desk: Desk) -> Path:
    rows = [f"{age},{value}" for age, values in CLASSES.items() for value in values]
    return desk.write("published.csv", "\n".join(["age,disease", *rows, ""]))


def least_entropy_worth() -> float:
    def worth(values: str) -> float:
        shares = [count / len(values) for count in Counter(values).values()]
        return math.exp(-sum(share * math.log(share) for share in shares))

    return min(map(worth, CLASSES.values()))


PRIOR = Counter("".join(CLASSES.values()))
GAIN = max(
    Fraction(count, len(values)) / Fraction(PRIOR[value], 12) - 1
    for values in CLASSES.values()
    for value, count in Counter(values).items()
)


@pytest.mark.some(6)
@pytest.mark.parametrize(
    ("words", "holds"),
    [
        ("--k 4", True),
        ("--k 5", False),
        ("--k 5000", False),
        ("--k 9007199254740992", False),
        (f"--beta {float(GAIN)} --promise basic", True),
        (f"--beta {float(GAIN) - 0.01} --promise basic", False),
        (f"--beta {float(GAIN)} --promise basic --k 5", False),
        ("--beta 4 --k 5", False),
        ("--beta 4 --k 4", True),
        ("--l 2", True),
        ("--l 3", False),
        ("--l 1e300", False),
        (f"--promise entropy-l-diversity --l {least_entropy_worth() - 0.01}", True),
        (f"--promise entropy-l-diversity --l {least_entropy_worth() + 0.01}", False),
        ("--l 2 --c 2", True),
        ("--l 2 --c 0.5", False),
        ("--t 0.17", True),
        ("--t 0.16", False),
        ("--t 0.17 --ground equal --k 5", False),
        ("--delta 2", False),  # a class lacks a value
        ("--promise delta-disclosure --beta 4", False),
        ("--promise k-anonymity --k 4", True),
        ("--promise k-anonymity --k 5", False),
    ],
)
def test_a_promise_is_checked(table: Path, words: str, holds: bool) -> None:
    outcome = run("audit", table, *QI, *words.split())
    assert outcome.status == (0 if holds else 1), outcome.text
    assert (": kept" in outcome.text) is holds
    assert ("NOT KEPT" in outcome.text) is not holds
    document = run("audit", table, *QI, *words.split(), "--json").document
    assert document["holds"] is holds
    assert document["promise"]


def test_without_a_promise_nothing_is_checked(table: Path) -> None:
    outcome = run("audit", table, *QI)
    assert outcome.status == 0
    assert "Promise" not in outcome.text
    document = run("audit", table, *QI, "--json").document
    assert document["holds"] is None
    assert document["promise"] is None


@pytest.mark.parametrize(
    "words",
    [
        "--promise basic",
        "--promise t-closeness",
        "--promise k-anonymity",
        "--promise nonsense --beta 2",
        "--negative-beta 0.5",
        "--width 3",
        "--with-values",
        "--c 2",
        "--ground equal",
        "--beta 4 --t 0.2",
        "--beta 4 --l 2",
        "--t 0.2 --delta 1",
        "--k 0",
        "--k -3",
        "--k 99999999999999999999999",
        "--t nan",
        "--delta inf",
        "--l 0.5",
        "--beta -1",
        "--ground ordered --t 0.2",
    ],
)
def test_what_cannot_be_checked_is_refused(table: Path, words: str) -> None:
    assert_refused(run("audit", table, *QI, *words.split()))


def test_python_checks_k_alone(table: Path) -> None:
    frame = pl.read_csv(table)
    for k, holds in ((1, None), (4, True), (5, False)):
        audited = betalike.audit(frame, quasi_identifiers=["age"], sensitive="disease", k=k)
        assert audited.holds is holds


def test_a_release_can_be_audited_and_verified_as_it_was_returned(desk: Desk) -> None:
    columns = {"quasi_identifiers": ["age"], "sensitive": "disease"}
    release = betalike.publish(desk.table(), **columns, beta=2, out=desk.out, seed=1)
    audited = betalike.audit(release, **columns, beta=2)
    assert audited.holds
    assert audited.to_dict() == betalike.audit(desk.out, **columns, beta=2, certificate=desk.out).to_dict()
    assert betalike.verify(release).holds
    assert betalike.verify(release).checks == betalike.verify(desk.out).checks
    assert betalike.query(release, "age > 30").count > 0
    in_memory = betalike.publish(pl.read_csv(desk.table()), **columns, beta=2, seed=1)
    assert betalike.audit(in_memory, **columns, beta=2).holds
    with pytest.raises(ParameterError, match="has no folder"):
        betalike.verify(in_memory)
    with pytest.raises(ParameterError, match="name its folder"):
        betalike.verify(in_memory.frame)  # type: ignore[arg-type]
    exact = betalike.publish(pl.read_csv(desk.table()), **columns, beta=2, scheme="perturb", seed=1)
    with pytest.raises(CertificateError, match="without classes"):
        betalike.audit(exact, **columns)
