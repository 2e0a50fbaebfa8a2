"""A table of a PostgreSQL server, from its address to a release: the password is in memory alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from serving import Served, enter, people, start_page

import betalike
from patience import PATIENCE
from postgres_server import USER, Server, running_server

pytestmark = pytest.mark.xdist_group("web-pages")
STEPS = ("open", "columns", "hierarchies", "promise", "publish", "look", "take-away")
QUERY = "SELECT age, diagnosis FROM visit WHERE age < 50"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    driver = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="the extra sql is not installed")
    with running_server() as started:
        rows = ", ".join(f"({age}, '{diagnosis}')" for age, diagnosis in _rows())
        with driver.connect(started.address()) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE visit (age INTEGER, diagnosis TEXT)")
            cursor.execute(f"INSERT INTO visit VALUES {rows}")
            connection.commit()
        yield started


def _rows() -> list[list[str]]:
    return [line.split(",") for line in people(100).splitlines()[1:]]


def assert_secret(page: Served, password: str, *texts: str) -> None:
    """No file of the projects, no command line and none of these texts has the password."""
    held = {path: path.read_bytes() for path in page.projects.rglob("*") if path.is_file()}
    assert [path for path, content in held.items() if password.encode() in content] == []
    titles = [Path(f"/proc/{number}/cmdline").read_bytes() for number in (page.process.pid, *page.workers())]
    assert password.encode() not in b"".join(titles)
    assert password not in "".join(texts)


def ask_again(page: Served, server: Server) -> None:
    """A password is asked for, a wrong one is not repeated, and a project with the name of a deleted one gets none."""
    wrong, bare = "p@ss:w/rd %?", server.address(password="")
    project = page.project(page.post("/open/path", path=bare, table_name="visit"))
    assert page.wait(project, 1) == "failed"
    assert re.search(r"needs a password.*Give it on the step", page.get(f"/p/{project}/open").text, re.DOTALL)
    page.post(f"/p/{project}/open", table_name="visit", password=wrong)
    assert page.wait(project, 2) == "failed"
    refused = page.get(f"/p/{project}/open").text
    assert "password is wrong" in refused
    assert_secret(page, wrong, refused)
    page.post(f"/p/{project}/delete")
    address = server.address(password=quote(wrong, safe=""))
    assert page.project(page.post("/open/path", path=address, table_name="visit", password=server.password)) == project
    assert page.wait(project, 1) == "done"
    page.post(f"/p/{project}/delete")
    assert page.project(page.post("/open/path", path=bare, table_name="visit")) == project
    assert page.wait(project, 1) == "failed"


def test_the_whole_way_of_a_query_with_a_password(server: Server, tmp_path: Path) -> None:
    with start_page(tmp_path) as page:
        enter(page)
        answer = page.post("/open/path", path=server.address(), query=QUERY)
        project = page.project(answer)
        assert_secret(page, server.password, str(answer.headers))
        assert page.wait(project, 1) == "done", page.get(f"/p/{project}/jobs/1").text
        assert "80 rows" in page.get(f"/p/{project}/open").text
        page.post(f"/p/{project}/promise", version=page.version(project), beta="4", k="3", scheme="lmondrian")
        page.post(f"/p/{project}/publish", version=page.version(project))
        number = max(int(path.name) for path in (page.projects / project / "jobs").iterdir())
        assert_secret(page, server.password)
        assert page.wait(project, number) == "done", page.get(f"/p/{project}/jobs/{number}").text
        shown = [page.get(f"/p/{project}/{step}").text for step in STEPS]
        assert_secret(page, server.password, *shown, page.get("/").text)
        assert f"{USER}@127.0.0.1:{server.port}" in shown[-1]
        assert "PGPASSWORD" in shown[-1]
        spec = page.get(f"/p/{project}/download/1/release.toml").text
        assert server.password not in spec
        release = page.projects / project / "releases" / "1"
        assert betalike.verify(release, original=server.address(), query=QUERY).holds
        ask_again(page, server)
        page.process.terminate()
        assert server.password not in "".join(page.process.communicate(timeout=PATIENCE))
    (tmp_path / "release.toml").write_text(spec)
    words = ["publish", "--spec", str(tmp_path / "release.toml"), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PGPASSWORD": server.password}
    done = subprocess.run([sys.executable, "-m", "betalike", *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "certificate.json").is_file()
