"""Crash safety for real: processes that are killed, interrupted and terminated at whatever moment."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from forking_publisher import ForkingPublisher
from workbench import Desk, command_line, files_under, hidden_in, is_release, people, run

PATIENCE = 60.0
N_SIGNALS = 3
ROWS = people(3000)


def assert_complete_or_none(home: Desk, older: dict[str, bytes | None] | None) -> None:
    """No release, the older one byte for byte, or a new one that verifies."""
    if older is not None and files_under(home.out) == older:
        return
    if older is None and not home.out.exists():
        return
    assert is_release(home.out), sorted(files_under(home.folder))
    assert run("verify", home.out).status == 0
    assert set(files_under(home.out)) == {"published.csv", "certificate.json"}


@pytest.mark.parametrize("n_kills", [4, pytest.param(20, marks=pytest.mark.long)])
@pytest.mark.parametrize("has_older", [False, True], ids=["fresh", "older release"])
def test_kill_9_at_random_moments(publisher: ForkingPublisher, desk: Desk, has_older: bool, n_kills: int) -> None:
    table = desk.table(ROWS)
    home = Desk(desk.folder / "home")
    home.folder.mkdir()
    words = home.words(table, "--force")
    start = time.monotonic()
    publisher.start(*words)
    assert publisher.wait() == 0
    seconds = time.monotonic() - start
    older = files_under(home.out) if has_older else None
    ends = []
    for i in range(n_kills):
        if older is None:
            shutil.rmtree(home.out, ignore_errors=True)
        child = publisher.start(*words)
        if i % 3 == 0:  # any moment at all
            time.sleep(random.uniform(0, 1.1 * seconds))
        else:  # while it writes and moves the release
            wait_for_staging(home, seconds)
            time.sleep(random.uniform(0, 0.1 * seconds))
        os.kill(child, signal.SIGKILL)
        ends.append(publisher.wait())
        assert_complete_or_none(home, older)
        older = files_under(home.out) if older is not None else None
    assert -signal.SIGKILL in ends
    publisher.start(*words)
    assert publisher.wait() == 0
    assert set(files_under(home.folder)) == {"out", "out/published.csv", "out/certificate.json"}
    assert run("verify", home.out).status == 0


def wait_for_staging(home: Desk, most: float) -> None:
    end = time.monotonic() + most
    while not hidden_in(home.folder) and time.monotonic() < end:
        time.sleep(0.001)


@contextmanager
def started(*words: object) -> Iterator[subprocess.Popen[str]]:
    """A betalike started by a shell."""
    process = subprocess.Popen(
        command_line(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("number", "has_older"),
    [
        (signal.SIGINT, True),
        (signal.SIGTERM, False),
        pytest.param(signal.SIGINT, False, marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, True, marks=pytest.mark.long),
    ],
)
def test_signals_while_it_writes(
    publisher: ForkingPublisher, desk: Desk, number: signal.Signals, has_older: bool
) -> None:
    table = desk.table(ROWS)
    home = Desk(desk.folder / "home")
    home.folder.mkdir()
    older = desk.folder / "older"
    assert home.publish(table=desk.table(people(), name="small.csv"), out=older).status == 0
    for _ in range(N_SIGNALS):
        shutil.rmtree(home.out, ignore_errors=True)
        if has_older:
            shutil.copytree(older, home.out)
        before = files_under(home.folder)
        told = desk.folder / "errors.txt"
        told.write_text("")
        child = publisher.start(*home.words(table, "--force"), errors=told)
        wait_for_staging(home, PATIENCE)
        time.sleep(random.uniform(0, 0.02))
        os.kill(child, number)
        status = publisher.wait()
        assert status in (0, 130), told.read_text()
        assert hidden_in(home.folder) == []
        if status == 0 or files_under(home.folder) != before:  # it was through before the signal came
            assert set(files_under(home.folder)) == {"out", "out/published.csv", "out/certificate.json"}
            assert run("verify", home.out).status == 0


@pytest.mark.parametrize(
    ("number", "engine"),
    [
        (signal.SIGTERM, "batches"),
        pytest.param(signal.SIGINT, "local", marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, "local", marks=pytest.mark.long),
        pytest.param(signal.SIGINT, "batches", marks=pytest.mark.long),
    ],
)
def test_a_signal_from_the_shell(desk: Desk, number: signal.Signals, engine: str) -> None:
    table = desk.table(people(40_000))
    home = Desk(desk.folder / "home")
    assert home.publish(table=desk.table(people(), name="small.csv")).status == 0
    before = files_under(home.folder)
    with started(*home.words(table, "--force", engine=engine)) as process:
        wait_for_staging(home, PATIENCE)
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in errors
    assert process.returncode in (0, 130)
    assert process.returncode == 130 or files_under(home.folder) != before
    assert run("verify", home.out).status == 0
    assert set(files_under(home.folder)) == {"out", "out/published.csv", "out/certificate.json"}
