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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from patience import PATIENCE, ask_until

USER = "betalike_tester"
HOMES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")
ORDINARY = ("postgres", "nobody")  # users to run the server as, which root may not
OPTIONS = ("fsync=off", "shared_buffers=32MB", "max_connections=20", "log_min_messages=panic")
MOST_PORTS = 20  # a free port may be taken by another program before the server has it


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
        home, password = Path(folder), secrets.token_hex(12)
        secret = home / "password"
        secret.write_text(password)
        if user:
            for path in (home, secret):
                shutil.chown(path, user[2])
        data = home / "data"
        made = [initdb, "-D", str(data), "-U", USER, "-A", "scram-sha-256", "--pwfile", str(secret), "-E", "UTF8"]
        done = subprocess.run([*user, *made, "--locale=C", "-N"], capture_output=True, text=True, cwd="/")
        assert done.returncode == 0, done.stderr
        settings = [word for option in OPTIONS for word in ("-c", option)]
        words = [*user, postgres, "-D", str(data), "-h", "127.0.0.1", "-k", folder, *settings, "-p"]
        for _ in range(MOST_PORTS):
            server = Server(free_port(), password)
            process = subprocess.Popen(
                [*words, str(server.port)], cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                if is_ready(data / "postmaster.pid", process):
                    yield server
                    return
            finally:
                stop(data / "postmaster.pid", process)
        raise AssertionError(f"the server ended at once, on each of {MOST_PORTS} ports")


def is_ready(pid_file: Path, process: subprocess.Popen[bytes]) -> bool:
    """Wait until the server says, in its file alone, that it takes connections; return whether it came to that."""

    def has_ended_or_begun() -> str:
        if process.poll() is not None:
            return "ended"
        with contextlib.suppress(OSError, IndexError):
            return "begun" if pid_file.read_text().splitlines()[7].strip() == "ready" else ""
        return ""

    return ask_until(has_ended_or_begun) == "begun"


def stop(pid_file: Path, process: subprocess.Popen[bytes]) -> None:
    """Stop the server by its process id: quickly, and without waiting for its clients."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGINT)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
