"""The whole way in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from browsing import Site, assert_calm, follow, heading, press
from playwright.sync_api import Page, Route, expect
from serving import IMPOSSIBLE, open_people, people

import betalike
from browser import DESKTOP, PHONE, Visit

pytestmark = pytest.mark.xdist_group("web-browser")
AXE = Path(__file__).parents[2] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
LEAST = "Least number of people who look alike (k)"
STEPS = ("open", "columns", "hierarchies", "promise", "publish", "look", "take-away")


@pytest.fixture(scope="module")
def published(site: Site) -> str:
    """A project with a release that was attacked and one that was refused, made without a browser."""
    served = site.served
    project = served.project(served.post("/open/path", path="people.csv"))
    assert served.wait(project, 1) == "done"
    for asked, state in (({"k": "2"}, "done"), (IMPOSSIBLE, "failed")):
        fields = {"beta": "4", "scheme": "lmondrian", "version": served.version(project), **asked}
        served.post(f"/p/{project}/promise", **fields)
        served.post(f"/p/{project}/publish", version=served.version(project))
        number = max(int(path.name) for path in (served.projects / project / "jobs").iterdir())
        assert served.wait(project, number) == state
    served.post(f"/p/{project}/promise", beta="4", k="2", scheme="lmondrian", version=served.version(project))
    assert served.post(f"/p/{project}/look/attack", release="1", attack="naive-bayes").status_code == 303
    assert served.wait(project, number + 1) == "done"
    for step in ("promise", "look"):  # which measure something first: pages that reload meanwhile cannot be checked
        assert served.get(f"/p/{project}/{step}").status_code == 200
    for later in range(number + 2, served.last_job(project) + 1):
        assert served.wait(project, later) == "done"
    return project


def opened(page: Page) -> None:
    expect(page.get_by_role("link", name="Next: columns")).to_be_visible()


def assert_published(page: Page) -> None:
    heading(page, "Look")
    expect(page.get_by_role("heading", name="The promise is kept")).to_be_visible()
    expect(page.locator("[data-poll]")).to_have_count(0)  # the risk is measured, so the page stays as it is


def test_the_whole_way_of_the_demo(site: Site, tmp_path: Path) -> None:
    with site.visit() as visited:
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
        for is_cancelled in (True, False):
            with site.served.gate():
                with shown.expect_navigation():
                    press(shown, "Publish" if is_cancelled else "Publish again")
                expect(shown.get_by_role("button", name="Cancel")).to_be_visible()
                shown.reload()
                expect(shown.get_by_role("button", name="Cancel")).to_be_visible()
                if is_cancelled:
                    press(shown, "Cancel")
            if is_cancelled:
                expect(shown.get_by_text("The work was cancelled")).to_be_visible()
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
        assert_calm(visited, site.served)


def test_a_workbook_with_a_hierarchy_and_a_refused_promise_that_is_relaxed(site: Site) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for line in people(200).splitlines():
        book.active.append([int(cell) if cell.isdecimal() else cell for cell in line.split(",")])
    book.save(site.served.home / "book.xlsx")
    with site.visit() as visited:
        shown = visited.page
        follow(shown, "Choose a file")
        press(shown, "book.xlsx")
        opened(shown)
        follow(shown, "Next: columns")
        shown.get_by_label("Texts that mean").fill("unknown")
        press(shown, "Next: hierarchies")  # at once, while the page still saves the text
        heading(shown, "Hierarchies")
        shown.locator("section", has=shown.get_by_role("heading", name="age", exact=True)).get_by_text("Build").click()
        shown.get_by_label("Widths of the levels").first.fill("10, 20")
        expect(shown.locator("#preview-0")).to_contain_text("[20, 39]")
        expect(shown.locator("#preview-0")).to_contain_text("Covers every value")
        shown.get_by_role("button", name="Use it").first.click()
        expect(
            shown.get_by_text("Its hierarchy is built from its values: intervals of numbers: 10, 20")
        ).to_be_visible()
        follow(shown, "Next: promise")
        shown.get_by_label(LEAST).fill("5000")
        press(shown, "Next: publish")
        expect(shown.get_by_role("alert")).to_contain_text("the table has only 200 rows")
        heading(shown, "Promise")
        shown.get_by_label(LEAST).fill("4")
        press(shown, "Next: publish")
        press(shown, "Publish")
        assert_published(shown)
        assert_calm(visited, site.served)
    project = site.served.projects / "book"
    assert '"unknown"' in (project / "release.toml").read_text()
    lines = (project / "releases" / "1" / "published.csv").read_text().splitlines()
    labels = {line.rsplit(",", 1)[0].strip('"') for line in lines[1:]}
    groups = {f"[{low}, {low + width - 1}]" for width in (10, 20) for low in range(20, 60, width)}
    assert labels <= {*groups, "*", *map(str, range(20, 60))}


def test_a_page_that_is_left_does_not_come_back_when_its_job_ends(site: Site, published: str) -> None:
    served = site.served
    shutil.copytree(served.projects / published, served.projects / "left")
    for number in served.projects.glob("left/jobs/*"):
        if json.loads((number / "job.json").read_bytes())["task"] == "measure":
            shutil.rmtree(number)
    with served.gate() as open_gate, site.visit("/p/left/look") as visited:
        shown, held = visited.page, list[Route]()
        shown.clock.set_fixed_time(0)  # it comes back if the next page is not there after seconds by its clock
        expect(shown.locator("[data-poll]")).to_have_count(1)
        job = served.last_job("left")
        shown.route("**/take-away*", lambda route: held.append(route))
        with shown.expect_request("**/take-away*"):
            shown.get_by_role("link", name="Next: take away", exact=True).click(no_wait_after=True)
        open_gate()
        assert served.wait("left", job) == "done"
        for _ in range(3):  # the second one at the latest says that the job has ended
            with shown.expect_response(lambda answer: f"/p/left/jobs/{job}" in answer.url):
                pass
        held[0].continue_()
        heading(shown, "Take away")
        assert_calm(visited, served)


@pytest.mark.parametrize(
    ("field", "beta", "words"), [("#slider", "2", "at most 3 %"), ("#beta", "9", "at most 5.61 %")]
)
def test_a_beta_that_is_set_before_the_script_is_there_counts(site: Site, field: str, beta: str, words: str) -> None:
    with site.visit(f"/p/{open_people(site.served)}/promise") as visited:
        shown, held = visited.page, list[Route]()
        expect(shown.locator("#meaning")).to_contain_text("at most 5 %")
        shown.route("**/page.js", lambda route: held.append(route))
        shown.reload(wait_until="commit")
        shown.locator(field).fill(beta)
        expect(shown.locator("#meaning")).to_contain_text("at most 5 %")
        held[0].continue_()
        expect(shown.locator("#meaning")).to_contain_text(words)
        assert shown.locator("#beta").input_value() == beta
        assert_calm(visited, site.served)


def test_two_tabs(site: Site, published: str) -> None:
    shutil.copytree(site.served.projects / published, site.served.projects / "tabs")
    with site.visit("/p/tabs/columns") as visited:
        first, second = visited.page, visited.page.context.new_page()
        second.goto(f"{site.base}/p/tabs/columns")
        second.get_by_role("radiogroup", name="Role of age").get_by_text("leave out").click()
        expect(second.get_by_role("alert")).to_contain_text("o quasi-identifier is named")
        first.get_by_role("radiogroup", name="Role of diagnosis").get_by_text("leave out").click()
        expect(first.get_by_role("alert").first).to_contain_text("changed in another tab")
        press(first, "Undo")
        expect(first.get_by_role("radio", name="others know it").first).to_be_checked()


def test_changes_in_quick_succession_are_all_saved(site: Site, published: str) -> None:
    """Also those that are made while the page saves another, and the button that is pressed meanwhile."""
    shutil.copytree(site.served.projects / published, site.served.projects / "quick")
    with site.visit("/p/quick/columns") as visited:
        shown = visited.page
        shown.get_by_label("Texts that mean").fill("none")
        clicks = ("#role-0-kept", "#role-0-unused", "#role-0-quasi-identifier", "#missing_sensitive", "[value=next]")
        shown.evaluate("all => all.forEach((one) => document.querySelector(one).click())", clicks)
        heading(shown, "Hierarchies")
        assert_calm(visited, site.served)
    spec = (site.served.projects / "quick" / "release.toml").read_text()
    assert '"none"' in spec
    assert 'missing = "value"' in spec
    assert re.search(r'\[columns\.age\]\nrole = "quasi-identifier"', spec)


def tab_to(page: Page, name: str, most: int = 80) -> None:
    """Press Tab until the element with this name has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        focused = page.evaluate("(document.activeElement.innerText || document.activeElement.name || '').trim()")
        if focused == name:
            return
    raise AssertionError(f"{name} cannot be reached with the keyboard")


