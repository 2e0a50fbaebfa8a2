"""A running page for the tests of a file, and a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from serving import Served, enter, start_page


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
