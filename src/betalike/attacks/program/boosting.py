"""A small learner: boosted trees that correct the log-odds of each candidate value of each group of people.

A *pair* is a group of people and a value that they may have. Chances are the softmax of the scores of a group's pairs.
Trees see clues about a pair, not the value itself, so what is learned about one value serves all of them. Each tree
asks the same question at every node of a level. The number of trees is the one that fits people who were held out best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import Bools, Floats, Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.threads import split_work

Bins = NDArray[np.uint8]
N_BINS = 32
DEPTH = 4
MOST_TREES, PATIENCE = 300, 10
RATE = 0.25
PENALTY = 10.0  # people (times their uncertainty) that a leaf must outweigh
CERTAIN = 1.0  # standard errors by which trees must help groups that were held
EDGES_FROM = 200_000  # pairs that the borders of bins are taken from


@dataclass(frozen=True)
class CandidatePairs:
    """Groups with their candidate values: where each group's pairs start, how many people have each value, scores."""

    starts: Ints
    value: Ids
    people: Floats
    score: Floats

    @property
    def n_people(self) -> float:
        """People in all groups."""
        return float(self.people.sum())

    @property
    def chances(self) -> Floats:
        """The chance of each pair's value in its group."""
        return chances_of(self.starts, self.score)

    def rescored(self, score: Floats) -> CandidatePairs:
        """Return the same pairs with other scores."""
        return CandidatePairs(self.starts, self.value, self.people, score)


@dataclass(frozen=True)
class BoostedTree:
    """A clue and a border for each level, and what each leaf adds to a score."""

    clue: Ints
    border: Ints
    leaf: Floats


@dataclass(frozen=True)
class Learned:
    """Borders between the bins of each clue, and trees."""

    edges: list[Floats]
    trees: list[BoostedTree]

    def apply(self, pairs: CandidatePairs, clues: Sequence[Floats]) -> CandidatePairs:
        """Correct the scores of other pairs, given their clues."""
        bins = _binned(self.edges, clues)
        score = pairs.score.copy()
        for tree in self.trees:
            add_leaves(bins, tree.clue, tree.border, tree.leaf, score)
        return pairs.rescored(score)


def learn(
    pairs: CandidatePairs,
    clues: Sequence[Floats],
    is_held: Bools,
    cluster: Ints,
    progress: Progress = SILENT,
    step: str = "learning",
) -> Learned:
    """Learn from some groups how clues correct scores; groups that are held decide when to stop.

    What does not help the held groups by more than chance explains is not kept; groups of one cluster count as one.
    """
    edges = [_edges(clue) for clue in clues]
    bins = _binned(edges, clues)
    n_pairs = len(pairs.score)
    score = pairs.score.copy()
    slope, weight = np.empty(n_pairs, dtype=np.float32), np.empty(n_pairs, dtype=np.float32)
    first = best = find_slopes(pairs.starts, pairs.people, score, is_held, slope, weight)
    trees: list[BoostedTree] = []
    n_best = 0
    for _ in progress.track(range(MOST_TREES), step):
        if len(trees) - n_best >= PATIENCE:
            continue
        tree = _grow(bins, slope, weight)
        add_leaves(bins, tree.clue, tree.border, tree.leaf, score)
        trees.append(tree)
        fit = find_slopes(pairs.starts, pairs.people, score, is_held, slope, weight)
        if fit.sum() > best.sum():
            best, n_best = fit, len(trees)
    gain = np.bincount(cluster, best - first)
    is_real = gain.sum() > CERTAIN * np.sqrt((gain**2).sum())
    return Learned(edges, trees[:n_best] if is_real else [])


