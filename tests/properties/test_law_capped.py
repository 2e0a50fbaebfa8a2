"""Laws of caps by any monotone function: every scheme of likeness keeps them, and verify knows them again."""

from __future__ import annotations

import csv
import json
import math
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import betalike
from betalike.errors import CertificateError, InfeasibleError, ParameterError
from examples import examples
from random_tables import Table, tables

Function = Callable[[float], float]
FUNCTIONS: dict[str, Function] = {
    "square root": math.sqrt,
    "half way to 1": lambda p: (1 + p) / 2,
    "at most a half more": lambda p: min(p + 0.5, 1.0),
    "steps": lambda p: max(math.ceil(p * 4) / 4, p),
    "everything": lambda p: 1.0,
    "sevenfold": lambda p: min(7 * p, 1.0),
}
SCHEMES = ["lmondrian", "seam", "whole", "burel", "burel+split"]
EVERY_FUNCTION = st.sampled_from(sorted(FUNCTIONS))


def promised(function: Function, count: int, n_rows: int) -> Fraction:
    """The cap of a value that occurs so often, as typed or as the machine holds it, whichever is less."""
    cap = function(count / n_rows)
    return max(min(Fraction(cap), Fraction(str(cap))), Fraction(count, n_rows))


def publish(table: Table, function: Function, **arguments: Any) -> betalike.Release:
    return table.publish(beta=None, promise=None, cap=function, **arguments)


@pytest.mark.some(2)
@examples(50)
@pytest.mark.parametrize("scheme", SCHEMES)
@given(table=tables(), name=EVERY_FUNCTION)
def test_a_scheme_keeps_any_monotone_cap(scheme: str, table: Table, name: str) -> None:
    function = FUNCTIONS[name]
    release = publish(table, function, scheme=scheme)
    caps = {value: promised(function, count, table.n_rows) for value, count in table.prior.items()}
    shares = [
        (Fraction(count, sum(ec.values())), caps[value])
        for ec in table.published_classes(release.frame).values()
        for value, count in ec.items()
    ]
    assert all(q <= cap for q, cap in shares)
    told = release.certificate["promise"]
    assert (told["model"], told["beta"], told["parameters"]) == ("capped-likeness", None, {})
    assert {int(count): Fraction(cap) for count, cap in told["caps"].items()} == {
        count: caps[value] for value, count in table.prior.items()
    }
    assert told["worst_ratio"] == pytest.approx(max(float(q / cap) for q, cap in shares), abs=1e-9)


@examples(40)
@given(table=tables(), name=EVERY_FUNCTION, scheme=st.sampled_from([*SCHEMES, "perturb"]), both=st.booleans())
def test_what_was_written_passes_verify_without_the_function(table: Table, name: str, scheme: str, both: bool) -> None:
    function, negative = FUNCTIONS[name], "symmetric" if both and not scheme.startswith("burel") else None
    own = {"k": 1} if scheme == "perturb" else {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        try:
            publish(table, function, scheme=scheme, negative_beta=negative, out=out, **own)
        except InfeasibleError:
            assume(False)
        checked = betalike.verify(out, original=table.frame)
        told = json.loads((out / "certificate.json").read_bytes())
        if scheme == "perturb":
            header, *lines = csv.reader((out / "transition.csv").read_text(encoding="utf-8").splitlines(keepends=True))
        lowest = min(told["promise"]["caps"], key=int)
        told["promise"]["caps"].pop(lowest)
        (out / "certificate.json").write_text(json.dumps(told))
        with pytest.raises(CertificateError, match="does not list the cap"):
            betalike.verify(out)
    assert checked.holds, checked.explanations
    if scheme == "perturb":
        counts = [told["prior_counts"][label] for label in header[1:]]
        for place in range(len(counts)):
            joint = [n * Fraction(line[1 + place]) for n, line in zip(counts, lines, strict=True)]
            for n, mass in zip(counts, joint, strict=True):
                p, cap = Fraction(n, table.n_rows), promised(function, n, table.n_rows)
                assert mass <= cap * sum(joint)
                assert negative is None or mass * cap >= p * p * sum(joint)


@examples(20)
@given(table=tables(), name=EVERY_FUNCTION)
def test_an_audit_checks_a_cap(table: Table, name: str) -> None:
    """Of the table as it is, in which rows with the same quasi-identifiers are a class."""
    audited = betalike.audit(
        table.frame, quasi_identifiers=list(table.columns), sensitive="secret", cap=FUNCTIONS[name]
    )
    frame = table.frame
    rows = list(zip(*(frame[column].to_list() for column in table.columns), strict=True))
    secrets = frame["secret"].to_list()
    is_kept = all(
        Fraction(sum(r == row and s == secret for r, s in zip(rows, secrets, strict=True)), rows.count(row))
        <= promised(FUNCTIONS[name], secrets.count(secret), len(rows))
        for row, secret in zip(rows, secrets, strict=True)
    )
    assert audited.holds == is_kept


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"beta": 2}, "choose one"),
        ({"promise": "basic"}, "choose one"),
        ({"scheme": "sabre"}, "keeps the promise t-closeness"),
        ({"t": 0.2}, "does not take it"),
        ({"cap": lambda p: p / 2}, "the table itself"),
        ({"scheme": "burel", "negative_beta": 0.5}, "cannot keep"),
    ],
)
def test_what_a_cap_does_not_go_with_is_refused(asked: dict[str, Any], word: str) -> None:
    people = betalike.datasets.census_like(100, seed=3)
    columns = {"quasi_identifiers": ["age"], "sensitive": "salary_class"}
    with pytest.raises(ParameterError, match=word):
        betalike.publish(people, **columns, **{"cap": math.sqrt, **asked}, seed=1)