def test_the_whole_way_by_keyboard(site: Site) -> None:
    with site.visit() as visited:
        shown = visited.page
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
        assert_published(shown)
        tab_to(shown, "Next: take away")
        shown.keyboard.press("Enter")
        heading(shown, "Take away")


Looks = Sequence[tuple[Literal["light", "dark"], tuple[int, int]]]
USUAL: Looks = [("light", DESKTOP), ("dark", PHONE)]
OTHER: Looks = [("dark", DESKTOP), ("light", PHONE)]


@pytest.mark.parametrize("looks", [USUAL, pytest.param(OTHER, marks=pytest.mark.long)], ids=["usual", "other"])
def test_every_page_is_accessible_and_fits(site: Site, published: str, looks: Looks) -> None:
    """No violation of WCAG 2 level A or AA that axe-core finds, nothing wider than the window, nothing complained."""
    if not AXE.exists():
        pytest.skip("axe-core is not in build/axe; `make test` installs it where npm is")
    steps = [f"/p/{published}/{step}" for step in STEPS]
    with site.visit(bypass_csp=True, reduced_motion="reduce") as visited:  # no colour is on its way to another
        found = {path: check_page(visited, f"{site.base}{path}", looks) for path in ("/", "/browse", *steps)}
        visited.page.goto(f"{site.base}/p/{published}/hierarchies")
        visited.page.get_by_text("Build a hierarchy").first.click()
        with visited.page.expect_navigation():
            press(visited.page, "Preview")
        found["preview"] = check_shown(visited, looks)
        visited.page.goto(f"{site.base}/p/nothing/open")
        visited.complaints.clear()  # of the status 422
        found["problem"] = check_shown(visited, looks)
    assert {name: problems for name, problems in found.items() if problems} == {}


def check_page(visited: Visit, address: str, looks: Looks) -> list[object]:
    """Return what is wrong with a page, with everything unfolded."""
    page = visited.page
    page.goto(address)
    expect(page.locator("[data-poll]")).to_have_count(0)  # the curve is complete
    page.evaluate("document.querySelectorAll('main details').forEach((part) => { part.open = true; })")
    return check_shown(visited, looks)


def check_shown(visited: Visit, looks: Looks) -> list[object]:
    """Return what is wrong with the page that is shown, in dark or light, wide or narrow."""
    page = visited.page
    page.add_script_tag(path=str(AXE))
    problems: list[object] = []
    for scheme, (width, height) in looks:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        result = page.evaluate("levels => axe.run(document, {runOnly: {type: 'tag', values: levels}})", LEVELS)
        for violation in result["violations"]:
            targets = [node["target"] for node in violation["nodes"]][:3]
            problems.append((scheme, width, violation["id"], targets))
        if visited.is_too_wide():
            problems.append((scheme, width, "too wide"))
    problems += visited.complaints
    visited.complaints.clear()
    return problems
