"""A page that runs, shown in a browser, and what a visitor does there."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page, expect
from serving import Served

from browser import Visit, visit


@dataclass
class Site:
    """A page that runs, a browser, and the session that the start address was exchanged for in it."""

    served: Served
    browser: Browser
    session: Any

    @property
    def base(self) -> str:
        return self.served.base

    def visit(self, path: str = "/", **options: Any) -> AbstractContextManager[Visit]:
        """Open a page in a fresh window that has the session."""
        return visit(self.browser, f"{self.base}{path}", storage_state=self.session, **options)


def heading(page: Page, words: str) -> None:
    expect(page.get_by_role("heading", level=1, name=words, exact=True)).to_be_visible()


def press(page: Page, words: str) -> None:
    page.get_by_role("button", name=words, exact=True).click()


def follow(page: Page, words: str) -> None:
    page.get_by_role("link", name=words, exact=True).click()


def assert_calm(visited: Visit, served: Served) -> None:
    """The browser complained about nothing, and asked nobody else."""
    assert visited.complaints == []
    assert [address for address in visited.requests if not address.startswith(served.base)] == []
