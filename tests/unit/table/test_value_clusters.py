"""Grouping of values that behave alike: planted groups are found, and the order of joining follows Ward's rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, linkage

from betalike.errors import HierarchyError
from betalike.table.value_clusters import SHRINKAGE, cluster
from examples import examples


def test_values_that_were_drawn_alike_share_a_group() -> None:
    rng = np.random.default_rng(5)
    kinds = np.arange(27) % 3
    shares = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    profiles = np.array([rng.multinomial(400, shares[kind]) for kind in kinds])
    tree = cluster([f"v{i:02}" for i in range(27)], profiles)
    above = {path[0]: path[-2] for path in tree.paths}
    for i in range(27):
        for j in range(27):
            assert (above[f"v{i:02}"] == above[f"v{j:02}"]) == (kinds[i] == kinds[j])


@examples(30)
@given(st.integers(4, 25), st.integers(0, 2**32 - 1))
def test_equally_frequent_values_are_joined_as_scipy_joins_them(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    profiles = np.array([rng.multinomial(1000, rng.dirichlet(np.ones(6))) for _ in range(n)])
    smoothed = profiles + SHRINKAGE * profiles.sum(axis=0) / profiles.sum()
    points = np.sqrt(smoothed / smoothed.sum(axis=1, keepdims=True))
    names = [f"{i:02}" for i in range(n)]
    tree = cluster(names, profiles)
    ancestors = {path[0]: path[1:-1] for path in tree.paths}
    n_groups = n
    for level in range(len(ancestors[names[0]])):
        n_groups = -(-n_groups // 3)
        expected = cut_tree(linkage(points, "ward"), n_groups)[:, 0]
        for i in range(n):
            for j in range(n):
                together = ancestors[names[i]][level] == ancestors[names[j]][level]
                assert together == (expected[i] == expected[j])


def test_labels_name_the_most_frequent_members() -> None:
    profiles = np.array([[1, 0], [50, 0], [40, 0], [30, 0], [0, 90], [0, 80], [0, 70], [0, 60]])
    labels = {path[-2] for path in cluster(list("abcdefgh"), profiles).paths}
    assert "e, f, g and 1 more" in labels


def test_labels_count_the_values_that_few_rows_have() -> None:
    rng = np.random.default_rng(3)
    rows = np.array([2, 1] * 8 + [4, 5, 6, 5, 4, 6, 5, 4])
    values = [f"value {i}" for i in range(len(rows))]
    profiles = np.array([rng.multinomial(each, [0.5, 0.5]) for each in rows])
    tree = cluster(values, np.hstack([profiles] * 5), rows)  # compared by five columns
    rare = {value for value, n in zip(values, rows, strict=True) if n < 3}
    named = {part for label in tree.labels[tree.n_leaves :] for part in label.replace(" and", ",").split(", ")}
    assert not named & rare
    assert named & set(values) - rare
    assert any(label.endswith("rare values") for label in tree.labels)
    assert sum(tree.leaves.count(value) for value in values) == len(values)


def test_no_label_of_a_group_is_a_value() -> None:
    values = ["a", "b", "a, b", "a, b and 1 more", "2 rare values", *"cdefghi"]
    tree = cluster(values, np.array([[9, 0]] * 2 + [[0, 9]] * 10))
    assert len(set(tree.labels)) == len(tree.labels)
    assert set(tree.leaves) == set(values)


def test_a_frequent_value_is_in_no_group() -> None:
    rng = np.random.default_rng(6)
    profiles = np.array([[900, 900], *rng.integers(1, 20, (11, 2)).tolist()])
    paths = {path[0]: path for path in cluster(list("abcdefghijkl"), profiles).paths}
    assert set(paths["a"]) == {"a", "*"}
    assert len({path[-2] for path in paths.values()}) == 1 + 2
    assert len({path[1] for path in paths.values()}) == 1 + 4


def test_one_value_and_too_many_values() -> None:
    assert cluster(["only"], np.array([[3]])).leaves == ("only",)
    with pytest.raises(HierarchyError, match="2,001"):
        cluster([str(i) for i in range(2001)], np.ones((2001, 1), dtype=np.int64))
