"""The command `explore`: on a terminal, as JSON, and as a page in a real browser."""

from __future__ import annotations

from workbench import CANARY, Desk, assert_refused, run

from browser import DESKTOP, PHONE, open_browser, visit

WORDS = ["--qi", "age,gender,city", "--sensitive", "disease", "--beta", "1,2,3", "--queries", 20, "--seed", 1]


def test_an_exploration_is_shown_and_written_as_a_page(desk: Desk) -> None:
    table, page = desk.table(), desk.folder / "explore.html"
    outcome = run("explore", table, *WORDS, "-o", page)
    assert outcome.status == 0, outcome.text
    for words in ("nothing is published", "What each value may reach", "What each column costs", "surest"):
        assert words in outcome.text
    assert sorted(path.name for path in desk.folder.iterdir()) == ["explore.html", "people.csv"]
    found = run("explore", table, *WORDS, "--json").document
    html = page.read_text(encoding="utf-8")
    assert CANARY not in html + outcome.text
    with open_browser() as browser, visit(browser, page.as_uri()) as visited:
        for width, height in (DESKTOP, PHONE):
            visited.page.set_viewport_size({"width": width, "height": height})
            assert not visited.is_too_wide()
        assert visited.requests == [page.as_uri()]
        assert visited.complaints == []
        assert visited.page.locator("#values tbody tr").count() == len(found["values"])
        assert visited.page.locator("#columns tbody tr").count() == 3
        assert visited.page.locator("svg").count() == 4


def test_a_page_is_not_written_over_another_file(desk: Desk) -> None:
    table = desk.table()
    assert_refused(run("explore", table, *WORDS, "-o", table, "--force"), "also read")
    page = desk.write("explore.html", "mine")
    assert_refused(run("explore", table, *WORDS, "-o", page), "exists already")
    assert page.read_text() == "mine"
