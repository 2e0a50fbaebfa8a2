"""A running page for the tests of a file, and a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import Site, assert_calm
from serving import Served, enter, people, start_page

from browser import open_browser, visit


@pytest.fixture(scope="module")
def unopened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A page whose token is not used yet."""
    with start_page(tmp_path_factory.mktemp("page")) as page:
        yield page


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A page whose token is exchanged for a session."""
    with start_page(tmp_path_factory.mktemp("page")) as page:
        yield enter(page)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with start_page(tmp_path_factory.mktemp("browser")) as served, open_browser() as browser:
        (served.home / "people.csv").write_text(people(200))
        with visit(browser, served.address) as visited:
            visited.page.wait_for_url(f"{served.base}/")
            assert_calm(visited, served)
            session = visited.page.context.storage_state()
        served.client.cookies.set(session["cookies"][0]["name"], session["cookies"][0]["value"])
        yield Site(served, browser, session)
