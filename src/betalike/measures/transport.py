"""Share points with counts out to boxes with counts, each point inside its box: an exact maximum flow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from betalike.runtime.arrays import Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.runtime.sorting import stable_order

LEAF = 8  # points that are searched one by one


class Tree(NamedTuple):
    """Points in the order of their leaves, and the part of them under each node, with its least and greatest codes."""

    points: Ids
    begins: Ints
    ends: Ints
    low: Ids
    high: Ids


class Sharing(NamedTuple):
    """How much of its supply each point gives to which box, and how much of the boxes' need is not met."""

    point: Ints
    box: Ints
    amount: Ints
    unmet: int


def unmatched(points: Ids, supply: Ints, low: Ids, high: Ids, need: Ints) -> int:
    """Return how much of the boxes' need no points inside them can meet, in the best sharing out."""
    return share_out(points, supply, low, high, need).unmet


def share_out(points: Ids, supply: Ints, low: Ids, high: Ids, need: Ints) -> Sharing:
    """Share points out to boxes so that as much of the boxes' need is met as possible; the same input, the same result.

    A box covers the points between `low` and `high` in every column. The first column must be equal in both: it splits
    the problem into groups. The maximum flow is found with augmenting paths over a tree of the points, so the pairs of
    points and boxes are never listed. All numbers are whole.
    """
    if not len(points) or not len(need):
        nothing = np.zeros(0, dtype=np.int64)
        return Sharing(nothing, nothing, nothing, int(need.sum()))
    n_points, n_columns = points.shape
    depth = max(int(np.ceil(np.log2(n_points / LEAF))), 0)
    n_nodes = 2 ** (depth + 1) - 1
    order = np.arange(n_points, dtype=np.int32)
    begins, ends = np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    node_low, node_high = (np.zeros((n_nodes, n_columns), dtype=np.int32) for _ in range(2))
    points = np.ascontiguousarray(points, dtype=np.int32)
    spans = np.maximum(points.max(axis=0) - points.min(axis=0), 1).astype(np.float64)
    _build(points, spans, order, begins, ends, node_low, node_high)
    width = np.log1p(np.maximum(high.astype(np.float64) - low, 0))
    turns = np.argsort(width.sum(axis=1), kind="stable")  # small boxes choose first
    missing = need.astype(np.int64)
    tree = Tree(points[order], begins, ends, node_low, node_high)
    low, high = (np.ascontiguousarray(side, dtype=np.int32) for side in (low, high))
    place, box, amount = _share_out(tree, supply[order].astype(np.int64), low, high, missing, turns)
    is_given = amount > 0
    return Sharing(order[place[is_given]].astype(np.int64), box[is_given], amount[is_given], int(missing.sum()))


@kernel
def _build(points: Ids, spans: NDArray[np.float64], order: Ids, begins: Ints, ends: Ints, low: Ids, high: Ids) -> None:
    """Halve the points again and again: by the first column while it differs, else by the widest."""
    n_nodes, n_columns = low.shape
    first_leaf = n_nodes // 2
    ends[0] = len(order)
    for node in range(n_nodes):
        begin, end = begins[node], ends[node]
        for column in range(n_columns):
            least, most = points[order[begin], column], points[order[begin], column]
            for i in range(begin + 1, end):
                value = points[order[i], column]
                least, most = min(least, value), max(most, value)
            low[node, column], high[node, column] = least, most
        if node >= first_leaf:
            continue
        chosen = 0
        if low[node, 0] == high[node, 0]:
            widest = -1.0
            for column in range(1, n_columns):
                width = (high[node, column] - low[node, column]) / spans[column]
                if width > widest:
                    chosen, widest = column, width
        keys = np.empty(end - begin, dtype=np.int32)
        for i in range(begin, end):
            keys[i - begin] = points[order[i], chosen]
        part = order[begin:end].copy()
        ranks = stable_order(keys)
        for i in range(begin, end):
            order[i] = part[ranks[i - begin]]
        middle = (begin + end + 1) // 2
        begins[2 * node + 1], ends[2 * node + 1] = begin, middle
        begins[2 * node + 2], ends[2 * node + 2] = middle, end


@kernel
def _find(tree: Tree, is_there: NDArray[np.bool_], n_there: Ints, low: Ids, high: Ids, stack: Ints) -> int:
    """Return a point inside a box that is still there; -1 if there is none."""
    n_nodes, n_columns = tree.low.shape
    first_leaf = n_nodes // 2
    stack[0], top = 0, 1
    while top:
        top -= 1
        node = stack[top]
        is_near = n_there[node] > 0
        for column in range(n_columns):
            is_near &= tree.low[node, column] <= high[column] and low[column] <= tree.high[node, column]
        if not is_near:
            continue
        if node < first_leaf:
            stack[top], stack[top + 1] = 2 * node + 2, 2 * node + 1
            top += 2
            continue
        for place in range(tree.begins[node], tree.ends[node]):
            is_inside = is_there[place]
            for column in range(n_columns):
                is_inside &= low[column] <= tree.points[place, column] <= high[column]
            if is_inside:
                return place
    return -1


