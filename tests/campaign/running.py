"""Runs seeds in several processes until the time or the numbers are reached, or Ctrl-C."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .counting import Tally, keep_failure
from .outcome import Outcome

CHUNKS = {"plan": 200, "release": 20, "spark": 5}  # seeds between two reports of a process
REPORT_SECONDS = 30.0
LEFT_BEHIND = Path("build") / "campaign" / "failures.jsonl"


@dataclass(frozen=True)
class Campaign:
    """How long, how many and which seeds; 0 plans or releases leave that mode out, None is without end."""

    plans: int | None = None
    releases: int | None = None
    on_spark: int | None = 0  # which takes seconds for each
    seconds: float | None = None
    workers: int = 2
    first_seed: int = 0
    is_plain: bool = False
    failures: Path = LEFT_BEHIND


def check(mode: str, seed: int, is_plain: bool) -> Outcome:
    """Check one seed; an error that is none of betalike's legal ones is a failure, kept without its message."""
    try:
        if mode == "plan":
            from .plans import check_plan

            return check_plan(seed)
        from .releases import check_seed, check_spark_seed

        return check_spark_seed(seed) if mode == "spark" else check_seed(seed, is_plain)
    except Exception as error:  # whatever it is, the campaign goes on and keeps the seed
        outcome = Outcome(seed, mode, "")
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = "" if trace is None else f" in {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        outcome.expect(False, "error", f"{type(error).__name__}{where}")
        return outcome


def work(campaign: Campaign, number: int, reports: Any, is_over: Any) -> None:
    """Check every so-many-th chunk of seeds, plans and releases in turn, and report each chunk."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
    limits = {"plan": campaign.plans, "release": campaign.releases, "spark": campaign.on_spark}
    done = dict.fromkeys(limits, number)  # in chunks
    spent = dict.fromkeys(limits, 0.0)
    while not is_over.is_set():
        open_modes = [mode for mode, most in limits.items() if most is None or done[mode] * CHUNKS[mode] < most]
        if not open_modes:
            break
        mode = min(open_modes, key=lambda mode: spent[mode])  # half of the time each
        begun, tally = time.perf_counter(), Tally()
        first, most = done[mode] * CHUNKS[mode], limits[mode]
        last = first + CHUNKS[mode] if most is None else min(first + CHUNKS[mode], most)
        for seed in range(campaign.first_seed + first, campaign.first_seed + last):
            if is_over.is_set():
                break
            outcome = check(mode, seed, campaign.is_plain)
            tally.add(outcome)
            if outcome.failures:
                keep_failure(campaign.failures, outcome)
        reports.put(tally)
        done[mode] += campaign.workers
        spent[mode] += time.perf_counter() - begun
    reports.put(None)


def run(campaign: Campaign) -> Tally:
    """Run a campaign and print its progress; Ctrl-C ends it with what was counted."""
    os.environ["POLARS_MAX_THREADS"] = "1"  # small tables: threads would only wait for each other
    context = multiprocessing.get_context("spawn")
    reports, is_over = context.Queue(), context.Event()
    workers = [
        context.Process(target=work, args=(campaign, number, reports, is_over)) for number in range(campaign.workers)
    ]
    begun, total = time.monotonic(), Tally()
    for worker in workers:
        worker.start()
    try:
        _collect(campaign, workers, reports, is_over, total, begun)
    except KeyboardInterrupt:
        print("ending: what has begun is finished first")
        is_over.set()
        _collect(campaign, workers, reports, is_over, total, begun)
    for worker in workers:
        worker.join()
    print(total.summary(time.monotonic() - begun))
    return total


def _collect(campaign: Campaign, workers: list[Any], reports: Any, is_over: Any, total: Tally, begun: float) -> None:
    """Add up reports until every process has ended."""
    told = time.monotonic()
    n_open = sum(worker.is_alive() for worker in workers)
    while n_open:
        with contextlib.suppress(queue.Empty):
            report = reports.get(timeout=1.0)
            if report is None:
                n_open -= 1
            else:
                total.join(report)
        now = time.monotonic()
        if campaign.seconds is not None and now - begun > campaign.seconds:
            is_over.set()
        if now - told > REPORT_SECONDS:
            told = now
            print(total.line(now - begun), flush=True)
        if not any(worker.is_alive() for worker in workers) and reports.empty():
            return
