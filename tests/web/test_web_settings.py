"""Settings that are changed: what is kept of them, and which results they still belong to."""

from __future__ import annotations

import re
from pathlib import Path

import openpyxl
import pytest
from serving import IMPOSSIBLE, Served, enter, open_people, people, promise, publish, start_page, text_of

pytestmark = pytest.mark.xdist_group("web-settings")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (
            "mysql://ada:s3cret@host/clinic",
            "'mysql'. It reads files by their paths, and databases of PostgreSQL, SQLite",
        ),
        ("sqlite:nothing.db", "The SQLite database 'sqlite:nothing.db' cannot be opened: there is no such file"),
    ],
)
def test_a_database_that_cannot_be_opened_says_why(served: Served, path: str, words: str) -> None:
    answer = served.post("/open/path", path=path, query="SELECT 1")
    assert answer.status_code == 422
    assert words in text_of(answer.text)
    assert "s3cret" not in "".join(re.findall(r'role="alert".*?</div>', answer.text, flags=re.DOTALL))


def test_a_column_that_is_left_out_and_protected_again_keeps_what_its_missing_values_count_as(served: Served) -> None:
    project = open_people(served)
    spec, box = served.projects / project / "release.toml", r'id="missing_sensitive"[^>]*'

    def choose(role: str, **fields: str) -> str:
        served.post(f"/p/{project}/columns", version=served.version(project), **{"role-1": role}, **fields)
        (found,) = re.findall(box, served.get(f"/p/{project}/columns").text)
        return str(found)

    assert "checked" in choose("sensitive", missing_sensitive="yes")
    assert "checked disabled" in choose("unused", missing_sensitive="yes")
    assert "checked" in choose("sensitive")  # the browser does not send a field that is disabled
    assert 'missing = "value"' in spec.read_text()
    assert "checked" not in choose("sensitive")
    assert "checked" not in choose("unused")
    assert "checked" not in choose("sensitive")


def made_with(served: Served, project: str, step: str) -> str:
    """Return what a step says of the settings that its release was made with; empty if it says nothing."""
    found = re.search(r'<div class="note made-with">.*?</div>', served.get(f"/p/{project}/{step}").text, re.DOTALL)
    return text_of(found.group()).strip() if found else ""


def test_the_message_of_a_refused_promise_is_gone_with_its_settings(served: Served) -> None:
    project = open_people(served)
    promise(served, project, **IMPOSSIBLE)
    assert publish(served, project)[1] == "failed"
    assert "Nothing was published" in served.get(f"/p/{project}/publish").text
    promise(served, project, k="5")
    shown = served.get(f"/p/{project}/publish").text
    assert "Nothing was published" not in shown
    assert "Publish again" not in shown
    promise(served, project, **IMPOSSIBLE)
    assert "Nothing was published" in served.get(f"/p/{project}/publish").text


def test_a_release_says_which_settings_it_was_made_with(served: Served) -> None:
    project = open_people(served)
    promise(served, project, beta="4")
    assert publish(served, project)[1] == "done"
    assert "Go on" in served.get(f"/p/{project}/publish").text
    assert [made_with(served, project, step) for step in ("publish", "look", "take-away")] == [""] * 3
    promise(served, project, beta="2.5")
    words = "Release 1 was made with beta 4; your settings now say 2.5."
    assert [made_with(served, project, step) for step in ("publish", "look", "take-away")] == [words] * 3
    shown = served.get(f"/p/{project}/publish").text
    assert "Go on" not in shown
    assert "Look at release 1" in shown
    assert publish(served, project)[1] == "done"
    assert made_with(served, project, "publish") == made_with(served, project, "look") == ""
    assert made_with(served, project, "look?release=1") == words
    served.post(f"/p/{project}/look/drop", release="2")
    assert "Go on" not in served.get(f"/p/{project}/publish").text


