"""Hidden groups, against sums over all values written out, and against tables whose groups are known."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from betalike.queries.latent_groups import Atoms, GroupShares, PublishedPairs, chances_within, learn_again, learn_groups
from betalike.runtime.arrays import Floats
from betalike.runtime.randomness import SeededRandomness


def pairs(seed: int, n_classes: int = 12) -> PublishedPairs:
    """Random classes with labels over a column of 5 atoms and one of 3, and perturbed sensitive values."""
    rng = np.random.default_rng(seed)
    first = np.array([0, 1, 2, 3, 4, 0, 2, 0])
    last = np.array([0, 1, 2, 3, 4, 1, 4, 4])
    columns = (
        Atoms(first, last, np.full(5, 0.2)),
        Atoms(np.array([0, 1, 2, 0]), np.array([0, 1, 2, 2]), np.full(3, 1 / 3)),
    )
    ids = np.column_stack([rng.integers(0, 8, n_classes), rng.integers(0, 4, n_classes)])
    ec, value = (a.ravel() for a in np.meshgrid(np.arange(n_classes), np.arange(2), indexing="ij"))
    chances = np.array([[0.8, 0.2], [0.3, 0.7], [0.5, 0.5]])
    return PublishedPairs(columns, ids, ec, value, rng.integers(1, 30, len(ec)).astype(float), chances)


def groups(seed: int, n_groups: int = 3) -> GroupShares:
    rng = np.random.default_rng(seed)
    return GroupShares(
        *(rng.dirichlet(np.ones(size), rows) for size, rows in ((n_groups, None),)),
        (
            rng.dirichlet(np.ones(5), n_groups),
            rng.dirichlet(np.ones(3), n_groups),
        ),
        rng.dirichlet(np.ones(3), n_groups),
    )


def joint(made: GroupShares, case: PublishedPairs, pair: int) -> dict[tuple[int, int, int, int], float]:
    """The chance of every group and every value that a pair may stand for, written out."""
    labels = case.ids[case.ec[pair]]
    sets = [range(atoms.first[i], atoms.last[i] + 1) for atoms, i in zip(case.columns, labels, strict=True)]
    return {
        (z, x, y, s): made.share[z]
        * made.tables[0][z, x]
        * made.tables[1][z, y]
        * made.values[z, s]
        * case.chances[s, case.value[pair]]
        for z, x, y, s in itertools.product(range(len(made.share)), *sets, range(3))
    }


@pytest.mark.parametrize("seed", range(5))
def test_rows_belong_to_groups_by_the_sum_over_all_values(seed: int) -> None:
    case, made = pairs(seed), groups(seed)
    found = case.belong(made)
    for pair in range(len(case.ec)):
        chances = joint(made, case, pair)
        of_group = np.array([sum(p for (z, *_), p in chances.items() if z == group) for group in range(3)])
        assert found[pair] == pytest.approx(of_group / of_group.sum(), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_round_is_one_of_expectation_maximization_written_out(seed: int) -> None:
    case, made = pairs(seed), groups(seed)
    share, tables, values = np.zeros(3), [np.zeros((3, 5)), np.zeros((3, 3))], np.zeros((3, 3))
    for pair, n in enumerate(case.count):
        chances = joint(made, case, pair)
        total = sum(chances.values())
        for (z, x, y, s), p in chances.items():
            for table, place in ((share, (z,)), (tables[0], (z, x)), (tables[1], (z, y)), (values, (z, s))):
                table[place] += n * p / total

    def normed(rows: Floats) -> Floats:
        return np.asarray(rows / rows.sum(axis=-1, keepdims=True))

    found = case.learn(made, case.count, 1, prior_rows=0.0)
    assert found.share == pytest.approx(normed(share), rel=1e-6)
    assert found.values == pytest.approx(normed(values), rel=1e-6)
    for mine, theirs, atoms in zip(found.tables, tables, case.columns, strict=True):
        table = normed(theirs)
        assert mine == pytest.approx(normed(table * atoms.base / (normed(share) @ table)), rel=1e-6)


def test_groups_together_keep_the_density_of_each_column() -> None:
    case = pairs(3, n_classes=300)
    found = case.learn(groups(3), case.count, 30)
    for table, atoms in zip(found.tables, case.columns, strict=True):
        assert found.share @ table == pytest.approx(atoms.base, abs=0.02)


def test_groups_that_exist_are_found_and_learned_again_a_little_different() -> None:
    """Two kinds of people, told apart by both columns: labels that hide one column follow the other."""
    rng = np.random.default_rng(1)
    exact, hidden = np.arange(4), 4
    base = np.array([0.25, 0.25, 0.25, 0.25, 1e-9])
    columns = tuple(Atoms(np.append(exact, 0), np.append(exact, 3), base) for _ in range(2))
    kind = rng.integers(0, 2, 400)
    ids = np.column_stack([2 * kind + rng.integers(0, 2, 400), 2 * kind + rng.integers(0, 2, 400)])
    ids[::5, 1] = hidden
    case = PublishedPairs(columns, ids, np.arange(400), kind, np.full(400, 3.0), np.eye(2))
    some, none = learn_groups(case, SeededRandomness(1))
    assert some is case
    assert none is None  # groups are begun again for each completed table
    learned = [learn_again(some, none, SeededRandomness(seed)) for seed in (1, 2)]
    for made in learned:
        chances = case.belong(made) @ made.tables[1]
        of_kind = chances[:, 2:4].sum(axis=1) / chances[:, :4].sum(axis=1)
        assert np.abs(of_kind[::5] - kind[::5]).max() < 0.1
    assert np.abs(learned[0].share - learned[1].share).max() > 0


def test_groups_of_noisy_values_are_learned_once_and_then_again_a_little_different() -> None:
    case = pairs(2, n_classes=300)
    chances = np.full((2, 2), 0.3) + 0.4 * np.eye(2)
    noisy = replace(case, chances=chances, prior=np.array([0.3, 0.7]))
    some, made = learn_groups(noisy, SeededRandomness(1))
    assert made is not None
    assert made.share @ made.values == pytest.approx(noisy.prior, abs=0.05)  # which is certified
    again = learn_again(some, made, SeededRandomness(2))
    assert 0 < np.abs(again.share - made.share).max() < 0.1


def test_a_sample_of_classes_keeps_their_pairs_together() -> None:
    case = pairs(1, n_classes=2000)
    some = case.sampled(1000, SeededRandomness(1))
    assert 700 < len(some.ec) < 1300
    assert np.array_equal(np.bincount(some.ec), np.full(len(some.ids), 2))
    assert case.sampled(10**6, SeededRandomness(1)) is case


def test_groups_say_whose_value_is_which_and_not_which_values_a_label_has() -> None:
    rng = np.random.default_rng(1)
    base, weight = rng.dirichlet(np.ones(6), 20), rng.dirichlet(np.ones(4), 20)
    table = rng.dirichlet(np.ones(6), 4)
    found = chances_within(base, table, weight)
    assert found.sum(axis=2) == pytest.approx(np.ones((20, 4)))
    assert np.einsum("lz,lza->la", weight, found) == pytest.approx(base, abs=0.02)
    one = chances_within(base, table[:1], np.ones((20, 1)))
    assert one[:, 0, :] == pytest.approx(base)
    likelier = table[0] / (weight @ table)[0] > 1.5
    assert (found[0, 0, likelier] > base[0, likelier]).all()
