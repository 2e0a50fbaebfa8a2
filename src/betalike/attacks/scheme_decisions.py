"""Would a scheme have left a class uncut if its members had other values? The scheme's own code decides.

Each row of `assignments` has a value per member of a class; members are sorted by their points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from betalike.promises import Likeness, Model, Rule, plain_likeness_of
from betalike.promises.rule import is_allowed
from betalike.runtime.arrays import Bools, Floats, Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.draws import Draws, draws_from
from betalike.runtime.randomness import SystemRandomness
from betalike.schemes import Burel, Mondrian, Scheme, Seam
from betalike.schemes.burel.buckets import fewest_buckets
from betalike.schemes.mondrian import AttributeRule
from betalike.schemes.mondrian.halving import halve_tuples
from betalike.schemes.mondrian.splitting import split_points
from betalike.schemes.packing import PackedAxes, pack_axes
from betalike.schemes.retrieval import hilbert_keys, number_buckets, ranks_along
from betalike.schemes.seam import WAYS
from betalike.schemes.seam.problem import NO_FLOOR, SplitProblem
from betalike.schemes.seam.splitting import cut_set
from betalike.table.cells import Cells

# Takes the members' points and assignments, the true one first; returns which assignments leave the class uncut.
Decision = Callable[[Ids, Ids], Bools]


def decision_of(scheme: Scheme, cells: Cells, model: Model) -> Decision | None:
    """Return what decides whether a class stays uncut; None for a scheme whose decisions are not known here."""
    if isinstance(scheme, Burel):
        return _burel(cells, model) if scheme.split else _everything
    if isinstance(scheme, Mondrian):
        return _mondrian(scheme, cells, model)
    is_plain = isinstance(model, Likeness) and model.is_plain
    return _seam(cells, model) if isinstance(scheme, Seam) and is_plain else None


def _everything(points: Ids, assignments: Ids) -> Bools:
    """Keep every assignment: BUREL takes class sizes from the whole table's counts, which no assignment changes."""
    return np.ones(len(assignments), dtype=bool)


def _mondrian(scheme: Mondrian, cells: Cells, model: Model) -> Decision:
    rule, axes = model.rule(cells.value_counts, cells.sensitive), pack_axes(cells.axes, cells.weights)
    n_values = cells.sensitive.size

    def is_left(points: Ids, assignments: Ids) -> Bools:
        if scheme.attribute == AttributeRule.NARROWEST:
            return left_by_halving(cells.points, points, assignments, rule, n_values, scheme.second_try)
        distinct, member_start = _distinct(points)
        return left_by_splitting(
            axes, cells.points[distinct], member_start, assignments, rule, n_values, scheme.second_try
        )

    return is_left


def _seam(cells: Cells, model: Model) -> Decision:
    rule = plain_likeness_of(model, "seam").rule(cells.value_counts)
    axes = pack_axes(cells.axes, cells.weights)
    draws = draws_from(SystemRandomness())  # whether a class is cut does not depend on them

    def is_left(points: Ids, assignments: Ids) -> Bools:
        distinct, member_start = _distinct(points)
        point = np.repeat(np.arange(len(distinct), dtype=np.int32), np.diff(member_start))
        codes = cells.points[distinct]
        for reserve, looks_ahead in WAYS:  # the adversary knows by which way the true class stayed uncut
            asked = (axes, codes, point, rule, NO_FLOOR, reserve, looks_ahead, draws)
            if left_by_cutting(*asked, assignments[:1])[0]:
                return left_by_cutting(*asked, assignments)
        return np.zeros(len(assignments), dtype=bool)

    return is_left


