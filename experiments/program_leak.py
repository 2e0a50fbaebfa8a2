"""Section 7's claim that BUREL is immune to readers who argue from how it works: the attack on the program."""

from __future__ import annotations

from typing import Any

from experiments.attacks.program import BETA, find_by_scheme
from experiments.bench import Bench
from experiments.entrants import BUREL
from experiments.figure import FAILS, HOLDS, Claim, Figure

MOST_ROWS = 90_000


def run(bench: Bench) -> Figure:
    """Publish both halves of the table with BUREL, learn its choices from one, and guess values in the other."""
    cells = bench.cells(n_rows=min(MOST_ROWS, bench.cells().n_rows))
    rows: list[dict[str, Any]] = []
    for name, _, found in find_by_scheme(cells, {name: (name, {}) for name in BUREL}):
        for form, leak in found.leaks.items():
            row = {"scheme": name, "classes": form, "leak": leak.leak.rate, "low": leak.leak.low}
            row |= {"high": leak.leak.high, "points": 100 * leak.points.rate}
            rows.append(row | {"control": found.controls[form].leak.rate})
    claim = _immune(rows)
    return Figure(
        "pl",
        "Program: what the choices of BUREL give away",
        f"3 QI, beta {BETA:g}, {cells.n_rows:,} rows. Half of them are published, the other half is the adversary's "
        "own table, published with the same program. The leak is what the program's choices add to class shares and a "
        "population model, in log-likelihood per person; points are of success.",
        rows,
        "A tuple's sensitive value does not decide where BUREL puts it, so BUREL is immune to minimality attacks.",
        f"{claim.evidence} Where a bucket is locally scarce, its rows come from farther away than the others of a "
        f"class. So the claim {claim.verdict}.",
        [claim],
        table=[
            {key: value if isinstance(value, str) else f"{value:.3f}" for key, value in row.items()} for row in rows
        ],
        short=f"**Readers who know the program.** {claim.evidence}",
    )


def _immune(rows: list[dict[str, Any]]) -> Claim:
    known = [row for row in rows if row["classes"] == "known"]
    parts = [f"{row['leak']:.3f} ({row['low']:.3f} to {row['high']:.3f}) with `{row['scheme']}`" for row in known]
    return Claim(
        "Section 7: BUREL is immune to readers who argue from how it works",
        FAILS if known[0]["low"] > 0 else HOLDS,
        f"To a reader who knows who is in which class, the choices add {' and '.join(parts)} to the log-likelihood per "
        "person.",
    )
