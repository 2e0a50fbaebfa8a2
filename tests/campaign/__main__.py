"""The command line: `python -m tests.campaign --hours 1`, or `--seed 7 --mode release` to repeat one."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

from .running import LEFT_BEHIND, Campaign, run


def main() -> int:
    """Run a campaign, or repeat one seed; 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--hours", type=float, help="how long to run; without it, until the numbers are reached")
    parser.add_argument("--plans", type=int, help="how many plans; 0 for none")
    parser.add_argument("--releases", type=int, help="how many releases; 0 for none")
    parser.add_argument("--spark", type=int, default=0, help="how many releases on Spark (0)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--first-seed", type=int, default=0, help="where the seeds begin (0)")
    parser.add_argument("--plain", action="store_true", help="leave out huge integers and odd quotes")
    parser.add_argument("--failures", type=Path, default=LEFT_BEHIND, help=f"file of failing seeds ({LEFT_BEHIND})")
    parser.add_argument("--seed", type=int, help="repeat this one and print what was found")
    parser.add_argument("--mode", choices=["plan", "release", "spark"], default="release", help="of --seed (release)")
    given = parser.parse_args()
    if given.seed is not None:
        return repeat(given.mode, given.seed, given.plain)
    if given.hours is None and given.plans is None and given.releases is None and not given.spark:
        parser.error("say how long (--hours), or how many (--plans, --releases, --spark)")
    plans, releases = given.plans, given.releases
    if given.hours is None:
        plans, releases = plans or 0, releases or 0
    seconds = None if given.hours is None else given.hours * 3600
    how_many = (plans, releases, given.spark)
    campaign = Campaign(*how_many, seconds, given.workers, given.first_seed, given.plain, given.failures)
    total = run(campaign)
    if total.failed:
        print(f"failing seeds are in {given.failures}")
    return 1 if total.failed else 0


def repeat(mode: str, seed: int, is_plain: bool) -> int:
    """Check one seed and print everything about it; random tables are nobody's, so errors are shown in full."""
    from .extras import draw_job, draw_spark_job
    from .plans import check_plan
    from .releases import check_seed, check_spark_seed

    if mode != "plan":
        job = draw_spark_job(seed) if mode == "spark" else draw_job(seed, is_plain)
        print(f"{job.n_rows} rows, {job.source} through {job.engine}, {job.form}")
        for column in [*job.columns, *job.secrets, *job.kept]:
            print(f"    {column.name}: {column.kind}, {column.cells[:8]!r}, tree {column.tree}, domain {column.domain}")
        print(f"    {job.scheme} {job.options} {job.promise}")
    try:
        checks = {"plan": check_plan, "release": lambda seed: check_seed(seed, is_plain), "spark": check_spark_seed}
        outcome = checks[mode](seed)
    except Exception:  # shown, not judged
        traceback.print_exc()
        return 1
    print(f"{outcome.about}: {outcome.bounds} bounds, refused: {outcome.refused}")
    for kind, reason in outcome.failures:
        print(f"    {kind}: {reason}")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
