"""A process that runs inputs of one target one after another, within limits, and keeps what it found."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import hashlib
import json
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import types
import warnings
from pathlib import Path
from typing import Any

ADDRESS_SPACE = 6 << 30
RESTART_AT = 1 << 30  # of memory held; compiled libraries do not give all of it back
KEPT_OF_A_KIND = 3
MOST_SECONDS = 30  # for one input
COUNTED = struct.Struct("<Q")


def save(kept: Path, data: bytes, signature: str, details: str) -> None:
    """Keep an input that led to a finding, with the reason beside it; a few of each kind."""
    name = hashlib.sha256(signature.encode()).hexdigest()[:8]
    kept.mkdir(parents=True, exist_ok=True)
    if len(list(kept.glob(f"{name}-*.txt"))) < KEPT_OF_A_KIND:
        stem = f"{name}-{hashlib.sha256(data).hexdigest()[:8]}"
        (kept / stem).write_bytes(data)
        (kept / f"{stem}.txt").write_text(f"{signature}\n{details}\n", encoding="utf-8", errors="replace")


class Worker:
    """Judges inputs; its folder has how many are done, the current one, and the findings, for its parent to read."""

    def __init__(self, target: str, folder: Path, kept: Path) -> None:
        from .judging import Judge
        from .targets import SECRET, TARGETS, prepare

        prepare(target)
        kept.mkdir(parents=True, exist_ok=True)
        self.target, self.kept = TARGETS[target], kept
        self.is_secret = target in SECRET
        self.count = os.open(folder / "count", os.O_CREAT | os.O_RDWR)
        self.current, self.findings = folder / "current", folder / "findings"
        self.n_done = 0
        place = tempfile.mkdtemp(dir=folder)
        self.judge = Judge(Path(place), MOST_SECONDS)

    def run(self, data: bytes) -> None:
        """Judge one input; a process that is stopped by the alarm, or by a crash, leaves it as the current one."""
        self.current.write_bytes(data)
        signal.alarm(MOST_SECONDS)
        finding = self.judge.judge(self.target, data, self.is_secret)
        signal.alarm(0)
        if finding is not None:
            save(self.kept, data, finding.signature, finding.details)
            with self.findings.open("a", encoding="utf-8", errors="replace") as file:
                file.write(json.dumps([finding.signature, finding.details]) + "\n")
        self.n_done += 1
        os.pwrite(self.count, COUNTED.pack(self.n_done), 0)


def run_numbers(worker: Worker, target: str, first: int, count: int) -> None:
    """Run the inputs with these numbers, or fewer if memory is used up; the parent starts another process then."""
    from .judging import peak_memory
    from .mutations import make_input

    for number in range(first, first + count):
        worker.run(make_input(target, number))
        if peak_memory() > RESTART_AT:
            break


def run_guided(worker: Worker, target: str, first: int, seconds: int, corpus: Path) -> None:
    """Let Atheris choose inputs that reach new code, for some seconds."""
    import atheris

    from .mutations import make_input, mutate

    _instrument(atheris)
    corpus.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + 200):
        data = make_input(target, number)
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data[:20_000])

    def change(data: bytes, max_size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.5:
            return bytes(atheris.Mutate(data, max_size))
        return (data[:1] + mutate(rng, data[1:]))[:max_size]

    options = [f"-max_total_time={seconds}", "-rss_limit_mb=0", "-max_len=20000", "-verbosity=0"]
    options += [f"-artifact_prefix={worker.kept}/", f"-seed={first + 1}"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], worker.run, custom_mutator=change)
    atheris.Fuzz()


def _instrument(atheris: Any) -> None:
    """Report which branches are taken in betalike; kernels are compiled and left as they are."""
    for name, module in list(sys.modules.items()):
        if module is None or not name.startswith("betalike"):
            continue
        for thing in list(vars(module).values()):
            holders = vars(thing).values() if isinstance(thing, type) and thing.__module__ == name else [thing]
            for function in holders:
                function = getattr(function, "__func__", function)
                if isinstance(function, types.FunctionType) and function.__module__ == name:
                    with contextlib.suppress(Exception):  # some functions cannot be changed; they are not followed
                        atheris.instrument_func(function)


def main() -> None:
    """Run inputs as the parent asks for."""
    parser = argparse.ArgumentParser()
    for name in ("target", "folder", "kept"):
        parser.add_argument(name)
    for name in ("first", "count", "seconds"):
        parser.add_argument(name, type=int)
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent counts, then ends its workers
    warnings.simplefilter("error")  # a warning on a user's terminal is a finding as well
    faulthandler.enable()
    faulthandler.register(signal.SIGALRM, chain=True)  # where it was, then the end: an alarm is not handled
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder, kept = Path(given.folder), Path(given.kept)
    worker = Worker(given.target, folder, kept)
    if given.seconds:
        run_guided(worker, given.target, given.first, given.seconds, kept.parent / "corpus" / given.target)
    else:
        run_numbers(worker, given.target, given.first, given.count)


if __name__ == "__main__":
    main()
