"""The paper's examples, tables and figures of Sections 2 to 5, each with the numbers that the paper prints."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest

import betalike
import twins
from betalike.measures.audit import Audit
from betalike.measures.loss import average_loss, class_losses
from betalike.promises import Likeness, posterior_cap
from betalike.promises.distances import Ground, earth_movers_distances
from betalike.release.audit import AuditReport
from betalike.schemes.burel.buckets import fewest_buckets
from betalike.schemes.burel.ectree import class_draws, is_eligible
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import ClassCounts
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

TABLE_1 = pl.DataFrame(
    {
        "name": ["Mike", "John", "Bob", "Alice", "Beth", "Carol"],
        "weight": [70, 60, 50, 70, 80, 60],
        "age": [40, 60, 50, 50, 50, 70],
        "disease": ["headache", "epilepsy", "brain tumors", "heart murmur", "anemia", "angina"],
    }
)
FIGURE_1 = [
    ["headache", "nervous diseases", "*"],
    ["epilepsy", "nervous diseases", "*"],
    ["brain tumors", "nervous diseases", "*"],
    ["anemia", "circulatory diseases", "*"],
    ["angina", "circulatory diseases", "*"],
    ["heart murmur", "circulatory diseases", "*"],
]
DISEASES = [row[0] for row in FIGURE_1]
BUCKETS = [["headache", "epilepsy"], ["brain tumors", "anemia"], ["angina", "heart murmur"]]
FIGURE_2 = ["1", "2", "2", "1", "1", "2"]  # the class of each tuple of Table 1


def audit_classes(classes: list[str], beta: float | None = None) -> betalike.api.Audited:
    """Audit Table 1, published in these classes."""
    frame = TABLE_1.select(pl.Series("class", classes), "disease")
    return betalike.audit(frame, quasi_identifiers=["class"], sensitive="disease", original=TABLE_1, beta=beta)


def publish_in_order_of_figure_1(frame: pl.DataFrame, quasi_identifiers: list[str], beta: float) -> betalike.Release:
    """Publish by BUREL; Figure 1 orders values that are equally frequent as the paper does."""
    return betalike.publish(
        frame,
        quasi_identifiers=quasi_identifiers,
        sensitive="disease",
        beta=beta,
        scheme="burel",
        hierarchies={"disease": FIGURE_1},
        seed=3,
    )


def draws_of(classes: dict[tuple[str | None, ...], Counter]) -> list[list[int]]:
    """How many tuples each class has from each of the paper's three buckets."""
    return sorted([sum(ec[name] for name in bucket) for bucket in BUCKETS] for ec in classes.values())


def distances(prior: list[float], classes: list[list[int]], ground: Ground) -> list[float]:
    """Distance from the prior of classes given as counts."""
    counts = np.array(classes)
    ec, value = np.nonzero(counts)
    axis = HierarchyAxis("disease", Hierarchy.flat(map(str, range(len(prior)))))
    measured = ClassCounts.of(ec, value, counts[ec, value], len(prior))
    return earth_movers_distances(measured, np.array(prior), ground, axis).tolist()


# --- Section 2 ---


@pytest.mark.parametrize("ground", [Ground.EQUAL, Ground.ORDERED])
def test_section_2_the_earth_movers_distance_sees_no_difference_between_a_small_gain_and_a_large_one(
    ground: Ground,
) -> None:
    assert distances([0.4, 0.6], [[50, 50]], ground) == pytest.approx([0.1])
    assert distances([0.01, 0.99], [[11, 89]], ground) == pytest.approx([0.1])


def test_section_2_the_gain_tells_them_apart() -> None:
    assert gain_of_hiv(Counter(hiv=40, flu=60), Counter(hiv=50, flu=50)) == pytest.approx(0.25)
    assert gain_of_hiv(Counter(hiv=1, flu=99), Counter(hiv=11, flu=89)) == pytest.approx(10)
    assert gain_of_hiv(Counter(hiv=1, flu=99), Counter(hiv=3, flu=97)) == pytest.approx(2)


def audit_of_one_class(prior: Counter, published: Counter) -> AuditReport:
    original = pl.DataFrame({"disease": list(prior.elements())})
    frame = pl.DataFrame({"class": ["*"] * published.total(), "disease": list(published.elements())})
    return betalike.audit(frame, quasi_identifiers=["class"], sensitive="disease", original=original)


def gain_of_hiv(prior: Counter, published: Counter) -> float | None:
    audited = audit_of_one_class(prior, published)
    assert audited.worst_value == "hiv"
    return audited.audit.basic_beta


