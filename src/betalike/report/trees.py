"""A hierarchy as a drawing: nodes with how many rows they cover. Nodes of fewer than three rows are not named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from betalike.engines.hierarchy_check import HierarchyReport
from betalike.report.figures import figure_table
from betalike.table.hierarchy import Hierarchy

LEAST_ROWS = 3
MOST_CHILDREN = 12


@dataclass(frozen=True)
class Branch:
    """A node of a drawn hierarchy with its rows, if they were counted; some nodes below it are only counted."""

    label: str
    rows: int | None
    below: tuple[Branch, ...]
    more: int
    rare: int


def print_tree(console: Console, hierarchy: Hierarchy, counts: Mapping[str, int] | None) -> None:
    """Draw a hierarchy; with the rows of each value, each node with its rows."""
    whole = tree_branches(hierarchy, counts)
    root = Tree(_label(whole))
    _draw(root, whole)
    console.print(root)


def tree_branches(hierarchy: Hierarchy, counts: Mapping[str, int] | None) -> Branch:
    """Return what is drawn of a hierarchy: a few nodes below each node, none of them with few rows."""
    children: dict[int, list[int]] = {}
    for node in range(hierarchy.root):
        children.setdefault(int(hierarchy.parent[node]), []).append(node)
    rows = None if counts is None else _rows_of_nodes(hierarchy, counts)

    def branch(node: int) -> Branch:
        below = sorted(children.get(node, []), key=lambda child: int(hierarchy.first[child]))
        named = [child for child in below if rows is None or rows[child] >= LEAST_ROWS]
        drawn = tuple(branch(child) for child in named[:MOST_CHILDREN])
        more, rare = len(named) - len(drawn), len(below) - len(named)
        return Branch(hierarchy.labels[node], None if rows is None else rows[node], drawn, more, rare)

    return branch(hierarchy.root)


def tree_figures(hierarchy: Hierarchy, counts: Mapping[str, int] | None) -> dict[str, Any]:
    """Return the nodes of a hierarchy with their levels, leaves and rows; nodes of few rows only as a number."""
    rows = None if counts is None else _rows_of_nodes(hierarchy, counts)
    nodes = [node for node in range(len(hierarchy.labels)) if rows is None or rows[node] >= LEAST_ROWS]
    return {
        "height": hierarchy.height,
        "leaves": hierarchy.n_leaves,
        "nodes": [
            {
                "label": hierarchy.labels[node],
                "level": int(hierarchy.level[node]),
                "leaves": int(hierarchy.last[node] - hierarchy.first[node] + 1),
                **({} if rows is None else {"rows": rows[node]}),
            }
            for node in nodes
        ],
        "nodes_with_few_rows": len(hierarchy.labels) - len(nodes),
    }


def print_check(console: Console, report: HierarchyReport) -> None:
    """Print a line for each hierarchy file: whether it fits, and what it lacks."""
    table = figure_table(["file", "column", "fits"], ["leaves", "values", "without a leaf", "rows of those"])
    for file in report.files:
        figures = (file.leaves, file.values, file.values_without_leaf, file.rows_without_leaf)
        column = "no such column" if file.column is None else file.column
        shown = ["" if figure is None else f"{figure:,}" for figure in figures]
        table.add_row(Text(file.file), Text(column), "yes" if file.is_right else "no", *shown)
    console.print(table)
    for file in report.files:
        if file.problem is not None:
            console.print(Text(file.problem))


def _rows_of_nodes(hierarchy: Hierarchy, counts: Mapping[str, int]) -> list[int]:
    leaves = [counts.get(label, 0) for label in hierarchy.leaves]
    ends = zip(hierarchy.first.tolist(), hierarchy.last.tolist(), strict=True)
    return [sum(leaves[first : last + 1]) for first, last in ends]


def _draw(tree: Tree, branch: Branch) -> None:
    for child in branch.below:
        _draw(tree.add(_label(child)), child)
    if branch.more:
        tree.add(Text(f"... and {branch.more} more", style="dim"))
    if branch.rare:
        tree.add(Text(f"({branch.rare} with fewer than {LEAST_ROWS} rows)", style="dim"))


def _label(branch: Branch) -> Text:
    label = Text(branch.label)
    return label if branch.rows is None else label.append(f"  {branch.rows:,}", style="dim")
