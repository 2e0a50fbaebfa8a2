"""`python -m experiments.attacks`: every attack on releases by every scheme, over beta; data and pictures."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import betalike
from betalike.attacks import AttackReport, open_target
from betalike.attacks.control_release import shuffled
from betalike.attacks.definetti import People, attack_people
from betalike.attacks.result import AttackResult, Rate
from betalike.errors import InfeasibleError
from betalike.promises import Likeness
from betalike.report.charts import Quantity
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import make_generalizing
from experiments.attacks.anatomy import anatomize
from experiments.attacks.pictures import Row, beta_axis, percent, write
from experiments.attacks.tables import PROJECT, Attacked, tables
from experiments.settings import BETA, SEED
from experiments.warming import compile_kernels

SCHEMES = ("whole", "seam", "burel", "burel+split", "lmondrian", "perturb")
BLIND, CHANCE, SHUFFLED = "the most frequent value", "chance (1 / l)", "Anatomy, values shuffled"
KNOWN = "class known"
MOST_ROWS = 50_000  # where everybody's class is known, and so nearly every person is a group of one


def main(arguments: Sequence[str] | None = None, schemes: Sequence[str] = SCHEMES) -> None:
    """Run all attacks; a full run on CENSUS becomes part of the documentation."""
    parser = argparse.ArgumentParser(prog="experiments.attacks", description="Section 7's attacks on real tables.")
    parser.add_argument("--quick", action="store_true", help="a small invented table, one beta")
    parser.add_argument("--out", type=Path, help="folder for the figures; by default that of the documentation")
    given = parser.parse_args(arguments)
    out = given.out or PROJECT / ("build/attacks" if given.quick else "docs/explanation/attacks")
    betas = [4] if given.quick else [1, 2, 3, 4, 5]
    if not given.quick:
        compile_kernels()
    with tempfile.TemporaryDirectory(prefix="betalike-attacks-") as folder:
        attacked = tables(Path(folder), given.quick)
        reports = {
            (table.name, scheme, beta): _attack(table, scheme, beta)
            for table in attacked
            for scheme in schemes
            for beta in betas
        }
        diversities = [2, 3] if given.quick else [2, 3, 4, 5, 6, 7]
        anatomy = [row for table in attacked for row in _anatomy(table.sampled(MOST_ROWS), diversities)]
        known = [row for table in attacked for row in _with_known_classes(table.sampled(MOST_ROWS), betas, schemes)]
    _write_all(out, reports, betas)
    write(out, "anatomy", anatomy, Quantity("l", "l (tuples of a group)", ticks=tuple(diversities)), percent("success"))
    write(out, "definetti-known", known, beta_axis(betas), percent("success"))


def _attack(table: Attacked, scheme: str, beta: float) -> AttackReport | None:
    start = time.perf_counter()
    try:
        release = betalike.publish(table.frame, **table.publishing(scheme, beta, SEED))
    except InfeasibleError:
        return None
    report = betalike.attack(release, original=table.frame, hierarchies=table.hierarchies, seed=SEED)
    _tell(f"{table.name:8} {scheme:12} beta {beta}  {time.perf_counter() - start:6.1f} s")
    return report


def _write_all(out: Path, reports: dict[tuple[str, str, float], AttackReport | None], betas: Sequence[float]) -> None:
    for name in ("naive-bayes", "definetti", "skewness"):
        write(out, name, _successes(reports, name), beta_axis(betas), percent("success"))
    gain = Quantity("worst_gain", "largest relative gain on a value", starts_at_zero=True)
    write(out, "composition", _successes(reports, "composition"), beta_axis(betas), gain)
    gains = _minimality(reports)
    title = "gain of the argument (percentage points)"
    write(out, "minimality", gains, beta_axis(betas), Quantity("gain", title))
    known = Quantity("known", "share of the people whose values are known (%)")
    write(out, "corruption", _corruption(reports), known, percent("success"))


def _successes(reports: dict[tuple[str, str, float], AttackReport | None], name: str) -> list[Row]:
    """Return a row for each release, and one for a blind guess."""
    rows: list[Row] = []
    for (table, scheme, beta), report in reports.items():
        if report is None or report[name].success is None:
            continue
        result: AttackResult = report[name]
        assert result.success is not None
        assert result.control is not None
        row = {"table": table, "beta": beta, "scheme": scheme, "success": 100 * result.success.rate}
        row |= {"low": 100 * result.success.low, "high": 100 * result.success.high}
        row |= {"control": 100 * result.control.rate, **_numbers(result.details)}
        rows.append(row)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    rows = [{key: row.get(key) for key in columns} for row in rows]
    blind = {(table, beta): report for (table, _, beta), report in reports.items() if report is not None}
    for (table, beta), report in blind.items():
        baseline = report["naive-bayes"].baseline
        assert baseline is not None
        known = {"table": table, "beta": beta, "scheme": BLIND, "success": 100 * baseline.rate}
        rows.append({key: known.get(key) for key in columns})
    return rows


def _numbers(details: Any) -> Row:
    return {key: value for key, value in details.items() if isinstance(value, int | float) and key != "rounds"}


def _minimality(reports: dict[tuple[str, str, float], AttackReport | None]) -> list[Row]:
    rows = []
    for (table, scheme, beta), report in reports.items():
        details = {} if report is None else report["minimality"].details
        if "uncut" in details:
            found = details["uncut"]
            row = {"table": table, "beta": beta, "scheme": scheme, "kept_share": details["kept_share"]}
            row |= {key: 100 * found[key] for key in ("gain", "gain_low", "gain_high")}
            row |= {key: found[key] for key in ("classes", "skipped", "classes_above_their_cap", "worst_ratio")}
            rows.append(row)
    return rows


def _corruption(reports: dict[tuple[str, str, float], AttackReport | None]) -> list[Row]:
    rows = []
    for (table, scheme, beta), report in reports.items():
        if report is not None and beta == BETA:
            details = report["corruption"].details
            for share, success in details["success_by_known_share"].items():
                above = details["above_by_known_share"][share]
                row = {"table": table, "known": 100 * float(share), "scheme": scheme, "success": 100 * success}
                rows.append({**row, "above_their_cap": 100 * above})
    return rows


def _anatomy(table: Attacked, diversities: Sequence[int]) -> list[Row]:
    """Attack groups of l different values, with the values as they are and shuffled."""
    release = betalike.publish(table.frame, **table.publishing("baseline", BETA, SEED))
    cells = open_target(release, original=table.frame).cells
    rows = []
    for diversity in diversities:
        if cells.value_counts.max() * diversity > cells.n_rows:
            continue
        found: dict[str, float] = {CHANCE: 1 / diversity}
        for name, each in (("Anatomy", cells), (SHUFFLED, shuffled(cells, SeededRandomness(SEED)))):
            plan = anatomize(each, diversity, SeededRandomness(SEED))
            rate, _ = attack_people(People.by_plan(plan), plan.class_counts)
            found[name] = rate.rate
            _tell(f"{table.name:8} {name}, l = {diversity}: {100 * rate.rate:.2f} %")
        rows += [{"table": table.name, "l": diversity, "scheme": k, "success": 100 * v} for k, v in found.items()]
    return rows


def _with_known_classes(table: Attacked, betas: Sequence[float], schemes: Sequence[str]) -> list[Row]:
    """Run deFinetti with an adversary who knows who is in which class."""
    release = betalike.publish(table.frame, **table.publishing("baseline", BETA, SEED))
    cells = open_target(release, original=table.frame).cells
    blind = Rate.of(int(cells.value_counts.max()), cells.n_rows)
    rows = []
    for beta in betas:
        rows.append({"table": table.name, "beta": beta, "scheme": BLIND, "success": 100 * blind.rate, "control": None})
        for scheme in (name for name in schemes if name != "perturb"):
            rates = []
            for each in (cells, shuffled(cells, SeededRandomness(SEED))):
                plan = make_generalizing(scheme, SeededRandomness(SEED)).plan(each, Likeness(float(beta)))
                rates.append(attack_people(People.by_plan(plan), plan.class_counts)[0].rate)
            row = {"table": table.name, "beta": beta, "scheme": scheme, "success": 100 * rates[0]}
            rows.append({**row, "control": 100 * rates[1]})
            _tell(f"{table.name:8} {scheme}, {KNOWN}, beta {beta}: {100 * rates[0]:.2f} %")
    return rows


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
