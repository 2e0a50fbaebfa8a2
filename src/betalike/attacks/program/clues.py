"""Clues about whether a group of people has a value: what class shares and a population say, and the program's choices.

Each clue is one number per pair of a group and a possible value. Most say nothing about which value it is, so that
what is learned about frequent values serves rare ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from betalike.attacks.program.crowd import Crowd
from betalike.attacks.program.scene import TINY, Scene
from betalike.runtime.arrays import Floats, Ints
from betalike.schemes.retrieval import hilbert_keys

NEIGHBOURS = 4  # classes on each side, along the curve
MOST_AXES = 6  # columns in which a member's place is a clue of its own
AT_CAP = 0.9
CORE = 0.25  # share of a class's members, nearest to its middle, who show where it was formed
BISECTIONS = 24


def plain_clues(scene: Scene) -> list[Floats]:
    """Return the clues of guess (b): class shares, the population model, and the size of the class."""
    return [_as_clue(scene, rows) for rows in _plain(scene)]


def program_clues(scene: Scene) -> list[Floats]:
    """Return the further clues of guess (c), which the program's choices may explain."""
    found = [*_around(scene)]
    if scene.ec is not None:
        found += [*_place(scene), *_same_point(scene), *_reach(scene)]
    return [_as_clue(scene, rows) for rows in found]


def _as_clue(scene: Scene, rows: Floats) -> Floats:
    """Return a number per pair, from rows per group with a column per value, or one column for all."""
    return np.broadcast_to(rows, scene.possible.shape)[scene.possible].astype(np.float32)


def _plain(scene: Scene) -> Iterator[Floats]:
    crowd = scene.crowd
    prior = np.maximum(crowd.counts.sum(axis=0) / len(crowd.ec), TINY)
    sizes = crowd.counts.sum(axis=1, keepdims=True)
    yield np.log(np.maximum(scene.by_population, TINY))
    yield np.log(np.maximum(scene.by_shares, TINY))
    yield np.log(np.maximum(scene.population, TINY) / prior)
    yield np.log(prior)[None, :]
    yield np.log(scene.average(sizes))
    yield scene.average(_surplus(crowd.counts, scene.expected))


def _surplus(counts: Floats, expected: Floats) -> Floats:
    """Return the logarithm of how many more people there are than expected."""
    return np.asarray(np.log((counts + 0.5) / (expected + 0.5)))


def _around(scene: Scene) -> Iterator[Floats]:
    """Yield label widths, overlaps, how near values are to their caps here and nearby, and how scarce they are."""
    crowd = scene.crowd
    spans = np.maximum(crowd.space.points.max(axis=0) - crowd.space.points.min(axis=0), 1)
    tight = crowd.shares / np.maximum(crowd.caps, TINY)
    surplus = _surplus(crowd.counts, scene.expected)
    near = _neighbours(_middles(crowd))
    yield scene.average(((crowd.high - crowd.low) / spans).sum(axis=1, keepdims=True))
    yield np.log(scene.overlap)[:, None]
    yield scene.average(tight)
    yield scene.average(np.where(tight > AT_CAP, crowd.shares, 0.0).sum(axis=1, keepdims=True))
    for rows in (tight, surplus):
        yield scene.average(rows[near].mean(axis=1))
    yield scene.average(tight[near].max(axis=1))
    yield scene.average(_surplus(_by_kind(crowd.counts, crowd.kind), _by_kind(scene.expected, crowd.kind)))
    yield np.arange(crowd.space.n_values, dtype=np.float64)[None, :]
    middle = scene.average(_middles(crowd))
    yield np.abs(crowd.space.positions[scene.point] - middle).sum(axis=1, keepdims=True)


def _sum_kinds(rows: Floats, kind: Ints) -> Floats:
    """Return the sum over the values of each kind."""
    sums = np.zeros((len(rows), int(kind.max()) + 1))
    np.add.at(sums.T, kind, rows.T)
    return sums


def _by_kind(rows: Floats, kind: Ints) -> Floats:
    """Return for each value the sum over the values of its kind."""
    return _sum_kinds(rows, kind)[:, kind]


def _middles(crowd: Crowd) -> Floats:
    """Return the average position of the members of each class."""
    positions = crowd.space.positions[crowd.point]
    sums = [np.bincount(crowd.ec, column, len(crowd.low)) for column in positions.T]
    return np.column_stack(sums) / np.maximum(np.bincount(crowd.ec, minlength=len(crowd.low)), 1)[:, None]


def _neighbours(middles: Floats) -> Ints:
    """Return for each class those before and after it along the curve; few classes are their own neighbours."""
    order = np.argsort(hilbert_keys(middles), kind="stable")
    steps = np.array([step for step in range(-NEIGHBOURS, NEIGHBOURS + 1) if step])
    place = np.clip(np.arange(len(order))[:, None] + steps, 0, len(order) - 1)
    near: Ints = np.empty(place.shape, dtype=np.int64)
    near[order] = order[place]
    return near


