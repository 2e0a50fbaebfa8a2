"""What the pages do: the same as the command line, with undo, two tabs, cancel and what a refusal says."""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from serving import IMPOSSIBLE, MIDWAY, Served, enter, open_people, people, promise, publish, start_page, text_of

import betalike
from betalike.runtime.progress import SILENT
from betalike.web.project import Project
from betalike.web.tasks import explore

pytestmark = pytest.mark.xdist_group("web-pages")


def certificate_of(folder: Path) -> dict[str, Any]:
    """A certificate without digests and times."""
    certificate: dict[str, Any] = json.loads((folder / "certificate.json").read_bytes())
    del certificate["seconds"]
    for file in certificate["files"].values():
        file.pop("sha256")
    return certificate


def code_in(page: str, name: str) -> str:
    """Return lines that a page shows, as a reader would copy them."""
    found = re.search(rf'<code id="{name}">(.*?)</code>', page, flags=re.DOTALL)
    assert found
    return html.unescape(found.group(1))


def run_shown(command: str, folder: Path) -> dict[str, Any]:
    """Run a command as it is shown, in a shell; return the certificate of the folder DIR that it makes."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        command, shell=True, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return certificate_of(folder / "DIR")


def test_the_release_equals_that_of_the_command_shown(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every kind of choice; and its cuts are at medians, so that they do not depend on chance."""
    rows = [f"{n // 2},{20 + n // 2 % 40},{n // 2 % 7}{n // 2 % 3}0,{n // 2 % 8},{n % 97}" for n in range(600)]
    (served.home / "it's.csv").write_text("\n".join(["id,age,zip,job,income", *rows]) + "\n")
    project = served.project(served.post("/open/path", path="it's.csv"))
    assert served.wait(project, 1) == "done"
    roles = ("person", "quasi-identifier", "quasi-identifier", "quasi-identifier", "sensitive")
    fields = {f"role-{number}": role for number, role in enumerate(roles)} | {"type-2": "categorical", "bins-4": "6"}
    fields |= {"type-1": "integer", "type-3": "categorical", "type-4": "integer"}
    served.post(f"/p/{project}/columns", version=served.version(project), **fields)
    path = f"/p/{project}/hierarchies"
    served.post(path, column="1", do="round", round="5", top="50", version=served.version(project))
    built = {"builder": "prefix", "lengths": "2, 1", "do": "use"}
    served.post(path, column="2", version=served.version(project), **built)
    lines = "".join(f"{job};{'early' if job < 4 else 'late'};*\n" for job in range(8)).encode()
    served.upload(f"{path}/upload", "jobs.csv", lines, column="3", version=served.version(project))
    promise(served, project, beta="1.5", k="3")
    number, state = publish(served, project)
    assert state == "done", text_of(served.get(f"/p/{project}/jobs/{number}").text)
    made = certificate_of(served.projects / project / "releases" / "1")
    assert (made["promise"]["beta"], made["promise"]["k"]) == (1.5, 3)
    assert len(made["prior_counts"]) == 6
    published = (served.projects / project / "releases" / "1" / "published.csv").read_text()
    assert "50+" in published
    assert "id" not in published.splitlines()[0].split(",")
    shown = served.get(f"/p/{project}/take-away").text
    assert run_shown(code_in(shown, "command"), tmp_path / "command") == made
    monkeypatch.chdir(tmp_path)
    exec(code_in(shown, "code"), {})
    assert certificate_of(tmp_path / "DIR") == made
    (tmp_path / "all.zip").write_bytes(served.get(f"/p/{project}/download/1/release.zip").content)
    with zipfile.ZipFile(tmp_path / "all.zip") as packed:
        packed.extractall(tmp_path / "zip")
    assert betalike.verify(tmp_path / "zip" / "release").holds
    betalike.publish(spec=tmp_path / "zip" / "release.toml", out=tmp_path / "again")
    assert certificate_of(tmp_path / "again") == made
    meaning = text_of(served.client.get(f"/p/{project}/promise/meaning", params={"beta": "1.5"}).text)
    assert "for the ranges of income" in meaning
    assert all(label in meaning for label in made["prior_counts"])
    asked = {"spec": "release-1.toml", "betas": [1.5], "curve": "curve.json"}
    explore(Project(served.projects / project), asked, SILENT)
    (point,) = json.loads((served.projects / project / "curve.json").read_bytes())["points"]
    assert point == {"beta": 1.5, "loss": made["release"]["average_loss"], "refusal": None}


