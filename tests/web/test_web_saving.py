"""Changes that are saved at once: in view, never lost, and never shown as done if they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Site, assert_calm, follow, heading, press
from playwright.sync_api import Page, Route, expect
from serving import open_people, people, start_page

from browser import visit

pytestmark = pytest.mark.xdist_group("web-saving")
LOW = (1280, 400)  # a window in which every step is longer than it is high
LEAST = "Least number of people who look alike (k)"


def choose(page: Page, column: str, role: str) -> None:
    page.get_by_role("radiogroup", name=f"Role of {column}").get_by_text(role, exact=True).click()


def assert_said(page: Page, words: str) -> None:
    """The line at the bottom says this, and is in view."""
    expect(page.get_by_role("status")).to_contain_text(words)
    expect(page.get_by_role("status")).to_be_in_viewport()


def test_what_became_of_a_change_is_in_view(site: Site) -> None:
    project = open_people(site.served)
    with site.visit(f"/p/{project}/columns", size=LOW) as visited:
        first, second = visited.page, visited.page.context.new_page()
        choose(first, "age", "publish as it is")
        assert_said(first, "Saved. No quasi-identifier is named")
        choose(first, "age", "others know it")
        assert_said(first, "Saved.")
        expect(first.locator("#said")).to_be_hidden()  # good news does not stay
        second.goto(f"{site.base}/p/{project}/columns")
        choose(second, "diagnosis", "leave out")
        assert_said(second, "Saved. The specification has 0 columns")
        choose(first, "diagnosis", "publish as it is")
        assert_said(first, "Not saved. This project was changed in another tab")
        expect(first.locator("#role-1-unused")).to_be_checked()


def test_a_click_does_not_look_done_when_the_program_has_stopped(site: Site, tmp_path: Path) -> None:
    with start_page(tmp_path) as page, visit(site.browser, page.address) as visited:
        shown = visited.page
        page.client.cookies.update({one["name"]: one["value"] for one in shown.context.cookies()})
        (page.home / "people.csv").write_text(people(200))
        project = page.project(page.post("/open/path", path="people.csv"))
        assert page.wait(project, 1) == "done"
        shown.goto(f"{page.base}/p/{project}/columns")
        page.process.terminate()
        page.process.wait()
        choose(shown, "diagnosis", "leave out")
        assert_said(shown, "Nothing was saved: betalike has stopped")
        expect(shown.locator("#role-1-sensitive")).to_be_checked()
        choose(shown, "age", "leave out")
        shown.get_by_role("link", name="Promise").click()  # at once: it waits for what is not saved
        assert_said(shown, "Nothing was saved: betalike has stopped")
        heading(shown, "Columns")


def test_a_page_of_an_earlier_run_says_that_nothing_is_saved(site: Site) -> None:
    project = open_people(site.served)
    with site.visit(f"/p/{project}/columns") as visited:
        visited.page.context.clear_cookies()  # as those that another run of the program does not know
        choose(visited.page, "diagnosis", "leave out")
        assert_said(visited.page, "Not saved. This page needs the address that")
        expect(visited.page.locator("#role-1-sensitive")).to_be_checked()


def test_a_promise_is_saved_before_another_step_is_shown(site: Site) -> None:
    project = open_people(site.served)
    spec = site.served.projects / project / "release.toml"
    with site.visit(f"/p/{project}/promise") as visited:
        shown = visited.page
        shown.locator("#beta").fill("1")
        shown.locator(".steps").get_by_role("link", name="Publish").click()
        heading(shown, "Publish")
        assert "beta = 1.0" in spec.read_text()
        expect(shown.get_by_text("makes up at most 2 % of any class")).to_be_visible()
        follow(shown, "Change the promise")
        shown.get_by_label(LEAST).fill("7")
        press(shown, "Undo")
        expect(shown.get_by_label(LEAST)).to_have_value("1")
        expect(shown.locator("#beta")).to_have_value("1")
        shown.locator("#beta").fill("3")
        shown.locator(".brand").click()
        expect(shown.get_by_role("heading", name="Projects")).to_be_visible()
        assert "beta = 3.0" in spec.read_text()
        assert_calm(visited, site.served)


def test_what_is_typed_into_the_promise_is_answered_and_stays(site: Site) -> None:
    """Also a beta beyond the slider, and one that is no number."""
    project = open_people(site.served)
    with site.visit(f"/p/{project}/promise") as visited:
        shown = visited.page
        shown.locator("#k").fill("301")
        expect(shown.locator("#size")).to_contain_text("the table has only 300 rows")
        shown.locator("#k").fill("2")
        expect(shown.locator("#size")).to_be_empty()
        shown.locator("#beta").fill("1e9")
        expect(shown.locator("#meaning")).to_contain_text("every beta above that promises the same")
        for beta, words in (("12", "every beta above that"), ("", "Beta is missing"), ("four", "is not a number")):
            shown.locator("#beta").fill(beta)
            expect(shown.locator("#meaning")).to_contain_text(words)
            press(shown, "Save")
            assert_said(shown, "Not saved. Beta is 'four'" if beta == "four" else "Saved.")
            expect(shown.locator("#beta")).to_have_attribute("value", beta)  # as the server has it
            expect(shown.locator("#beta")).to_have_value(beta)
            expect(shown.locator("#meaning")).to_contain_text(words)
        shown.reload()
        shown.locator("#beta").fill("12")
        press(shown, "Next: publish")
        heading(shown, "Publish")
        follow(shown, "Change the promise")
        expect(shown.locator("#beta")).to_have_value("12")  # which the slider does not reach


def test_what_is_typed_while_a_change_is_saved_is_kept(site: Site) -> None:
    project = open_people(site.served)
    with site.visit(f"/p/{project}/promise") as visited:
        shown, held = visited.page, list[Route]()
        shown.get_by_text("Wider and other promises").first.click()
        shown.route(f"**/p/{project}/promise", lambda route: held.append(route), times=1)
        with shown.expect_request(lambda request: request.method == "POST"):
            shown.locator("#beta").fill("2")
            shown.get_by_label(LEAST).focus()
        shown.get_by_label(LEAST).select_text()
        shown.keyboard.type("1")
        held[0].continue_()
        assert_said(shown, "Saved.")
        shown.keyboard.type("2")
        expect(shown.get_by_label(LEAST)).to_have_value("12")
        shown.keyboard.press("Enter")
        expect(shown.locator("#beta")).to_have_attribute("value", "2")  # as the server has it
        expect(shown.get_by_label(LEAST)).to_have_attribute("value", "12")
        expect(shown.get_by_label("Kind of promise")).to_be_visible()  # what was unfolded stays so
        assert_calm(visited, site.served)


def test_held_keys_are_one_change(site: Site) -> None:
    project = open_people(site.served)
    with site.visit(f"/p/{project}/promise") as visited:
        shown = visited.page
        shown.locator("#slider").focus()
        shown.evaluate(
            """() => {
                const slider = document.getElementById("slider");
                for (const value of [3.9, 3.8, 3.7]) {
                    slider.value = value;
                    for (const name of ["input", "change"]) slider.dispatchEvent(new Event(name, { bubbles: true }));
                }
            }"""
        )
        assert_said(shown, "Saved.")
        expect(shown.locator("#beta")).to_have_attribute("value", "3.7")
        expect(shown.locator("#slider")).to_be_focused()
        press(shown, "Undo")
        expect(shown.locator("#beta")).to_have_attribute("value", "4")


def test_a_promise_that_is_left_with_the_button_of_the_browser_is_saved(site: Site) -> None:
    project = open_people(site.served)
    with site.visit(f"/p/{project}/columns") as visited:
        shown = visited.page
        shown.goto(f"{site.base}/p/{project}/promise")
        shown.locator("#beta").focus()
        shown.keyboard.press("Control+a")
        shown.keyboard.type("2.5")
        shown.go_back()
        heading(shown, "Columns")
        saved = site.served.projects / project / "release.toml"
        for _ in range(1000):  # it is sent on while the other page loads
            if "beta = 2.5" in saved.read_text():
                break
            shown.reload()
        assert "beta = 2.5" in saved.read_text()
