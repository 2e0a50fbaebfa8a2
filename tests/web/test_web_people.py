"""A table whose people have several rows: what the page counts in people, and what in rows."""

from __future__ import annotations

import re
import shutil

import pytest
from serving import Served, promise, publish, text_of, visits
from typer.testing import CliRunner

import betalike
from betalike.cli.app import app
from betalike.measures import phrases

pytestmark = pytest.mark.xdist_group("web-people")


@pytest.fixture(scope="module")
def hospital(served: Served) -> str:
    """A project with visits, of which each patient has three."""
    (served.home / "visits.csv").write_text(visits())
    project = served.project(served.post("/open/path", path="visits.csv"))
    assert served.wait(project, 1) == "done"
    return project


def test_columns_single_out_people_where_a_column_says_whose_row_it_is(served: Served, hospital: str) -> None:
    """Each birth date is that of one patient, who has three rows: no row is alone with it, and every patient is."""
    path = f"/p/{hospital}/columns"
    shown = text_of(served.get(path).text)
    assert "of pairs of people" not in shown
    assert shown.count("singles out 100.0 % of the people") == 2
    assert "birth_date and sex single out 100.0 % of the people" in shown
    roles = {"role-0": "unused", "role-1": "quasi-identifier", "role-2": "person", "role-3": "sensitive"}
    served.post(path, version=served.version(hospital), **roles)
    assert "of the people" not in text_of(served.get(path).text)
    served.post(f"/p/{hospital}/undo", version=served.version(hospital))


@pytest.fixture(scope="module")
def look(served: Served, hospital: str) -> str:
    """The step Look of a release without a k, and its folder's certificate beside it."""
    fields = {"beta": "4", "k": "1", "scheme": "lmondrian", "version": served.version(hospital)}
    served.post(f"/p/{hospital}/promise", **fields)
    assert served.wait(hospital, served.start_publishing(hospital)) == "done"
    return served.get(f"/p/{hospital}/look").text


def test_the_headline_and_the_sizes_of_classes_count_people_as_the_report_does(
    served: Served, hospital: str, look: str
) -> None:
    folder = served.projects / hospital / "releases" / "1"
    facts = betalike.open_release(folder).certificate
    smallest, people = facts["people"]["smallest_class"], facts["people"]["people"]
    assert (smallest < facts["release"]["smallest_class"], people) == (True, 150)
    report = text_of(betalike.open_release(folder).report(quick=True).html)
    assert f"Smallest class {phrases.people(smallest)} people" in report
    assert f"smallest class {smallest} people" in text_of(look)
    surest = max(1 / facts["also"]["l"], facts["people"]["risk"]["surest_guess"])
    shown = re.search(r"Surest guess of a value: at most ([\d.]+) %", text_of(look))
    assert shown
    assert float(shown[1]) == pytest.approx(100 * surest, rel=0.01)
    sizes = look.partition('id="sizes"')[2].partition("</section>")[0]
    assert '<th scope="col">people</th>' in sizes
    assert f'<th scope="row">{smallest}' in sizes


def test_the_page_warns_of_small_classes_as_the_terminal_does(served: Served, hospital: str, look: str) -> None:
    folder = served.projects / hospital / "releases" / "1"
    smallest = betalike.open_release(folder).certificate["people"]["smallest_class"]
    words = f"Some classes have fewer than 5 people, the smallest {smallest}; a k asks for larger ones."
    assert smallest < 5
    assert words in text_of(look)
    verified = CliRunner().invoke(app, ["verify", str(folder)], env={"COLUMNS": "200"})
    assert words in re.sub(r"[│\s]+", " ", verified.output)


WARNING = "Everybody will read who these people are."
ROLES = {"role-1": "quasi-identifier", "role-2": "quasi-identifier", "role-3": "sensitive"}


@pytest.fixture
def named(served: Served, hospital: str) -> str:
    """A project in which the names of the patients are to be published as they are."""
    project = f"named-{len(list(served.projects.iterdir()))}"
    later = shutil.ignore_patterns("releases", "[2-9]*")  # of what was published since it was opened
    shutil.copytree(served.projects / hospital, served.projects / project, ignore=later)
    served.post(f"/p/{project}/columns", version=served.version(project), **{"role-0": "kept", **ROLES})
    promise(served, project, k="2")
    return project


def test_names_are_published_only_if_that_is_wanted(served: Served, named: str) -> None:
    """The wish is for one release: for the next one it is asked again."""
    shown = served.get(f"/p/{named}/columns").text
    assert shown.count(WARNING) == 1
    assert WARNING in shown.partition("<legend>patient_name</legend>")[2].partition("<legend>")[0]
    folder = served.projects / named / "releases"
    asked = served.get(f"/p/{named}/publish").text
    assert re.search(r'<input type="checkbox" id="names"[^>]* required>', asked)
    before = served.last_job(named)
    refused = served.post(f"/p/{named}/publish", version=served.version(named))
    assert refused.status_code == 422
    assert "identifies people and would be published as it is: patient_name" in text_of(refused.text)
    assert (served.last_job(named), list(folder.glob("*"))) == (before, [])
    served.post(f"/p/{named}/publish", version=served.version(named), names="yes")
    number = served.last_job(named)
    assert served.wait(named, number) == "done", served.get(f"/p/{named}/jobs/{number}").text
    assert "Patient 7" in (folder / "1" / "published.csv").read_text()
    look = served.get(f"/p/{named}/look").text
    assert 'class="verdict named"' in look
    assert 'class="verdict kept"' not in look
    assert "The promise is kept, but names are published patient_name identifies people" in text_of(look)
    assert "made-with" not in look
    assert "This release names people: patient_name" in text_of(served.get(f"/p/{named}/take-away").text)
    assert served.post(f"/p/{named}/publish", version=served.version(named)).status_code == 422


def test_names_that_are_left_out_need_no_wish(served: Served, named: str) -> None:
    served.post(f"/p/{named}/columns", version=served.version(named), **{"role-0": "identifier", **ROLES})
    assert WARNING not in served.get(f"/p/{named}/columns").text
    assert 'id="names"' not in served.get(f"/p/{named}/publish").text
    assert publish(served, named)[1] == "done"
    assert 'class="verdict kept"' in served.get(f"/p/{named}/look").text


def test_values_that_are_nearly_all_of_one_person_are_names_too(served: Served, named: str) -> None:
    roles = {"role-0": "person", **ROLES, "role-1": "kept"}
    served.post(f"/p/{named}/columns", version=served.version(named), **roles)
    assert WARNING in served.get(f"/p/{named}/columns").text.partition("<legend>birth_date</legend>")[2]
    refused = served.post(f"/p/{named}/publish", version=served.version(named))
    assert (refused.status_code, "published as it is: birth_date" in refused.text) == (422, True)


def test_the_cost_of_a_promise_is_measured_for_names_too(served: Served, named: str) -> None:
    assert served.get(f"/p/{named}/promise").status_code == 200
    served.wait(named, served.last_job(named))
    curve = served.get(f"/p/{named}/promise/curve").text
    assert curve.count("<circle") == 8
    assert "unchanged" not in curve
