"""Hierarchies: the numbering of leaves, lowest common ancestors against brute force, and what is refused."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import HierarchyError
from betalike.table.hierarchy import Hierarchy

Rows = list[list[str]]
RowMaker = Callable[[random.Random, int], Rows]

DISEASES = [
    ["headache", "nervous", "*"],
    ["gastritis", "digestive", "*"],
    ["epilepsy", "nervous", "*"],
    ["ulcer", "digestive", "*"],
    ["angina", "circulatory", "*"],
]


def common_node(rows: Rows, leaves: set[str]) -> tuple[str, set[str]]:
    """The lowest common ancestor of some leaves by trying every level: its label, and all leaves under it."""
    members = [row for row in rows if row[0] in leaves]
    level = min(level for level in range(len(rows[0])) if len({tuple(row[level:]) for row in members}) == 1)
    under = {row[0] for row in rows if row[level:] == members[0][level:]}
    is_root = len(under) == len(rows) and len(leaves) > 1
    return "*" if is_root else members[0][level], under


@given(rng=st.randoms(use_true_random=False), n_leaves=st.integers(1, 12))
def test_least_and_greatest_leaf_give_the_ancestor_of_the_whole_set(
    random_rows: RowMaker, rng: random.Random, n_leaves: int
) -> None:
    rows = random_rows(rng, n_leaves)
    tree = Hierarchy.from_rows(rows)
    chosen = rng.sample(range(n_leaves), rng.randint(1, n_leaves))
    node = tree.lowest_common_ancestor(np.array([min(chosen)]), np.array([max(chosen)]))
    label, under = common_node(rows, {tree.leaves[leaf] for leaf in chosen})
    assert tree.labels[node[0]] == label
    assert tree.n_leaves_under(node)[0] == len(under)
    assert set(tree.leaves[tree.first[node[0]] : tree.last[node[0]] + 1]) == under


@given(rng=st.randoms(use_true_random=False), n_leaves=st.integers(1, 12))
def test_nodes_are_numbered_leaves_first_and_root_last(
    random_rows: RowMaker, rng: random.Random, n_leaves: int
) -> None:
    rows = random_rows(rng, n_leaves)
    tree = Hierarchy.from_rows(rows)
    assert sorted(tree.leaves) == sorted(row[0] for row in rows)
    assert (tree.first[tree.root], tree.last[tree.root]) == (0, n_leaves - 1)
    assert tree.height == len(rows[0]) - 1
    for node in range(tree.root):
        above = tree.parent[node]
        assert above > node
        assert tree.level[above] > tree.level[node]
        assert tree.first[above] <= tree.first[node] <= tree.last[node] <= tree.last[above]


@given(rng=st.randoms(use_true_random=False), n_leaves=st.integers(1, 12))
def test_restriction_is_the_tree_of_the_lines_that_are_left(
    random_rows: RowMaker, rng: random.Random, n_leaves: int
) -> None:
    tree = Hierarchy.from_rows(random_rows(rng, n_leaves))
    kept = rng.sample(tree.leaves, rng.randint(1, n_leaves))
    restricted = tree.restricted_to(kept)
    assert restricted.leaves == tuple(leaf for leaf in tree.leaves if leaf in kept)
    assert restricted.height == tree.height
    lines = [list(path) for path in tree.paths if path[0] in kept]
    for low, high in itertools.combinations_with_replacement(range(len(kept)), 2):
        node = restricted.lowest_common_ancestor(np.array([low]), np.array([high]))
        label, _ = common_node(lines, {restricted.leaves[low], restricted.leaves[high]})
        assert restricted.labels[node[0]] == label


def test_children_stand_in_the_order_of_their_first_line() -> None:
    tree = Hierarchy.from_rows(DISEASES)
    assert tree.leaves == ("headache", "epilepsy", "gastritis", "ulcer", "angina")
    assert tree.labels[tree.n_leaves :] == ("nervous", "digestive", "*")


def test_a_node_that_covers_what_its_child_covers_is_left_out() -> None:
    tree = Hierarchy.from_rows(DISEASES)
    assert "circulatory" not in tree.labels
    assert tree.parent[tree.leaves.index("angina")] == tree.root


def test_an_inner_node_over_everything_is_the_root() -> None:
    tree = Hierarchy.from_rows([["a", "all", "*"], ["b", "all", "*"]])
    assert tree.labels == ("a", "b", "*")
    assert (tree.height, tree.level[tree.root]) == (2, 1)


def test_a_single_leaf_still_has_a_root() -> None:
    tree = Hierarchy.from_rows([["only", "group", "*"]])
    assert tree.labels == ("only", "*")
    assert tree.lowest_common_ancestor(np.array([0]), np.array([0])).tolist() == [0]


def test_a_flat_hierarchy_has_every_leaf_under_the_root() -> None:
    tree = Hierarchy.flat(["x", "y", "z"])
    assert tree.labels == ("x", "y", "z", "*")
    assert tree.parent.tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], ["empty"]),
        ([[], ["", ""]], ["empty"]),
        ([["a", "*"], ["b", "x", "*"]], ["line 2", "'b'", "3 levels", "line 1 has 2"]),
        ([["a", "*"], [], ["b", "x", "*"]], ["line 3", "'b'"]),
        ([["a", "*"], ["b", "x"]], ["line 2", "'b'", "'x'", "'*'"]),
        ([["a", "*"], ["*", "*"]], ["line 2", "cannot be a leaf"]),
        ([["a", "*"], ["b", "*"], ["a", "*"]], ["line 3", "'a'", "line 1"]),
        ([["a", "x", "p", "*"], ["b", "x", "q", "*"]], ["line 2", "'x'", "'q'", "'p'", "line 1"]),
        ([["a", "b", "*"], ["b", "b", "*"], ["c", "c2", "*"]], ["'b'", "two nodes"]),
        ([["a", "*", "*"], ["b", "*", "*"], ["c", "x", "*"]], ["'*'", "two nodes"]),
        ([["a", "*", "*"], ["b", "x", "*"]], ["'*'", "two nodes"]),
        ([["a", "x", "*"], ["b", "y", "*"], ["x", "z", "*"]], ["'x'", "two nodes"]),
        ([["a", "x", "p", "*"], ["b", "y", "x", "*"], ["c", "y", "x", "*"]], ["'x'", "two nodes"]),
        ([["a", "b", "*"], ["b", "a", "*"]], ["two nodes"]),
        ([["all", "all", "*"], ["b", "all", "*"]], ["'all'", "two nodes"]),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_value(rows: Rows, told: list[str]) -> None:
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_rows(rows, source="work.csv")
    for part in ["work.csv", *told]:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "a", "a", "*"], ["b", "x", "x", "*"], ["c", "x", "x", "*"]],
        [["a", "*", "*"], ["b", "*", "*"]],
        [["a", "x", "*"], ["b", "x ", "*"], [" a", "X", "*"]],
        [["1", "[1, 5]", "*"], ["5", "[1, 5]", "*"], ["[1, 6]", "[1, 6]", "*"]],
    ],
)
def test_a_label_may_repeat_where_it_covers_the_same_values(rows: Rows) -> None:
    tree = Hierarchy.from_rows(rows)
    assert sorted(tree.paths) == sorted(map(tuple, rows))
