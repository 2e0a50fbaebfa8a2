"""Odd and hostile input: refused with a sentence, nothing broken, and nothing lost."""

from __future__ import annotations

import concurrent.futures
import contextlib
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Served, enter, people, start_page

import betalike
from patience import PATIENCE

pytestmark = pytest.mark.xdist_group("web-security")
LONG = "9" * 5000


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A page with one project, `people`, that only refused requests are sent to."""
    with start_page(tmp_path_factory.mktemp("hostile")) as page:
        enter(page)
        (page.home / "people.csv").write_text(people())
        page.post("/open/path", path="people.csv")
        assert page.wait("people", 1) == "done"
        yield page


@pytest.mark.parametrize(
    "path",
    [
        "/p/{name}/open",
        "/p/{digits}/open",
        "/p/a%00b/open",
        "/p/people%2f..%2fpeople/open",
        "/p/..%5cpeople/open",
        "/p/people/jobs/{digits}",
        "/p/people/jobs/99999999999999999999",
        "/p/people/download/{digits}/release.zip",
        "/p/people/download/99999999999999999999/release.zip",
        "/p/people/download/1/..%2f..%2fproject.json",
        "/browse?folder=~nobody-at-all",
        "/browse?folder=a%00b",
    ],
)
def test_an_odd_address_is_refused(hostile: Served, path: str) -> None:
    assert hostile.get(path.format(name="a" * 400, digits=LONG)).status_code in (404, 414, 422)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/open/path", {"path": "~nobody-at-all/table.csv"}),
        ("/open/path", {"path": "a\0b.csv"}),
        ("/open/path", {"path": "a" * 5000}),
        ("/p/people/promise", {"beta": "4", "k": "inf"}),
        ("/p/people/promise", {"beta": "4", "k": "nan"}),
        ("/p/people/promise", {"beta": "1e999", "k": "1"}),
        ("/p/people/promise", {"beta": "4", "k": "1,000"}),
        ("/p/people/promise", {"beta": "4", "k": "1.000"}),
        ("/p/people/promise", {"beta": "1,500", "k": "1"}),
        ("/p/people/promise", {"beta": "4", "k": LONG}),
        ("/p/people/hierarchies", {"column": "0", "do": "use", "builder": "frequency", "least": "1,000"}),
        ("/p/people/hierarchies", {"column": LONG, "do": "preview"}),
        ("/p/people/hierarchies", {"column": "0", "do": "use", "builder": "prefix", "lengths": LONG}),
        ("/p/people/hierarchies", {"column": "0", "do": "round", "round": "nan"}),
        ("/p/people/hierarchies", {"column": "0", "do": "round", "round": "month"}),
        ("/p/people/hierarchies", {"column": "0", "do": "round", "bottom": "50", "top": "20"}),
        ("/p/people/look/attack", {"release": LONG, "attack": "skewness"}),
        ("/p/people/look/choose", {"release": LONG}),
        ("/p/people/look/choose", {"release": "77"}),
        ("/p/people/look/drop", {"release": "../people"}),
        ("/p/people/take-away/report", {"release": LONG, "audience": "public"}),
    ],
)
def test_an_odd_form_is_refused_and_changes_nothing(hostile: Served, path: str, fields: dict[str, str]) -> None:
    project = hostile.projects / "people" / "project.json"
    before = project.read_bytes()
    answer = hostile.post(path, version=hostile.version("people"), **fields)
    assert answer.status_code == 422
    assert project.read_bytes() == before


def test_a_form_with_too_many_fields_is_refused(hostile: Served) -> None:
    headers = {"origin": hostile.base, "content-type": "application/x-www-form-urlencoded"}
    assert hostile.client.post("/p/people/columns", content=b"a&" * 20_001, headers=headers).status_code == 413


@pytest.mark.parametrize("host", ["127.0.0.1.evil:{port}", "evil@127.0.0.1:{port}", "[::1]:{port}", "127.1:{port}"])
def test_a_name_that_resembles_its_own_is_refused(hostile: Served, host: str) -> None:
    assert hostile.client.get("/", headers={"host": host.format(port=hostile.port)}).status_code == 403


@pytest.mark.parametrize("path", ["/open/demo", "/p/people/delete", "/p/people/undo", "/p/people/look/drop?release=1"])
def test_reading_an_address_changes_nothing(hostile: Served, path: str) -> None:
    """Another site could make a browser read it."""
    before = sorted(hostile.projects.iterdir())
    assert hostile.get(path).status_code == 405
    assert sorted(hostile.projects.iterdir()) == before


def test_a_job_leads_to_no_other_site(hostile: Served) -> None:
    for target in ("https://evil.example/", "//evil.example/", "javascript:alert(1)", "/p/peoples/open"):
        shown = hostile.client.get("/p/people/jobs/1", params={"next": target}).text
        assert target not in shown
    assert "/p/people/look" in hostile.client.get("/p/people/jobs/1", params={"next": "/p/people/look"}).text
    answer = hostile.post("/p/people/jobs/77/cancel", step="//evil.example")
    assert answer.headers["location"] == "/p/people/open"


def test_a_job_of_another_project_is_not_cancelled(hostile: Served) -> None:
    with hostile.gate():
        first, second = (hostile.project(hostile.post("/open/path", path="people.csv")) for _ in range(2))
        hostile.post(f"/p/{second}/jobs/1/cancel")
    assert hostile.wait(second, 1) == "cancelled"
    assert hostile.wait(first, 1) == "done"


def test_uploads_with_odd_names_and_parts(hostile: Served) -> None:
    project = hostile.project(hostile.upload("/open/upload", "病" * 100 + ".csv", people().encode()))
    (name,) = [path.name for path in (hostile.projects / project / "uploads").iterdir()]
    assert name.endswith("病.csv")
    hostile.post(f"/p/{project}/delete")
    headers = {"origin": hostile.base, "content-type": "multipart/form-data; boundary=b"}
    field = b'--b\r\nContent-Disposition: form-data; name="f%d"\r\n\r\nx\r\n'
    for body in (
        b"".join(field % number for number in range(1000)) + b"--b--\r\n",
        b"--b\r\nX-Long: " + b"y" * 100_000 + b"\r\n\r\n",
        b'--b\r\nContent-Disposition: form-data; name="f"\r\n\r\n' + b"z" * 100_000,
    ):
        assert hostile.client.post("/open/upload", content=body, headers=headers).status_code == 422
    assert list(hostile.projects.glob(".arriving-*")) == []


def test_a_hierarchy_does_not_replace_a_table_or_an_older_hierarchy(hostile: Served) -> None:
    """It may have the name of the uploaded table, and undo needs the file that was used before."""
    project = hostile.project(hostile.upload("/open/upload", "people.csv", people().encode()))
    assert hostile.wait(project, 1) == "done"
    folder, path = hostile.projects / project, f"/p/{project}/hierarchies"
    spec = folder / "release.toml"

    def upload(groups: str, version: str | None = None) -> int:
        lines = "".join(f"{age};{groups}{age // 20};*\n" for age in range(20, 60)).encode()
        chosen = hostile.version(project) if version is None else version
        return hostile.upload(f"{path}/upload", "people.csv", lines, column="0", version=chosen).status_code

    assert upload("first") == 303
    assert (folder / "uploads" / "people.csv").read_text() == people()
    assert upload("second") == 303
    assert upload("third", version="1") == 409
    assert "second" in hostile.get(path).text
    hostile.post(f"/p/{project}/undo", version=hostile.version(project))
    named = re.search(r'hierarchy = "(.*)"', spec.read_text())
    assert named
    assert "first" in (folder / named.group(1)).read_text()
    assert len(list((folder / "hierarchies").iterdir())) == 2
    wrong = hostile.upload(f"{path}/upload", "病\x01<b>.csv", b"20;a;*\n20;b;*\n", column="0", version="1")
    assert wrong.status_code == 422
    assert str(folder) not in wrong.text
    assert [found.name for found in folder.glob(".hierarchy-*")] == []


def test_control_characters_in_names_of_columns(hostile: Served) -> None:
    name = "diag\x01\u202e\x1b[31m\x7fnosis"
    (hostile.home / "odd.csv").write_text(people().replace("diagnosis", name))
    project = hostile.project(hostile.post("/open/path", path="odd.csv"))
    assert hostile.wait(project, 1) == "done"
    for step in ("open", "columns", "hierarchies", "promise", "publish"):
        assert hostile.get(f"/p/{project}/{step}").status_code == 200
    hostile.post(f"/p/{project}/publish", version=hostile.version(project))
    number = max(int(path.name) for path in (hostile.projects / project / "jobs").iterdir())
    assert hostile.wait(project, number) == "done"


def test_a_path_that_becomes_a_link_is_not_followed(hostile: Served) -> None:
    """Somebody who can write into the folder exchanges the table for a link to a file outside."""
    secret, table = hostile.home.parent / "secret.csv", hostile.home / "swapped.csv"
    secret.write_text(people(100))
    table.write_text(people())
    project = hostile.project(hostile.post("/open/path", path="swapped.csv"))
    assert hostile.wait(project, 1) == "done"
    table.unlink()
    table.symlink_to(secret)
    hostile.post(f"/p/{project}/publish", version=hostile.version(project))
    number = max(int(path.name) for path in (hostile.projects / project / "jobs").iterdir())
    assert hostile.wait(project, number) == "failed"
    assert "leads through a link" in hostile.get(f"/p/{project}/jobs/{number}").text


def test_a_query_reads_its_database_and_no_file(tmp_path: Path) -> None:
    """The page hands queries to the same function."""
    duckdb = pytest.importorskip("duckdb", reason="the extra sql is not installed")
    (tmp_path / "secret.csv").write_text(people())
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
        database.execute("CREATE TABLE visit AS SELECT range AS age FROM range(100)")
    with contextlib.closing(sqlite3.connect(tmp_path / "clinic.db")) as lite:
        lite.execute("CREATE TABLE visit AS SELECT 1 AS age")
        lite.commit()
    for query in (
        f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')",
        f"COPY visit TO '{tmp_path / 'written.csv'}'; SELECT * FROM visit",
        "SET enable_external_access = true; SELECT * FROM visit",
    ):
        with pytest.raises(betalike.errors.FileError, match="cannot be read"):
            betalike.describe(f"duckdb:{tmp_path / 'clinic.duckdb'}", query=query)
    attached = f"SELECT 1); ATTACH '{tmp_path / 'made.db'}' AS more; SELECT (1"
    betalike.describe(f"sqlite:{tmp_path / 'clinic.db'}", query=attached)  # the second statement is not run
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clinic.db", "clinic.duckdb", "secret.csv"]


def test_a_damaged_project_does_not_hide_the_others(hostile: Served) -> None:
    broken = hostile.projects / "broken"
    broken.mkdir()
    (broken / "project.json").write_text("{")
    shown = hostile.get("/")
    assert shown.status_code == 200
    assert "/p/people/columns" in shown.text
    assert "broken cannot be read" in shown.text
    assert hostile.get("/p/broken/open").status_code == 422
    hostile.post("/p/broken/delete")
    assert not broken.exists()


def test_a_folder_that_is_no_project_does_not_hide_the_others(hostile: Served) -> None:
    others = [hostile.projects / name for name in ("a" * 100, ".kept")]
    for folder in others:
        shutil.copytree(hostile.projects / "people", folder)
    shown = hostile.get("/")
    assert shown.status_code == 200
    assert "/p/people/columns" in shown.text
    for folder in others:
        shutil.rmtree(folder)


@pytest.mark.parametrize("file", ["table.json", "counts.json"])
def test_what_is_known_of_a_table_is_found_again_if_it_is_damaged(hostile: Served, file: str) -> None:
    folder = hostile.projects / file.replace(".", "-")
    shutil.copytree(hostile.projects / "people", folder)
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(whole[:20])
    for step in ("open", "columns", "hierarchies", "promise", "publish"):
        assert hostile.get(f"/p/{folder.name}/{step}").status_code in (200, 303)
    if file == "table.json":
        assert "Read it again" in hostile.get(f"/p/{folder.name}/open").text
        hostile.post(f"/p/{folder.name}/open")
    for job in (folder / "jobs").iterdir():
        assert hostile.wait(folder.name, int(job.name)) == "done"
    assert (folder / file).read_bytes() == whole


def test_a_file_that_cannot_be_written_is_no_bug_and_changes_nothing(hostile: Served) -> None:
    """As on a full disk: here, a folder is where the file is to be written first."""
    folder = hostile.projects / "people"
    before, obstacle = (folder / "project.json").read_bytes(), folder / f".project.json.{hostile.process.pid}"
    obstacle.mkdir()
    answer = hostile.post("/p/people/columns", version=hostile.version("people"), missing="NA")
    obstacle.rmdir()
    assert answer.status_code == 500
    assert "cannot be read or written: Is a directory" in answer.text
    assert (folder / "project.json").read_bytes() == before


def test_many_requests_while_projects_are_deleted(hostile: Served) -> None:
    """Each is answered: with the project, or that there is none."""
    names = [f"doomed-{number}" for number in range(3)]
    for name in names:
        shutil.copytree(hostile.projects / "people", hostile.projects / name)
    reads = [f"/p/{name}/{step}" for name in names for step in ("columns", "promise", "hierarchies")]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        shown = [pool.submit(hostile.ask, "GET", path) for path in (*reads, "/", "/")]
        deleted = [pool.submit(hostile.ask, "POST", f"/p/{name}/delete") for name in names for _ in range(3)]
        shown += [pool.submit(hostile.ask, "GET", path) for path in (*reads, "/", "/")]
    assert {request.result() for request in shown} <= {200, 303, 422}
    assert {request.result() for request in deleted} == {303, 422}
    assert [path.name for path in hostile.projects.iterdir() if "doomed" in path.name] == []
    assert list(hostile.projects.glob(".deleted-*")) == []


def test_many_visits_at_once_start_one_job(hostile: Served) -> None:
    """Every visit of the step Promise sees whether the curve is being measured."""
    served, project = hostile, "visited"
    shutil.copytree(hostile.projects / "people", hostile.projects / project)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(lambda _: served.ask("GET", f"/p/{project}/promise"), range(60)))
    assert statuses == [200] * 60
    jobs = [path.name for path in (served.projects / project / "jobs").iterdir()]
    assert sorted(jobs) == ["1", "2"]
    served.post(f"/p/{project}/delete")


def test_a_page_that_uses_the_same_projects_is_refused(hostile: Served) -> None:
    words = ["web", "--no-browser", "--folder", str(hostile.home), "--projects", str(hostile.projects)]
    done = subprocess.run([sys.executable, "-m", "betalike", *words], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert "another `betalike web` uses the projects" in done.stderr
