"""A table whose people have several rows: what the page counts in people, and what in rows."""

from __future__ import annotations

import html
import re

import pytest
from serving import Served, visits
from typer.testing import CliRunner

import betalike
from betalike.cli.app import app
from betalike.measures import phrases

pytestmark = pytest.mark.xdist_group("web-people")


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


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
