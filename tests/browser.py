"""A real browser for tests: Chromium as Debian packages it, driven by Playwright, without a network of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from patience import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
MILLISECONDS = 1000 * PATIENCE
DESKTOP, PHONE = (1280, 900), (390, 844)


@dataclass
class Visit:
    """An open page, with every request that it made and everything that it complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def is_too_wide(self) -> bool:
        """Whether the page is wider than the window, so that a reader must scroll sideways."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    """Start Chromium; skip the test where there is none, but never where CI is set."""
    if not os.path.exists(CHROMIUM) and not os.environ.get("CI"):
        pytest.skip("Chromium is not installed; `make system` installs it on Debian")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=MILLISECONDS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def visit(browser: Browser, address: str, size: tuple[int, int] = DESKTOP, **options: Any) -> Iterator[Visit]:
    """Open an address in a fresh window; `options` are those of Playwright's new_context."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    context.set_default_timeout(MILLISECONDS)
    try:
        visited = Visit(context.new_page())
        visited.page.on("request", lambda request: visited.requests.append(request.url))
        visited.page.on("pageerror", lambda error: visited.complaints.append(str(error)))
        visited.page.on(
            "console",
            lambda said: visited.complaints.append(said.text) if said.type in ("error", "warning") else None,
        )
        visited.page.goto(address)
        visited.page.wait_for_url(lambda url: "/start?" not in url)  # that page sets the cookie and then leads on
        yield visited
    finally:
        context.close()
