"""The whole way in a real browser."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from serving import Served, people, start_page

import betalike
from browser import DESKTOP, PHONE, Visit, open_browser, visit

pytestmark = pytest.mark.xdist_group("web-browser")
LONG = 120_000  # milliseconds: the machine may be busy
AXE = Path(__file__).parents[2] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
STEPS = ("open", "columns", "hierarchies", "promise", "publish", "look", "take-away")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Served]:
    with start_page(tmp_path) as started:
        yield started


def heading(page: Page, words: str) -> None:
    expect(page.get_by_role("heading", level=1, name=words, exact=True)).to_be_visible(timeout=LONG)


def press(page: Page, words: str) -> None:
    page.get_by_role("button", name=words, exact=True).click()


def follow(page: Page, words: str) -> None:
    page.get_by_role("link", name=words, exact=True).click()


def opened(page: Page) -> None:
    expect(page.get_by_role("link", name="Next: columns")).to_be_visible(timeout=LONG)


def open_people(visited: Visit, served: Served, n_rows: int = 200) -> None:
    """Open a small table of people by its path."""
    (served.home / "people.csv").write_text(people(n_rows))
    visited.page.wait_for_url(f"{served.base}/")
    visited.page.get_by_label("Path of a table").fill("people.csv")
    press(visited.page, "Open")
    opened(visited.page)


def assert_calm(visited: Visit, served: Served) -> None:
    """The browser complained about nothing, and asked nobody else."""
    assert visited.complaints == []
    assert [address for address in visited.requests if not address.startswith(served.base)] == []


def assert_published(page: Page) -> None:
    heading(page, "Look")
    expect(page.get_by_role("heading", name="The promise is kept")).to_be_visible(timeout=LONG)


def test_the_whole_way_of_the_demo(browser: Browser, page: Served, tmp_path: Path) -> None:
    with visit(browser, page.address) as visited:
        shown = visited.page
        press(shown, "Open the demo")
        opened(shown)
        follow(shown, "Next: columns")
        heading(shown, "Columns")
        press(shown, "Next: hierarchies")
        heading(shown, "Hierarchies")
        follow(shown, "Next: promise")
        heading(shown, "Promise")
        expect(shown.locator("#meaning")).to_contain_text("makes up at most 5 % of any class")
        shown.locator("#slider").fill("2")
        expect(shown.locator("#meaning")).to_contain_text("makes up at most 3 % of any class")
        press(shown, "Next: publish")
        heading(shown, "Publish")
        press(shown, "Publish")
        expect(shown.get_by_role("button", name="Cancel")).to_be_visible(timeout=LONG)
        shown.reload()
        assert_published(shown)
        follow(shown, "Next: take away")
        heading(shown, "Take away")
        with shown.expect_download() as download:
            follow(shown, "Everything as a zip file")
        taken = tmp_path / "taken"
        with zipfile.ZipFile(download.value.path()) as packed:
            packed.extractall(taken)
        assert betalike.verify(taken / "release").holds
        promise = json.loads((taken / "release" / "certificate.json").read_bytes())["promise"]
        assert (promise["beta"], promise["holds"]) == (2.0, True)
        assert_calm(visited, page)


def test_a_workbook_with_a_hierarchy_built_on_the_page(browser: Browser, page: Served) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for line in people(200).splitlines():
        book.active.append([int(cell) if cell.isdecimal() else cell for cell in line.split(",")])
    book.save(page.home / "people.xlsx")
    with visit(browser, page.address) as visited:
        shown = visited.page
        follow(shown, "Choose a file")
        press(shown, "people.xlsx")
        opened(shown)
        follow(shown, "Next: columns")
        press(shown, "Next: hierarchies")
        shown.locator("section", has=shown.get_by_role("heading", name="age", exact=True)).get_by_text("Build").click()
        shown.get_by_label("Widths of the levels").first.fill("10, 20")
        expect(shown.locator("#preview-0")).to_contain_text("[20, 39]", timeout=LONG)
        expect(shown.locator("#preview-0")).to_contain_text("Covers every value")
        shown.get_by_role("button", name="Use it").first.click()
        expect(shown.get_by_text("Built from its values")).to_be_visible()
        follow(shown, "Next: promise")
        press(shown, "Next: publish")
        press(shown, "Publish")
        assert_published(shown)
        assert_calm(visited, page)
    published = next(page.projects.rglob("published.csv")).read_text().splitlines()
    labels = {line.rsplit(",", 1)[0].strip('"') for line in published[1:]}
    assert labels <= {
        "[20, 39]",
        "[40, 59]",
        "[20, 29]",
        "[30, 39]",
        "[40, 49]",
        "[50, 59]",
        "*",
        *map(str, range(20, 60)),
    }


def test_a_refused_promise_is_relaxed(browser: Browser, page: Served) -> None:
    with visit(browser, page.address) as visited:
        open_people(visited, page)
        shown = visited.page
        shown.get_by_role("navigation").get_by_text("Promise").click()
        shown.get_by_label("Least number of people who look alike (k)").fill("5000")
        press(shown, "Next: publish")
        press(shown, "Publish")
        expect(shown.get_by_role("alert")).to_contain_text("Nothing was published", timeout=LONG)
        follow(shown, "Change the promise")
        shown.get_by_label("Least number of people who look alike (k)").fill("4")
        press(shown, "Next: publish")
        press(shown, "Publish again")
        assert_published(shown)
        assert_calm(visited, page)


def test_two_tabs(browser: Browser, page: Served) -> None:
    with visit(browser, page.address) as visited:
        open_people(visited, page)
        first, second = visited.page, visited.page.context.new_page()
        for tab in (first, second):
            tab.goto(f"{page.base}/p/people/columns")
        second.get_by_role("radiogroup", name="Role of age").get_by_text("leave out").click()
        expect(second.get_by_role("alert")).to_contain_text("o quasi-identifier is named")
        first.get_by_role("radiogroup", name="Role of diagnosis").get_by_text("leave out").click()
        expect(first.get_by_role("alert").first).to_contain_text("changed in another tab")
        press(first, "Undo")
        expect(first.get_by_role("radio", name="others know it").first).to_be_checked()


def tab_to(page: Page, name: str, most: int = 80) -> None:
    """Press Tab until the element with this name has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        focused = page.evaluate("(document.activeElement.innerText || document.activeElement.name || '').trim()")
        if focused == name:
            return
    raise AssertionError(f"{name} cannot be reached with the keyboard")


