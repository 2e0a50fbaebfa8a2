"""What is left when a job or the server is killed: nothing that counts, and nothing of the table."""

from __future__ import annotations

import os
import re
import signal
import socket
from pathlib import Path

import pytest
from serving import MIDWAY, Served, enter, is_alive, people, start_page

from patience import PATIENCE

pytestmark = pytest.mark.xdist_group("web-security")
CANARY = "Zaphod-Beeblebrox"


def start_and_stop(page: Served, project: str) -> tuple[int, int]:
    """Publish; stop the job's process in the middle of its work, and return both numbers."""
    with page.gate(MIDWAY):
        number = page.start_publishing(project)
        page.until(lambda: list((page.projects / project / "releases").glob(".*.betalike-*")))
        worker = page.find_worker(project, number)
        os.kill(worker, signal.SIGSTOP)
    return number, worker


def send_half_an_upload(page: Served) -> socket.socket:
    """Send the beginning of an upload, and return its connection, which stays open."""
    cookie = page.client.cookies[f"betalike-{page.port}"]
    lines = [
        "POST /open/upload HTTP/1.1",
        f"Host: 127.0.0.1:{page.port}",
        f"Origin: {page.base}",
        f"Cookie: betalike-{page.port}={cookie}",
        "Content-Type: multipart/form-data; boundary=b",
        "Content-Length: 1000000",
        "",
        '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n',
        f"age,name\n1,{CANARY}\n",
    ]
    connection = socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE)
    connection.sendall("\r\n".join(lines).encode() + b"x" * 100_000)
    return connection


def test_a_killed_job_and_a_killed_server_leave_nothing(tmp_path: Path) -> None:
    with start_page(tmp_path) as page:
        enter(page)
        project = page.open_demo()
        folder = page.projects / project
        upload = page.project(page.upload("/open/upload", "a.csv", people(name=CANARY).encode()))
        assert page.wait(upload, 1) == "done"
        number, worker = start_and_stop(page, project)
        os.kill(worker, signal.SIGKILL)
        assert page.wait(project, number) == "failed"
        assert "ended before it was finished" in page.get(f"/p/{project}/publish").text
        page.until(lambda: not (folder / "jobs" / str(number) / "tmp").exists())
        assert list((folder / "releases").iterdir()) == []
        number, worker = start_and_stop(page, project)
        with send_half_an_upload(page):
            page.until(lambda: list(page.projects.glob(".arriving-*/*")))
            page.process.kill()
            page.process.wait()
    with start_page(tmp_path) as page:  # the job of the server that was killed has not ended
        enter(page)
        assert is_alive(worker)
        os.kill(worker, signal.SIGCONT)
        page.until(lambda: not is_alive(worker))  # a job does not outlive its server
        assert page.wait(project, number) in ("failed", "cancelled")
        page.until(lambda: not (folder / "jobs" / str(number) / "tmp").exists())
        assert list((folder / "releases").iterdir()) == []
        left = [path for path in page.projects.rglob("*") if path.is_file()]
        assert [path for path in left if CANARY.encode() in path.read_bytes()] == []
        assert [path for path in left if re.match(r"\.(?!lock$)", path.name)] == []
        assert page.get(f"/p/{upload}/open").status_code == 200
        fields = {"beta": "4", "k": "1", "scheme": "lmondrian", "version": page.version(project)}
        page.post(f"/p/{project}/promise", **fields)
        assert page.wait(project, page.start_publishing(project)) == "done"


def test_the_server_ends_although_an_upload_does_not_go_on(tmp_path: Path) -> None:
    with start_page(tmp_path) as page:
        enter(page)
        with send_half_an_upload(page):
            page.until(lambda: list(page.projects.glob(".arriving-*/*")))
            page.process.terminate()
            page.process.wait(PATIENCE)
    assert [path.name for path in page.projects.iterdir()] == [".lock"]
