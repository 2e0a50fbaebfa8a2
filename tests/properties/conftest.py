"""Laws that Hypothesis tries belong to `make test-long` as well, which tries more examples of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

from examples import FACTOR


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    laws = (item for item in items if isinstance(item, pytest.Function) and item.path.parent == Path(__file__).parent)
    for law in laws:
        if FACTOR > 1 and is_hypothesis_test(law.obj):
            law.add_marker(pytest.mark.long)
