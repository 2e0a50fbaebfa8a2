"""The loss of SEAM compared with that of a linear program that may divide tuples, on small tables.

Classes with the same box may be pooled, because a sum of allowed counts is allowed. So a release is described by how
many tuples of each value of each point lie in which box. Over every possible box, the program's loss is a true lower
bound. Over the boxes of one k-d tree it is only a reference: another tree might lose less, and a class may be tighter
than its node.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from benchmarks.boxes import Boxes, count_boxes, every_box, kd_tree_boxes
from benchmarks.tables import counted_cells
from betalike.datasets import census_like, census_like_hierarchies
from betalike.measures.loss import plan_loss
from betalike.promises import Likeness
from betalike.schemes import Seam
from betalike.table.cells import Cells

SECONDS = 120
COLUMNS = {
    "age in tens, gender": ["age", "gender"],
    "age in tens, gender, marital status": ["age", "gender", "marital_status"],
    "age in tens, gender, education in fours": ["age", "gender", "education"],
}


def run(folder: Path, quick: bool = False) -> list[str]:
    lines = [
        "## What is left: `seam` and a linear program over all boxes (a lower bound) and over those of one kd-tree",
        "",
        "| QI | rows | points | boxes | beta | bound | `seam` | one kd-tree | seconds of the programs |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for rows in (5_000,) if quick else (5_000, 20_000):
        for name, columns in list(COLUMNS.items())[: 1 if quick else None]:
            path = folder / "table.parquet"
            coarse_people(rows).select(*columns, "salary_class").write_parquet(path)
            cells = counted_cells(path, columns, "salary_class", census_like_hierarchies())
            for beta in (1, 2, 4):
                model = Likeness(beta)
                loss = plan_loss(Seam().plan(cells, model)).average
                start = time.perf_counter()
                bound, tree = (least_loss(cells, model, boxes(cells)) for boxes in (every_box, kd_tree_boxes))
                lines.append(
                    f"| {name} | {rows:,} | {len(cells.points)} | {count_boxes(cells):,} | {beta} | {_shown(bound)} | "
                    f"{loss:.4f} | {_shown(tree)} | {time.perf_counter() - start:.0f} |"
                )
    return lines


def coarse_people(rows: int) -> pl.DataFrame:
    """Return `census_like` with few ages, educations and salary classes, so that the program stays small."""
    return census_like(rows).with_columns(
        pl.col("age") // 10, (pl.col("education") - 1) // 4, pl.col("salary_class") // 5
    )


def least_loss(cells: Cells, model: Likeness, boxes: Boxes, seconds: float = SECONDS) -> float | None:
    """Return the least average loss if tuples may be divided; None if it is not found in time.

    Variables, in shares of the table: `kept` is what each box holds of each value, `moved` what each move takes of each
    value to a wider box, `total` what each box holds. Each value is conserved in each box, and no value may exceed its
    cap in a box.
    """
    cap = model.caps(cells.value_counts).frequencies
    n_boxes, n_moves, n_values = len(boxes.loss), len(boxes.inner), len(cap)
    n_kept, n_moved = n_boxes * n_values, n_moves * n_values
    each_value = sparse.identity(n_values)
    leaving = _incidence(boxes.inner, n_boxes) - _incidence(boxes.outer, n_boxes)
    kept, nothing = sparse.identity(n_kept), sparse.csr_matrix((n_kept, n_boxes))
    conserved = sparse.hstack([kept, sparse.kron(leaving, each_value), nothing])
    each_box = sparse.identity(n_boxes)
    added_up = sparse.hstack(
        [sparse.kron(each_box, np.ones((1, n_values))), sparse.csr_matrix((n_boxes, n_moved)), -each_box]
    )
    capped = sparse.hstack(
        [kept, sparse.csr_matrix((n_kept, n_moved)), -sparse.kron(each_box, cap.reshape(n_values, 1))]
    )
    supply = np.zeros((n_boxes, n_values))
    np.add.at(supply, (boxes.of_point[cells.point], cells.value), cells.count / cells.n_rows)
    found = linprog(
        np.concatenate([np.zeros(n_kept + n_moved), boxes.loss]),
        A_ub=capped.tocsr(),
        b_ub=np.zeros(n_kept),
        A_eq=sparse.vstack([conserved, added_up]).tocsr(),
        b_eq=np.concatenate([supply.ravel(), np.zeros(n_boxes)]),
        method="highs-ipm",
        options={"time_limit": seconds},
    )
    return float(found.fun) if found.status == 0 else None


def _incidence(box: NDArray[np.int64], n_boxes: int) -> sparse.csr_matrix:
    """Return one column per move, with a 1 at a box."""
    return sparse.csr_matrix((np.ones(len(box)), (box, np.arange(len(box)))), shape=(n_boxes, len(box)))


def _shown(loss: float | None) -> str:
    return f"not in {SECONDS} s" if loss is None else f"{loss:.4f}"
