"""Fixtures of the command line's tests."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from forking_publisher import ForkingPublisher, forking_publisher
from workbench import Desk


@pytest.fixture(autouse=True)
def _quiet_surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A terminal of fixed width, no debugging, and this process's own way to take SIGTERM afterwards."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("BETALIKE_DEBUG", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty folder to work in, which is also the current one."""
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


@pytest.fixture
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty; Python asks for TMPDIR once only."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(scope="session")
def publisher() -> Iterator[ForkingPublisher]:
    """Real processes, quickly started."""
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    with forking_publisher() as publisher:
        yield publisher
