"""Disks that are full, folders that cannot be written: exit status 2, the older release stays, nothing else is left."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from workbench import Desk, Outcome, assert_refused, files_under, hidden_in, people, run, with_canaries

ROWS = with_canaries(people(400))
PAGE = 4096
NOBODY = 65534


def mount(*words: object) -> None:
    """Mount, or skip the test with the reason."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("mounting needs Linux and root")
    done = subprocess.run(["mount", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting is not possible here: {done.stderr.strip()}")


@pytest.fixture
def disk(desk: Desk) -> Iterator[Path]:
    """A disk of 24 pages."""
    path = desk.folder / "disk"
    path.mkdir()
    mount("-t", "tmpfs", "-o", f"size={24 * PAGE}", "tmpfs", path)
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def fill(disk: Path, free_pages: int) -> None:
    """Fill a disk, but for some pages."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    room = os.statvfs(disk).f_bavail - free_pages
    filler.write_bytes(b"\0" * PAGE * max(room, 0))


def assert_full(outcome: Outcome) -> None:
    assert_refused(outcome, "could not be written", "space")


@pytest.mark.some(2)
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("is_mount_point", [False, True], ids=["inside", "mount point"])
@pytest.mark.parametrize("has_older", [False, True], ids=["fresh", "older release"])
def test_a_full_disk(desk: Desk, disk: Path, form: str, is_mount_point: bool, has_older: bool) -> None:
    table, out = desk.table(ROWS), disk if is_mount_point else disk / "out"
    if has_older:
        assert desk.publish(table=desk.table(people(), name="small.csv"), out=out, format=form).status == 0
    n_refused = 0
    for free_pages in range(20):
        fill(disk, free_pages)
        before = files_under(disk)
        outcome = desk.publish("--force", table=table, out=out, format=form)
        assert hidden_in(disk) == []
        if outcome.status == 0:
            break
        n_refused += 1
        assert_full(outcome)
        assert files_under(disk) == before
    assert outcome.status == 0
    assert n_refused > 1
    (disk / "filler").unlink()  # it could be the original
    assert run("verify", out).status == 0


def test_a_full_disk_leaves_no_new_folders(desk: Desk, disk: Path) -> None:
    fill(disk, 2)
    assert_full(desk.publish(table=desk.table(ROWS), out=disk / "a/b/out"))
    assert set(files_under(disk)) == {"filler"}


@pytest.fixture(params=["remounted", "bound"])
def read_only(request: pytest.FixtureRequest, desk: Desk, disk: Path) -> Iterator[Path]:
    """A read-only folder that holds a release in `out`."""
    assert desk.publish(out=disk / "out").status == 0
    if request.param == "remounted":
        mount("-o", "remount,ro", disk)
        yield disk
        return
    mount("--bind", disk, disk)
    try:
        mount("-o", "remount,bind,ro", disk)
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["new", "out", "."])
def test_a_read_only_disk(desk: Desk, read_only: Path, name: str) -> None:
    before = files_under(desk.folder)
    outcome = desk.publish("--force", table=desk.folder / "people.csv", out=read_only / name)
    assert_refused(outcome, "cannot be written")
    assert files_under(desk.folder) == before
    assert run("verify", read_only / "out").status == 0


AS_NOBODY = """
import os, sys
from workbench import run
table, warm, *outs = sys.argv[1:]
words = ["publish", table, "--qi", "age,gender,city", "--sensitive", "disease", "--beta", "2", "--force", "--out"]
assert run(*words, warm).status == 0  # as root, so that everything is imported that nobody may not read
run("verify", warm)
os.setgroups([]), os.setgid({nobody}), os.setuid({nobody})
for out in outs:
    outcome = run(*words, out)
    print(outcome.status, outcome.text)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if not all(parent.stat().st_mode & 0o001 for parent in folder.parents):
            pytest.skip("the folder for temporary files is closed to other users")
        yield folder


def test_another_user_without_permission(desk: Desk, open_folder: Path) -> None:
    if not hasattr(os, "setuid") or os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    theirs, ours, table = open_folder / "theirs", open_folder / "ours", open_folder / "people.csv"
    table.write_bytes(desk.table().read_bytes())
    assert desk.publish(out=ours / "out").status == 0
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    before = files_under(ours)
    outs = [ours / "new", ours / "out", theirs / "out"]
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY.format(nobody=NOBODY), table, open_folder / "warm", *outs],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
    )
    lines = done.stdout.splitlines()
    assert [line[:2] for line in lines] == ["2 ", "2 ", "0 "], done.stdout + done.stderr
    assert all("cannot be written: Permission denied" in line for line in lines[:2])
    assert files_under(ours) == before
    assert run("verify", theirs / "out").status == 0
