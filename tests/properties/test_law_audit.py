"""Laws of the audit: it agrees with the definitions on our releases and on tables that anybody could have published."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import betalike
import promise_twins
import twins
from betalike.promises.distances import Ground, earth_movers_distances
from betalike.release.audit import AuditReport
from betalike.table.axis import HierarchyAxis
from betalike.table.cells import ClassCounts
from betalike.table.hierarchy import Hierarchy
from examples import examples
from random_tables import BETAS, EVERY_SCHEME, FORMS, Table, hierarchies, tables

EXACT = ("rows", "classes", "k", "distinct_l")
NEARLY = ("l", "average_l", "t", "average_t", "basic_beta", "enhanced_beta", "delta")


def values_in_order(classes: list[Counter], prior: Counter) -> list[Any]:
    """The sensitive values; a missing one comes last."""
    values = {*prior, *(value for ec in classes for value in ec)}
    return sorted(values - {None}) + [value for value in values if value is None]


def twin_levels(classes: list[Counter], prior: Counter) -> twins.Levels:
    """The levels by their definitions; numbers are ordered, words are all equally far."""
    order = values_in_order(classes, prior)
    is_ordered = not any(isinstance(value, str) for value in order)
    p = twins.shares(prior, order)
    equal = [twins.equal_distance(p, twins.shares(ec, order)) for ec in classes]
    ordered = [twins.ordered_distance(p, twins.shares(ec, order)) for ec in classes]
    return twins.levels(classes, prior, ordered if is_ordered else equal, equal)


def assert_agrees(audited: AuditReport, levels: twins.Levels) -> None:
    for name in EXACT:
        assert getattr(audited.audit, name) == getattr(levels, name), name
    for name in NEARLY:
        expected = getattr(levels, name)
        expected = None if expected is None else pytest.approx(float(expected), rel=1e-9, abs=1e-9)
        assert getattr(audited.audit, name) == expected, name
    assert audited.audit.t_by_ground["equal"] == pytest.approx(float(levels.equal_t), rel=1e-9, abs=1e-9)
    worst = audited.to_dict()["worst"]
    if levels.basic_beta is None:
        assert worst["p"] == 0
    else:
        assert max(worst["q"] / worst["p"] - 1, 0) == pytest.approx(float(levels.basic_beta), abs=1e-9)


@pytest.mark.some(4)
@examples(12)
@EVERY_SCHEME
@given(table=tables())
def test_an_audit_of_a_release_agrees_with_the_definitions(scheme: dict[str, Any], table: Table) -> None:
    release = table.publish(**scheme)
    levels = twin_levels(list(table.published_classes(release.frame).values()), table.prior)
    names = list(table.columns)
    for prior in ({"original": table.frame}, {"certificate": release.certificate}):
        audited = betalike.audit(release.frame, quasi_identifiers=names, sensitive="secret", **prior)
        assert_agrees(audited, levels)
        assert audited.warnings == ()
    also = release.certificate["also"]
    for name in (*EXACT[2:], *NEARLY):
        assert also[name] == pytest.approx(getattr(audited.audit, name)), name


def assert_diverges(audited: AuditReport, classes: list[Counter], prior: Counter) -> None:
    """The divergences of an audit are the greatest of any class, by their definitions."""
    order = values_in_order(classes, prior)
    p, posteriors = twins.shares(prior, order), [twins.shares(ec, order) for ec in classes]
    kullback = max(promise_twins.kullback_leibler(p, q) for q in posteriors)
    jensen = max(promise_twins.jensen_shannon(p, q) for q in posteriors)
    told = audited.to_dict()
    assert told["jensen_shannon"] == pytest.approx(jensen, abs=1e-9)
    assert told["kullback_leibler"] == (None if kullback == math.inf else pytest.approx(kullback, abs=1e-9))


@st.composite
def published_tables(draw: st.DrawFn) -> tuple[list[tuple[str | None, str | None]], list[Any], list[Any]]:
    """Labels of two columns, secrets, and the secrets of an original that need not have anything to do with them."""
    pool: list[Any] = draw(st.sampled_from([[1, 2, 3, 20, 5], ["a", "b", "c", "d", "e"], [2, 1, 30, 4, None]]))
    n_rows = draw(st.integers(1, 30))
    labels = st.tuples(st.sampled_from(["*", "[1, 2]", "7", None]), st.sampled_from(["x", None]))
    rows = draw(st.lists(labels, min_size=n_rows, max_size=n_rows))
    is_pure = draw(st.booleans())
    names = [("*", "[1, 2]", "7", None).index(label[0]) for label in rows]
    mixed = draw(st.lists(st.sampled_from(pool), min_size=n_rows, max_size=n_rows))
    original = draw(st.lists(st.sampled_from(pool[: draw(st.integers(1, 5))]), min_size=1, max_size=30))
    return rows, [pool[name] for name in names] if is_pure else mixed, original


def published_frame(labels: list[tuple[str | None, str | None]], secrets: list[Any]) -> pl.DataFrame:
    columns = [pl.Series(f"q{i}", [label[i] for label in labels], dtype=pl.String) for i in range(2)]
    return pl.DataFrame([*columns, pl.Series("secret", secrets)])


@examples(150)
@given(published=published_tables(), beta=BETAS, form=FORMS, k=st.integers(1, 5))
def test_an_audit_of_any_table_agrees_with_the_definitions(
    published: tuple[Any, list[Any], list[Any]], beta: float, form: str, k: int
) -> None:
    labels, secrets, original = published
    audited = betalike.audit(
        published_frame(labels, secrets),
        quasi_identifiers=["q0", "q1"],
        sensitive="secret",
        original=pl.DataFrame({"secret": original}),
        beta=beta,
        promise=form,
        k=k,
    )
    classes = list(twins.classes_of(labels, secrets).values())
    assert_agrees(audited, twin_levels(classes, Counter(original)))
    assert_diverges(audited, classes, Counter(original))
    assert audited.holds is (twins.broken_classes(classes, Counter(original), beta, form, k) == [])


@given(published=published_tables())
def test_without_an_original_the_prior_is_the_published_one_and_a_warning_says_so(
    published: tuple[Any, list[Any], list[Any]],
) -> None:
    labels, secrets, _ = published
    audited = betalike.audit(published_frame(labels, secrets), quasi_identifiers=["q0", "q1"], sensitive="secret")
    assert_agrees(audited, twin_levels(list(twins.classes_of(labels, secrets).values()), Counter(secrets)))
    assert (audited.prior_source, len(audited.warnings), audited.holds) == ("published", 1, None)


def test_pure_classes_have_no_enhanced_beta() -> None:
    """A table of pure classes passes a careless "enhanced beta", min(largest gain, -ln p_min)."""
    frame = pl.DataFrame({"q": ["x", "x", "y", "y"], "secret": ["a", "a", "b", "b"]})
    audit = betalike.audit(frame, quasi_identifiers=["q"], sensitive="secret", original=frame).audit
    assert (audit.basic_beta, audit.enhanced_beta, audit.delta) == (1.0, None, None)


def test_a_large_published_table_is_judged_by_the_exact_cap_of_a_small_original() -> None:
    """p = 1/3, beta = 1/4: the cap is 5/12, so 2 of 5 and 5 of 12 are allowed, and 3 of 7 are not."""
    original = pl.DataFrame({"secret": ["a", "b", "c"]})
    for counts, holds in (((2, 2, 1), True), ((5, 5, 2), True), ((3, 2, 2), False)):
        secrets = [value for value, n in zip("abc", counts, strict=True) for _ in range(n)]
        frame = pl.DataFrame({"q": ["*"] * len(secrets), "secret": secrets})
        audited = betalike.audit(
            frame, quasi_identifiers=["q"], sensitive="secret", original=original, beta=0.25, promise="basic"
        )
        assert audited.holds is holds, counts


COUNTS = st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(any)


@examples(40)
@given(rows=hierarchies(["a", "b", "c", "d", "e", "f"]), prior=COUNTS, classes=st.lists(COUNTS, min_size=1, max_size=3))
def test_distances_are_the_cheapest_transport_on_each_ground(
    rows: list[list[str]], prior: list[int], classes: list[list[int]]
) -> None:
    tree = Hierarchy.from_rows(rows)
    by_leaf = {row[0]: row for row in rows}
    in_preorder = [by_leaf[leaf] for leaf in tree.leaves]
    grounds = {
        Ground.EQUAL: [[Fraction(i != j) for j in range(6)] for i in range(6)],
        Ground.ORDERED: [[Fraction(abs(i - j), 5) for j in range(6)] for i in range(6)],
        Ground.HIERARCHICAL: twins.tree_distances(in_preorder),
    }
    counts = np.array(classes)
    ec, value = np.nonzero(counts)
    measured = ClassCounts.of(ec, value, counts[ec, value], 6)
    p = twins.shares(dict(enumerate(prior)), range(6))
    for ground, distance in grounds.items():
        found = earth_movers_distances(measured, np.array(prior) / sum(prior), ground, HierarchyAxis("secret", tree))
        expected = [
            twins.transport_distance(p, twins.shares(dict(enumerate(ec)), range(6)), distance) for ec in classes
        ]
        assert found == pytest.approx(expected, abs=1e-9), ground