def test_a_change_can_be_undone_step_by_step(served: Served) -> None:
    project = open_people(served)
    spec = served.projects / project / "release.toml"
    first = spec.read_text()
    served.post(f"/p/{project}/columns", version=served.version(project), **{"role-0": "unused", "role-1": "sensitive"})
    second = spec.read_text()
    assert second != first
    promise(served, project, beta="2")
    assert "beta = 2.0" in spec.read_text()
    served.post(f"/p/{project}/undo", version=served.version(project))
    assert spec.read_text() == second
    served.post(f"/p/{project}/undo", version=served.version(project))
    assert spec.read_text() == first


def test_of_two_tabs_the_slower_one_is_refused_and_shown_what_is_so(served: Served) -> None:
    project = open_people(served)
    version = served.version(project)
    assert served.post(f"/p/{project}/columns", version=version, missing="NA").status_code == 303
    answer = served.post(f"/p/{project}/columns", version=version, missing="none")
    assert answer.status_code == 409
    assert "changed in another tab" in answer.text
    assert 'value="NA"' in answer.text
    assert 'missing = [\n    "NA",\n]' in (served.projects / project / "release.toml").read_text()


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ({"role-0": "quasi-identifier", "role-1": "quasi-identifier"}, "0 columns with the role 'sensitive'"),
        ({"role-0": "unused", "role-1": "sensitive"}, "no quasi-identifier is named"),
    ],
)
def test_an_impossible_combination_says_so_at_once(served: Served, roles: dict[str, str], words: str) -> None:
    project = open_people(served)
    answer = served.post(f"/p/{project}/columns", version=served.version(project), go="next", **roles)
    assert answer.headers["location"].endswith("/columns")
    assert words in text_of(served.get(f"/p/{project}/columns").text).replace("No quasi", "no quasi")
    assert "disabled" in served.get(f"/p/{project}/publish").text
    assert served.post(f"/p/{project}/publish", version=served.version(project)).status_code == 422


def test_a_refused_promise_says_what_would_work_and_can_be_relaxed(served: Served) -> None:
    project = open_people(served)
    promise(served, project, **IMPOSSIBLE)
    number, state = publish(served, project)
    assert state == "failed"
    refusal = text_of(served.get(f"/p/{project}/jobs/{number}").text)
    assert "The whole table does not have distinct-l-diversity with l 3" in refusal
    assert "Choose a smaller l" in refusal
    assert not (served.projects / project / "releases" / "1").exists()
    promise(served, project, k="5")
    assert publish(served, project)[1] == "done"
    assert betalike.verify(served.projects / project / "releases" / "2").holds


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"beta": "-1"}, "beta is -1"),
        ({"beta": "four"}, "not a number"),
        ({"k": "2.5"}, "whole number"),
        ({"promise": "t-closeness"}, "keeps the promise"),
        ({"scheme": "magic"}, "no scheme"),
    ],
)
def test_a_promise_that_cannot_be_made_says_why(served: Served, fields: dict[str, str], words: str) -> None:
    project = open_people(served)
    assert words in text_of(promise(served, project, **fields)).replace("Beta is", "beta is")


def test_a_job_is_cancelled_and_leaves_nothing(served: Served) -> None:
    project = served.open_demo()
    with served.gate(MIDWAY):
        number = served.start_publishing(project)
        served.until(lambda: list((served.projects / project / "releases").glob(".*.betalike-*")))
        assert "running" in served.get(f"/p/{project}/publish").text  # as another visit, or a reload, sees it
        served.post(f"/p/{project}/jobs/{number}/cancel")
    assert served.wait(project, number) == "cancelled"
    assert list((served.projects / project / "releases").iterdir()) == []
    assert "There is no release yet" in served.get(f"/p/{project}/look").text


@pytest.mark.long
def test_a_project_is_closed_and_opened_again(tmp_path: Path) -> None:
    with start_page(tmp_path) as page:
        project = open_people(enter(page))
        upload = page.project(page.upload("/open/upload", "gone.csv", people().encode()))
        assert page.wait(upload, 1) == "done"
        promise(page, project, beta="3")
        assert publish(page, project)[1] == "done"
    with start_page(tmp_path) as page:
        enter(page)
        assert f"/p/{project}/columns" in page.get("/").text
        assert 'value="3"' in page.get(f"/p/{project}/promise").text
        assert "The promise is kept" in page.get(f"/p/{project}/look").text
        assert "The uploaded table was deleted" in page.get(f"/p/{upload}/open").text