@pytest.mark.parametrize(
    ("prior", "published", "kl", "js"),
    [
        (Counter(hiv=40, flu=60), Counter(hiv=50, flu=50), 0.0290, 0.0073),
        (Counter(hiv=1, flu=99), Counter(hiv=3, flu=97), 0.0133, 0.0038),
    ],
)
def test_section_2_divergences_rank_a_small_gain_above_a_large_one(
    prior: Counter, published: Counter, kl: float, js: float
) -> None:
    audit = audit_of_one_class(prior, published).audit
    assert audit.kullback_leibler == pytest.approx(kl, abs=5e-5)
    assert audit.jensen_shannon == pytest.approx(js, abs=5e-5)


def test_section_2_a_diverse_class_can_make_a_value_a_hundred_times_likelier() -> None:
    """0.1 % of 10,000 persons have HIV; a class of ten distinct values has it once: 10-diverse, and a gain of 99."""
    original = pl.DataFrame({"disease": ["hiv"] * 10 + [f"disease {i % 9}" for i in range(9990)]})
    frame = pl.DataFrame({"class": ["*"] * 10, "disease": ["hiv", *(f"disease {i}" for i in range(9))]})
    audit = betalike.audit(frame, quasi_identifiers=["class"], sensitive="disease", original=original).audit
    assert (audit.distinct_l, audit.l) == (10, pytest.approx(10))
    assert audit.basic_beta == pytest.approx(99)


def test_table_1_a_diverse_table_can_tell_everybodys_kind_of_disease() -> None:
    """The first three tuples in one class, the rest in another: 3-diverse, but the first all have nervous diseases."""
    frame = TABLE_1.select(pl.Series("class", ["1", "1", "1", "2", "2", "2"]), "disease")
    audit: Audit = betalike.audit(
        frame,
        quasi_identifiers=["class"],
        sensitive="disease",
        original=TABLE_1,
        hierarchies={"disease": FIGURE_1},
    ).audit
    assert (audit.distinct_l, audit.l) == (3, 3)
    # Half of the probability moves to the other kind of disease, over the whole height of the tree of Figure 1.
    assert (audit.t_ground, audit.t) == (Ground.HIERARCHICAL, pytest.approx(0.5))
    assert audit_classes(FIGURE_2).audit.distinct_l == 3


def test_section_2_delta_disclosure_needs_every_value_in_every_class() -> None:
    assert audit_classes(FIGURE_2).audit.delta is None
    assert audit_classes(["1"] * 6).audit.delta == pytest.approx(0)


# --- Section 4.2: Example 1 and Figure 2 ---


def test_example_1_six_buckets_make_one_class_without_any_gain() -> None:
    release = betalike.publish(
        TABLE_1, quasi_identifiers=["weight", "age"], sensitive="disease", beta=1, scheme="burel", seed=1
    )
    assert release.certificate["scheme"]["details"] == {"buckets": 6, "leaves": 1}
    assert release.frame["weight"].unique().to_list() == ["[50, 80]"]
    assert release.frame["age"].unique().to_list() == ["[40, 70]"]
    assert release.certificate["release"]["average_loss"] == 1
    audit = release.verified.audit
    assert (audit.classes, audit.basic_beta, audit.enhanced_beta, audit.t) == (1, 0, 0, pytest.approx(0))


def test_example_1_two_tuple_buckets_make_two_classes_with_a_smaller_loss() -> None:
    """Beyond beta = 1 two values may share a bucket (the comparison is strict): three buckets, two classes of three."""
    release = publish_in_order_of_figure_1(TABLE_1, ["weight", "age"], beta=1.01)
    assert release.certificate["scheme"]["details"] == {"buckets": 3, "leaves": 2}
    labels = zip(release.frame["weight"], release.frame["age"], strict=True)
    assert draws_of(twins.classes_of(labels, release.frame["disease"])) == [[1, 1, 1], [1, 1, 1]]
    assert release.certificate["release"]["average_loss"] < 1


def test_figure_2_keeps_likeness_from_beta_1_on_and_not_below() -> None:
    assert audit_classes(FIGURE_2).audit.basic_beta == 1
    assert audit_classes(FIGURE_2).audit.enhanced_beta == 1
    assert audit_classes(FIGURE_2, beta=1).holds
    assert audit_classes(FIGURE_2, beta=1.5).holds
    assert not audit_classes(FIGURE_2, beta=1 - 2**-53).holds
    assert audit_classes(["1"] * 6, beta=5e-324).holds


