"""Fuzz every parser: `python -m tests.fuzzing --inputs 100000`, or `--hours 8`, or `--hours 1 --atheris`.

Inputs follow from their numbers, so that a run can be repeated: `--first-seed` says which number comes first. Failing
inputs are kept in build/fuzzing/<target>, with the reason, for `--replay`. The status is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .worker import COUNTED, MOST_SECONDS, save

KEPT = Path("build") / "fuzzing"
NAMES = [
    "csv",
    "compressed",
    "parquet",
    "arrow",
    "hierarchies",
    "release.toml",
    "certificate",
    "predicates",
    "labels",
]
SLICE = 5000
GUIDED_SECONDS = 120
REPORT_EVERY = 300
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "NUMBA_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@dataclass
class Tally:
    """What is known of one target so far."""

    n_inputs: int = 0
    seconds: float = 0.0
    findings: Counter[str] = field(default_factory=Counter)


@dataclass
class Slice:
    """Inputs of one target that a process is to run, or is running."""

    target: str
    first: int
    count: int
    seconds: int = 0


class Process:
    """A worker process with the slice that it runs."""

    def __init__(self, asked: Slice) -> None:
        self.asked, self.start = asked, time.monotonic()
        roomy = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(prefix="fuzzing-", dir=roomy if os.access(roomy, os.W_OK) else None))
        self.log = (self.folder / "log").open("wb")
        words = [asked.target, self.folder, KEPT / asked.target, asked.first, asked.count, asked.seconds]
        command = [sys.executable, "-m", f"{__package__}.worker", *map(str, words)]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env={**os.environ, **ONE_THREAD})

    @property
    def n_done(self) -> int:
        """How many inputs it has finished."""
        try:
            return int(COUNTED.unpack((self.folder / "count").read_bytes())[0])
        except (OSError, struct.error):  # not one yet
            return 0

    def findings(self) -> Iterator[str]:
        """What it found, and how it ended if that was not as it should."""
        found = self.folder / "findings"
        for line in found.read_text(encoding="utf-8").splitlines() if found.exists() else []:
            yield json.loads(line)[0]
        status, current = self.process.returncode, self.folder / "current"
        if status != 0 and current.exists():
            name = signal.Signals(-status).name if status < 0 else f"status {status}"
            logs = [self.folder / "log", *self.folder.glob("*/stderr")]
            log = "".join(path.read_text(encoding="utf-8", errors="replace") for path in logs)
            signature = f"the process ended with {name}"
            save(KEPT / self.asked.target, current.read_bytes(), signature, log[-5000:])
            yield signature
        elif status != 0:
            raise SystemExit((self.folder / "log").read_text(errors="replace"))

    def close(self) -> None:
        """Remove its folder."""
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Campaign:
    """Runs slices in worker processes until all are done, or the time is up."""

    def __init__(self, targets: list[str], n_workers: int, end: float | None) -> None:
        self.tallies = {target: Tally() for target in targets}
        self.n_workers, self.end = n_workers, end
        self.running: list[Process] = []
        self.start = self.reported = time.monotonic()

    def run(self, waiting: Iterator[Slice]) -> None:
        """Run the slices; those of a process that ends early are taken up again where it ended."""
        again: list[Slice] = []
        while not self.is_over:
            while len(self.running) < self.n_workers:
                asked = again.pop() if again else next(waiting, None)
                if asked is None:
                    break
                self.running.append(Process(asked))
            if not self.running:
                return
            time.sleep(0.5)
            for process in [process for process in self.running if process.process.poll() is not None]:
                again += self._finish(process)
            if time.monotonic() - self.reported > REPORT_EVERY:
                self.reported = time.monotonic()
                self.print()

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.end is not None and time.monotonic() > self.end

    def _finish(self, process: Process) -> list[Slice]:
        self.running.remove(process)
        asked, n_done, tally = process.asked, process.n_done, self.tallies[process.asked.target]
        is_crashed = process.process.returncode != 0
        try:
            tally.findings.update(process.findings())
        finally:
            process.close()
        n_done += is_crashed  # the one that it crashed on
        tally.n_inputs += n_done
        tally.seconds += time.monotonic() - process.start
        if asked.seconds:
            left = asked.seconds - int(time.monotonic() - process.start)
            return [Slice(asked.target, asked.first + 1, 0, left)] if is_crashed and left > 5 else []
        left = asked.count - n_done
        return [Slice(asked.target, asked.first + n_done, left)] if left > 0 else []

    def stop(self) -> None:
        """End what is running, and count what it did."""
        for process in self.running:
            process.process.kill()
        for process in self.running:
            process.process.wait()
            tally = self.tallies[process.asked.target]
            tally.n_inputs += process.n_done
            tally.seconds += time.monotonic() - process.start
            (process.folder / "current").unlink(missing_ok=True)
            process.process.returncode = 0
            tally.findings.update(process.findings())
            process.close()
        self.running = []

    def print(self) -> None:
        """Print how many inputs were run, how fast, and what was found."""
        print(f"after {(time.monotonic() - self.start) / 60:.1f} minutes:", flush=True)
        for target, tally in self.tallies.items():
            n_inputs = tally.n_inputs + sum(p.n_done for p in self.running if p.asked.target == target)
            seconds = tally.seconds + sum(time.monotonic() - p.start for p in self.running if p.asked.target == target)
            rate = n_inputs / seconds if seconds else 0.0
            n_found = sum(tally.findings.values())
            print(f"  {target:13} {n_inputs:>10,} inputs {rate:>7,.0f} a second {n_found:>6,} findings")
            for signature, times in tally.findings.most_common():
                print(f"    {times:>6} x {signature}")
        sys.stdout.flush()


def slices(targets: list[str], n_inputs: int | None, first: int) -> Iterator[Slice]:
    """Slices of every target in turn, so many inputs of each, or without end."""
    start = 0
    while n_inputs is None or start < n_inputs:
        count = SLICE if n_inputs is None else min(SLICE, n_inputs - start)
        yield from (Slice(target, first + start, count) for target in targets)
        start += count


def guided_slices(targets: list[str], first: int) -> Iterator[Slice]:
    """Turns of coverage-guided fuzzing, without end."""
    while True:
        yield from (Slice(target, first, 0, GUIDED_SECONDS) for target in targets)
        first += 1000


def replay(path: Path) -> int:
    """Judge one kept input, and print what it leads to; 1 if that is a finding."""
    from .judging import Judge
    from .targets import SECRET, TARGETS, prepare

    target = path.absolute().parent.name
    prepare(target)
    with tempfile.TemporaryDirectory() as folder:
        finding = Judge(Path(folder), MOST_SECONDS).judge(TARGETS[target], path.read_bytes(), target in SECRET)
    print("nothing found" if finding is None else f"{finding.signature}\n{finding.details}")
    return int(finding is not None)


def main() -> int:
    """Run a campaign; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__.split("\n")[0])
    parser.add_argument("--inputs", type=int, help="how many inputs for each target")
    parser.add_argument("--hours", type=float, help="how long to go on")
    parser.add_argument("--target", action="append", choices=NAMES, help="one parser; all by default")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--first-seed", type=int, default=0, help="the number of the first input")
    parser.add_argument(
        "--atheris", action="store_true", help="guided by coverage, with the package atheris; needs --hours"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="FILE", help="one kept input, of the parser that its folder names"
    )
    given = parser.parse_args()
    if given.replay is not None:
        return replay(given.replay)
    if given.inputs is None and given.hours is None:
        parser.error("say how many --inputs, or for how many --hours")
    targets = given.target or NAMES
    is_guided = given.atheris
    if is_guided and importlib.util.find_spec("atheris") is None:
        print("atheris is not installed, or not there for this Python: fuzzing goes on without it.")
        is_guided = False
    if is_guided and given.hours is None:
        parser.error("--atheris goes by time: give --hours")
    subprocess.run([sys.executable, "-m", "experiments.warming"], check=True)  # compiling is slow; no input is to blame
    end = None if given.hours is None else time.monotonic() + given.hours * 3600
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    campaign = Campaign(targets, given.workers, end)
    try:
        if is_guided:
            campaign.run(guided_slices(targets, given.first_seed))
        else:
            campaign.run(slices(targets, given.inputs, given.first_seed))
    except KeyboardInterrupt:
        print("interrupted")
    finally:
        campaign.stop()
    campaign.print()
    return 1 if any(tally.findings for tally in campaign.tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