def workbook(path: Path) -> Path:
    """Write a workbook with a sheet of notes and one of people."""
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["who", "what"])
    book.active.append(["Ada", "counted"])
    sheet = book.create_sheet("people")
    for line in people(200).splitlines():
        sheet.append([int(cell) if cell.isdecimal() else cell for cell in line.split(",")])
    book.save(path)
    return path


def test_a_workbook_asks_for_its_sheet_and_is_published(served: Served) -> None:
    book = workbook(served.home / "people.xlsx")
    project = served.project(served.upload("/open/upload", "people.xlsx", book.read_bytes()))
    assert served.wait(project, 1) == "failed"
    assert "sheet" in served.get(f"/p/{project}/jobs/1").text
    served.post(f"/p/{project}/open", sheet="people")
    assert served.wait(project, 2) == "done"
    promise(served, project, k="2")
    number, state = publish(served, project)
    assert state == "done", served.get(f"/p/{project}/jobs/{number}").text
    assert 'sheet = "people"' in (served.projects / project / "release.toml").read_text()


def test_a_query_of_a_database_is_opened(served: Served) -> None:
    with contextlib.closing(sqlite3.connect(served.home / "clinic.db")) as database:
        database.execute("CREATE TABLE visit (age INTEGER, diagnosis TEXT)")
        rows = [line.split(",") for line in people(100).splitlines()[1:]]
        database.executemany("INSERT INTO visit VALUES (?, ?)", rows)
        database.commit()
    answer = served.post("/open/path", path="sqlite:clinic.db", query="SELECT * FROM visit WHERE age < 50")
    project = served.project(answer)
    assert served.wait(project, 1) == "done", served.get(f"/p/{project}/jobs/1").text
    assert "80 rows" in served.get(f"/p/{project}/open").text


def test_hierarchies_are_previewed_used_and_uploaded(served: Served) -> None:
    project = open_people(served)
    path = f"/p/{project}/hierarchies"
    fields = {"column": "0", "builder": "intervals", "widths": "10, 20", "version": served.version(project)}
    shown = served.post(path, **fields, do="preview")
    assert "[20, 39]" in text_of(shown.text)
    assert "Covers every value" in shown.text
    assert "intervals" not in (served.projects / project / "release.toml").read_text()
    wrong = served.post(path, **{**fields, "widths": "7, 10"}, do="preview")
    assert "multiple of the one before it" in wrong.text
    assert served.post(path, **fields, do="use").status_code == 303
    assert "intervals" in (served.projects / project / "release.toml").read_text()
    lines = "".join(f"{age};{'young' if age < 40 else 'old'};*\n" for age in range(20, 59)).encode()
    served.upload(f"{path}/upload", "ages.csv", lines, column="0", version=served.version(project))
    page = text_of(served.get(path).text)
    assert "1 values of the table (7 rows) are not in this hierarchy" in page
    refused = served.upload(
        f"{path}/upload", "ages.csv", b"20;a;*\n20;b;*\n", column="0", version=served.version(project)
    )
    assert refused.status_code == 422
    served.post(path, column="0", do="remove", version=served.version(project))
    promise(served, project)
    assert publish(served, project)[1] == "done"


@pytest.mark.long
def test_the_hierarchy_of_similar_rows_is_built_by_a_job(served: Served) -> None:
    rows = [f"{20 + n % 40},{'north' if n % 2 else 'south'}{n % 5},{'flu' if n % 3 else 'cold'}" for n in range(300)]
    (served.home / "towns.csv").write_text("\n".join(["age,town,diagnosis", *rows]) + "\n")
    project = served.project(served.post("/open/path", path="towns.csv"))
    assert served.wait(project, 1) == "done"
    fields = {"column": "1", "builder": "auto", "do": "use", "version": served.version(project)}
    served.post(f"/p/{project}/hierarchies", **fields)
    assert served.wait(project, 2) == "done"
    assert (served.projects / project / "hierarchies" / "town.csv").read_text().count(";*") == 10


def test_the_order_of_dates_is_asked_for_and_kept(served: Served) -> None:
    """Where day and month look alike, publishing is refused until the page knows which comes first."""
    rows = [f"{1 + n % 12:02}/{1 + n // 12 % 12:02}/1980,{'flu' if n % 3 else 'asthma'}" for n in range(300)]
    (served.home / "born.csv").write_text("\n".join(["born,diagnosis", *rows]) + "\n")
    project = served.project(served.post("/open/path", path="born.csv"))
    assert served.wait(project, 1) == "done"
    path, roles = f"/p/{project}/columns", {"role-0": "quasi-identifier", "role-1": "sensitive"}
    served.post(path, version=served.version(project), **roles)
    assert 'name="dates"' in served.get(path).text
    promise(served, project)
    assert publish(served, project)[1] == "failed"
    served.post(path, version=served.version(project), dates="mdy", **roles)
    assert '<option value="mdy" selected>' in served.get(path).text
    served.post(path, version=served.version(project), **roles)  # a form that did not show it
    assert publish(served, project)[1] == "done"
    assert 'dates = "mdy"' in (served.projects / project / "release-2.toml").read_text()