def test_figure_2_has_a_smaller_loss_than_one_class() -> None:
    """Eq. 2, 4 and 5 on the classes' boxes: weight [70, 80] and [50, 60], age [40, 50] and [50, 70]."""
    weight = OrderedAxis("weight", Kind.INTEGER, np.array([50, 60, 70, 80]), (50, 80))
    age = OrderedAxis("age", Kind.INTEGER, np.array([40, 50, 60, 70]), (40, 70))
    losses = class_losses([weight, age], np.array([[2, 0], [0, 1]]), np.array([[3, 1], [1, 3]]))
    assert losses.tolist() == [
        [pytest.approx(1 / 3), pytest.approx(1 / 3)],
        [pytest.approx(1 / 3), pytest.approx(2 / 3)],
    ]
    assert average_loss(["weight", "age"], losses, np.array([3, 3]), [1, 1]).average == pytest.approx(5 / 12)
    assert average_loss(["weight", "age"], losses, np.array([3, 3]), [1, 3]).average == pytest.approx(11 / 24)
    whole = class_losses([weight, age], np.array([[0, 0]]), np.array([[3, 3]]))
    assert average_loss(["weight", "age"], whole, np.array([6]), [1, 1]).average == 1


def test_figure_1_losses_of_a_hierarchy() -> None:
    """Eq. 3: a leaf loses nothing, a kind of diseases 3 of 6 leaves, the root everything."""
    axis = HierarchyAxis("disease", Hierarchy.from_rows(FIGURE_1))
    low, high = np.array([0, 0, 3, 2]), np.array([0, 1, 5, 3])
    assert axis.labels(low, high) == ["headache", "nervous diseases", "circulatory diseases", "*"]
    assert axis.losses(low, high).tolist() == [0, 0.5, 0.5, 1]
    assert axis.label_losses(axis.labels(low, high)).tolist() == [0, 0.5, 0.5, 1]


# --- Sections 4.3 and 4.4: Example 2 and Figure 3 ---

EXAMPLE_2 = np.array([2, 3, 3, 3, 4, 4])


def test_example_2_caps() -> None:
    assert posterior_cap(EXAMPLE_2 / 19, beta=2) == pytest.approx([0.3158, *[0.4494] * 3, *[0.5386] * 2], abs=1e-4)
    caps = Likeness(2).caps(EXAMPLE_2)
    assert caps.most(19).tolist() == [6, 8, 8, 8, 10, 10]
    assert caps.is_attained.tolist() == [True, False, False, False, False, False]  # 6/19; the others are irrational


def test_example_2_buckets() -> None:
    buckets = fewest_buckets(EXAMPLE_2, Likeness(2).caps(EXAMPLE_2))
    assert [[DISEASES[value] for value in bucket] for bucket in buckets] == BUCKETS


def test_figure_3_leaves_of_the_tree() -> None:
    caps = Likeness(2).caps(EXAMPLE_2)
    rarest = np.array([0, 2, 4])
    numerator, denominator = caps.numerator[rarest], caps.denominator[rarest]
    leaves = class_draws(np.array([5, 6, 8]), numerator, denominator, 1)
    assert leaves.tolist() == [[1, 1, 2], [1, 2, 2], [3, 3, 4]]
    for draws in ([5, 6, 8], [2, 3, 4], [3, 3, 4], [1, 1, 2], [1, 2, 2]):
        assert is_eligible(np.array(draws), numerator, denominator, 1), draws
    assert not is_eligible(np.array([2, 2, 2]), numerator, denominator, 1)  # 2/6 > f(p_1)


def test_example_2_published() -> None:
    """The table of Example 2, published: three classes of 4, 5 and 10 tuples that draw as Figure 3 tells."""
    secrets = list(itertools.chain(*([name] * n for name, n in zip(DISEASES, EXAMPLE_2.tolist(), strict=True))))
    frame = pl.DataFrame({"age": [(7 * i) % 19 for i in range(19)], "disease": secrets})
    release = publish_in_order_of_figure_1(frame, ["age"], beta=2)
    classes = twins.classes_of(((label,) for label in release.frame["age"]), release.frame["disease"])
    assert draws_of(classes) == [[1, 1, 2], [1, 2, 2], [3, 3, 4]]
    assert twins.broken_classes(classes.values(), Counter(secrets), 2, "enhanced") == []


# --- Section 5 ---


def test_section_5_a_value_that_one_tuple_has_needs_a_class_of_half_the_table() -> None:
    frame = pl.DataFrame({"age": list(range(40)), "disease": ["rare", *(f"disease {i % 13}" for i in range(39))]})
    release = betalike.publish(frame, quasi_identifiers=["age"], sensitive="disease", beta=1, seed=1)
    classes = twins.classes_of(((label,) for label in release.frame["age"]), release.frame["disease"])
    [size] = [ec.total() for ec in classes.values() if ec["rare"]]
    assert size >= 20
