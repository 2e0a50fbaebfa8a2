"""`make campaign` runs every part, and its hours are shared between them."""

from __future__ import annotations

import pytest

from tests.campaign.whole import commands


@pytest.mark.parametrize("has_atheris", [True, False])
def test_the_hours_are_shared(has_atheris: bool) -> None:
    parts = commands(8.0, 7, has_atheris)
    assert sum(float(words[2]) for words in parts) == pytest.approx(8.0)
    assert [words[0] for words in parts] == ["tests.campaign", *["tests.fuzzing"] * (1 + has_atheris)]
    assert [words for words in parts if "--atheris" in words] == (parts[-1:] if has_atheris else [])
    assert all(words[3:5] == ["--first-seed", "7"] for words in parts)
