"""`verify` of releases with other promises than likeness, and against whoever changes what they promise."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from workbench import DISEASES, Desk, assert_not_kept, assert_refused, change, run

KINDS = [
    [disease, kind, "*"] for disease, kind in zip(DISEASES, ("lungs", "lungs", "gut", "joints", "lungs"), strict=True)
]
RELEASES: dict[str, dict[str, Any]] = {
    "t, equal": {"scheme": "tmondrian", "t": 0.3},
    "t, tree": {"scheme": "sabre", "t": 0.2},
    "t, numbers": {"scheme": "sabre", "t": 0.2, "sensitive": "age", "qi": "gender,city"},
    "delta": {"scheme": "dmondrian", "delta": 1.5},
    "delta for a beta": {"scheme": "dmondrian", "beta": 2},
    "distinct": {"scheme": "mondrian", "promise": "distinct-l-diversity", "l": 3},
    "entropy": {"scheme": "mondrian", "promise": "entropy-l-diversity", "l": 2.5},
    "recursive": {"scheme": "mondrian", "promise": "recursive-l-diversity", "l": 2, "c": 2},
    "k": {"scheme": "mondrian", "promise": "k-anonymity", "k": 7},
}


def publish(desk: Desk, name: str) -> None:
    """Publish one of the releases above."""
    trees = {"disease": KINDS} if name == "t, tree" else {}
    hierarchies = desk.hierarchies(**trees) if trees else None
    outcome = desk.publish(**{"beta": None, "hierarchies": hierarchies, **RELEASES[name]})
    assert outcome.status == 0, outcome.text


def numbers(**changes: Any) -> Callable[[Any], object]:
    """A change of a promise's parameters."""
    return lambda c: c["promise"]["parameters"].update(changes)


def swapped(model: str, **parameters: Any) -> Callable[[Any], object]:
    """Another promise in the place of the true one."""
    return lambda c: c["promise"].update(model=model, parameters=parameters)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", RELEASES)
def test_a_release_with_its_promise_passes(desk: Desk, name: str) -> None:
    publish(desk, name)
    outcome = run("verify", desk.out, "--original", desk.folder / "people.csv")
    assert outcome.status == 0, outcome.text


FALSE: dict[str, tuple[str, Callable[[Any], object], str]] = {
    "t lowered": ("t, equal", numbers(t=0.01), "promise"),
    "t raised": ("t, equal", numbers(t=0.9), "figures"),
    "t of a tree lowered": ("t, tree", numbers(t=0.001), "promise"),
    "other distances": ("t, tree", numbers(ground="equal"), "figures"),
    "another tree": ("t, tree", lambda c: [row.__setitem__(1, "all") for row in c["promise"]["hierarchy"]], ""),
    "delta lowered": ("delta", numbers(delta=0.01), "promise"),
    "delta raised": ("delta", numbers(delta=9.0), "figures"),
    "delta of a beta lowered": ("delta for a beta", numbers(delta=0.01), "promise"),
    "l raised": ("distinct", numbers(l=5.0), ""),
    "l lowered": ("distinct", numbers(l=1.0), "figures"),
    "entropy raised": ("entropy", numbers(l=4.9), "promise"),
    "c lowered": ("recursive", numbers(c=0.1), "promise"),
    "rank raised": ("recursive", numbers(l=5.0), "promise"),
    "k raised": ("k", lambda c: c["promise"].update(k=100), "promise"),
    "k lowered": ("k", lambda c: c["promise"].update(k=2), "figures"),
    "distinct said to be entropy": ("distinct", swapped("entropy-l-diversity", l=3.0), ""),
    "k said to be t": ("k", swapped("t-closeness", t=0.05, ground="equal"), "promise"),
    "t said to be delta": ("t, equal", swapped("delta-disclosure", delta=0.1), "promise"),
    "k said to be likeness": ("k", lambda c: c["promise"].update(model="enhanced-likeness", beta=0.1), "promise"),
    "gain lowered": ("t, equal", lambda c: c["promise"].update(worst_gain=0.001), "worst_gain"),
    "ratio lowered": ("delta", lambda c: c["promise"].update(worst_ratio=0.001), "worst_ratio"),
}


@pytest.mark.parametrize("case", FALSE)
def test_a_promise_that_is_not_the_true_one_is_found_out(desk: Desk, case: str) -> None:
    name, edit, word = FALSE[case]
    publish(desk, name)
    change(desk, edit)
    assert_not_kept(desk, word)


def reversed_counts(certificate: Any) -> None:
    """The values in another order, for which some distances are shorter."""
    counts = list(certificate["prior_counts"].items())
    certificate["prior_counts"] = dict([*counts[::2], *counts[1::2]])


NONE: dict[str, tuple[str, Callable[[Any], object]]] = {
    "no parameters": ("t, equal", lambda c: c["promise"].update(parameters={})),
    "no distances": ("t, equal", lambda c: c["promise"]["parameters"].pop("ground")),
    "unknown distances": ("t, equal", numbers(ground="near")),
    "t 0": ("t, equal", numbers(t=0.0)),
    "t in words": ("t, equal", numbers(t="small")),
    "a parameter too many": ("t, equal", numbers(delta=1.0)),
    "a parameter twice": ("k", numbers(k=3.0)),
    "a beta besides": ("t, equal", lambda c: c["promise"].update(beta=2.0)),
    "a beta in the place of delta": ("delta", lambda c: c["promise"].update(beta=2.0, parameters={})),
    "no tree": ("t, tree", lambda c: c["promise"].update(hierarchy=[])),
    "a tree of other values": ("t, tree", lambda c: c["promise"]["hierarchy"].pop()),
    "a tree that is none": ("t, tree", lambda c: c["promise"]["hierarchy"].append(["flu"])),
    "the values in another order": ("t, numbers", reversed_counts),
    "half an l": ("distinct", numbers(l=2.5)),
    "k 1": ("k", lambda c: c["promise"].update(k=1)),
}


@pytest.mark.parametrize("case", NONE)
def test_what_is_no_promise_is_refused(desk: Desk, case: str) -> None:
    name, edit = NONE[case]
    publish(desk, name)
    change(desk, edit)
    assert_refused(run("verify", desk.out), "certificate")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_dates_have_an_order_that_verify_follows(desk: Desk, form: str) -> None:
    days = [None if i % 9 == 0 else datetime.date(2019, 12, 20) + datetime.timedelta(i * i % 37) for i in range(120)]
    table = desk.folder / "people.parquet"
    pl.read_csv(desk.table()).with_columns(disease=pl.Series(days)).write_parquet(table)
    options = {"scheme": "tmondrian", "beta": None, "t": 0.3, "missing_sensitive": "value", "format": form}
    outcome = desk.publish(table=table, **options)
    assert outcome.status == 0, outcome.text
    certificate = desk.certificate()
    assert certificate["promise"]["parameters"] == {"t": 0.3, "ground": "ordered"}
    assert list(certificate["prior_counts"]) == [*sorted({str(day) for day in days if day}), ""]
    assert run("verify", desk.out, "--original", table).status == 0
    change(desk, lambda c: c.update(prior_counts=dict(reversed(c["prior_counts"].items()))))
    assert_refused(run("verify", desk.out), "not in the order")
