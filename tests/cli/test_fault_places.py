"""Others who act at the worst moment, folders that are closed, and odd names: a clear end, and nothing lost."""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fault_scenes import CASES, Case, Scene, count_steps, some, wrongs_after_stop
from forking_publisher import ForkingPublisher
from system_calls import can_intercept
from workbench import Desk, assert_refused, command_line, files_under, hidden_in, people, run, run_process, to_csv

from examples import FACTOR
from patience import PATIENCE

needs_calls = pytest.mark.skipif(not can_intercept(), reason="this system does not hold calls for another process")
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="becoming another user needs root"
)
long = pytest.mark.long
NOBODY = 65534


@needs_calls
@pytest.mark.parametrize(
    ("name", "has_older"),
    [
        ("csv", False),
        ("in batches, several files", True),
        *(pytest.param(name, True, marks=long) for name in ("csv", "beside other files", "perturb")),
        *(pytest.param(name, False, marks=long) for name in ("in batches, several files", "perturb")),
    ],
)
def test_a_staging_folder_that_is_removed(
    tmp_path: Path, publisher: ForkingPublisher, name: str, has_older: bool
) -> None:
    scene = Scene.build(tmp_path / "scene", CASES[name], has_older)
    n_steps = count_steps(scene, publisher)
    before, wrong = scene.state(), []
    for step in some(range(n_steps), 1, offset=2):
        here = scene.copy(tmp_path / f"step-{step}")
        place = here.folder / "place"
        remove = ["sh", "-c", 'rm -rf "$0"/.*.betalike-* "$0"/out/.*.betalike-*', str(place)]
        status, text = here.play(publisher, {"step": step, "command": remove})
        if status not in (0, 1, 2):
            wrong.append(f"step {step} of {n_steps}: exit code {status} {text}")
        wrong += [f"step {step}: {what}" for what in wrongs_after_stop(here, before, status, text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.some(2)
@needs_calls
@pytest.mark.parametrize("name", ["csv", "in batches, several files", "perturb parquet"])
def test_a_file_that_is_changed_before_it_is_read_back(tmp_path: Path, publisher: ForkingPublisher, name: str) -> None:
    scene = Scene.build(tmp_path / "scene", CASES[name], has_older=False)
    before = scene.state()
    here = scene.copy(tmp_path / "changed")
    spoil = f'for f in "$0"/.out.betalike-*/{scene.case.published} "$0"/.out.betalike-*/published.*/*.parquet; do '
    spoil += 'test -f "$f" && truncate -s -9 "$f"; done; true'
    command = ["sh", "-c", spoil, str(here.folder / "place")]
    count_steps(scene, publisher)
    last_write = max(i for i, step in enumerate(publisher.steps) if step in ("openat", "open"))  # of the certificate
    status, text = here.play(publisher, {"step": last_write, "command": command})
    # What is changed after it was counted again no longer has the digest that the certificate lists.
    assert status in (0, 1, 2), text
    if status == 0:
        assert run("verify", here.out).status == 1
    else:
        assert list(wrongs_after_stop(here, before, status, text)) == []


@pytest.mark.some(2)
@needs_calls
@pytest.mark.parametrize(
    "command",
    ['echo mine > "$0"', 'ln -s nowhere "$0"', 'mkdir "$0"; echo mine > "$0/notes.txt"', 'mkdir "$0"; chmod 0 "$0"'],
    ids=["a file", "a broken link", "a folder with notes", "a closed folder"],
)
def test_something_else_takes_the_place_at_the_last_moment(
    tmp_path: Path, publisher: ForkingPublisher, command: str
) -> None:
    scene = Scene.build(tmp_path / "scene", CASES["csv"], has_older=False)
    count_steps(scene, publisher)
    last = max(i for i, step in enumerate(publisher.steps) if step.startswith("rename"))
    status, text = scene.play(publisher, {"step": last, "command": ["sh", "-c", command, str(scene.out)]})
    assert status in (0, 2), text
    assert "Traceback" not in text
    assert hidden_in(scene.folder / "place") == []
    if command.startswith("echo"):
        assert (status, scene.out.read_text()) == (2, "mine\n")
    if "notes" in command:
        assert (scene.out / "notes.txt").read_text() == "mine\n"
    if scene.out.is_dir() and (scene.out / "certificate.json").exists():
        assert run("verify", scene.out).status == 0
    else:
        assert status == 2


def meet(
    scene: Scene, publisher: ForkingPublisher, step: int, meanwhile: Callable[[], object]
) -> tuple[int, str, bool]:
    """Publish, and do something while that process is held before a step; return whether it came to that step."""
    here, there = scene.folder.parent / f"held-{step}", scene.folder.parent / f"go-{step}"
    os.mkfifo(here), os.mkfifo(there)
    hold = ["sh", "-c", 'echo > "$0"; read line < "$1"', str(here), str(there)]
    held = os.open(here, os.O_RDONLY | os.O_NONBLOCK)
    errors = scene.folder.parent / "errors.txt"
    errors.unlink(missing_ok=True)
    fault = {"folder": str(scene.folder), "step": step, "command": hold}
    process = publisher.start(
        *scene.words(), errors=errors, settings=scene.case.settings, cwd=str(scene.folder), fault=fault
    )
    ended, events = os.pidfd_open(process), select.poll()
    for file in (held, ended):
        events.register(file, select.POLLIN)
    came = held in [file for file, _ in events.poll()]
    try:
        meanwhile()
    finally:
        if came:
            there.write_text("go on\n")
        os.close(held), os.close(ended)
    return publisher.wait(), errors.read_text(), came


@pytest.mark.some(2)
@needs_calls
@pytest.mark.parametrize(
    ("name", "has_older"),
    [
        ("csv", False),
        ("beside other files", True),
        ("in batches, several files", True),
        *(pytest.param(name, True, marks=long) for name in ("csv", "parquet", "in batches")),
        *(pytest.param(name, False, marks=long) for name in ("parquet", "beside other files", "in batches")),
        pytest.param("in batches, several files", False, marks=long),
    ],
)
def test_two_publishes_at_once(tmp_path: Path, publisher: ForkingPublisher, name: str, has_older: bool) -> None:
    scene = Scene.build(tmp_path / "scene", CASES[name], has_older)
    n_steps = count_steps(scene, publisher)
    force = ["--force"] if has_older else []
    wrong: list[str] = []
    for step in some(range(n_steps), 2 if FACTOR == 1 else 8):
        here = scene.copy(tmp_path / f"step-{step}")
        outcomes = []

        def publish(here: Scene = here, outcomes: list[int] = outcomes) -> None:
            words = Desk(here.folder / "place").words(here.folder / here.table, "--scheme", "perturb", *force)
            outcomes.append(run(*words).status)

        status, text, _ = meet(here, publisher, step, publish)
        statuses = sorted([status, *outcomes])
        if statuses not in ([0, 0], [0, 2]) or (statuses == [0, 0] and not has_older):
            wrong.append(f"step {step} of {n_steps}: exit codes {status} and {outcomes}: {text}")
        names = {path.name for path in here.out.iterdir()} - {"README.md"}
        kinds = [{"published.csv", "transition.csv", "certificate.json"}, {here.case.published, "certificate.json"}]
        if names not in kinds or run("verify", here.out).status != 0:
            wrong.append(f"step {step} of {n_steps}: a mixture: {sorted(names)}")
        if hidden_in(here.folder / "place") or hidden_in(here.out):
            wrong.append(f"step {step}: a staging folder is left")
    assert not wrong, "\n".join(wrong)


@needs_calls
def test_verifying_while_a_release_is_replaced(tmp_path: Path, publisher: ForkingPublisher) -> None:
    scene = Scene.build(tmp_path / "scene", CASES["csv"], has_older=True)
    n_steps = count_steps(scene, publisher)
    for step in some(range(n_steps), 3):
        here = scene.copy(tmp_path / f"step-{step}")
        seen: list[int] = []
        status, text, _ = meet(
            here, publisher, step, lambda here=here, seen=seen: seen.append(run("verify", here.out).status)
        )
        assert (status, seen) == (0, [0]), f"step {step}: {text}"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if not all(parent.stat().st_mode & 0o001 for parent in folder.parents):
            pytest.skip("the folder for temporary files is closed to other users")
        yield folder


def as_nobody(publisher: ForkingPublisher, errors: Path, *words: object, **more: object) -> tuple[int, str]:
    """Run a command as an ordinary user without a home."""
    errors.touch()
    errors.chmod(0o666)
    environment = {"HOME": "/nowhere", "XDG_CACHE_HOME": "/nowhere"}
    publisher.start(*words, errors=errors, user=NOBODY, environment=environment, **more)
    status, text = publisher.wait(), " ".join(errors.read_text().split())
    errors.unlink()
    return status, text


CLOSED = {
    "a read-only folder": lambda place, table: [folder.chmod(0o555) for folder in (place, place / "out")],
    "a read-only folder around a release's own": lambda place, table: place.chmod(0o555),
    "a folder that cannot be listed": lambda place, table: place.chmod(0o333),
    "a folder that cannot be entered": lambda place, table: place.chmod(0o666),
    "a table that cannot be read": lambda place, table: table.chmod(0o200),
    "a table in a closed folder": lambda place, table: table.parent.chmod(0o600),
}


@pytest.mark.some(3)
@needs_root
@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize(
    "name", ["csv", "in batches, compressed", pytest.param("in batches, parquet", marks=pytest.mark.long)]
)
def test_an_ordinary_user_before_a_closed_door(
    publisher: ForkingPublisher, open_folder: Path, closed: str, name: str
) -> None:
    scene = Scene.build(open_folder / "scene", CASES[name], has_older=True)
    for path in [open_folder / "scene", *open_folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    CLOSED[closed](scene.folder / "place", scene.folder / scene.table)
    before = files_under(scene.folder)
    errors = open_folder / "errors.txt"
    status, text = as_nobody(publisher, errors, *scene.words(), settings=scene.case.settings, cwd="/")
    if closed == "a folder that cannot be listed":  # but written: nothing hinders a release
        assert status in (0, 2), text
    elif closed == "a read-only folder around a release's own":  # files are moved one by one within the latter
        assert status == 0, text
    else:
        assert status == 2, text
    assert "Traceback" not in text
    assert "cannot be" in text or status == 0
    if status == 2:
        assert files_under(scene.folder) == before
    assert run("verify", scene.out).status == 0
    for folder in (scene.folder / "place", scene.folder / "input"):
        folder.chmod(0o755)
        assert hidden_in(folder) == []


@needs_root
def test_an_ordinary_user_without_a_home_publishes(publisher: ForkingPublisher, open_folder: Path) -> None:
    scene = Scene.build(open_folder / "scene", Case(), has_older=False)
    os.chown(scene.folder / "place", NOBODY, NOBODY)
    status, text = as_nobody(publisher, open_folder / "errors.txt", *scene.words(), cwd="/")
    assert status == 0, text
    assert scene.is_new()
    assert scene.out.stat().st_uid == NOBODY


NAMES = ["with spaces", "line\nbreak", "tab\t", "ünïcode ☃", "-dash", "a'quote\"s", "*?[x]", ".hidden", "x" * 150, "~"]


@pytest.mark.some(5)
@pytest.mark.parametrize("name", NAMES)
def test_odd_names_of_folders_and_tables(desk: Desk, name: str, engine: str) -> None:
    table = desk.table(name=f"{name}/{name}.csv" if "*" not in name else "people.csv")
    out = desk.folder / name / "deep" / name
    for more in ([], ["--force"]):
        outcome = run(*desk.words(table, *more, out=out, engine=engine))
        assert outcome.status == 0, outcome.text
        assert run("verify", out, "--original", table).status == 0
    assert set(files_under(out)) == {"published.csv", "certificate.json"}
    assert hidden_in(out.parent) == []


@pytest.mark.parametrize("name", ["x" * 255, "x" * 256, "x" * 230, "a/b/" + "x" * 300])
def test_names_that_are_too_long_are_refused(desk: Desk, name: str, engine: str) -> None:
    table = desk.table()
    before = files_under(desk.folder)
    outcome = desk.publish(table=table, out=desk.folder / name, engine=engine)
    if outcome.status == 0:
        assert run("verify", desk.folder / name).status == 0
        assert hidden_in(desk.folder) == []
        return
    assert_refused(outcome, "cannot be")
    assert files_under(desk.folder) == before


def test_a_clock_that_goes_backwards(desk: Desk, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(10**9, 0, -1))
    monkeypatch.setattr(time, "time", lambda: float(next(ticks)))
    outcome = desk.publish(engine=engine)
    assert outcome.status == 0, outcome.text
    assert run("verify", desk.out).status == 0


def test_a_release_on_another_disk_than_temporary_files(desk: Desk, engine: str) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or not os.access(other, os.W_OK) or other.stat().st_dev == desk.folder.stat().st_dev:
        pytest.skip("there is no second disk")
    with tempfile.TemporaryDirectory(dir=other) as name:
        outcome = run_process(*desk.words(desk.table(), engine=engine), env=os.environ | {"TMPDIR": name})
        assert outcome.status == 0, outcome.text
        assert os.listdir(name) == []
    assert run("verify", desk.out).status == 0


@pytest.mark.some(2)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_the_table_is_waited_for(desk: Desk, number: signal.Signals) -> None:
    before = sorted(os.listdir(desk.folder))
    process = subprocess.Popen(
        command_line(*desk.words(Path("-"))),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # `nohup` ignores one of them
    )
    try:
        assert process.stdin is not None
        process.stdin.write(to_csv(people(20_000)))  # more than a pipe holds: this ends once it is being read,
        process.stdin.flush()  # and nothing comes after it
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    assert sorted(os.listdir(desk.folder)) == before


def test_a_hangup_that_is_ignored_stays_ignored(desk: Desk, publisher: ForkingPublisher) -> None:
    """As nohup does it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        table = desk.table()
        assert run(*desk.words(table)).status == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_folders_of_a_release_are_as_open_as_others(desk: Desk) -> None:
    """A staging folder is private, a release is not."""
    (desk.folder / "another").mkdir()
    usual = stat.S_IMODE((desk.folder / "another").stat().st_mode)
    assert desk.publish().status == 0
    assert stat.S_IMODE(desk.out.stat().st_mode) == usual
    desk.out.chmod(0o750)
    assert desk.publish("--force").status == 0
    assert stat.S_IMODE(desk.out.stat().st_mode) == 0o750
