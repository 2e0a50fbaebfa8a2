"""`python -m experiments.attacks.program`: what each scheme's choices give away, on five tables; a CSV file."""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import betalike
from betalike.attacks import open_target
from betalike.attacks.program import halves, publish_crowd
from betalike.attacks.program.crowd import Space
from betalike.attacks.program.leak import ProgramLeak, find_leaks
from betalike.attacks.target import Target
from betalike.measures.loss import plan_loss
from betalike.promises import Likeness
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import make_generalizing
from betalike.table.cells import Cells
from experiments.attacks.tables import PROJECT, Attacked, program_tables
from experiments.settings import SEED

BETA = 4.0
Scheme = tuple[str, dict[str, Any]]  # its name and options
SCHEMES: dict[str, Scheme] = {
    "whole": ("whole", {}),
    "whole --strict": ("whole", {"strict": True}),
    "seam": ("seam", {}),
    "lmondrian": ("lmondrian", {}),
    "burel": ("burel", {}),
    "burel+split": ("burel+split", {}),
    "burel --retrieval within-reach": ("burel", {"retrieval": "within-reach"}),
}
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Attack every scheme on every table, or on those that are named; rows of others stay in the file."""
    parser = argparse.ArgumentParser(prog="experiments.attacks.program")
    parser.add_argument("--quick", action="store_true", help="a small invented table")
    parser.add_argument("--tables", help="their names, a;b (default: all)")
    parser.add_argument("--schemes", help="their names, a;b (default: all)")
    parser.add_argument("--out", type=Path, help="folder for the figures; by default that of the documentation")
    given = parser.parse_args(arguments)
    out = given.out or PROJECT / ("build/attacks" if given.quick else "docs/explanation/attacks")
    file = out / "program.csv"
    with tempfile.TemporaryDirectory(prefix="betalike-program-") as folder:
        tables = program_tables(Path(folder), given.quick)
    wanted = given.tables.split(";") if given.tables else [table.name for table in tables]
    schemes = {name: SCHEMES[name] for name in (given.schemes.split(";") if given.schemes else SCHEMES)}
    rows = [row for table in tables if table.name in wanted for row in attack_schemes(table, schemes)]
    known = [] if given.quick or not file.is_file() else _read(file)
    kept = [row for row in known if row["table"] not in wanted or row["scheme"] not in schemes]
    names, order = [table.name for table in tables], list(SCHEMES)
    out.mkdir(parents=True, exist_ok=True)
    _write(file, sorted(kept + rows, key=lambda row: (names.index(row["table"]), order.index(row["scheme"]))))


def attack_schemes(table: Attacked, schemes: Mapping[str, Scheme] = SCHEMES) -> list[Row]:
    """Attack schemes on a table."""
    release = betalike.publish(table.frame, **table.publishing("baseline", BETA, SEED))
    cells = open_target(release, original=table.frame, hierarchies=table.hierarchies).cells
    rows: list[Row] = []
    for label, loss, found in find_by_scheme(cells, schemes):
        rows += rows_of(table.name, label, loss, found)
        print(rows[-2], f"{time.process_time():.0f} s", file=sys.stderr, flush=True)
    return rows


def find_by_scheme(cells: Cells, schemes: Mapping[str, Scheme]) -> Iterator[tuple[str, float, ProgramLeak]]:
    """Publish both halves of a table by each scheme and attack one; yield its loss and what was found.

    The population models do not depend on the scheme, so they are learned once.
    """
    space, parts = Space.of(cells), halves(cells, SeededRandomness(SEED))
    models = None
    for label, (scheme, options) in schemes.items():
        target = Target(cells, tuple(map(str, range(cells.sensitive.size))), Likeness(BETA), scheme, options)
        own, published = (publish_crowd(target, space, *part, SeededRandomness(SEED)) for part in parts)
        plan = make_generalizing(scheme, SeededRandomness(SEED), **options).plan(parts[1][0], target.model)
        found = find_leaks(own, published, SeededRandomness(SEED), models=models)
        models = found.models
        yield label, plan_loss(plan).average, found


def rows_of(table: str, scheme: str, loss: float, found: ProgramLeak) -> list[Row]:
    """Return a row for each form of adversary."""
    rows = []
    for form, leak in found.leaks.items():
        control = found.controls[form]
        row: Row = {"table": table, "scheme": scheme, "classes": form, "people": leak.people, "loss": loss}
        row |= {"leak": leak.leak.rate, "leak_low": leak.leak.low, "leak_high": leak.leak.high}
        row |= {"points": 100 * leak.points.rate}
        row |= {"points_low": 100 * leak.points.low, "points_high": 100 * leak.points.high}
        row |= {"control_leak": control.leak.rate, "control_points": 100 * control.points.rate}
        for name, guess in (("shares", leak.shares), ("population", leak.population), ("program", leak.program)):
            row |= {f"{name}_fit": guess.log_likelihood, f"{name}_success": 100 * guess.success}
            row |= {f"{name}_above_cap": 100 * guess.above}
        rows.append(row)
    return rows


def _read(file: Path) -> list[Row]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _write(file: Path, rows: Sequence[Row]) -> None:
    with file.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)


if __name__ == "__main__":
    main()
