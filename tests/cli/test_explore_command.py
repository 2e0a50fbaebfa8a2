"""The command `explore`: on a terminal, as JSON, and as a page in a real browser."""

from __future__ import annotations

from workbench import CANARY, Desk, assert_refused, people, run

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


def test_the_values_that_are_not_shown_are_counted(desk: Desk) -> None:
    rows = [[*row[:4], f"disease {number % 29}"] for number, row in enumerate(people(290))]
    rows += [[*people(1)[0][:4], f"rare {number}"] for number in (1, 2)]
    page = desk.folder / "explore.html"
    outcome = run("explore", desk.table(rows), *WORDS, "--queries", 0, "--beta", "4", "-o", page)
    assert outcome.status == 0, outcome.text
    words = "Shown are the most frequent and the rarest values with at least 3 people; 19 of 31 values are not shown"
    assert words in outcome.text
    assert words in page.read_text(encoding="utf-8")
    assert "rare 1" not in outcome.text
    every = run("explore", desk.table(), *WORDS, "--queries", 0, "--beta", "4")
    assert "not shown" not in every.text


def test_a_page_is_not_written_over_another_file(desk: Desk) -> None:
    table = desk.table()
    assert_refused(run("explore", table, *WORDS, "-o", table, "--force"), "also read")
    page = desk.write("explore.html", "mine")
    assert_refused(run("explore", table, *WORDS, "-o", page), "exists already")
    assert page.read_text() == "mine"
