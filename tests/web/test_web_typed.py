"""What was typed stays in its field when the page refuses it, with the reason; the page answers what it can at once."""

from __future__ import annotations

import html
import re

import httpx
import pytest
from serving import Served, open_people

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


@pytest.fixture(scope="module")
def project(served: Served) -> str:
    return open_people(served)


def save(served: Served, project: str, **typed: str) -> httpx.Response:
    fields = {"beta": "4", "k": "1", "scheme": "lmondrian", "version": served.version(project), **typed}
    answer = served.post(f"/p/{project}/promise", **fields)
    return answer if answer.text else served.get(f"/p/{project}/promise")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"beta": "abc"}, "Beta is 'abc', which is not a number"),
        ({"beta": ""}, "Beta is missing"),
        ({"beta": "-1"}, "Beta is -1"),
        ({"k": "2.5"}, "k is '2.5'; it must be a whole number"),
        ({"k": "5000"}, "k is 5,000, but the table has only 300 rows"),
        ({"beta": "abc", "promise": "basic", "negative_beta": "0.25", "with_values": "yes"}, "Beta is 'abc'"),
    ],
)
def test_a_promise_that_is_refused_stays_as_it_was_typed(
    served: Served, project: str, typed: dict[str, str], words: str
) -> None:
    answer = save(served, project, **typed)
    shown = fields(answer)
    assert words in html.unescape(answer.text)
    chosen = "".join(re.findall(r"<option selected>([^<]*)<", answer.text))
    assert {**shown, "promise": chosen}.items() >= typed.items()
    assert bool(re.search(r'id="with_values"[^>]* checked', answer.text)) is ("with_values" in typed)


@pytest.mark.parametrize(
    ("beta", "k", "place", "words"),
    [
        ("abc", "1", "meaning", "Beta is 'abc', which is not a number. Write one such as 4 or 0.5."),
        ("", "1", "meaning", "Beta is missing."),
        ("-1", "1", "meaning", "Beta is -1.0; it must be a number greater than 0, such as 4."),
        ("1e9", "1", "meaning", "no value can gain more than 1.1 anyway"),  # the rarest of the two values: ln 3
        ("4", "301", "size", "k is 301, but the table has only 300 rows, and no class is larger than that."),
        ("4", "0", "size", "k is 0; it must be a whole number of 1 or more"),
        ("4", "many", "size", "k is 'many'; it must be a whole number"),
    ],
)
def test_what_is_typed_is_answered_at_once(
    served: Served, project: str, beta: str, k: str, place: str, words: str
) -> None:
    save(served, project)
    answer = served.client.get(f"/p/{project}/promise/meaning", params={"beta": beta, "k": k})
    before, _, after = answer.text.partition('id="size"')
    here, there = (before, after) if place == "meaning" else (after, before)
    assert words in html.unescape(here)
    assert words not in html.unescape(there)
    assert "This promise has no beta" not in answer.text


def test_a_basic_promise_that_limits_nothing_says_so(served: Served, project: str) -> None:
    """A third of the rows has the rarer value, so that it can at most become three times as frequent."""
    save(served, project, promise="basic")
    shown = [served.client.get(f"/p/{project}/promise/meaning", params={"beta": beta}).text for beta in ("2", "2.1")]
    assert ["a beta above 2 limits nothing" in text for text in shown] == [False, True]