def _grow(bins: Bins, slope: NDArray[np.float32], weight: NDArray[np.float32]) -> BoostedTree:
    n_clues, n_pairs = bins.shape
    leaf = np.zeros(n_pairs, dtype=np.uint8)
    chosen, borders = np.zeros(DEPTH, dtype=np.int64), np.zeros(DEPTH, dtype=np.int64)
    for depth in range(DEPTH):
        sums = np.zeros((n_clues, 1 << depth, N_BINS, 2))
        split_work(n_clues, lambda a, b, into=sums: add_sums(bins, leaf, slope, weight, a, b, into), 1)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        below = np.cumsum(sums, axis=2)
        above = below[:, :, -1:, :] - below
        gain = sum((part[..., 0] ** 2 / (part[..., 1] + PENALTY)).sum(axis=1) for part in (below, above))
        clue, border = np.unravel_index(int(np.argmax(gain)), (n_clues, N_BINS))
        chosen[depth], borders[depth] = clue, border
        descend(bins[clue], int(border), leaf)
    totals = np.stack([np.bincount(leaf, each, 1 << DEPTH) for each in (slope, weight)])
    return BoostedTree(chosen, borders, RATE * totals[0] / (totals[1] + PENALTY))


def _edges(clue: Floats) -> Floats:
    seen = clue[:: max(len(clue) // EDGES_FROM, 1)]
    return np.unique(np.quantile(seen, np.linspace(0, 1, N_BINS + 1)[1:-1]))


def _binned(edges: Sequence[Floats], clues: Sequence[Floats]) -> Bins:
    bins = np.empty((len(clues), len(clues[0])), dtype=np.uint8)

    def work(first: int, last: int) -> None:
        for i in range(first, last):
            find_bins(edges[i], clues[i], bins[i])

    split_work(len(clues), work, 1)
    return bins


@kernel
def find_bins(edges: Floats, clue: Floats, bins: Bins) -> None:
    """Write the bin of each number: how many edges are below it."""
    for i in range(len(clue)):
        bins[i] = np.searchsorted(edges, clue[i])


@kernel
def chances_of(starts: Ints, score: Floats) -> Floats:
    """Return the softmax of the scores of each group."""
    chances = np.empty_like(score)
    for group in range(len(starts) - 1):
        first, last = starts[group], starts[group + 1]
        highest = score[first:last].max()
        total = 0.0
        for i in range(first, last):
            chances[i] = np.exp(score[i] - highest)
            total += chances[i]
        for i in range(first, last):
            chances[i] /= total
    return chances


@kernel
def find_slopes(
    starts: Ints,
    people: Floats,
    score: Floats,
    is_held: Bools,
    slope: NDArray[np.float32],
    weight: NDArray[np.float32],
) -> Floats:
    """Write how much each pair's score should change, and return the log-likelihood of each group that is held."""
    fit = np.zeros(len(starts) - 1)
    chance = chances_of(starts, score)
    for group in range(len(starts) - 1):
        first, last = starts[group], starts[group + 1]
        size = people[first:last].sum()
        for i in range(first, last):
            if is_held[group]:
                slope[i], weight[i] = 0.0, 0.0
                if people[i] > 0:
                    fit[group] += people[i] * np.log(max(chance[i], 1e-300))
            else:
                slope[i] = people[i] - size * chance[i]
                weight[i] = size * chance[i] * (1.0 - chance[i])
    return fit


@kernel
def add_sums(
    bins: Bins,
    leaf: Bins,
    slope: NDArray[np.float32],
    weight: NDArray[np.float32],
    first: int,
    last: int,
    sums: Floats,
) -> None:
    """Add up slopes and weights of the pairs in each node and bin, for some clues."""
    for clue in range(first, last):
        for i in range(len(leaf)):
            sums[clue, leaf[i], bins[clue, i], 0] += slope[i]
            sums[clue, leaf[i], bins[clue, i], 1] += weight[i]


@kernel
def descend(bins: Bins, border: int, leaf: Bins) -> None:
    """Go one level down: right where the clue is above the border."""
    for i in range(len(leaf)):
        leaf[i] = 2 * leaf[i] + (bins[i] > border)


@kernel
def add_leaves(bins: Bins, clue: Ints, border: Ints, leaf: Floats, score: Floats) -> None:
    """Add a tree's answer to the score of each pair."""
    for i in range(len(score)):
        place = 0
        for depth in range(len(clue)):
            place = 2 * place + (bins[clue[depth], i] > border[depth])
        score[i] += leaf[place]
