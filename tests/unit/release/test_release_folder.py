"""The folder of a release: staged elsewhere, moved into place at the end, and gone after any failure."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from betalike.errors import FileError
from betalike.release import folder as release_folder
from betalike.release.folder import check_free, sha256_of, staged
from betalike.runtime.locks import folder_held
from betalike.runtime.scratch import own_mark, private_folder

FILES = {
    "published.csv": "a,b\n",
    "certificate.json": json.dumps({"tool": {"name": "betalike"}, "files": {"published.csv": {}}}),
}


def stage(folder: Path, files: dict[str, str] = FILES, **options: Any) -> None:
    with staged(folder, **options) as staging:
        assert list(staging.iterdir()) == []
        for name, text in files.items():
            (staging / name).write_text(text)


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


def test_nothing_is_in_place_before_the_end(home: Path) -> None:
    with staged(home / "out") as staging:
        assert staging.stat().st_dev == home.stat().st_dev
        assert not (home / "out").exists()
        (staging / "published.csv").write_text("x")
    assert content(home / "out") == {"published.csv": "x"}
    assert os.listdir(home) == ["out"]


@pytest.mark.parametrize("is_exchanged", [True, False])
@pytest.mark.parametrize("has_others", [True, False])
def test_an_older_release_is_replaced_whole(
    home: Path, is_exchanged: bool, has_others: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_exchanged:
        # Disks that cannot exchange two folders are rare, and none is here.
        monkeypatch.setattr(release_folder, "_exchange", lambda one, other: False)
    stage(home / "out", {"published.parquet": "old", "certificate.json": "old", "transition.csv": "old"})
    others = {"notes.txt": "mine"} if has_others else {}
    for name, text in others.items():
        (home / "out" / name).write_text(text)
    stage(home / "out")
    assert content(home / "out") == FILES | others
    assert os.listdir(home) == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError, MemoryError])
@pytest.mark.parametrize("has_older", [True, False])
def test_a_failure_leaves_what_was_there(home: Path, error: type[BaseException], has_older: bool) -> None:
    out = home / "a" / "b" / "out"
    if has_older:
        stage(out)
    before = sorted(home.rglob("*"))

    def fail() -> None:
        with staged(out) as staging:
            (staging / "published.csv").write_text("half")
            raise error("no")

    with pytest.raises(FileError if error is OSError else error):
        fail()
    assert sorted(home.rglob("*")) == before
    if has_older:
        assert content(out) == FILES


def test_a_thousand_new_parents_are_made_and_removed_again(home: Path) -> None:
    def fail() -> None:
        with staged(home / ("y/" * 1000)) as staging:
            (staging / "published.csv").write_text("half")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    assert os.listdir(home) == []


def test_a_staging_folder_is_private_and_a_release_is_not(home: Path) -> None:
    (home / "another").mkdir()
    for _ in range(2):
        with staged(home / "out") as staging:
            assert staging.stat().st_mode & 0o777 == 0o700
            (staging / "certificate.json").write_text("{}")
        assert (home / "out").stat().st_mode == (home / "another").stat().st_mode


def test_the_last_check_is_made_before_anything_is_moved(home: Path) -> None:
    stage(home / "out", {"certificate.json": "older"})

    def refuse() -> None:
        raise FileError("no")

    def try_it() -> None:
        with staged(home / "out", refuse) as staging:
            (staging / "certificate.json").write_text("newer")

    with pytest.raises(FileError, match="no"):
        try_it()
    assert content(home / "out") == {"certificate.json": "older"}
    assert os.listdir(home) == ["out"]


def test_nobody_waits_for_ever_for_a_locked_folder(home: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    lock = os.open(home, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stage(home / "out", patience=0.1)
    finally:
        os.close(lock)
    assert content(home / "out") == FILES


@pytest.mark.parametrize("at", [1, 2])
def test_of_two_that_move_files_one_by_one_the_later_one_is_refused(home: Path, at: int) -> None:
    out, checks, refused = home / "out", [0], []
    stage(out, {"notes.txt": "mine"})

    def check() -> None:
        checks[0] += 1
        if checks[0] == at:
            refused.append(publish("other", lambda: check_free(out, force=False)))
        check_free(out, force=False)

    def publish(text: str, last_check: Callable[[], None]) -> bool:
        try:
            with staged(out, last_check, patience=0.1) as staging:  # the other one stands still for longer
                for name, usual in FILES.items():
                    (staging / name).write_text(text if name == "published.csv" else usual)
        except FileError:
            return True
        return False

    refused.append(publish("first", check))
    assert refused == ([False, True] if at == 1 else [True, False])
    assert content(out) == {**FILES, "published.csv": "other" if at == 1 else "first", "notes.txt": "mine"}


def test_folders_of_killed_processes_are_removed_and_others_not(home: Path) -> None:
    with staged(home / "out") as staging:
        name = staging.name
    prefix, process, token = name.rsplit("-", 2)
    assert int(process) == os.getpid()
    unused = max(int(Path("/proc/sys/kernel/pid_max").read_text()), 2**22) + 1
    stale = home / f"{prefix}-{unused}-{token}"
    alive = home / f"{prefix}-{os.getpid()}-{'0' * 8}"
    foreign = home / f".out.betalike-otherhos-{unused}-{token}"
    another = home / f".outer{prefix.removeprefix('.out')}-{unused}-{token}"
    for path in (stale, alive, foreign, another):
        path.mkdir()
        (path / "published.csv").write_text("half")
    stage(home / "out")
    assert not stale.exists()
    assert alive.exists()
    assert foreign.exists()
    assert not another.exists()  # it may hold rows of a table, whatever it was to publish


def test_a_release_needs_force_to_be_replaced(home: Path) -> None:
    out = home / "out"
    check_free(out, force=False)
    out.mkdir()
    check_free(out, force=False)
    (out / "notes.txt").write_text("mine")
    check_free(out, force=False)
    for name in ("published.csv", "published.parquet", "transition.csv", "certificate.json"):
        (out / name).write_text("")
        for force in (False, True):
            with pytest.raises(FileError, match="no betalike certificate lists it"):
                check_free(out, force)
        (out / name).unlink()
    stage(out)
    with pytest.raises(FileError, match="--force"):
        check_free(out, force=False)
    check_free(out, force=True)
    (out / "published.parquet").mkdir()
    check_free(out, force=True)
    (out / "published.parquet" / "mine.parquet").write_text("mine")
    with pytest.raises(FileError, match=r"holds 'published\.parquet/mine\.parquet'"):
        check_free(out, force=True)


def test_a_name_that_no_folder_can_have(home: Path) -> None:
    with pytest.raises(FileError, match="cannot be the name of a folder"):
        check_free(home / "a\0b", force=False)


def test_what_a_process_left_that_was_killed_while_it_moved_files(home: Path) -> None:
    out = home / "out"
    digest = hashlib.sha256(b"moved").hexdigest()
    certificate = json.dumps({"tool": {"name": "betalike"}, "files": {"published.csv": {"sha256": digest}}})
    with staged(out) as staging:
        prefix, _, token = staging.name.rsplit("-", 2)
    unused = max(int(Path("/proc/sys/kernel/pid_max").read_text()), 2**22) + 1
    left = home / f"{prefix}-{unused}-{token}"
    for is_moving in (False, True):
        (left / "moving").mkdir(parents=True) if is_moving else left.mkdir()
        (left / "certificate.json").write_text(certificate)
        (out / "published.csv").write_text("moved")
        if not is_moving:  # it was killed before, so this file is another's
            with pytest.raises(FileError, match="no betalike certificate"):
                check_free(out, force=True)
            (left / "certificate.json").unlink()
            left.rmdir()
    with pytest.raises(FileError, match="--force"):
        check_free(out, force=False)
    check_free(out, force=True)
    (out / "published.csv").write_text("changed since")
    with pytest.raises(FileError, match="no betalike certificate"):
        check_free(out, force=True)
    (out / "published.csv").write_text("moved")
    with staged(out) as staging:
        (staging / "certificate.json").write_text("new")
        check_free(out, force=True)
    assert content(out) == {"certificate.json": "new"}
    assert os.listdir(home) == ["out"]


@pytest.mark.parametrize("force", [True, False])
def test_a_file_is_no_folder(home: Path, force: bool) -> None:
    (home / "out").write_text("mine")
    with pytest.raises(FileError, match="is a file"):
        check_free(home / "out", force)


def test_a_folder_below_a_file(home: Path) -> None:
    (home / "file").write_text("mine")
    with pytest.raises(FileError, match="cannot be written"):
        stage(home / "file" / "out")


def test_a_relative_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    stage(Path("out"))
    stage(Path("out"), {"certificate.json": "new"})
    assert content(home / "out") == {"certificate.json": "new"}


def test_an_existing_folder_keeps_its_permissions(home: Path) -> None:
    (home / "out").mkdir(mode=0o700)
    for _ in range(2):
        stage(home / "out")
        assert (home / "out").stat().st_mode & 0o777 == 0o700


def test_the_digest_of_a_file(home: Path) -> None:
    path = home / "f"
    path.write_bytes(b"x" * 100_000)
    assert sha256_of(path) == hashlib.sha256(b"x" * 100_000).hexdigest()


_removals: list[Path] = []


def _write_at_a_removal(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "os.rmdir" and _removals and os.fspath(arguments[0]) == os.fspath(_removals[-1]):
        (_removals[-1] / "part" / "task").mkdir(parents=True)
        (_removals.pop() / "part" / "task" / "rows").write_bytes(b"rows")


@pytest.fixture(scope="session")
def _audit_hook() -> None:
    sys.addaudithook(_write_at_a_removal)


@pytest.mark.usefixtures("_audit_hook")
def test_a_folder_into_which_others_still_write_is_removed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the workers of a cluster do for a moment after their job was cancelled: here, when it is about to be gone."""
    monkeypatch.setattr(release_folder, "MOST_SECONDS_CLEARING", math.inf)  # the machine may be busy

    def publish() -> None:
        with staged(home / "out") as staging:
            _removals.extend([staging] * 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish()
    assert _removals == []  # others wrote twice
    assert list(home.iterdir()) == []


APART = ["unshare", "--pid", "--fork"]  # as a container, which numbers processes anew


def mark_of_gone_process() -> str:
    """The end of the name of a folder whose process cannot be seen from here."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    return own_mark().replace(f"-{os.getpid()}-", f"-{gone.pid}-")


def stage_beside(home: Path) -> None:
    """Publish beside what others are publishing, and make a folder for scratch files beside theirs."""
    stage(home / "small")
    with private_folder(home):
        pass


@pytest.mark.skipif(os.name != "posix", reason="this system does not lock folders")
@pytest.mark.parametrize("name", [".big.betalike-", ".betalike-scratch-"])
def test_what_a_process_of_another_container_writes_is_kept_until_it_ends(home: Path, name: str) -> None:
    running = home / f"{name}{mark_of_gone_process()}"
    running.mkdir()
    (running / "published.csv").write_text("x")
    with folder_held(running):
        stage_beside(home)
        assert content(running) == {"published.csv": "x"}
    stage_beside(home)
    assert not running.exists()


@pytest.mark.skipif(os.name != "posix", reason="this system does not lock folders")
def test_another_container_keeps_what_is_written_here(home: Path) -> None:
    if sys.platform != "linux" or subprocess.run([*APART, "true"], capture_output=True).returncode != 0:
        pytest.skip("no other space of process numbers can be made here")
    program = (
        "import pathlib, sys\n"
        "from betalike.release.folder import staged\n"
        "from betalike.runtime.scratch import private_folder\n"
        "home = pathlib.Path(sys.argv[1])\n"
        "with staged(home / 'small'), private_folder(home):\n"
        "    pass\n"
    )
    with staged(home / "big") as staging, private_folder(home) as scratch:
        (staging / "published.csv").write_text("x")
        done = subprocess.run([*APART, sys.executable, "-c", program, str(home)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert content(staging) == {"published.csv": "x"}
        assert scratch.is_dir()
    assert content(home / "big") == {"published.csv": "x"}
    assert sorted(os.listdir(home)) == ["big", "small"]


@pytest.mark.skipif(os.name != "posix", reason="this system has no links for every user")
def test_a_link_that_replaces_the_folder_meanwhile_is_refused(home: Path) -> None:
    def swapped() -> Iterator[Path]:
        """Inputs that are asked for when the files of the folder are known."""
        (home / "out").rename(home / "moved")
        (home / "out").symlink_to(home / "other")
        yield home / "table.csv"

    stage(home / "other", {"published.csv": "theirs"})
    stage(home / "out", {"published.csv": "a stranger's"})
    with pytest.raises(FileError, match=r"holds 'published\.csv'"):
        check_free(home / "out", force=True, inputs=swapped())
    assert content(home / "other") == {"published.csv": "theirs"}


@pytest.mark.skipif(os.name != "posix", reason="this system has no links for every user")
def test_nothing_is_moved_through_a_link_that_replaces_the_folder_meanwhile(home: Path) -> None:
    theirs = {"published.csv": "theirs", "notes.txt": "theirs"}
    (home / "other").mkdir()
    for name, text in theirs.items():
        (home / "other" / name).write_text(text)
    stage(home / "out")

    def publish() -> None:
        with staged(home / "out") as staging:
            (staging / "published.csv").write_text("new")
            (home / "out").rename(home / "moved")
            (home / "out").symlink_to(home / "other")

    with pytest.raises(FileError, match="is a link now"):
        publish()
    assert content(home / "other") == theirs
    assert content(home / "moved") == FILES
    assert sorted(os.listdir(home)) == ["moved", "other", "out"]
