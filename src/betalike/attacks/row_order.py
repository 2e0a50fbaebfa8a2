"""Row order: which rows a scheme sends where reveals something, because it sends rows of one value in a known order.

`burel+split` halves a class: for each bucket of values, the first rows along the curve go left. An adversary who knows
everybody's quasi-identifiers and who is in which part can rule out all assignments that break this order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from betalike.attacks.order_sampler import find_start, walk
from betalike.promises import Model, plain_likeness_of
from betalike.promises.rule import is_allowed
from betalike.runtime.arrays import Floats, Ids, Ints, Words
from betalike.runtime.progress import SILENT
from betalike.runtime.randomness import Randomness
from betalike.schemes.burel.buckets import fewest_buckets
from betalike.schemes.burel.ectree import class_draws
from betalike.schemes.retrieval import Retrieval, fill_classes, hilbert_keys, number_buckets, ranks_along
from betalike.table.cells import Cells

HOPELESS = 3  # failed searches before giving up
STARTS, BURNED, ROUNDS = 10, 30, 30  # walks; rounds of each before counting; counted rounds


@dataclass(frozen=True)
class Part:
    """Members of a class: their positions on a line towards the border, and their values."""

    position: Ints
    value: Ids


@dataclass(frozen=True)
class Order:
    """Members that stayed away from a border, and those beside it; for each kind of value, the former are farther away.

    `is_far_class` and `is_near_class` say which of the two parts are final classes of the release.
    """

    far: Part
    near: Part
    is_far_class: bool
    is_near_class: bool

    @property
    def values(self) -> Ids:
        """The values of all members."""
        return np.concatenate([self.far.value, self.near.value])

    def is_kept(self, kind_of_value: Ints) -> bool:
        """Whether no member that stayed away is nearer to the border than one beside it of the same kind."""
        nearest = np.full(len(kind_of_value), np.iinfo(np.int64).max)
        np.minimum.at(nearest, kind_of_value[self.near.value], self.near.position)
        return bool((self.far.position <= nearest[kind_of_value[self.far.value]]).all())


def orders_of_split(cells: Cells, model: Model, randomness: Randomness, most: int) -> tuple[list[Order], Ints]:
    """Return the halvings that `burel+split` made in some classes, and the bucket of each value."""
    likeness = plain_likeness_of(model, "burel+split")
    caps, rule = likeness.caps(cells.value_counts), likeness.rule(cells.value_counts)
    buckets = fewest_buckets(cells.value_counts, caps)
    bucket_of_value = number_buckets(buckets, cells.sensitive.size)
    rarest = np.array([bucket[0] for bucket in buckets])
    sizes = np.array([cells.value_counts[bucket].sum() for bucket in buckets])
    draws = class_draws(sizes, caps.numerator[rarest], caps.denominator[rarest], model.k)
    members, starts = fill_classes(cells, buckets, draws, Retrieval.HILBERT, randomness, SILENT)
    rank = ranks_along(hilbert_keys(cells.positions))
    orders: list[Order] = []

    def halve(part: Part) -> tuple[Part, Part] | None:
        bucket = bucket_of_value[part.value]
        order = np.lexsort((part.position, bucket))
        size = np.bincount(bucket, minlength=len(buckets))
        place = np.arange(len(order)) - (np.cumsum(size) - size)[bucket[order]]
        is_left = place < (size // 2)[bucket[order]]
        halves = [Part(part.position[order][some], part.value[order][some]) for some in (is_left, ~is_left)]
        counts = [np.bincount(half.value, minlength=len(bucket_of_value)).astype(np.int64) for half in halves]
        if all(is_allowed(rule, each, int(each.sum())) for each in counts):
            return halves[0], halves[1]
        return None

    for ec in range(min(len(starts) - 1, most)):
        cell = members[starts[ec] : starts[ec + 1]]
        stack = [Part(rank[cells.point[cell]], cells.value[cell].astype(np.int32))]
        while stack:
            halves = halve(stack.pop())
            if halves is not None:
                stack += halves
                are_classes = [halve(half) is None for half in halves]
                orders.append(Order(*halves, *are_classes))
    return orders, bucket_of_value


@dataclass(frozen=True)
class Chances:
    """How likely each value is at each place of a part, from two halves of the walks."""

    place: Ints
    halves: tuple[Floats, Floats]

    @property
    def share(self) -> Floats:
        """The average of both halves."""
        return np.asarray((self.halves[0] + self.halves[1]) / 2)


def chances_of(order: Order, kind_of_value: Ints, words: Words) -> tuple[Chances, Chances] | None:
    """Return the chances in both parts among assignments that keep the order; None if hardly any are found.

    Walks start at assignments that were found without using the true one. So what a walk does not reach in time makes
    the chances less certain, and never closer to the truth.
    """
    lines = order.far.position, order.near.position
    places = [np.unique(line, return_inverse=True)[1] for line in lines]
    m = len(kind_of_value)
    tallies = [np.zeros((2, int(place.max()) + 1, m)) for place in places]
    n_found = n_missed = 0
    for state in np.split(words.copy(), len(words)):  # a walk for each random word
        values = order.far.value.astype(np.int32), order.near.value.astype(np.int32)
        if find_start(*lines, *values, kind_of_value, state) == 0:
            both = tallies[0][n_found % 2], tallies[1][n_found % 2]
            walk(*lines, *values, kind_of_value, (places[0], places[1]), both, BURNED, ROUNDS, state)
            n_found += 1
        else:
            n_missed += 1
        if n_missed > max(n_found, HOPELESS - 1):
            return None
    far, near = (
        Chances(place, (_shares(tally[0]), _shares(tally[1]))) for place, tally in zip(places, tallies, strict=True)
    )
    return far, near


def _shares(tally: Floats) -> Floats:
    return np.asarray(tally / np.maximum(tally.sum(axis=1, keepdims=True), 1.0))
