"""Crash safety for real: processes that are killed, interrupted and terminated at any of their system calls."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from forking_publisher import ForkingPublisher
from system_calls import can_intercept
from workbench import Desk, command_line, files_under, hidden_in, is_release, people, run

from patience import PATIENCE, ask_until

needs_calls = pytest.mark.skipif(not can_intercept(), reason="this system does not hold calls for another process")
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


def count_calls(publisher: ForkingPublisher, folder: Path, *words: object, **more: object) -> list[str]:
    """Publish, and return the system calls that it makes in a folder."""
    publisher.start(*words, fault={"folder": str(folder), "step": -1, **more})
    assert publisher.wait() == 0
    return publisher.steps


@needs_calls
@pytest.mark.parametrize("n_kills", [4, pytest.param(20, marks=pytest.mark.long)])
@pytest.mark.parametrize("has_older", [False, True], ids=["fresh", "older release"])
def test_kill_9_again_and_again(publisher: ForkingPublisher, desk: Desk, has_older: bool, n_kills: int) -> None:
    table = desk.table(ROWS)
    home = Desk(desk.folder / "home")
    home.folder.mkdir()
    words = home.words(table, "--force")
    n_calls = len(count_calls(publisher, desk.folder, *words, with_reads=True))
    older = files_under(home.out) if has_older else None
    rng, ends = random.Random(n_kills), []
    for call in [n_calls // 2, *(rng.randrange(n_calls) for _ in range(n_kills - 1))]:
        if older is None:
            shutil.rmtree(home.out, ignore_errors=True)
        fault = {"folder": str(desk.folder), "step": call, "with_reads": True, "signal": signal.SIGKILL}
        publisher.start(*words, fault=fault)
        ends.append(publisher.wait())
        assert_complete_or_none(home, older)
        older = files_under(home.out) if older is not None else None
    assert -signal.SIGKILL in ends
    publisher.start(*words)
    assert publisher.wait() == 0
    assert set(files_under(home.folder)) == {"out", "out/published.csv", "out/certificate.json"}
    assert run("verify", home.out).status == 0


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


@needs_calls
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
    calls = count_calls(publisher, home.folder, *home.words(table, "--force"))
    first = next(place for place, call in enumerate(calls) if call.startswith("mkdir"))  # of the staging folder
    for call in random.Random(N_SIGNALS).sample(range(first + 1, len(calls)), N_SIGNALS):
        shutil.rmtree(home.out, ignore_errors=True)
        if has_older:
            shutil.copytree(older, home.out)
        before = files_under(home.folder)
        told = desk.folder / "errors.txt"
        told.write_text("")
        fault = {"folder": str(home.folder), "step": call, "signal": number}
        publisher.start(*home.words(table, "--force"), errors=told, fault=fault)
        status = publisher.wait()
        assert status in (0, 130), told.read_text()
        assert hidden_in(home.folder) == []
        if status == 0 or files_under(home.folder) != before:  # the signal came after the move
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
        # It may be through before its folder is seen: that is fine, too.
        ask_until(lambda: hidden_in(home.folder) or process.poll() is not None)
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in errors
    assert process.returncode in (0, 130)
    assert process.returncode == 130 or files_under(home.folder) != before
    assert run("verify", home.out).status == 0
    assert set(files_under(home.folder)) == {"out", "out/published.csv", "out/certificate.json"}
