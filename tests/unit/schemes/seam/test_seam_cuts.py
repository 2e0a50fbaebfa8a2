"""Bins and cuts, against a search over every cut and all sizes in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from betalike.promises import Likeness
from betalike.schemes.packing import pack_axes
from betalike.schemes.seam.cores import core_sizes, fill_cores, fit_sizes
from betalike.schemes.seam.cuts import MOST_BINS, WIDE, Cuts, bin_codes, count_bins, find_cuts, is_left, left_of
from betalike.schemes.seam.group import Group, gather
from betalike.schemes.seam.problem import SplitProblem, pose
from betalike.schemes.seam.splitting import best_cut, box_of
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.cells import Cells
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind
from seam_tables import best_gain, group_of, is_allowed, problem_of, random_cells, scratch

SEEDS = st.integers(0, 10**6)
AXES = st.integers(0, 2)
BETAS = st.sampled_from([0.5, 1, 2, 4])


def many_codes(n_codes: int, has_missing: bool) -> SplitProblem:
    axis = OrderedAxis("x", Kind.REAL, np.arange(n_codes) * 1.0, (0.0, n_codes - 1.0), has_missing=has_missing)
    return problem_of([1, 1], 1)._replace(axes=pack_axes([axis], [1.0]))


def binned(problem: SplitProblem, axis: int, codes: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, int]:
    """The bin of each code and the number of bins, none of which is empty."""
    codes, counts = np.ascontiguousarray(codes, dtype=np.int64), np.ascontiguousarray(counts)
    bins = np.full(len(codes), -1, dtype=np.int32)
    n_bins = bin_codes(problem.axes, axis, codes, counts, codes.min(), codes.max(), bins)
    assert sorted(set(bins.tolist())) == list(range(n_bins))
    return bins, n_bins


def some_cells(rng: np.random.Generator, cells: Cells, axis: int) -> np.ndarray | None:
    """Some of the cells, if an attribute has two values among them."""
    chosen = np.flatnonzero(rng.random(len(cells.count)) < rng.choice([0.1, 0.5, 1.0])).astype(np.int32)
    codes = cells.points[cells.point[chosen], axis]
    return chosen if len(chosen) and codes.min() < codes.max() else None


# --- bins ---


@given(seed=SEEDS, n_codes=st.integers(300, 3000), n=st.integers(2, 800), has_missing=st.booleans())
def test_many_codes_are_parted_into_some_ranges(seed: int, n_codes: int, n: int, has_missing: bool) -> None:
    rng = np.random.default_rng(seed)
    problem = many_codes(n_codes, has_missing)
    codes = rng.integers(0, n_codes + has_missing, n)
    codes[:2] = 0, n_codes - 1 + has_missing
    counts = rng.integers(1, 50, n)
    bins, n_bins = binned(problem, 0, codes, counts)
    order = np.argsort(codes, kind="stable")
    in_order = bins[order]
    assert in_order[0] == 0
    assert in_order[-1] == n_bins - 1
    assert set(np.diff(in_order).tolist()) <= {0, 1}
    assert len({(code, b) for code, b in zip(codes.tolist(), bins.tolist(), strict=True)}) == len(set(codes.tolist()))
    if has_missing:
        assert set(codes[bins == n_bins - 1].tolist()) == {n_codes}
    if n > WIDE:
        assert n_bins <= MOST_BINS + 1  # one for missing values
    else:
        assert n_bins == len(set(codes.tolist()))


def test_ranges_of_many_codes_are_about_equally_filled() -> None:
    codes = np.random.default_rng(1).permutation(20_000)
    bins, n_bins = binned(many_codes(20_000, False), 0, codes, np.ones_like(codes))
    assert n_bins == MOST_BINS
    sizes = np.bincount(bins)
    assert sizes.max() < 2 * len(codes) / MOST_BINS
    assert sizes.min() > len(codes) / MOST_BINS / 2


def test_of_very_many_children_the_largest_can_be_cut_off_and_the_others_are_one() -> None:
    n_leaves = 1000
    axis = HierarchyAxis("word", Hierarchy.flat(map(str, range(n_leaves))))
    problem = problem_of([1, 1], 1)._replace(axes=pack_axes([axis], [1.0]))
    codes = np.arange(n_leaves)
    counts = np.random.default_rng(1).permutation(n_leaves) + 1
    bins, n_bins = binned(problem, 0, codes, counts)
    alone = {int(codes[bins == b][0]) for b in range(n_bins) if (bins == b).sum() == 1}
    assert n_bins == MOST_BINS
    assert alone == set(np.argsort(-counts)[: len(alone)].tolist())
    assert len(alone) == n_bins - 1
    bins, n_bins = binned(problem, 0, codes[::20], counts[::20])  # few of very many children occur
    assert n_bins == 50
    assert bins.tolist() == list(range(50))


@given(seed=SEEDS, n=st.integers(2, 50))
def test_few_codes_are_bins_of_their_own(seed: int, n: int) -> None:
    codes = np.random.default_rng(seed).integers(100, 150, n)
    if codes.min() < codes.max():
        bins, n_bins = binned(many_codes(200, True), 0, codes, np.ones_like(codes))
        places = sorted(set(codes.tolist()))
        assert bins.tolist() == [places.index(code) for code in codes]
        assert n_bins == len(places)


@given(seed=SEEDS, axis=st.sampled_from([1, 2]))
def test_bins_of_a_hierarchy_are_children_of_the_lowest_common_ancestor(seed: int, axis: int) -> None:
    cells = random_cells(seed)
    problem, chosen = pose(cells, Likeness(1)), some_cells(np.random.default_rng(seed), cells, axis)
    if chosen is None:
        return
    codes = cells.points[cells.point[chosen], axis].astype(np.int64)
    bins, n_bins = binned(problem, axis, codes, cells.count[chosen])
    assert n_bins > 1
    hierarchy_axis = cells.axes[axis]
    whole = hierarchy_axis.losses(codes.min(keepdims=True), codes.max(keepdims=True))[0]
    assert (np.diff(bins[np.argsort(codes, kind="stable")]) >= 0).all()
    for i, code in enumerate(codes):
        losses = hierarchy_axis.losses(np.minimum(code, codes), np.maximum(code, codes))
        assert ((bins[i] == bins) == (losses < whole)).all()


@given(seed=SEEDS, axis=AXES)
def test_bins_are_counted(seed: int, axis: int) -> None:
    cells = random_cells(seed)
    problem = pose(cells, Likeness(1))
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(cells.count)).astype(np.int32)[: rng.integers(1, len(cells.count) + 1)]
    counts, codes = cells.count[chosen], cells.points[cells.point[chosen], axis].astype(np.int64)
    group, bins = gather(problem, chosen, counts, 1.0, 0.0, scratch(problem)), rng.integers(0, 5, len(chosen))
    table = np.zeros((5, len(group.total)))
    sizes, low, high = count_bins(group.value, group.tuples, codes, bins.astype(np.int32), table)
    for b in range(5):
        for number, value in zip(group.value, cells.value[chosen], strict=True):
            assert table[b, number] == counts[(bins == b) & (cells.value[chosen] == value)].sum()
        assert sizes[b] == table[b].sum() == counts[bins == b].sum()
        if sizes[b]:
            assert (low[b], high[b]) == (codes[bins == b].min(), codes[bins == b].max())


# --- every cut ---


class Found:
    """An allowed set, its group, its cuts as the kernel finds them, and its bins."""

    def __init__(self, seed: int, beta: float, ahead: bool, reserve: float = 0.0, most: int = 4) -> None:
        self.cells = random_cells(seed, n_cells=40, most=most)
        self.problem = pose(self.cells, Likeness(beta))
        self.ahead = ahead
        rng = np.random.default_rng(seed)
        self.chosen = np.flatnonzero(rng.random(len(self.cells.count)) < rng.choice([0.3, 0.7, 1.0])).astype(np.int32)
        if not len(self.chosen) or not is_allowed(self.problem, self.values_of(np.ones(len(self.chosen), dtype=bool))):
            self.chosen = np.arange(len(self.cells.count), dtype=np.int32)
        self.counts = self.cells.count[self.chosen]
        self.group: Group = gather(self.problem, self.chosen, self.counts, 1.0, reserve, scratch(self.problem))
        self.bins = np.full((3, len(self.chosen)), -1, dtype=np.int32)
        low, high = box_of(self.problem, self.chosen)
        self.cuts, self.n_cuts = find_cuts(self.problem, self.group, low, high, ahead, self.bins)

    def values_of(self, mask: np.ndarray) -> list[int]:
        """How many tuples of each value some of the fragments have."""
        some = self.chosen[mask]
        return (
            np.bincount(self.cells.value[some], self.cells.count[some], self.cells.sensitive.size).astype(int).tolist()
        )

    def codes(self, axis: int) -> np.ndarray:
        return self.cells.points[self.cells.point[self.chosen], axis].astype(np.int64)

    def sides(self, cut: int) -> np.ndarray:
        """Which fragments are left of a cut that the kernel found."""
        return np.array([is_left(self.cuts, cut, b) for b in self.bins[self.cuts.axis[cut]]])

    def every_cut(self, axis: int) -> list[np.ndarray]:
        """The fragments left of each cut: prefixes, and for a hierarchy also each child alone."""
        if self.problem.axes.weight[axis] == 0 or len(set(self.codes(axis).tolist())) == 1:
            return []
        bins = self.bins[axis]
        masks = [bins <= last for last in range(bins.max())]
        is_tree = isinstance(self.cells.axes[axis], HierarchyAxis)
        return masks + [bins == b for b in range(bins.max() + 1)] if is_tree else masks

    def gains(self, axis: int, mask: np.ndarray) -> tuple[float, float]:
        """What each tuple of the left and of the right core gains on the attribute.

        Who looks ahead counts a group of a hierarchy's children as if it lost in proportion to the children in it.
        """
        weight = self.cells.weights[axis] / sum(self.cells.weights)
        codes, bins = self.codes(axis), self.bins[axis]

        def loss(some: np.ndarray) -> float:
            return weight * float(self.cells.axes[axis].losses(some.min(keepdims=True), some.max(keepdims=True))[0])

        def gain(side: np.ndarray) -> float:
            n_children, n_all = len(set(bins[side].tolist())), len(set(bins.tolist()))
            expected = loss(codes[side])
            if self.ahead and isinstance(self.cells.axes[axis], HierarchyAxis) and n_children > 1:
                expected = min(expected, loss(codes) * (n_children - 1) / (n_all - 1))
            return loss(codes) - expected

        return gain(mask), gain(~mask)

    def greatest_gain(self) -> float:
        """What the best of all cuts gains with cores of the best sizes, in exact integers."""
        gains = [0.0]
        for axis in range(3):
            for mask in self.every_cut(axis):
                sides = self.values_of(mask), self.values_of(~mask)
                gains.append(best_gain(self.problem, *sides, self.gains(axis, mask)))
        return max(gains)


@given(seed=SEEDS, beta=BETAS, ahead=st.booleans())
def test_every_cut_is_found_with_what_its_sides_hold_and_gain(seed: int, beta: float, ahead: bool) -> None:
    found = Found(seed, beta, ahead)
    cuts, group = found.cuts, found.group
    left = np.zeros_like(group.total)
    seen: list[set[frozenset[int]]] = [set(), set(), set()]
    for cut in range(found.n_cuts):
        axis, mask = cuts.axis[cut], found.sides(cut)
        seen[axis].add(frozenset(np.flatnonzero(mask).tolist()))
        left_of(cuts, cut, left)
        assert left.tolist() == np.bincount(group.value[mask], found.counts[mask], len(left)).tolist()
        assert cuts.n_left[cut] == found.counts[mask].sum() == left.sum()
        gains = found.gains(axis, mask)
        assert cuts.gains[cut].tolist() == pytest.approx(gains, abs=1e-12)
        assert cuts.bound[cut] == pytest.approx(left.sum() * gains[0] + (group.size - left.sum()) * gains[1])
        assert min(gains) >= 0
    everything = frozenset(range(len(found.chosen)))
    for axis in range(3):
        wanted = {frozenset(np.flatnonzero(mask).tolist()) for mask in found.every_cut(axis)}
        assert seen[axis] <= wanted
        assert wanted <= seen[axis] | {everything - one for one in seen[axis]}  # of two children, either one alone


# --- the best cut ---


def chosen_cut(found: Found, least_gain: float = 0.0) -> tuple[int, float, np.ndarray]:
    """The best cut by the kernel, what its cores gain, and what they hold."""
    cores = np.zeros((2, len(found.group.total)))
    cut = best_cut(found.group, found.cuts, found.n_cuts, least_gain, cores)
    return cut, (float(cores.sum(axis=1) @ found.cuts.gains[cut]) if cut >= 0 else 0.0), cores


def cut_by_cut(found: Found) -> float:
    """The most that any cut gains with the sizes that are fitted to it, looking closely at every one."""
    group, best = found.group, 0.0
    left, cores = np.zeros_like(group.total), np.zeros((2, len(group.total)))
    for cut in range(found.n_cuts):
        left_of(found.cuts, cut, left)
        gains = (found.cuts.gains[cut, 0], found.cuts.gains[cut, 1])
        formula = core_sizes(group, left, group.total - left, found.cuts.n_left[cut])
        gain, size_left, size_right, has_reserve = fit_sizes(group, left, formula, gains, 0.0)
        cap = group.tight if has_reserve else group.cap
        if gain > best and fill_cores(group, left, (size_left, size_right), cap, cores):
            best = gain
    return best


@given(
    seed=SEEDS, beta=BETAS, ahead=st.booleans(), reserve=st.sampled_from([0.0, 0.1, 1.0]), share=st.floats(0.01, 1.01)
)
def test_the_best_cut_gains_more_than_is_asked_for(
    seed: int, beta: float, ahead: bool, reserve: float, share: float
) -> None:
    cut, gain, _ = chosen_cut(Found(seed, beta, ahead, reserve))
    assert (cut < 0) == (gain == 0)
    if cut >= 0:
        again, more, _ = chosen_cut(Found(seed, beta, ahead, reserve), share * gain)
        assert more > share * gain if again >= 0 else share >= 1
    assert chosen_cut(Found(seed, beta, ahead, reserve), np.inf)[0] == -1


@given(seed=SEEDS, beta=BETAS, ahead=st.booleans(), reserve=st.sampled_from([0.0, 0.1, 1.0]))
@example(seed=1628, beta=0.5, ahead=True, reserve=1.0)
@example(seed=1700, beta=0.5, ahead=True, reserve=1.0)
@example(seed=5860, beta=0.5, ahead=True, reserve=0.1)
def test_the_best_cut_gains_as_much_as_looking_closely_at_every_cut(
    seed: int, beta: float, ahead: bool, reserve: float
) -> None:
    found = Found(seed, beta, ahead, reserve)
    assert chosen_cut(found)[1] >= cut_by_cut(found) * (1 - 1e-12)


@given(seed=SEEDS, beta=BETAS, ahead=st.booleans(), reserve=st.sampled_from([0.0, 0.1, 1.0]))
def test_the_best_cut_is_made_of_allowed_parts_of_its_sides(
    seed: int, beta: float, ahead: bool, reserve: float
) -> None:
    found = Found(seed, beta, ahead, reserve)
    cut, gain, cores = chosen_cut(found)
    if cut < 0:
        return
    group, mask = found.group, found.sides(cut)
    left = np.bincount(group.value[mask], found.counts[mask], len(group.total))
    assert (cores[0] <= left).all()
    assert (cores[1] <= group.total - left).all()
    names = dict(zip(group.value.tolist(), found.cells.value[found.chosen].tolist(), strict=True))
    for part in (*cores, group.total - cores.sum(axis=0)):
        assert all(n >= 0 and n == int(n) for n in part)
        counts = [0] * found.cells.sensitive.size
        for number, n in enumerate(part):
            counts[names[number]] = int(n)
        assert is_allowed(found.problem, counts)
    assert gain <= found.greatest_gain() * (1 + 1e-9)


@pytest.mark.parametrize("ahead", [False, pytest.param(True, marks=pytest.mark.long)])
def test_nearly_every_best_cut_gains_what_the_best_of_all_cuts_and_sizes_gains(ahead: bool) -> None:
    shares = []
    for seed in range(200):
        found = Found(seed, beta=[0.5, 1, 2, 4][seed % 4], ahead=ahead)
        greatest = found.greatest_gain()
        if greatest > 0:
            shares.append(chosen_cut(found)[1] / greatest)
    assert len(shares) > 150
    assert np.mean(np.array(shares) > 1 - 1e-9) >= 0.95
    assert np.mean(shares) >= 0.99


def made_up_cuts(lefts: list[list[int]], group: Group, gains: list[tuple[float, float]]) -> Cuts:
    """Prefixes of an axis, given what is left of each."""
    n = len(lefts)
    up_to = np.array(lefts, dtype=np.float64)
    n_left = up_to.sum(axis=1)
    bound = np.array([m * a + (group.size - m) * b for m, (a, b) in zip(n_left, gains, strict=True)])
    place = np.arange(n, dtype=np.int32)
    return Cuts(bound, np.array(gains), place * 0, place, place, np.zeros(n, dtype=np.bool_), n_left, up_to)


def test_a_cut_whose_cores_cannot_be_filled_is_passed_over() -> None:
    problem = problem_of([1] * 7, 1)
    caps = np.array([3, 6, 6, 8, 3, 6, 4]), np.full(7, 10)
    problem = problem._replace(numerator=caps[0], denominator=caps[1])
    group = group_of(problem, [3, 9, 13, 4, 1, 2, 12])
    unfilled, fallback = [2, 9, 10, 4, 1, 2, 9], [0, 9, 10, 4, 1, 2, 4]
    cores = np.zeros((2, 7))
    left = np.array(unfilled, dtype=np.float64)
    gain, size_left, size_right, _ = fit_sizes(
        group, left, core_sizes(group, left, group.total - left, left.sum()), (1.0, 1.0), 0.0
    )
    assert gain == 41
    assert not fill_cores(group, left, (size_left, size_right), group.cap, cores)  # one of some 200,000
    alone = made_up_cuts([unfilled], group, [(1.0, 1.0)])
    assert best_cut(group, alone, 1, 0.0, cores) == -1
    both = made_up_cuts([fallback, unfilled], group, [(0.5, 0.5), (1.0, 1.0)])
    assert best_cut(group, both, 2, 0.0, cores) == 0
    assert (cores[0] <= fallback).all()
    for part in (*cores, group.total - cores.sum(axis=0)):
        assert is_allowed(problem, part.astype(int).tolist())