def test_caps_are_those_of_the_promise(served: Served) -> None:
    project = open_people(served)
    shown = text_of(served.client.get(f"/p/{project}/promise/meaning", params={"beta": "0.5"}).text)
    assert "one with a share of 1 % makes up at most 1.5 % of any class" in shown
    assert "asthma 33.33 % 50.00 %" in shown
    assert "flu 66.67 % 93.70 %" in shown  # (1 - ln 2/3) 2/3: enhanced


def test_caps_count_missing_values_as_the_release_does(served: Served) -> None:
    """Codes and empty cells together are one value, or none; a hierarchy need not cover them."""
    values = ["flu"] * 50 + ["NA"] * 20 + ["?"] * 20 + [""] * 10
    rows = [f"{20 + n % 40},{value}" for n, value in enumerate(values * 3)]
    (served.home / "missing.csv").write_text("\n".join(["age,diagnosis", *rows]) + "\n")
    project = served.project(served.post("/open/path", path="missing.csv"))
    assert served.wait(project, 1) == "done"
    roles = {"role-0": "quasi-identifier", "role-1": "sensitive", "missing": "NA, ?"}

    def caps(**fields: str) -> str:
        served.post(f"/p/{project}/columns", version=served.version(project), **roles, **fields)
        return text_of(served.client.get(f"/p/{project}/promise/meaning", params={"beta": "0,5"}).text)

    shown = caps(missing_sensitive="yes")
    assert "(no value) 50.00 % 75.00 %" in shown
    assert "flu 50.00 % 75.00 %" in shown
    assert "NA" not in shown
    assert "flu 100.00 % 100.00 %" in caps()
    path, lines = f"/p/{project}/hierarchies", b"flu;illness;*\n"
    served.upload(f"{path}/upload", "d.csv", lines, column="1", version=served.version(project))
    assert "Covers every value: 1 leaves" in text_of(served.get(path).text)


@pytest.mark.long
def test_the_curve_fills_in_and_goes_on_after_it_was_cancelled(served: Served) -> None:
    project = open_people(served)
    promise(served, project)
    assert served.get(f"/p/{project}/promise").status_code == 200
    first = max(int(path.name) for path in (served.projects / project / "jobs").iterdir())
    served.post(f"/p/{project}/jobs/{first}/cancel")
    assert served.wait(project, first) in ("cancelled", "done")
    assert served.get(f"/p/{project}/promise").status_code == 200
    last = max(int(path.name) for path in (served.projects / project / "jobs").iterdir())
    assert served.wait(project, last) == "done"
    curve = served.get(f"/p/{project}/promise/curve").text
    assert curve.count("<circle") == 8
    assert "data-poll" not in curve


@pytest.mark.long
def test_attacks_and_files_of_a_release(served: Served) -> None:
    project = open_people(served)
    promise(served, project)
    assert publish(served, project)[1] == "done"
    served.post(f"/p/{project}/look/attack", release="1", attack="skewness")
    number = max(int(path.name) for path in (served.projects / project / "jobs").iterdir())
    assert served.wait(project, number) == "done"
    assert "skewness" in served.get(f"/p/{project}/look").text
    files = served.projects / project / "releases" / "1"
    for name in ("published.csv", "certificate.json"):
        assert served.get(f"/p/{project}/download/1/{name}").content == (files / name).read_bytes()
    for name in ("project.json", "..%2f..%2fproject.json", "nothing.csv"):
        assert served.get(f"/p/{project}/download/1/{name}").status_code in (404, 422)


def test_the_page_answers_while_a_large_job_runs(served: Served) -> None:
    """No time is asserted: the job cannot end here, so that a page that waited for it would not be answered."""
    project = served.open_demo()
    steps = ("open", "columns", "hierarchies", "publish")
    with served.gate(MIDWAY):
        number = served.start_publishing(project)
        assert [served.get(f"/p/{project}/{step}").status_code for step in steps] == [200] * 4
        assert 'class="job running"' in served.get(f"/p/{project}/jobs/{number}").text
        served.post(f"/p/{project}/jobs/{number}/cancel")
    assert served.wait(project, number) == "cancelled"