def test_every_kind_of_setting_is_compared(served: Served) -> None:
    project = open_people(served)
    promise(served, project)
    assert publish(served, project)[1] == "done"
    built = {"column": "0", "builder": "intervals", "widths": "10, 20", "do": "use"}
    served.post(f"/p/{project}/hierarchies", version=served.version(project), **built)
    fields = {"role-0": "quasi-identifier", "role-1": "sensitive", "missing_sensitive": "yes", "missing": "NA, ?"}
    served.post(f"/p/{project}/columns", version=served.version(project), **fields)
    promise(served, project, k="3", scheme="seam", promise="basic", format="parquet")
    assert made_with(served, project, "look") == (
        "Release 1 was made with other settings than the present ones: kind of promise: none, now basic k: 1, now 3 "
        "scheme: lmondrian, now seam format: csv, now parquet missing values: none, now NA, ? "
        "type of age: whole numbers, now categories hierarchy of age: none, now intervals of numbers: 10, 20 "
        "missing values of diagnosis: error, now value"
    )
    served.post(f"/p/{project}/columns", version=served.version(project), **{**fields, "role-0": "unused"})
    assert "the role of age: “others know it”, now “leave out” missing values of" in made_with(served, project, "look")


def test_a_running_job_says_that_the_settings_were_changed_meanwhile(served: Served) -> None:
    project = open_people(served)
    promise(served, project, beta="4")
    with served.gate():
        number = served.start_publishing(project)
        promise(served, project, beta="2")
        assert made_with(served, project, "publish") == "Release 1 is being made with beta 4; your settings now say 2."
        assert 'class="job running"' in served.get(f"/p/{project}/publish").text
    assert served.wait(project, number) == "done"


def test_a_deleted_upload_is_uploaded_again_with_what_was_chosen(tmp_path: Path) -> None:
    with start_page(tmp_path) as page:
        enter(page)
        project = page.project(page.upload("/open/upload", "gone.csv", people().encode()))
        assert page.wait(project, 1) == "done"
        assert page.upload(f"/p/{project}/upload", "gone.csv", people().encode()).status_code == 422  # it is there
        page.post(f"/p/{project}/columns", version=page.version(project), **{"role-0": "kept"}, missing="NA")
    with start_page(tmp_path) as page:
        enter(page)
        path = f"/p/{project}/open"
        shown = page.get(path).text
        assert "The uploaded table was deleted when the page ended" in text_of(shown)
        assert "Upload it again" in shown
        assert "Read it again" not in shown
        assert "guesses what its columns are" not in shown
        refused = page.upload(f"/p/{project}/upload", "gone.csv", b"")
        assert refused.headers["location"] == path
        assert page.wait(project, 2) == "failed"
        shown = page.get(path).text
        assert "Upload it again" in shown
        assert 'name="sheet"' not in shown.partition("Upload it again")[0]
        assert page.upload(f"/p/{project}/upload", "here.csv", people(90).encode()).headers["location"] == path
        assert page.wait(project, 3) == "done"
        assert "90 rows" in page.get(path).text
        spec = (page.projects / project / "release.toml").read_text()
        assert 'table = "uploads/here.csv"' in spec
        assert 'role = "kept"' in spec
        assert '"NA"' in spec


@pytest.mark.parametrize(("name", "has_sheets"), [("broken.csv", False), ("book.xlsx", True)])
def test_a_sheet_is_asked_for_only_where_there_are_sheets(served: Served, name: str, has_sheets: bool) -> None:
    content = b"a,b\n1\n2,3,4\n"
    if has_sheets:
        book = openpyxl.Workbook()
        for title in ("one", "two"):
            book.create_sheet(title).append(["age", "diagnosis"])
        book.save(served.home / name)
        content = (served.home / name).read_bytes()
    project = served.project(served.upload("/open/upload", name, content))
    assert served.wait(project, 1) == "failed"
    shown = served.get(f"/p/{project}/open").text
    assert ('id="sheet-open"' in shown) == has_sheets
    assert ("<details open>" in shown) == has_sheets
    assert ("Read it again" in shown) == has_sheets
    assert "Upload it again" in shown
