"""Settings that are changed: what is kept of them, and which results they still belong to."""

from __future__ import annotations

import re

import pytest
from serving import Served, open_people, text_of

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
