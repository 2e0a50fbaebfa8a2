"""Laws of the rivals: every scheme with every promise that it keeps, judged by a twin from what was published."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import betalike
import promise_twins
import twins
from betalike.errors import ParameterError
from betalike.schemes import PROMISES
from examples import examples
from random_tables import BETAS, Table, hierarchies, tables

LIKENESS = ("enhanced", "basic")
RIVALS = {"lmondrian": LIKENESS, **PROMISES}
EVERY_RIVAL = pytest.mark.parametrize(
    ("scheme", "model"), [(scheme, model) for scheme, models in RIVALS.items() for model in models]
)
NUMBERS: dict[str, dict[str, st.SearchStrategy[float]]] = {
    "enhanced": {"beta": BETAS},
    "basic": {"beta": BETAS},
    "delta-disclosure": {"delta": st.sampled_from([0.3, 1, 1.5, 3])},
    "t-closeness": {"t": st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5, 1]) | st.floats(0.01, 1)},
    "distinct-l-diversity": {"l": st.integers(1, 5)},
    "entropy-l-diversity": {"l": st.sampled_from([1, 1.3, 2, 2.5, 3, 4])},
    "recursive-l-diversity": {"l": st.integers(1, 3), "c": st.sampled_from([0.5, 1, 1.7, 2, 5])},
    "k-anonymity": {},
}
CUTS = st.fixed_dictionaries(
    {"attribute": st.sampled_from(["widest", "narrowest"]), "second_try": st.booleans()},
)
DRAWS = st.fixed_dictionaries({"redistribution": st.sampled_from(["space", "counts"])})


@st.composite
def rival_tables(draw: st.DrawFn, scheme: str, model: str) -> Table:
    """A table, sometimes with a hierarchy of its secrets, to be published by a rival under a promise of its own."""
    table = draw(tables())
    values = {str(value) for value in table.sensitive if value is not None}
    rows = draw(hierarchies(sorted(values | {"never"}))) if values and draw(st.booleans()) else None
    numbers = {name: draw(strategy) for name, strategy in NUMBERS[model].items()}
    if model == "t-closeness":
        own = "hierarchical" if rows is not None else "ordered" if is_ordered(table.sensitive) else "equal"
        numbers["ground"] = draw(st.sampled_from([None, "equal", own]))
    if model == "k-anonymity":
        numbers["k"] = draw(st.integers(2, max(table.n_rows, 2)))
    options = draw(DRAWS if scheme == "sabre" else CUTS)
    asked = {"beta": None, **numbers, "scheme": scheme, "promise": model, "options": options}
    return replace(table.with_arguments(**asked), sensitive_rows=rows)


def is_ordered(values: Sequence[Any]) -> bool:
    return not any(isinstance(value, str) for value in values)


def prior_of(table: Table, as_text: bool = False) -> promise_twins.Prior:
    """The sensitive values of a table for the twins: numbers in their order, a missing one last."""
    present = {value for value in table.sensitive if value is not None}
    order: list[Any] = [*sorted(present), *([None] if None in table.prior else [])]
    paths = () if table.sensitive_rows is None else promise_twins.paths_of(order, table.sensitive_rows)
    counts = dict(table.prior)
    if as_text:
        order = ["" if value is None else str(value) for value in order]
        counts = {"" if value is None else str(value): n for value, n in counts.items()}
    return promise_twins.Prior(counts, order, paths)


def promise_asked(table: Table) -> dict[str, Any]:
    """What was asked for, as a certificate tells it."""
    asked = table.arguments
    model = asked["promise"]
    names = [name for name in ("t", "delta", "l", "c", "ground") if asked.get(name) is not None]
    parameters = {name: asked[name] for name in names}
    if model == "t-closeness" and "ground" not in parameters:
        parameters["ground"] = natural_ground(table)
    name = f"{model}-likeness" if model in LIKENESS else model
    return {"model": name, "beta": asked["beta"], "k": asked["k"], "parameters": parameters}


def natural_ground(table: Table) -> str:
    """Ordered for numbers, hierarchical where some node holds several values but not all, else equal."""
    if table.sensitive_rows is None:
        return "ordered" if is_ordered(table.sensitive) else "equal"
    present = {str(value) for value in table.sensitive if value is not None}
    levels = zip(*(row for row in table.sensitive_rows if row[0] in present), strict=True)
    return "hierarchical" if any(1 < len(set(nodes)) < len(present) for nodes in levels) else "equal"


@pytest.mark.some(3)
@examples(30)
@EVERY_RIVAL
@given(data=st.data())
def test_a_rival_keeps_its_own_promise_and_tells_of_it(scheme: str, model: str, data: st.DataObject) -> None:
    table = data.draw(rival_tables(scheme, model))
    asked, prior = promise_asked(table), prior_of(table)
    if not promise_twins.keeps(asked, table.prior, prior):  # then no release of it can
        with pytest.raises(ParameterError):
            table.publish()
        return
    release = table.publish()
    classes = list(table.published_classes(release.frame).values())
    assert promise_twins.broken(asked, classes, prior) == []
    told = release.certificate["promise"]
    assert {name: told[name] for name in asked} == asked
    assert told["holds"] is True
    assert told["worst_gain"] == pytest.approx(promise_twins.worst_gain(classes, table.prior), abs=1e-9)
    used = max(promise_twins.used(asked, ec, prior) for ec in classes)
    assert told["worst_ratio"] == pytest.approx(used, abs=1e-9)
    assert release.certificate["scheme"]["name"] == scheme
    details = release.certificate["scheme"]["details"]
    assert {name: details[name] for name in table.arguments["options"]} == table.arguments["options"]


@pytest.mark.some(3)
@examples(8)
@EVERY_RIVAL
@given(data=st.data())
def test_what_a_rival_wrote_keeps_its_promise_and_passes_verify(scheme: str, model: str, data: st.DataObject) -> None:
    table = data.draw(rival_tables(scheme, model))
    asked, prior = promise_asked(table), prior_of(table, as_text=True)
    if not promise_twins.keeps(asked, prior.counts, prior):
        return
    with tempfile.TemporaryDirectory() as folder:
        release = table.publish(out=Path(folder) / "release")
        with (Path(folder) / "release" / "published.csv").open(encoding="utf-8", newline="") as file:
            published = list(csv.DictReader(file))
        checked = betalike.verify(Path(folder) / "release", original=table.frame)
    assert checked.holds, checked.explanations
    labels = [tuple(row[name] or None for name in table.columns) for row in published]
    classes = twins.classes_of(labels, [row["secret"] for row in published]).values()
    assert promise_twins.broken(asked, classes, prior) == []
    told = release.certificate
    assert told["promise"]["worst_gain"] == pytest.approx(promise_twins.worst_gain(classes, prior.counts), abs=1e-9)
    measured = [told["promise"]["worst_gain"], told["also"]["basic_beta"]]
    assert max(measured[0], 0) == pytest.approx(measured[1], abs=1e-9)


@examples(40)
@given(table=tables(), beta=BETAS, options=CUTS)
def test_dmondrian_with_the_delta_for_a_beta_keeps_enhanced_likeness(
    table: Table, beta: float, options: dict[str, Any]
) -> None:
    release = table.publish(scheme="dmondrian", promise=None, beta=beta, options=options)
    classes = table.published_classes(release.frame).values()
    assert twins.broken_classes(classes, table.prior, beta, "enhanced", table.arguments["k"]) == []
    told = release.certificate["promise"]
    assert (told["model"], told["beta"]) == ("delta-disclosure", None)
    assert promise_twins.broken(told, classes, prior_of(table)) == []
    assert all(set(ec) == set(table.prior) for ec in classes)  # no value is ever absent


@examples(40)
@given(data=st.data())
def test_sabre_never_loses_more_than_tmondrian(data: st.DataObject) -> None:
    table = data.draw(rival_tables("sabre", "t-closeness")).with_arguments(options={})
    losses = [table.publish(scheme=s).certificate["release"]["average_loss"] for s in ("sabre", "tmondrian")]
    assert losses[0] <= losses[1] + 1e-9


@examples(40)
@given(table=tables(), numbers=st.data())
def test_one_mondrian_is_many_schemes(table: Table, numbers: st.DataObject) -> None:
    """A named rival publishes just what `mondrian` does with its promise."""
    name, model = numbers.draw(
        st.sampled_from([("lmondrian", "enhanced"), ("dmondrian", "delta-disclosure"), ("tmondrian", "t-closeness")])
    )
    asked = {"beta": None, **{key: numbers.draw(strategy) for key, strategy in NUMBERS[model].items()}}
    options = numbers.draw(CUTS)
    one, other = (table.publish(**asked, scheme=s, promise=model, options=options) for s in (name, "mondrian"))
    assert one.frame.equals(other.frame)
    assert one.certificate["promise"] == other.certificate["promise"]


def test_counts_of_secrets_in_a_release_by_sabre_are_those_of_the_table() -> None:
    people = betalike.datasets.census_like(3000, seed=3)
    release = betalike.publish(
        people, quasi_identifiers=["age", "education"], sensitive="salary_class", scheme="sabre", t=0.1, seed=1
    )
    assert Counter(release.frame["salary_class"]) == Counter(people["salary_class"])
