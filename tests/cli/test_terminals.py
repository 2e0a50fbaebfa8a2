"""The exit status says what is on disk, whatever becomes of standard output: encodings, full disks, closed pipes."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from workbench import Desk, command_line, files_under, people, run

from betalike.cli.app import main
from betalike.cli.streams import GuardedStream
from patience import PATIENCE

ENCODINGS = ["ascii", "cp1252", "latin-1", "cp437", "koi8-r", "utf-8"]
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")


@pytest.fixture
def odd(desk: Desk) -> Path:
    """A table with characters that most encodings lack, in its column names and values."""
    rows = [[*row[:3], f"{row[3]} ☃ é", f"{row[4]} Ω"] for row in people()]
    path = desk.table(rows)
    path.write_bytes(path.read_bytes().replace(b"city", "città ☃".encode()))
    return path


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


def start(*words: object, encoding: str = "utf-8", stdout: Any = None, stderr: Any = None) -> Done:
    """Run the command line in this process, with streams of its own."""
    output, errors = io.BytesIO(), io.BytesIO()
    streams = [
        io.TextIOWrapper(buffer, encoding=encoding) if given is None else os.fdopen(given.fileno(), "w", closefd=False)
        for buffer, given in ((output, stdout), (errors, stderr))
    ]
    before = sys.stdout, sys.stderr, sys.argv
    sys.stdout, sys.stderr, sys.argv = streams[0], streams[1], ["betalike", *map(str, words)]
    try:
        main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    finally:
        sys.stdout, sys.stderr, sys.argv = before
    for stream in streams:
        stream.flush()
    return Done(status, output.getvalue(), errors.getvalue())


def start_process(*words: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the command line as a shell does."""
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return subprocess.run(command_line(*words), timeout=PATIENCE, check=False, **{**given, **options})


def words_of(command: str, desk: Desk, table: Path) -> list[object]:
    qi = ["--qi", "age,città ☃", "--sensitive", "disease"]
    return {
        "publish": ["publish", table, *qi, "--beta", 2, "--out", desk.out, "--force"],
        "audit": ["audit", desk.out, *qi],
        "verify": ["verify", desk.out],
        "query": ["query", desk.out, "age > 30"],
        "describe": ["describe", table, "-o", "-"],
        "help": ["publish", "--help"],
        "workload": ["workload", desk.out, "--original", table, "--queries", 20, "--predicates", 1],
    }[command]


@pytest.fixture
def published(desk: Desk, odd: Path) -> Path:
    assert run(*words_of("publish", desk, odd)).status == 0
    return odd


@pytest.mark.some(2)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_summary_on_a_terminal_of_another_encoding(desk: Desk, odd: Path, encoding: str) -> None:
    done = start(*words_of("publish", desk, odd), encoding=encoding)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b"" or b"Traceback" not in done.stderr
    text = done.stdout.decode(encoding)
    is_drawn = "█" in text or "░" in text
    assert is_drawn == (encoding == "utf-8")
    assert ("╭" in text) == (encoding == "utf-8")
    assert "Promise" in text
    assert "Loss" in text
    assert run("verify", desk.out).status == 0


@pytest.mark.some(2)
@pytest.mark.parametrize("command", ["audit", "verify", "describe", "help", "workload"])
def test_other_commands_on_a_terminal_of_another_encoding(desk: Desk, published: Path, command: str) -> None:
    done = start(*words_of(command, desk, published), encoding="ascii")
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    if command == "describe":
        assert "città ☃" in done.stdout.decode()  # a file's text, which is UTF-8 by definition
    else:
        assert done.stdout.isascii()


@needs_full
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_a_release_is_published_though_nothing_can_be_printed(desk: Desk, odd: Path, more: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = start_process(*words_of("publish", desk, odd), *more, stdout=full)
    assert done.returncode == 0, done.stderr
    message = done.stderr.decode()
    assert "standard output cannot be written" in message
    assert str(desk.out) in message
    assert "Traceback" not in message
    assert "ignored" not in message
    assert run("verify", desk.out).status == 0


@pytest.mark.some(2)
@needs_full
@pytest.mark.parametrize("command", ["audit", "verify", "query", "describe", "help"])
def test_a_command_whose_result_is_its_output_fails_without_it(desk: Desk, published: Path, command: str) -> None:
    for more in [[]] if command in ("describe", "help") else [[], ["--json"]]:
        with open("/dev/full", "wb") as full:
            done = start(*words_of(command, desk, published), *more, stdout=full)
        assert done.returncode == 2, done.stderr
        assert done.stderr.decode().count("standard output cannot be written") == 1
        assert b"Traceback" not in done.stderr
        assert b"ignored" not in done.stderr


@needs_full
def test_keys_that_were_made_are_reported_by_the_status(desk: Desk) -> None:
    with open("/dev/full", "wb") as full:
        done = start("keys", "new", desk.folder / "key", stdout=full)
    assert done.returncode == 0, done.stderr
    assert b"cannot be written" in done.stderr
    assert set(files_under(desk.folder)) == {"key", "key.pub"}


@needs_full
def test_a_broken_promise_is_reported_by_the_status_all_the_same(desk: Desk, published: Path) -> None:
    path = desk.out / "published.csv"
    path.write_bytes(path.read_bytes() + b"\n")
    with open("/dev/full", "wb") as full:
        assert start("verify", desk.out, stdout=full).returncode == 1
        assert start("verify", desk.out, stdout=full, stderr=full).returncode == 1


@pytest.mark.parametrize(
    ("stream", "status"), [(">&-", 2), ("2>&-", 0), pytest.param("<&- >&- 2>&-", 2, marks=pytest.mark.long)]
)
def test_closed_streams(desk: Desk, published: Path, stream: str, status: int) -> None:
    shell = f'exec "$0" "$@" {stream}'
    for command, expected in (("verify", status), ("publish", 0)):
        words = command_line(*words_of(command, desk, published))
        done = subprocess.run(["sh", "-c", shell, *words], capture_output=True, timeout=PATIENCE, check=False)
        assert done.returncode == expected, done.stderr
        assert b"Traceback" not in done.stderr
    assert run("verify", desk.out).status == 0


@pytest.mark.parametrize(("command", "status"), [("publish", 0), ("audit", 2)])
def test_a_pipe_that_nobody_reads(desk: Desk, published: Path, command: str, status: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = start_process(*words_of(command, desk, published), "--json", stdout=writer)
    finally:
        os.close(writer)
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"ignored" not in done.stderr


@needs_full
def test_errors_that_cannot_be_printed_change_nothing(desk: Desk, odd: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = start(*words_of("publish", desk, odd), "--keep", "gender", stderr=full)
        assert done.returncode == 0
        assert start("verify", desk.folder / "nowhere", stderr=full).returncode == 2
    assert run("verify", desk.out).status == 0


def test_a_guard_without_a_stream() -> None:
    guard = GuardedStream(None)
    assert not guard.isatty()
    assert guard.encoding == "utf-8"
    guard.flush()
    assert guard.take_failure() is None
    assert guard.write("text") == 4
    assert guard.take_failure() == "it is closed"
    assert guard.take_failure() is None


def test_a_guard_before_a_closed_stream(tmp_path: Path) -> None:
    with (tmp_path / "f").open("w", encoding="ascii") as file:
        guard = GuardedStream(file)
        guard.write("☃")
        guard.flush()
        assert guard.take_failure() is None
    guard.write("more")
    assert guard.take_failure() is not None
    assert (tmp_path / "f").read_text() == "\\u2603"
    assert sys.stdout is not guard
