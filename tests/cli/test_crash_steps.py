"""Crash safety, step by step: whatever step on the file system is the last, there is a complete release or none.

An audit hook sees every step that Python makes in the folder. A kill before a step leaves just what is on the disk
then, so each such state is copied and looked at; signals are sent to a real process before the step.
"""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fault_scenes import some
from forking_publisher import ForkingPublisher, is_step
from workbench import Desk, Files, files_under, hidden_in, is_release, people, run

from betalike.release import folder as release_folder

Step = Callable[[], None]
_watchers: list[tuple[str, Step]] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for folder, watcher in list(_watchers or ()):  # None once Python ends
        if is_step(folder, event, arguments):
            _watchers.clear()  # the watcher's own steps do not count
            watcher()
            _watchers.append((folder, watcher))


@pytest.fixture(scope="session")
def _audit_hook() -> None:
    sys.addaudithook(_hook)


@contextmanager
def watching(folder: Path, watcher: Step) -> Iterator[None]:
    """Call the watcher before every step in a folder."""
    _watchers.append((str(folder), watcher))
    try:
        yield
    finally:
        _watchers.clear()


@pytest.fixture(params=["fresh", "older release", "older release, no exchange", "beside other files"])
def place(request: pytest.FixtureRequest, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> tuple[Desk, Path, str]:
    """A desk in a folder of its own, so that nothing but the release is in it; the table; what is there already."""
    table = desk.table(people(40)).absolute()
    home = Desk(desk.folder / "home")
    home.folder.mkdir()
    if request.param != "fresh":
        if request.param == "beside other files":
            home.write("out/README.md", "mine")
        form = "csv" if request.param == "older release, no exchange" else "parquet"
        assert home.publish(table=table, format=form).status == 0
    if request.param == "older release, no exchange":
        # Disks that cannot exchange two folders are rare, and none is here.
        monkeypatch.setattr(release_folder, "_exchange", lambda one, other: False)
    return home, table, request.param


def release_of(files: Files) -> Files:
    """What of these files is in the release's folder, without staging folders and the user's own files."""
    return {
        name: content
        for name, content in files.items()
        if name.startswith("out/") and ".betalike-" not in name and name != "out/README.md"
    }


@pytest.mark.some(3)
@pytest.mark.usefixtures("_audit_hook")
@pytest.mark.parametrize("scheme", ["burel+split", "perturb", "baseline"])  # with one file, and with another beside it
def test_a_kill_before_any_step_leaves_the_old_or_the_new_or_nothing(
    place: tuple[Desk, Path, str], tmp_path: Path, scheme: str
) -> None:
    home, table, kind = place
    before = release_of(files_under(home.folder))
    states: list[Path] = []

    def copy_state() -> None:
        states.append(tmp_path / f"state-{len(states)}" / "home")
        shutil.copytree(home.folder, states[-1])

    with watching(home.folder, copy_state):
        assert home.publish("--force", table=table, scheme=scheme).status == 0
    after = release_of(files_under(home.folder))
    assert len(states) > 5
    is_atomic = kind in ("fresh", "older release")
    for state in states:
        found = release_of(files_under(state))
        if found in (before, after):
            continue
        # Where folders cannot be exchanged there may be a moment without a release, but never a false one.
        assert not is_atomic, f"neither the old nor the new release: {sorted(found)}"
        assert not is_release(state / "out"), f"a certificate that is not of these files: {sorted(found)}"
    assert hidden_in(home.folder) == hidden_in(home.out) == []


@pytest.mark.some(2)
@pytest.mark.usefixtures("_audit_hook")
def test_a_later_publish_removes_what_a_killed_one_left(place: tuple[Desk, Path, str], tmp_path: Path) -> None:
    home, table, _ = place
    states: list[Path] = []

    def copy_state() -> None:
        if hidden_in(home.folder) + hidden_in(home.out):
            states.append(tmp_path / f"state-{len(states)}" / "home")
            shutil.copytree(home.folder, states[-1])

    with watching(home.folder, copy_state):
        assert home.publish("--force", table=table).status == 0
    assert states
    for state in states[:: max(len(states) // 4, 1)]:
        for path in state.rglob(".*.betalike-*"):  # as if its process were gone
            parts = path.name.split("-")
            path.rename(path.with_name("-".join([*parts[:-2], str(_unused_process()), parts[-1]])))
        later = Desk(state)
        assert later.publish("--force", table=table).status == 0
        assert hidden_in(later.folder) == hidden_in(later.out) == []
        assert run("verify", later.out).status == 0


def _unused_process() -> int:
    last = int(Path("/proc/sys/kernel/pid_max").read_text()) if Path("/proc/sys/kernel/pid_max").exists() else 99999
    return last + 1


def _count_steps(home: Desk, table: Path) -> int:
    counted: list[None] = []
    copy = home.folder.parent / "counting" / "home"
    shutil.copytree(home.folder, copy)
    with watching(copy, lambda: counted.append(None)):
        assert Desk(copy).publish("--force", table=table).status == 0
    shutil.rmtree(copy)
    return len(counted)


@pytest.mark.some(2)
@pytest.mark.usefixtures("_audit_hook")
@pytest.mark.parametrize("most", [3, pytest.param(1000, marks=pytest.mark.long)], ids=["some", "every"])
def test_a_signal_at_some_or_every_step_leaves_nothing_but_a_release(
    publisher: ForkingPublisher, place: tuple[Desk, Path, str], most: int
) -> None:
    home, table, kind = place
    if kind == "older release, no exchange":
        pytest.skip("another process exchanges folders all the same")
    before = files_under(home.folder)
    n_steps = _count_steps(home, table)
    assert n_steps > 5
    wrong: list[str] = []
    for step in some(range(n_steps), most):
        here = Desk(home.folder.parent / f"step-{step}")
        shutil.copytree(home.folder, here.folder)
        number = (signal.SIGINT, signal.SIGTERM)[step % 2]
        told = home.folder.parent / "errors.txt"
        words = here.words(table, "--force")
        publisher.start(*words, errors=told, number=number, step=step, folder=str(here.folder))
        status, message, left = publisher.wait(), told.read_text(), files_under(here.folder)
        told.unlink()
        if hidden_in(here.folder) + hidden_in(here.out):
            wrong.append(f"step {step}: a staging folder is left")
        is_new = release_of(left) != release_of(before)
        if is_new and not (is_release(here.out) and run("verify", here.out).status == 0):
            wrong.append(f"step {step}: {sorted(left)}")
        if is_new and "nothing was published" in message:
            wrong.append(f"step {step}: it says that nothing was published, but it was")
        if status not in (0, 130) or "Traceback" in message:
            wrong.append(f"step {step}: exit status {status}: {message}")
        shutil.rmtree(here.folder)
    assert not wrong, "\n".join(wrong)