def _burel(cells: Cells, model: Model) -> Decision:
    likeness = plain_likeness_of(model, "burel+split")
    rule = likeness.rule(cells.value_counts)
    buckets = fewest_buckets(cells.value_counts, likeness.caps(cells.value_counts))
    bucket_of_value = number_buckets(buckets, cells.sensitive.size)
    rank = ranks_along(hilbert_keys(cells.positions))

    def is_left(points: Ids, assignments: Ids) -> Bools:
        along_curve = np.argsort(rank[points], kind="stable")
        return left_by_bucket_halves(
            np.ascontiguousarray(assignments[:, along_curve]), bucket_of_value, rule, len(bucket_of_value)
        )

    return is_left


def _distinct(points: Ids) -> tuple[Ids, Ints]:
    """Return the distinct points of sorted members, and where each point's members begin."""
    distinct, first = np.unique(points, return_index=True)
    return distinct.astype(np.int32), np.append(first, len(points)).astype(np.int64)


@kernel
def left_by_splitting(
    axes: PackedAxes,
    codes: Ids,
    member_start: Ints,
    assignments: Ids,
    rule: Rule,
    n_values: int,
    has_second_try: bool,
) -> Bools:
    """Return which assignments Mondrian never cuts, with the widest attribute first."""
    left = np.empty(len(assignments), dtype=np.bool_)
    ones = np.ones(assignments.shape[1], dtype=np.int64)
    for i in range(len(assignments)):
        _, n_classes = split_points(axes, codes, member_start, assignments[i], ones, rule, n_values, has_second_try)
        left[i] = n_classes == 1
    return left


@kernel
def left_by_halving(
    all_points: Ids, points: Ids, assignments: Ids, rule: Rule, n_values: int, has_second_try: bool
) -> Bools:
    """Return which assignments Mondrian never halves, with the narrowest attribute first."""
    left = np.empty(len(assignments), dtype=np.bool_)
    for i in range(len(assignments)):
        tuples = np.arange(len(points)).astype(np.int32)
        starts = halve_tuples(tuples, all_points, points, assignments[i], rule, n_values, has_second_try)
        left[i] = len(starts) == 2
    return left


@kernel
def left_by_cutting(
    axes: PackedAxes,
    codes: Ids,
    member_point: Ids,
    rule: Rule,
    floor: Floats,
    reserve: float,
    looks_ahead: bool,
    draws: Draws,
    assignments: Ids,
) -> Bools:
    """Return which assignments SEAM finds no cut for."""
    left = np.empty(len(assignments), dtype=np.bool_)
    n = assignments.shape[1]
    members = np.arange(n).astype(np.int32)
    ones = np.ones(n, dtype=np.int64)
    top, bottom, order, demands = rule.cap_numerator, rule.cap_denominator, rule.order, rule.demands
    number = np.full(len(rule.cap_numerator), -1, dtype=np.int32)
    for i in range(len(assignments)):
        problem = SplitProblem(
            axes, codes, member_point, assignments[i], top, bottom, rule.k, order, demands, floor, False
        )
        part, kept = np.zeros(n, dtype=np.int8), np.zeros(n, dtype=np.int64)
        left[i] = not cut_set(problem, members, ones, reserve, looks_ahead, number, draws, part, kept)
    return left


@kernel
def left_by_bucket_halves(assignments: Ids, bucket_of_value: Ints, rule: Rule, n_values: int) -> Bools:
    """Return which assignments, to members along the curve, cannot be halved bucket by bucket."""
    left = np.empty(len(assignments), dtype=np.bool_)
    for i in range(len(assignments)):
        size = np.zeros(n_values, dtype=np.int64)  # of each bucket
        for value in assignments[i]:
            size[bucket_of_value[value]] += 1
        taken = np.zeros(n_values, dtype=np.int64)
        counts = np.zeros((2, n_values), dtype=np.int64)
        for value in assignments[i]:
            bucket = bucket_of_value[value]
            counts[0 if taken[bucket] < size[bucket] // 2 else 1, value] += 1
            taken[bucket] += 1
        is_cut = is_allowed(rule, counts[0], counts[0].sum()) and is_allowed(rule, counts[1], counts[1].sum())
        left[i] = not is_cut
    return left
