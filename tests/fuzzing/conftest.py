"""A judge for all fuzzing tests of a module, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from .judging import Judge
from .targets import SECRET, TARGETS, prepare

Check = Callable[[str, bytes], None]


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Check]:
    """Fails if an input of a target leads to a finding."""
    for target in TARGETS:
        prepare(target)
    judge = Judge(tmp_path_factory.mktemp("fuzzing"))

    def check(target: str, data: bytes) -> None:
        finding = judge.judge(TARGETS[target], data, target in SECRET)
        assert finding is None, f"{finding.signature}: {finding.details}"

    yield check
    judge.close()
