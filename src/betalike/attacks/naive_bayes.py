"""Naive Bayes: guess everybody's sensitive value from what a release shows for each quasi-identifier alone.

Paper: Section 7, Eq. 15 to 19.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from betalike.attacks.control_release import control_of
from betalike.attacks.result import AttackResult, Rate, compared
from betalike.attacks.target import Generalized, Perturbed, Target
from betalike.queries.reconstruction import PerturbedCounts, Shrinkage, learn_shrinkage, shrink
from betalike.runtime.arrays import Floats, Ids, Ints
from betalike.runtime.randomness import Randomness, SystemRandomness
from betalike.table.cells import Cells

NAME = "naive-bayes"
POINTS_PER_STEP = 20_000
MOST_SHRUNK = 200_000  # counts to estimate by shrinkage


def naive_bayes(target: Target, randomness: Randomness | None = None, control: Target | None = None) -> AttackResult:
    """Attack a release with a Naive Bayes classifier that is learned from it."""
    chance = randomness or SystemRandomness()
    control = control if control is not None else control_of(target, chance)
    cells, seen = target.cells, values_beside(target)
    success = Rate.of(count_right(cells, guess_from(cells, seen)), target.n_rows)
    baseline = Rate.of(int(cells.value_counts.max()), target.n_rows)
    against = Rate.of(count_right(control.cells, guess(control)), target.n_rows)
    sentence = f"A classifier learned from the release guesses the value {compared(success, baseline, against)}."
    details = check_bound(target, seen)
    if details.get("bound_holds") is False:
        sentence += (
            f" {details['pairs_above']:,} of {details['pairs']:,} conditional probabilities are above the bound."
        )
    return AttackResult(NAME, target.n_rows, success, baseline, against, sentence, details)


def guess(target: Target) -> Ids:
    """Return the likeliest value at each point of the table. Paper: Eq. 15."""
    return guess_from(target.cells, values_beside(target))


def guess_from(cells: Cells, seen: Sequence[Floats]) -> Ids:
    """Return the likeliest value at each point, given the tuples of each value beside each code of each axis."""
    counts = cells.value_counts
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = [np.log(beside / counts) for beside in seen]
        prior = np.log(counts / counts.sum())
    guesses = np.empty(len(cells.points), dtype=np.int32)
    for start in range(0, len(guesses), POINTS_PER_STEP):
        points = cells.points[start : start + POINTS_PER_STEP]
        score = np.tile(prior, (len(points), 1))
        for axis, logarithm in enumerate(logarithms):
            score += logarithm[points[:, axis]]
        guesses[start : start + POINTS_PER_STEP] = np.argmax(score, axis=1)
    return guesses


def count_right(cells: Cells, guesses: Ids) -> int:
    """Count the people who have the value that is guessed at their point."""
    return int(cells.count[guesses[cells.point] == cells.value].sum())


def values_beside(target: Target) -> list[Floats]:
    """Return for each axis how many tuples of each value (columns) a release shows beside each code (rows).

    Divided by how often the value occurs, that is Pr[t_j | v_i]. For classes, these are the tuples of all classes that
    include t_j (Eq. 17); for perturbed values, the reconstructed counts (Section 5); without values, the prior.
    """
    cells = target.cells
    if isinstance(target, Generalized):
        return [values_in_classes(target, number, axis.size) for number, axis in enumerate(cells.axes)]
    if isinstance(target, Perturbed):
        return reconstructed(target)
    rows = np.bincount(cells.point, cells.count, len(cells.points))
    sizes = [np.bincount(cells.points[:, i], rows, axis.size) for i, axis in enumerate(cells.axes)]
    return [np.outer(size, target.prior) for size in sizes]


def values_in_classes(target: Generalized, number: int, size: int) -> Floats:
    """Count the tuples of each value in the classes whose label covers each code of an axis. Paper: Eq. 17."""
    classes = target.classes
    low, high = (side[:, number].astype(np.int64)[classes.ec] for side in (target.low, target.high))
    change = np.zeros((size + 1, classes.n_values))
    np.add.at(change, (low, classes.value), classes.count)
    np.subtract.at(change, (high + 1, classes.value), classes.count)
    return np.cumsum(change, axis=0)[:-1]


def reconstructed(target: Perturbed) -> list[Floats]:
    """Return for each axis the tuples of each original value with each code, from the published ones.

    This uses the estimate of queries, which shrinks PM^-1 E' towards the prior as far as chance can explain the
    difference; for columns with very many codes it uses PM^-1 E' itself. Negative counts become 0. Paper: Section 5.
    """
    published, n_labels = target.published, target.published.n_values
    tables = []
    for number, axis in enumerate(target.cells.axes):
        code = target.cells.points[published.ec, number].astype(np.int64)
        flat = np.bincount(code * n_labels + published.value, published.count, axis.size * n_labels)
        tables.append(flat.astype(np.float64).reshape(axis.size, n_labels))
    counts = target.cells.value_counts.astype(np.float64)
    perturbation = PerturbedCounts(target.transition, counts, published.value_counts.astype(np.float64))
    shrinkage = learn_shrinkage(perturbation, tables)
    return [_original_counts(perturbation, shrinkage, observed) for observed in tables]


def _original_counts(perturbation: PerturbedCounts, shrinkage: Shrinkage, observed: Floats) -> Floats:
    n_codes, m = len(observed), len(perturbation.prior)
    if n_codes * m <= MOST_SHRUNK:
        wanted = (np.tile(value, (n_codes, 1)) for value in np.eye(m))
        counts = np.column_stack([shrink(perturbation, shrinkage, observed, each) for each in wanted])
    else:
        counts = observed @ perturbation.inverse
    counts = np.maximum(counts, 0.0)
    total, rows = counts.sum(axis=1, keepdims=True), observed.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, counts * rows / np.where(total > 0, total, 1.0), rows * perturbation.prior))


def check_bound(target: Target, seen: Sequence[Floats]) -> dict[str, Any]:
    """Check that Pr[t_j | v_i] <= (1 + min(beta, -ln p_i)) Pr[t_j] for every pair. Paper: Eq. 18 and 19.

    Pr[t_j] is the share of the tuples in classes that include t_j, as in Eq. 18. `worst_ratio` is the largest left side
    divided by its right side.
    """
    caps = target.caps
    if caps is None:
        return {}
    counts: Ints = target.cells.value_counts
    present = np.flatnonzero(counts)
    ratios = []
    for beside in seen:
        size = beside.sum(axis=1, keepdims=True)
        conditional = beside[:, present] / counts[present]
        bound = caps[present] / target.prior[present] * size / target.n_rows
        ratios.append((conditional[size[:, 0] > 0] / bound[size[:, 0] > 0]).ravel())
    ratio = np.concatenate(ratios)
    above = int((ratio > 1 + 1e-9).sum())
    return {
        "bound_holds": above == 0,
        "pairs": len(ratio),
        "pairs_above": above,
        "worst_ratio": float(ratio.max()),
    }