def test_the_whole_way_by_keyboard(browser: Browser, page: Served) -> None:
    (page.home / "people.csv").write_text(people(200))
    with visit(browser, page.address) as visited:
        shown = visited.page
        shown.wait_for_url(f"{page.base}/")
        tab_to(shown, "path")
        shown.keyboard.type("people.csv")
        shown.keyboard.press("Enter")
        opened(shown)
        for link, title in (
            ("Next: columns", "Columns"),
            ("Next: hierarchies", "Hierarchies"),
            ("Next: promise", "Promise"),
        ):
            tab_to(shown, link)
            shown.keyboard.press("Enter")
            heading(shown, title)
        tab_to(shown, "beta")
        shown.keyboard.press("Control+a")
        shown.keyboard.type("3")
        expect(shown.locator("#meaning")).to_contain_text("makes up at most 4 % of any class")
        tab_to(shown, "Next: publish")
        shown.keyboard.press("Enter")
        heading(shown, "Publish")
        tab_to(shown, "Change the promise")
        shown.keyboard.press("Tab")
        shown.keyboard.press("Enter")
        heading(shown, "Look")
        tab_to(shown, "Next: take away")
        shown.keyboard.press("Enter")
        heading(shown, "Take away")


LOOKS = [("light", DESKTOP), ("dark", PHONE), ("dark", DESKTOP), ("light", PHONE)]
MARKED = [pytest.param(*look, marks=[pytest.mark.long] if number > 1 else []) for number, look in enumerate(LOOKS)]


@pytest.mark.parametrize(("scheme", "size"), MARKED)
def test_every_page_is_accessible_and_fits(browser: Browser, page: Served, scheme: str, size: tuple[int, int]) -> None:
    """No violation of WCAG 2 level A or AA that axe-core finds, nothing wider than the window, nothing complained."""
    if not AXE.exists():
        pytest.skip("axe-core is not in build/axe; `make test` installs it where npm is")
    with visit(browser, page.address, size, color_scheme=scheme, bypass_csp=True) as visited:
        found = check_page(visited, f"{page.base}/")
        open_people(visited, page)
        found |= check_page(visited, f"{page.base}/browse")
        visited.page.goto(f"{page.base}/p/people/publish")
        press(visited.page, "Publish")
        assert_published(visited.page)
        for step in STEPS:
            found |= check_page(visited, f"{page.base}/p/people/{step}")
    assert found == {}


def check_page(visited: Visit, address: str) -> dict[str, object]:
    """Return what is wrong with a page, by its address."""
    page = visited.page
    page.goto(address)
    page.wait_for_load_state("networkidle") if "promise" not in address else page.wait_for_load_state("load")
    for summary in page.locator("details:not([open]) > summary").all():
        if summary.is_visible():
            summary.click()
    page.add_script_tag(path=str(AXE))
    result = page.evaluate("levels => axe.run(document, {runOnly: {type: 'tag', values: levels}})", LEVELS)
    wrong = [
        (violation["id"], [node["target"] for node in violation["nodes"]][:3]) for violation in result["violations"]
    ]
    problems: list[object] = [*wrong, *(["too wide"] if visited.is_too_wide() else []), *visited.complaints]
    visited.complaints.clear()
    return {address: problems} if problems else {}
