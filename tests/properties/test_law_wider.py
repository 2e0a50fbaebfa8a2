"""Laws of the wider promises: every scheme that keeps them, judged by a twin from what was published."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import betalike
import promise_twins
import twins
import wider_twins
from betalike.errors import InfeasibleError, ParameterError
from examples import examples
from random_tables import Table, hierarchies, tables

EVERY_SCHEME = pytest.mark.parametrize("scheme", ["lmondrian", "seam", "whole"])
WIDER = ("negative_beta", "groups", "width", "with_values")


@st.composite
def wider_tables(draw: st.DrawFn, scheme: str) -> Table:
    """A table to be published under a wider promise that its sensitive values can have."""
    table = draw(tables())
    present = [value for value in set(table.sensitive) if value is not None]
    asked: dict[str, Any] = {"negative_beta": draw(st.sampled_from([None, "symmetric", 0.3, 0.5, 0.9]))}
    rows = None
    if draw(st.booleans()) and len(present) > 1:
        if any(isinstance(value, str) for value in present) or draw(st.booleans()):
            rows = draw(hierarchies(sorted(map(str, present))))
            labels = sorted({label for row in rows for label in row[:-1]})
            n_values = len(set(table.sensitive))
            chosen = [label for label in labels if sum(label in row[:-1] for row in rows) < n_values]
            asked["groups"] = draw(st.lists(st.sampled_from(chosen), min_size=1, max_size=3, unique=True))
        else:
            asked["width"] = draw(st.sampled_from([0.5, 1.0, 2.0, 3.5, 4.0]))
            assume(asked["width"] < max(present) - min(present))
        asked["with_values"] = draw(st.booleans())
    elif asked["negative_beta"] is None:
        asked["negative_beta"] = 0.5
    return replace(table.with_arguments(scheme=scheme, **asked), sensitive_rows=rows)


def promise_asked(table: Table) -> dict[str, Any]:
    """What was asked for, as a certificate tells it."""
    asked = table.arguments
    parameters = {name: asked[name] for name in WIDER if asked.get(name) is not None}
    sides = "two-sided-" if "negative_beta" in parameters else ""
    about = "-of-groups" if "groups" in parameters else "-of-intervals" if "width" in parameters else ""
    name = f"{sides}{asked['promise']}-likeness{about}"
    return {"model": name, "beta": asked["beta"], "k": asked["k"], "parameters": parameters}


def prior_of(table: Table) -> promise_twins.Prior:
    """The sensitive values of a table as text for the twins, in the order that releases have them in."""
    counts = {text_of(value): n for value, n in table.prior.items()}
    present = {value for value in table.sensitive if value is not None}
    order = [*map(str, sorted(present)), *([""] if None in table.prior else [])]
    if table.sensitive_rows is None:
        return promise_twins.Prior(counts, order)
    return promise_twins.Prior(counts, order, promise_twins.paths_of(order, table.sensitive_rows))


def text_of(value: Any) -> str:
    return "" if value is None else str(value)


def as_text(ec: Mapping[Any, int]) -> dict[str, int]:
    return {text_of(value): n for value, n in ec.items()}


@pytest.mark.some(2)
@examples(80)
@EVERY_SCHEME
@given(data=st.data())
def test_a_scheme_keeps_its_wider_promise_and_tells_of_it(scheme: str, data: st.DataObject) -> None:
    table = data.draw(wider_tables(scheme))
    asked, prior = promise_asked(table), prior_of(table)
    release = table.publish()
    classes = [as_text(ec) for ec in table.published_classes(release.frame).values()]
    assert all(wider_twins.keeps(asked, ec, prior) for ec in classes)
    told = release.certificate["promise"]
    assert {name: told[name] for name in asked} == asked
    assert told["holds"] is True
    used = max(wider_twins.used(asked, ec, prior) for ec in classes)
    assert told["worst_ratio"] == pytest.approx(used, abs=1e-9)
    assert told["worst_gain"] == pytest.approx(promise_twins.worst_gain(classes, prior.counts), abs=1e-9)


@pytest.mark.some(2)
@examples(25)
@EVERY_SCHEME
@given(data=st.data())
def test_what_was_written_passes_verify_and_an_audit_agrees_with_the_twin(scheme: str, data: st.DataObject) -> None:
    table = data.draw(wider_tables(scheme)).with_arguments(keep=[])
    other = promise_asked(table.with_arguments(**data.draw(STRICTER)))
    prior = prior_of(table)
    trees = {} if table.sensitive_rows is None else {"secret": table.sensitive_rows}
    with tempfile.TemporaryDirectory() as folder:
        table.publish(out=Path(folder) / "release")
        checked = betalike.verify(Path(folder) / "release", original=table.frame)
        with (Path(folder) / "release" / "published.csv").open(encoding="utf-8", newline="") as file:
            published = list(csv.DictReader(file))
        audited = betalike.audit(
            Path(folder) / "release",
            quasi_identifiers=list(table.columns),
            sensitive="secret",
            original=table.frame,
            hierarchies=trees,
            beta=other["beta"],
            promise=table.arguments["promise"],
            k=other["k"],
            **other["parameters"],
        )
    assert checked.holds, checked.explanations
    labels = [tuple(row[name] or None for name in table.columns) for row in published]
    classes = twins.classes_of(labels, [row["secret"] for row in published]).values()
    assert audited.holds == all(wider_twins.keeps(other, ec, prior) for ec in classes)


STRICTER = st.fixed_dictionaries(
    {"beta": st.floats(0.1, 3), "negative_beta": st.sampled_from([None, "symmetric"]) | st.floats(0.1, 0.9)}
)


@examples(60)
@given(data=st.data())
def test_perturbation_keeps_a_wider_promise_whatever_is_seen(data: st.DataObject) -> None:
    table = data.draw(wider_tables("perturb")).with_arguments(k=1)
    asked, prior = promise_asked(table), prior_of(table)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        try:
            release = table.publish(out=out)
        except InfeasibleError:
            assume(False)
        checked = betalike.verify(out, original=table.frame)
        header, *lines = csv.reader((out / "transition.csv").read_text(encoding="utf-8").splitlines(keepends=True))
    assert checked.holds, checked.explanations
    order = header[1:]
    paths = dict(zip(prior.order, prior.paths, strict=True)) if prior.paths else {}
    prior = promise_twins.Prior(prior.counts, order, [paths[value] for value in order] if paths else ())
    matrix = [[Fraction(cell) for cell in line[1:]] for line in lines]
    assert wider_twins.broken_seen(asked, matrix, prior) == []
    told = release.certificate["promise"]
    assert {name: told[name] for name in asked} == asked
    assert told["worst_ratio"] <= 1
    assert release.certificate["scheme"]["details"]["least_retention"] > 0


@examples(30)
@given(data=st.data())
def test_the_baseline_keeps_every_wider_promise_and_burel_none(data: st.DataObject) -> None:
    table = data.draw(wider_tables("baseline")).with_arguments(k=1)
    told = table.publish().certificate["promise"]
    assert told["holds"] is True
    assert told["worst_gain"] == pytest.approx(0, abs=1e-12)
    for scheme in ("burel", "burel+split"):
        with pytest.raises(ParameterError, match="cannot keep"):
            table.publish(scheme=scheme)


@examples(40)
@given(table=tables(), nodes=st.data())
def test_groups_alone_are_likeness_of_a_coarser_column(table: Table, nodes: st.DataObject) -> None:
    """Section 7's groups: the classes are those of the table with each group's name in the place of its values."""
    present = sorted({str(value) for value in table.sensitive})
    cut = nodes.draw(st.integers(1, len(present) - 1))
    group_of = {value: "low" if value in present[:cut] else "high" for value in present}
    texts = [str(value) for value in table.sensitive]
    fine = replace(table, sensitive=texts, sensitive_rows=[[v, g, "*"] for v, g in group_of.items()])
    coarse = replace(table, sensitive=[group_of[text] for text in texts])
    losses = [
        one.publish(scheme="lmondrian", **more).certificate["release"]["average_loss"]
        for one, more in ((fine, {"groups": ["low", "high"]}), (coarse, {}))
    ]
    assert losses[0] == pytest.approx(losses[1], abs=1e-12)
