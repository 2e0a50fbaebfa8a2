"""A table whose people have several rows: what the page counts in people, and what in rows."""

from __future__ import annotations

import html
import re

import pytest
from serving import Served, visits

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
