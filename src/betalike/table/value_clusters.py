"""Group values that behave alike: those whose rows look alike in other columns. The sensitive column is never used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from betalike.errors import HierarchyError
from betalike.runtime.arrays import Floats, Ints
from betalike.table.hierarchy import ROOT, Hierarchy

MOST_VALUES = 2000
SHRINKAGE = 10.0  # rows of the average value that are added to each value, so that rare values are not thought special
FEWER = 3  # times fewer groups at each level
FREQUENT, TIMES_EVEN = 0.1, 2  # a value with more of the rows, and more than twice its even share, is in no group
SHOWN = 3  # values that the label of a group names
LEAST_ROWS = 3  # of a value that is named


def cluster(values: Sequence[str], profiles: Ints, people: Ints | None = None) -> Hierarchy:
    """Return a tree over values. `profiles` counts their rows by what the rows have in other columns.

    `people` says how many have each value, if a row may be counted several times.

    The two groups whose profiles differ least, weighted by their rows, are joined first (Ward's rule on square roots
    of shares). Every level of the tree has about a third as many groups as the one below it. A frequent value is in no
    group: its rows would lose much there, and they fill classes without others.
    """
    if len(values) > MOST_VALUES:
        raise HierarchyError(
            f"the builder 'auto' takes up to {MOST_VALUES:,} values, and the column has {len(values):,}. "
            "Choose prefix, frequency or groups."
        )
    rows = profiles.sum(axis=1)
    is_alone = rows > max(FREQUENT, TIMES_EVEN / len(values)) * rows.sum()
    rest = np.flatnonzero(~is_alone)
    some = [values[i] for i in rest.tolist()]
    joined = _join(_roots_of_shares(profiles)[rest], np.maximum(rows[rest], 1).astype(np.float64))
    sizes, n_groups = [], -(-len(rest) // FEWER)
    while n_groups > 1:
        sizes.append(n_groups)
        n_groups = -(-n_groups // FEWER)
    levels = [_groups(joined, len(rest), n_groups) for n_groups in sizes]
    in_order = np.lexsort([np.arange(len(rest)), *levels])  # the last key, the fewest groups, is the first to sort by
    others = [values[i] for i in np.flatnonzero(is_alone).tolist()]
    labels = _labels(some, (rows if people is None else people)[rest], levels, others)
    paths = [(value, *[value] * len(levels), ROOT) for value in others]
    paths += [(some[i], *(names[i] for names in labels), ROOT) for i in in_order.tolist()]
    return Hierarchy.from_rows(paths, "the hierarchy that the builder 'auto' makes")


def _roots_of_shares(profiles: Ints) -> Floats:
    """Return the square root of each share, shrunk towards the average value: their distance is Hellinger's."""
    average = profiles.sum(axis=0) / max(profiles.sum(), 1)
    smoothed = profiles + SHRINKAGE * average
    return np.asarray(np.sqrt(smoothed / np.maximum(smoothed.sum(axis=1, keepdims=True), 1e-300)))


def _join(points: Floats, weight: Floats) -> list[tuple[int, int]]:
    """Join the nearest two groups until one is left; return the pairs, named by one of their members each."""
    n = len(points)
    points, weight = points.copy(), weight.copy()
    cost = np.full((n, n), np.inf)
    for i in range(n):
        cost[i] = _costs(points, weight, i)
    joined = []
    for _ in range(n - 1):
        i, j = sorted(divmod(int(np.argmin(cost)), n))
        points[i] = (weight[i] * points[i] + weight[j] * points[j]) / (weight[i] + weight[j])
        weight[i] += weight[j]
        weight[j] = 0.0
        cost[j] = cost[:, j] = np.inf
        cost[i] = cost[:, i] = _costs(points, weight, i)
        joined.append((i, j))
    return joined


def _costs(points: Floats, weight: Floats, i: int) -> Floats:
    """Return how much joining group i with each other group would cost; groups that are gone cost infinitely much."""
    distance = ((points - points[i]) ** 2).sum(axis=1)
    cost = np.where(weight > 0, distance * weight * weight[i] / np.maximum(weight + weight[i], 1e-300), np.inf)
    cost[i] = np.inf
    return np.asarray(cost)


def _groups(joined: Sequence[tuple[int, int]], n_values: int, n_groups: int) -> Ints:
    """Return the group of each value when joining stops at `n_groups` groups."""
    group = np.arange(n_values)
    for i, j in joined[: n_values - n_groups]:
        group[group == j] = i
    return group


def _labels(values: Sequence[str], rows: Ints, levels: Sequence[Ints], others: Sequence[str]) -> list[list[str]]:
    """Return the label of each value's group at each level: its most frequent values, and how many more there are.

    A value that few rows have is counted, not named: the label may be published with the rows of others. No label is
    that of another group, or one of the `others`.
    """
    taken: dict[str, tuple[int, ...]] = {value: (i,) for i, value in enumerate(values)} | dict.fromkeys(others, ())
    labels = []
    for group in levels:
        names = [""] * len(values)
        for number in np.unique(group):
            members = tuple(np.flatnonzero(group == number).tolist())
            label = _label(values, rows, members)
            n_same = 1
            while taken.setdefault(label, members) != members:
                n_same += 1
                label = f"{_label(values, rows, members)} ({n_same})"
            for i in members:
                names[i] = label
        labels.append(names)
    return labels


def _label(values: Sequence[str], rows: Ints, members: Sequence[int]) -> str:
    if len(members) == 1:
        return values[members[0]]  # the leaf itself
    by_rows = sorted((i for i in members if rows[i] >= LEAST_ROWS), key=lambda i: -rows[i])
    named = ", ".join(values[i] for i in sorted(by_rows[:SHOWN]))
    n_more = len(members) - len(by_rows[:SHOWN])
    if not named:
        return f"{n_more} rare values"
    return f"{named} and {n_more} more" if n_more else named
