"""What was typed stays in its field when the page refuses it, with the reason; the page answers what it can at once."""

from __future__ import annotations

import html
import re

import httpx
import pytest
from serving import Served

pytestmark = pytest.mark.xdist_group("web-typed")


def fields(answer: httpx.Response) -> dict[str, str]:
    """Return what is in each field of a page, by its id."""
    tags = [tag for tag in re.findall(r"<input[^>]*>", answer.text) if ' id="' in tag]
    found = {re.findall(r' id="([^"]*)"', tag)[0]: "".join(re.findall(r' value="([^"]*)"', tag)) for tag in tags}
    areas = re.findall(r'<textarea id="([^"]*)"[^>]*>([^<]*)<', answer.text)
    return {name: html.unescape(text) for name, text in [*found.items(), *areas]}


def test_a_path_that_cannot_be_opened_stays_in_its_field(served: Served) -> None:
    answer = served.post("/open/path", path="nope.csv", sheet="May", labels="yes")
    shown = fields(answer)
    assert (answer.status_code, shown["path"], shown["sheet-path"]) == (422, "nope.csv", "May")
    assert (shown["address"], shown["query-database"]) == ("", "")
    assert re.search(r'id="labels-path"[^>]* checked', answer.text)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("sqlite:nope.db", "sqlite:nope.db"),
        ("postgresql://ada:hush@localhost:none/clinic", "postgresql://ada@localhost:none/clinic"),
    ],
)
def test_an_address_and_a_query_that_cannot_be_opened_stay_but_no_password(
    served: Served, typed: str, kept: str
) -> None:
    query = "SELECT * FROM visit WHERE a < 'b' -- \"c\""
    answer = served.post("/open/path", path=typed, table_name="", query=query, password="hush")
    shown = fields(answer)
    assert answer.status_code == 422
    assert (shown["address"], shown["query-database"], shown["path"]) == (kept, query, "")
    assert "hush" not in answer.text
