"""Start the page as users do, and talk to it."""

from __future__ import annotations

import contextlib
import html
import http.client
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from patience import PATIENCE, ask_until

IMPOSSIBLE = {"scheme": "mondrian", "promise": "distinct-l-diversity", "l": "3", "beta": ""}  # of two diagnoses
MIDWAY = "/certificate.json"  # a job that is to write this has written its rows, in a staging folder
START = re.compile(r"http://127\.0\.0\.1:(\d+)/start\?token=[\w-]+")


@dataclass
class Served:
    """A page that runs: where, with which folders, and a client that has its session."""

    address: str
    port: int
    home: Path
    projects: Path
    process: subprocess.Popen[str]
    client: httpx.Client

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> httpx.Response:
        return self.client.get(path)

    def post(self, path: str, /, **fields: str | list[str]) -> httpx.Response:
        return self.client.post(path, data=fields, headers={"origin": self.base})

    def upload(self, path: str, name: str, content: bytes, /, **fields: str) -> httpx.Response:
        return self.client.post(path, files={"file": (name, content)}, data=fields, headers={"origin": self.base})

    def ask(self, method: str, path: str) -> int:
        """Send a request over a connection of its own, as threads must; return the status of the answer."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        headers = {"cookie": cookies, "origin": self.base}
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status

    def project(self, answer: httpx.Response) -> str:
        """Return the project that an answer leads to."""
        found = re.match(r"/p/([\w-]+)/", answer.headers["location"])
        assert found
        return found.group(1)

    def version(self, project: str) -> str:
        found = re.search(r'name="version" value="(\d+)"', self.get(f"/p/{project}/columns").text)
        assert found
        return found.group(1)

    def wait(self, project: str, number: int) -> str:
        """Wait for a job by asking for its page, as a browser does; return how it ended."""

        def end() -> str:
            found = re.search(r'class="job (\w+)"', self.get(f"/p/{project}/jobs/{number}").text)
            assert found
            return "" if found.group(1) == "running" else found.group(1)

        return ask_until(end)

    def workers(self) -> list[int]:
        """Return the processes of the server's jobs: each thread of the server has its own list of children."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        if not (tasks / str(self.process.pid) / "children").exists():
            pytest.skip("this system does not list the children of a process in /proc")
        listed = [int(number) for file in tasks.glob("*/children") for number in file.read_text().split()]
        return [number for number in listed if is_alive(number)]

    def start_publishing(self, project: str) -> int:
        """Publish, and return the number of the job."""
        self.post(f"/p/{project}/publish", version=self.version(project))
        return self.last_job(project)

    def last_job(self, project: str) -> int:
        return max(int(path.name) for path in (self.projects / project / "jobs").iterdir())

    @contextlib.contextmanager
    def gate(self, place: str = "") -> Iterator[Callable[[], None]]:
        """Hold the jobs that start meanwhile, so that they cannot end before a test is ready; yield what lets them go.

        They wait before they begin, or before they open a file with this place in its path.
        """
        locks = pytest.importorskip("fcntl", reason="this system does not lock files as tests need it")
        with gate_of(self.home).open("w") as file:
            locks.flock(file, locks.LOCK_EX)
            file.write(place)
            file.flush()
            yield file.close

    def find_worker(self, project: str, number: int) -> int:
        """Return the process of a job."""
        words = [str(self.projects / project).encode(), str(number).encode()]
        if not Path("/proc/self/cmdline").exists():
            pytest.skip("this system does not list processes in /proc")
        (worker,) = [one for one in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _runs(one, words)]
        return worker

    def until(self, is_so: Callable[[], object]) -> None:
        """Wait until the server, which announces nothing, has done something."""

        def ask() -> object:
            assert self.process.poll() is None, "the server has ended"
            return is_so()

        ask_until(ask)

    def open_demo(self) -> str:
        project = self.project(self.post("/open/demo"))
        assert self.wait(project, 1) == "done"
        return project


def _runs(number: int, words: list[bytes]) -> bool:
    """Return whether a process was started with these last words; it may end meanwhile."""
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")[-3:-1] == words
    except OSError:
        return False


def is_alive(number: int) -> bool:
    """Return whether a process runs."""
    try:
        return "(zombie)" not in Path(f"/proc/{number}/status").read_text()
    except OSError:
        return False


def gate_of(home: Path) -> Path:
    """Return the file that jobs of a page wait for, beside its home."""
    return home.parent / "gate"


def make_client(base: str) -> httpx.Client:
    """Return a client that uses no connection twice: the server may be about to close one that rested for seconds."""
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.Client(base_url=base, timeout=PATIENCE, trust_env=False, limits=limits)


@contextlib.contextmanager
def start_page(folder: Path, *options: str) -> Iterator[Served]:
    """Run `betalike web` for a folder; its home is in there, and so are its projects."""
    home, projects = folder / "home", folder / "projects"
    home.mkdir(exist_ok=True)
    words = ["web", "--no-browser", "--folder", str(home), "--projects", str(projects), *options]
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent / "gate"), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-m", "betalike", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "GATE_OF_JOBS": str(gate_of(home))},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = START.search(line)
        assert found, line
        port = int(found.group(1))
        with make_client(f"http://127.0.0.1:{port}") as client:
            yield Served(found.group(0), port, home, projects, process, client)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def enter(served: Served) -> Served:
    """Exchange the token for the session."""
    assert served.client.get(served.address).status_code == 200
    return served


def people(n_rows: int = 60, **columns: str) -> str:
    """Return a small table as CSV, with further columns of one value each."""
    head = ",".join(["age", "diagnosis", *columns])
    rows = [",".join([str(20 + n % 40), "flu" if n % 3 else "asthma", *columns.values()]) for n in range(n_rows)]
    return "\n".join([head, *rows]) + "\n"


def visits(n_people: int = 150, n_visits: int = 3) -> str:
    """Return a table of visits as CSV: each patient has a name and a birth date of their own, and several rows."""
    rows = [
        f"Patient {n},{1930 + n % 60}-{1 + n // 60:02}-{1 + n % 28:02},{'fm'[n % 2]},{(n + visit) % 7}"
        for n in range(n_people)
        for visit in range(n_visits)
    ]
    return "\n".join(["patient_name,birth_date,sex,diagnosis", *rows]) + "\n"


def open_people(served: Served) -> str:
    """Open a small table of people by its path, once for a server; then return copies of that project."""
    first = served.projects / "people"
    if not first.exists():
        (served.home / "people.csv").write_text(people(300))
        assert served.project(served.post("/open/path", path="people.csv")) == "people"
        assert served.wait("people", 1) == "done"
    number = len(list(served.projects.iterdir()))
    shutil.copytree(first, served.projects / f"copy-{number}")
    return f"copy-{number}"


def promise(served: Served, project: str, **fields: str) -> str:
    """Save a promise; return what the step after it shows."""
    asked = {"beta": "4", "k": "1", "scheme": "lmondrian", "version": served.version(project), **fields}
    answer = served.post(f"/p/{project}/promise", **asked)
    return answer.text or served.get(f"/p/{project}/publish").text


def publish(served: Served, project: str) -> tuple[int, str]:
    """Publish, and return the job and how it ended."""
    served.post(f"/p/{project}/publish", version=served.version(project))
    number = max(int(path.name) for path in (served.projects / project / "jobs").iterdir())
    return number, served.wait(project, number)


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))
