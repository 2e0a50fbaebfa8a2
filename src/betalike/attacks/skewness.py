"""Skewness and similarity: what the class of a person reveals about a value, or about a group of similar values.

Paper: Section 2 (skewness and similarity attacks), Section 7 (groups under a node of a hierarchy).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from betalike.attacks.control_release import control_of
from betalike.attacks.result import AttackResult, Rate, compared
from betalike.attacks.target import Generalized, Perturbed, Target
from betalike.promises import Likeness, posterior_cap
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.table.axis import Axis, HierarchyAxis
from betalike.table.cells import ClassCounts

Groups = Sequence[Ints]
SKEWNESS, SIMILARITY = "skewness", "similarity"
NO_GROUPS = (
    "no hierarchy groups the sensitive values, so none are known to be close to each other. Name a folder with one "
    "(--hierarchies)."
)


def skewness(target: Target, randomness: Randomness | None = None, control: Target | None = None) -> AttackResult:
    """Guess the most frequent value of each person's class, and find the largest gain on each value."""
    control = control if control is not None else control_of(target, randomness or SystemRandomness())
    values = [np.array([value]) for value in range(target.n_values)]
    success, against = (Rate.of(count_most_frequent(each, values), target.n_rows) for each in (target, control))
    baseline = Rate.of(int(target.cells.value_counts.max()), target.n_rows)
    gains, shares = largest_gains(target, values)
    worst = int(np.argmax(gains))
    labels = target.values
    sentence = (
        f"The most frequent value of a person's class is right {compared(success, baseline, against)}; at most, a "
        f"value becomes {1 + gains[worst]:.3g} times as likely (a share of {shares[worst]:.3g} instead of "
        f"{target.prior[worst]:.3g})."
    )
    details: dict[str, Any] = {"worst_gain": float(gains[worst]), "worst_value": labels[worst]}
    details["gains"] = {label: float(gain) for label, gain in zip(labels, gains, strict=True)}
    if target.caps is not None:
        details["worst_ratio"] = float((shares / np.maximum(target.caps, 1e-300)).max())
    return AttackResult(SKEWNESS, target.n_rows, success, baseline, against, sentence, details)


def similarity(target: Target, randomness: Randomness | None = None, control: Target | None = None) -> AttackResult:
    """Do the same for groups of values under the nodes of a hierarchy of the sensitive attribute."""
    groups = groups_of(target.cells.sensitive)
    if not groups:
        return AttackResult(SIMILARITY, refusal=NO_GROUPS)
    control = control if control is not None else control_of(target, randomness or SystemRandomness())
    top = top_groups(target.cells.sensitive, target.n_values)
    success, against = (Rate.of(count_most_frequent(each, top), target.n_rows) for each in (target, control))
    priors = np.array([target.prior[group].sum() for group in top])
    baseline = Rate.of(round(float(priors.max()) * target.n_rows), target.n_rows)
    gains, shares = largest_gains(target, list(groups.values()))
    prior = np.array([target.prior[group].sum() for group in groups.values()])
    worst = int(np.argmax(gains))
    name = list(groups)[worst]
    sentence = (
        f"The most frequent group of values in a person's class is right {compared(success, baseline, against)}; at "
        f"most, a group becomes {1 + gains[worst]:.3g} times as likely (a share of {shares[worst]:.3g} instead of "
        f"{prior[worst]:.3g})."
    )
    details: dict[str, Any] = {"worst_gain": float(gains[worst]), "worst_group": name}
    details["gains"] = {label: float(gain) for label, gain in zip(groups, gains, strict=True)}
    if isinstance(target.model, Likeness) and target.model.is_plain and target.model.beta is not None:
        caps = posterior_cap(prior, float(target.model.beta), target.model.form)
        details["groups_above_their_cap"] = int((shares > caps * (1 + 1e-9)).sum())
    return AttackResult(SIMILARITY, target.n_rows, success, baseline, against, sentence, details)


def groups_of(axis: Axis) -> dict[str, Ints]:
    """Return the inner nodes of a hierarchy of sensitive values, each with the values under it."""
    if not isinstance(axis, HierarchyAxis):
        return {}
    tree = axis.hierarchy
    inner = range(tree.n_leaves, tree.root)
    return {tree.labels[node]: np.arange(tree.first[node], tree.last[node] + 1) for node in inner}


def top_groups(axis: Axis, n_values: int) -> list[Ints]:
    """Return the groups of values under the root's children; a missing value is a group of its own."""
    assert isinstance(axis, HierarchyAxis)
    tree = axis.hierarchy
    children = [node for node in range(tree.root) if tree.parent[node] == tree.root]
    parts = [np.arange(tree.first[node], tree.last[node] + 1) for node in children]
    return [*parts, *(np.array([value]) for value in range(tree.n_leaves, n_values))]


@dataclass(frozen=True)
class ClassShares:
    """The share of each group in each class where it occurs, and the number of tuples per class."""

    sizes: Floats
    ec: Ints
    group: Ints
    share: Floats
    n_groups: int


def shares_of(target: Target, groups: Groups) -> ClassShares:
    """Return what the adversary sees of each group.

    To the adversary, a class is a class of the release, all tuples with one published value, or the whole table.
    """
    if isinstance(target, Generalized):
        classes = target.classes
        owner = np.concatenate([np.full(len(group), number) for number, group in enumerate(groups)])
        members = np.concatenate([np.asarray(group) for group in groups])
        order = np.argsort(members, kind="stable")
        starts = np.searchsorted(members[order], np.arange(classes.n_values + 1))
        n_groups = np.diff(starts)[classes.value]  # of each entry
        entry = np.repeat(np.arange(len(n_groups)), n_groups)
        place = np.arange(len(entry)) - np.repeat(np.cumsum(n_groups) - n_groups, n_groups)
        group = owner[order][starts[classes.value[entry]] + place]
        counts = ClassCounts.of(classes.ec[entry], group, classes.count[entry], len(groups))
        share = counts.count / classes.sizes[counts.ec]
        return ClassShares(classes.sizes.astype(np.float64), counts.ec, counts.value, share, len(groups))
    member = np.zeros((target.n_values, len(groups)))
    for number, group in enumerate(groups):
        member[group, number] = 1.0
    sizes, posterior = np.array([float(target.n_rows)]), target.prior[None, :]
    if isinstance(target, Perturbed):
        sizes, posterior = target.prior @ target.transition * target.n_rows, target.posterior.T
    shares = posterior @ member
    ec, group = np.nonzero(shares)
    return ClassShares(sizes, ec, group, shares[ec, group], len(groups))


def count_most_frequent(target: Target, groups: Groups) -> int:
    """Count the people with a value of the most frequent group of their class; for perturbed values, as expected."""
    shares = shares_of(target, groups)
    highest = np.zeros(len(shares.sizes))
    np.maximum.at(highest, shares.ec, shares.share)
    return round(float(shares.sizes @ highest))


def largest_gains(target: Target, groups: Groups) -> tuple[Floats, Floats]:
    """Return the largest relative gain on each group in any class, and its share there. Paper: Definition 1."""
    shares = shares_of(target, groups)
    highest = np.zeros(len(groups))
    np.maximum.at(highest, shares.group, shares.share)
    prior = np.array([target.prior[group].sum() for group in groups])
    return np.asarray(highest / np.maximum(prior, 1e-300) - 1), highest