def _place(scene: Scene) -> Iterator[Floats]:
    """Yield the member's place in the class: how far out, on the curve, in space and on each column."""
    assert scene.ec is not None
    space = scene.crowd.space
    along = space.along[scene.point]
    middle = _middle_of(scene, along)
    yield _rank(scene, np.abs(along - middle[scene.ec]))[:, None]
    away = space.positions[scene.point] - _middles(scene.crowd)[scene.ec]
    yield _rank(scene, np.sqrt((away**2).sum(axis=1)))[:, None]
    yield _rank(scene, along)[:, None]
    for axis in range(min(space.points.shape[1], MOST_AXES)):
        yield _rank(scene, space.points[scene.point, axis].astype(np.float64))[:, None]


def _rank(scene: Scene, number: Floats) -> Floats:
    """Return the share of a class's members with a lower number, or the same (which count half)."""
    assert scene.ec is not None
    _, tie = np.unique(number, return_inverse=True)
    key = scene.ec * (int(tie.max()) + 1) + tie
    unique, place = np.unique(key, return_inverse=True)
    sizes = np.bincount(place, scene.sizes)
    ec = unique // (int(tie.max()) + 1)
    total = np.bincount(ec, sizes, len(scene.crowd.low))
    before = np.cumsum(sizes) - sizes
    first = np.cumsum(total) - total
    return np.asarray(((before - first[ec] + sizes / 2) / total[ec])[place])


def _middle_of(scene: Scene, number: Floats) -> Floats:
    """Return the median of each class's members."""
    assert scene.ec is not None
    off = np.abs(_rank(scene, number) - 0.5)
    order = np.lexsort((off, scene.ec))
    is_first = np.append(True, np.diff(scene.ec[order]) > 0)
    middle = np.zeros(len(scene.crowd.low))
    middle[scene.ec[order][is_first]] = number[order][is_first]
    return middle


def _same_point(scene: Scene) -> Iterator[Floats]:
    """Yield the share of the people at the same point who are in this class, and what the others' classes hold."""
    assert scene.ec is not None
    crowd = scene.crowd
    n_classes = len(crowd.low)
    is_seen = np.zeros(len(crowd.space.points), dtype=bool)
    is_seen[scene.point] = True
    some = is_seen[crowd.point]
    pair, people = np.unique(crowd.point[some] * n_classes + crowd.ec[some], return_counts=True)
    point, ec = pair // n_classes, pair % n_classes
    starts = np.flatnonzero(np.append(True, np.diff(point) > 0))
    here = np.searchsorted(pair, scene.point * n_classes + scene.ec)
    at = np.searchsorted(point[starts], scene.point)
    own, everybody = people[here][:, None], np.add.reduceat(people, starts)[at][:, None]
    yield own / everybody
    for rows in (crowd.shares / np.maximum(crowd.caps, TINY), _surplus(crowd.counts, scene.expected)):
        total = np.add.reduceat(rows[ec] * people[:, None], starts)[at] - own * rows[scene.ec]
        yield np.where(everybody > own, total / np.maximum(everybody - own, 1), -9.0)


def _reach(scene: Scene) -> Iterator[Floats]:
    """Yield how scarce each kind of value is where a class was formed, and how far the class had to reach for it."""
    assert scene.ec is not None
    crowd, n_classes = scene.crowd, len(scene.crowd.low)
    along = crowd.space.along[scene.point]
    middle = _middle_of(scene, along)
    kinds = _sum_kinds(scene.population, crowd.kind)
    weight = scene.sizes * (_rank(scene, np.abs(along - middle[scene.ec])) <= CORE)
    core = np.zeros((n_classes, kinds.shape[1]))
    np.add.at(core, scene.ec, kinds * weight[:, None])
    core /= np.maximum(np.bincount(scene.ec, weight, n_classes), TINY)[:, None]
    wanted = _sum_kinds(crowd.counts, crowd.kind)
    share = wanted / wanted.sum(axis=1, keepdims=True)
    yield np.log((share + 1e-3) / (core + 1e-3))[:, crowd.kind][scene.ec]
    order = np.argsort(along, kind="stable")
    people = scene.sizes[order]
    rank = np.cumsum(people) - people / 2
    centre = np.interp(middle, along[order], rank)
    expected = np.cumsum(kinds[order] * people[:, None], axis=0)
    widths = [_half_width(rank, of, centre, want) for of, want in zip(expected.T, wanted.T, strict=True)]
    distance = np.abs(np.interp(along, along[order], rank) - centre[scene.ec])[:, None]
    yield np.log((distance + 1) / (np.column_stack(widths)[:, crowd.kind][scene.ec] + 1))


def _half_width(rank: Floats, expected: Floats, centre: Floats, wanted: Floats) -> Floats:
    """Return how far on both sides of each centre one must go to expect the wanted number of people."""
    low, high = np.zeros_like(centre), np.full_like(centre, rank[-1])
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        found = np.interp(centre + middle, rank, expected) - np.interp(centre - middle, rank, expected)
        low, high = np.where(found < wanted, middle, low), np.where(found < wanted, high, middle)
    return high
