"""Which tuples go to the seam: as many as are asked for, from one band, every tuple of a value with the same chance."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from betalike.promises import Likeness
from betalike.runtime.arrays import Ints
from betalike.schemes.seam.band import draw_share, send_to_seam
from betalike.schemes.seam.group import Group, gather
from betalike.schemes.seam.problem import SplitProblem, pose
from seam_tables import draws, random_cells, scratch, wide_cells


class Scene:
    """A random set, a cut of it along one axis, and how much each core is to keep of each value."""

    def __init__(self, seed: int, is_wide: bool) -> None:
        cells = wide_cells(seed, n_cells=100) if is_wide else random_cells(seed)
        rng = np.random.default_rng(seed)
        self.problem: SplitProblem = pose(cells, Likeness(1))
        self.axis = int(rng.integers(len(cells.axes)))
        chosen = rng.permutation(len(cells.count)).astype(np.int32)[: rng.integers(2, len(cells.count) + 1)]
        self.counts, self.codes = cells.count[chosen], cells.points[cells.point[chosen], self.axis].astype(np.int64)
        self.group: Group = gather(self.problem, chosen, self.counts, 1.0, 0.0, scratch(self.problem))
        is_right = self.codes > rng.choice(self.codes) if rng.random() < 0.5 else self.codes == rng.choice(self.codes)
        self.part = is_right.astype(np.int8)
        self.wanted = np.array(
            [rng.integers(0, np.bincount(*self.inside(side), len(self.group.total)) + 1) for side in (0, 1)]
        )

    def inside(self, side: int) -> tuple[Ints, Ints]:
        return self.group.value, self.counts * (self.part == side)

    def kept(self, seed: int) -> Ints:
        kept = np.zeros(len(self.counts), dtype=np.int64)
        ends = self.codes.min(), self.codes.max()
        cores = self.wanted.astype(np.float64)
        send_to_seam(self.problem, self.group, self.axis, *ends, self.part, cores, draws(seed), kept)
        return kept

    def edge(self, side: int) -> int | None:
        """The code of the farthest tuple that is sent if each value sends its nearest ones; None if none is."""
        farthest = []
        for value in range(len(self.group.total)):
            some = np.flatnonzero((self.part == side) & (self.group.value == value))
            tuples = sorted(np.repeat(self.codes[some], self.counts[some]).tolist(), reverse=side == 0)
            farthest += tuples[: len(tuples) - int(self.wanted[side, value])]
        return (min(farthest) if side == 0 else max(farthest)) if farthest else None


@given(seed=st.integers(0, 10**6), is_wide=st.booleans())
def test_cores_keep_what_is_wanted_and_only_the_band_sends(seed: int, is_wide: bool) -> None:
    scene = Scene(seed, is_wide)
    kept = scene.kept(seed)
    assert (kept >= 0).all()
    assert (kept <= scene.counts).all()
    for side in (0, 1):
        held = np.bincount(scene.group.value, kept * (scene.part == side), len(scene.group.total))
        assert held.tolist() == scene.wanted[side].tolist()
        sent = scene.codes[(scene.part == side) & (kept < scene.counts)]
        edge = scene.edge(side)
        assert len(sent) == 0 or (edge is not None and (sent >= edge if side == 0 else sent <= edge).all())


@pytest.mark.some(2)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_tuple_of_a_value_in_the_band_is_sent_equally_often(seed: int) -> None:
    scene, repeats = Scene(seed, False), 3000
    sent = sum(scene.counts - scene.kept(number) for number in range(repeats)) / repeats
    for side, value in itertools.product((0, 1), range(len(scene.group.total))):
        edge = scene.edge(side)
        some = (scene.part == side) & (scene.group.value == value)
        if edge is None or not some.any():
            continue
        band = some & (scene.codes >= edge if side == 0 else scene.codes <= edge)
        chance = (scene.counts[some].sum() - scene.wanted[side, value]) / max(scene.counts[band].sum(), 1)
        assert np.abs(sent[band] / scene.counts[band] - chance).max(initial=0) < 4.5 * 0.5 / np.sqrt(repeats)


@pytest.mark.some(2)
@pytest.mark.parametrize(("tuples", "total", "chosen"), [(3, 20, 7), (16, 17, 5), (40, 90, 30), (500, 10**6, 4000)])
def test_shares_have_the_hypergeometric_distribution(tuples: int, total: int, chosen: int) -> None:
    uniforms = (np.arange(20_000) + 0.5) / 20_000
    found = Counter(draw_share(uniform, tuples, total, chosen) for uniform in uniforms)
    law = stats.hypergeom(total, tuples, chosen)
    for number in range(max(chosen - (total - tuples), 0), min(tuples, chosen) + 1):
        assert found[number] / len(uniforms) == pytest.approx(law.pmf(number), abs=2e-4 if tuples > 16 else 2e-3)


@given(
    uniform=st.floats(0, 1, exclude_max=True),
    tuples=st.integers(0, 10**9),
    others=st.integers(0, 10**9),
    share=st.floats(0, 1),
)
def test_a_share_is_never_more_than_there_is(uniform: float, tuples: int, others: int, share: float) -> None:
    chosen = int(share * (tuples + others))
    found = draw_share(uniform, tuples, tuples + others, chosen)
    assert max(chosen - others, 0) <= found <= min(tuples, chosen)
