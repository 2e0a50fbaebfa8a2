"""A real PostgreSQL server for tests: its own data folder, on 127.0.0.1 alone, stopped by its process id."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

USER = "betalike_tester"
HOMES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")
ORDINARY = ("postgres", "nobody")  # users to run the server as, which root may not
OPTIONS = ("fsync=off", "shared_buffers=32MB", "max_connections=20", "log_min_messages=panic")
SECONDS_TO_START = 60.0


@dataclass(frozen=True)
class Server:
    """A running server, and the password of its only user."""

    port: int
    password: str

    def address(self, database: str = "postgres", password: str | None = None, more: str = "") -> str:
        """Return the URI of a database; an empty password is left out."""
        given = self.password if password is None else password
        return f"postgresql://{USER}{':' * bool(given)}{given}@127.0.0.1:{self.port}/{database}{more}"


def find_program(name: str) -> str | None:
    """Return the path of a program of PostgreSQL; Debian keeps them out of the usual folders."""
    places = [path for home in HOMES for path in sorted(Path(home).glob(f"**/bin/{name}"), reverse=True)]
    return shutil.which(name) or next(map(str, places), None)


def as_ordinary_user() -> list[str] | None:
    """Return how to start a command as a user that the server accepts: root is refused."""
    if os.geteuid() != 0:
        return []
    if shutil.which("runuser") is None:
        return None
    for name in ORDINARY:
        if subprocess.run(["id", name], capture_output=True).returncode == 0:
            return ["runuser", "-u", name, "--"]
    return None


@contextlib.contextmanager
def running_server() -> Iterator[Server]:
    """Start a server, or skip the test with the reason why there is none."""
    initdb, postgres, user = find_program("initdb"), find_program("postgres"), as_ordinary_user()
    if initdb is None or postgres is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    if user is None:
        pytest.skip("PostgreSQL does not run as root, and there is no other user to run it as")
    with tempfile.TemporaryDirectory(prefix="betalike-postgres-") as folder:
        home, server = Path(folder), Server(free_port(), secrets.token_hex(12))
        secret = home / "password"
        secret.write_text(server.password)
        if user:
            for path in (home, secret):
                shutil.chown(path, user[2])
        data = home / "data"
        made = [initdb, "-D", str(data), "-U", USER, "-A", "scram-sha-256", "--pwfile", str(secret), "-E", "UTF8"]
        done = subprocess.run([*user, *made, "--locale=C", "-N"], capture_output=True, text=True, cwd="/")
        assert done.returncode == 0, done.stderr
        settings = [word for option in OPTIONS for word in ("-c", option)]
        words = [*user, postgres, "-D", str(data), "-h", "127.0.0.1", "-p", str(server.port), "-k", folder, *settings]
        process = subprocess.Popen(words, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(data / "postmaster.pid", process)
            yield server
        finally:
            stop(data / "postmaster.pid", process)


def wait_for(pid_file: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server says that it takes connections."""
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end:
        assert process.poll() is None, "the server ended at once"
        with contextlib.suppress(OSError, IndexError):
            if pid_file.read_text().splitlines()[7].strip() == "ready":
                return
        time.sleep(0.05)
    raise AssertionError("the server did not start in time")


def stop(pid_file: Path, process: subprocess.Popen[bytes]) -> None:
    """Stop the server by its process id: quickly, and without waiting for its clients."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGINT)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