@kernel
def _take_away(place: int, is_there: NDArray[np.bool_], n_there: Ints, leaf_of: Ids) -> None:
    is_there[place] = False
    node = leaf_of[place]
    n_there[node] -= 1
    while node:
        node = (node - 1) // 2
        n_there[node] -= 1


@kernel
def _count_there(is_there: NDArray[np.bool_], begins: Ints, ends: Ints, n_there: Ints) -> None:
    first_leaf = len(begins) // 2
    for node in range(len(begins) - 1, -1, -1):
        if node < first_leaf:
            n_there[node] = n_there[2 * node + 1] + n_there[2 * node + 2]
        else:
            n_there[node] = is_there[begins[node] : ends[node]].sum()


@kernel
def _share_out(tree: Tree, supply: Ints, low: Ids, high: Ids, need: Ints, turns: Ints) -> tuple[Ints, Ints, Ints]:
    """Lower `need` to what no sharing out can meet; return points, boxes, and how much each point gives to each box.

    In each round every box that lacks something searches: points with something left, else points that serve another
    box, which then searches in its place. A point is visited once in a round. A round without success has searched
    everything that can be reached, so that no better sharing out exists.
    """
    begins, ends = tree.begins, tree.ends
    n_points, n_boxes = len(tree.points), len(need)
    leaf_of = np.empty(n_points, dtype=np.int32)
    for node in range(len(begins) // 2, len(begins)):
        leaf_of[begins[node] : ends[node]] = node
    stack = np.empty(128, dtype=np.int64)
    is_spare, n_spare = supply > 0, np.zeros(len(begins), dtype=np.int64)
    _count_there(is_spare, begins, ends, n_spare)
    is_new, n_new = np.ones(n_points, dtype=np.bool_), np.zeros(len(begins), dtype=np.int64)
    # What a point gives to boxes is a list: the first entry of each point, then the next of each entry.
    first = np.full(n_points, -1, dtype=np.int64)
    entry_box = np.empty(n_points + n_boxes, dtype=np.int64)
    entry_next, entry_amount = np.empty_like(entry_box), np.empty_like(entry_box)
    entry_point = np.empty_like(entry_box)
    n_entries = 0
    is_done, is_on_path = np.zeros(n_boxes, dtype=np.bool_), np.zeros(n_boxes, dtype=np.bool_)
    path_box, path_entry = np.empty(n_boxes + 1, dtype=np.int64), np.empty(n_boxes + 1, dtype=np.int64)
    path_point = np.empty(n_boxes + 1, dtype=np.int64)
    has_success = True
    while has_success:
        has_success = False
        is_new[:] = True
        _count_there(is_new, begins, ends, n_new)
        is_done[:] = False
        for turn in range(n_boxes):
            root = turns[turn]
            while need[root] > 0 and not is_done[root]:
                path_box[0], top = root, 0
                path_entry[0] = -1
                is_on_path[root] = True
                found = -1
                while top >= 0 and found < 0:
                    box = path_box[top]
                    if path_entry[top] < 0:  # not yet searched, or all boxes of the last point were
                        found = _find(tree, is_spare, n_spare, low[box], high[box], stack)
                        if found >= 0:
                            break
                        place = _find(tree, is_new, n_new, low[box], high[box], stack)
                        if place < 0:
                            is_done[box] = True
                            is_on_path[box] = False
                            top -= 1
                            if top >= 0:
                                path_entry[top] = entry_next[path_entry[top]]
                            continue
                        _take_away(place, is_new, n_new, leaf_of)
                        path_point[top], path_entry[top] = place, first[place]
                    entry = path_entry[top]
                    while entry >= 0:
                        other = entry_box[entry]
                        if entry_amount[entry] > 0 and not is_done[other] and not is_on_path[other]:
                            break
                        entry = entry_next[entry]
                    path_entry[top] = entry
                    if entry >= 0:
                        top += 1
                        path_box[top], path_entry[top] = entry_box[entry], -1
                        is_on_path[entry_box[entry]] = True
                for i in range(top + 1):
                    is_on_path[path_box[i]] = False
                if found < 0:
                    continue  # the root is done
                has_success = True
                amount = min(need[root], supply[found])
                for i in range(top):
                    amount = min(amount, entry_amount[path_entry[i]])
                need[root] -= amount
                supply[found] -= amount
                if supply[found] == 0:
                    _take_away(found, is_spare, n_spare, leaf_of)
                for i in range(top):
                    entry_amount[path_entry[i]] -= amount
                path_point[top] = found
                for i in range(top + 1):
                    place, box = path_point[i], path_box[i]
                    entry = first[place]
                    while entry >= 0 and entry_box[entry] != box:
                        entry = entry_next[entry]
                    if entry < 0:
                        if n_entries == len(entry_box):
                            room = np.empty(n_entries, dtype=np.int64)
                            entry_box = np.concatenate((entry_box, room))
                            entry_point = np.concatenate((entry_point, room))
                            entry_next = np.concatenate((entry_next, room))
                            entry_amount = np.concatenate((entry_amount, room))
                        entry = n_entries
                        n_entries += 1
                        entry_box[entry], entry_amount[entry], entry_next[entry] = box, 0, first[place]
                        entry_point[entry] = place
                        first[place] = entry
                    entry_amount[entry] += amount
    return entry_point[:n_entries], entry_box[:n_entries], entry_amount[:n_entries]
