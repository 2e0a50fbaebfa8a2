"""Publishes that meet a fault: of every engine, format and kind of release, and what must be true afterwards."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forking_publisher import ForkingPublisher
from workbench import CANARY, Desk, files_under, is_release, people, run, to_csv

N_ROWS = 90
LITTLE = {  # with --memory 256MB, what a table of a few rows needs to take the paths of a large one
    "betalike.engines.local.SHUFFLED_SHARE": 1_000_000,
    "betalike.engines.local.WRITTEN_ROWS": 40,
}
SEVERAL = {**LITTLE, "betalike.engines.streams.PART_ROWS": 30}
Maker = Callable[[Path], Path]


def _plain(folder: Path) -> Path:
    return _write(folder / "people.csv", to_csv(people(N_ROWS)))


def _gzipped(folder: Path) -> Path:
    return _write(folder / "people.csv.gz", gzip.compress(to_csv(people(N_ROWS))))


def _several_compressed(folder: Path) -> Path:
    (folder / "people").mkdir()
    for number in range(2):
        _write(folder / "people" / f"{number}.csv.bz2", bz2.compress(to_csv(people(N_ROWS)[number::2])))
    return folder / "people"


def _latin(folder: Path) -> Path:
    return _write(folder / "people.csv", to_csv(people(N_ROWS)).replace(b"Ulm", "Köln".encode("cp1252")))


def _blank_lines(folder: Path) -> Path:
    return _write(folder / "people.csv", to_csv(people(N_ROWS)).replace(b"\n", b"\n\n", 3))


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@dataclass(frozen=True)
class Case:
    """A way to publish: options, how the table is stored, changed constants, and what else is in the folder."""

    options: tuple[str, ...] = ()
    make: Maker = _plain
    settings: dict[str, int] = field(default_factory=dict)
    other_files: bool = False
    is_here: bool = False  # the folder of the release is the current one
    companions: frozenset[str] = frozenset()

    @property
    def published(self) -> str:
        """The published file or folder."""
        return f"published.{'parquet' if 'parquet' in self.options else 'csv'}"


def _in_batches(*options: str, **more: Any) -> Case:
    return Case(("--engine", "batches", "--memory", "256MB", *options), **{"settings": LITTLE, **more})


PERTURB, BASELINE = ("--scheme", "perturb"), ("--scheme", "baseline")
PARQUET, KEEP = ("--format", "parquet"), ("--keep", "city")
CASES = {
    "csv": Case(),
    "parquet": Case(PARQUET),
    "perturb": Case(PERTURB, companions=frozenset({"transition.csv"})),
    "perturb parquet": Case((*PERTURB, *PARQUET), companions=frozenset({"transition.csv"})),
    "baseline": Case(BASELINE, companions=frozenset({"sensitive.csv"})),
    "beside other files": Case(other_files=True),
    "in the current folder": Case(is_here=True),
    "compressed": Case(make=_gzipped),
    "several compressed files": Case(make=_several_compressed),
    "in batches": _in_batches(),
    "in batches, parquet": _in_batches(*PARQUET),
    "in batches, kept": _in_batches(*KEEP),
    "in batches, several files": _in_batches(*PARQUET, settings=SEVERAL),
    "in batches, perturb": _in_batches(*PERTURB, companions=frozenset({"transition.csv"})),
    "in batches, perturb parquet": _in_batches(*PERTURB, *PARQUET, companions=frozenset({"transition.csv"})),
    "in batches, baseline": _in_batches(*BASELINE, companions=frozenset({"sensitive.csv"})),
    "in batches, compressed": _in_batches(make=_gzipped),
    "in batches, several compressed files": _in_batches(make=_several_compressed),
    "in batches, latin-1": _in_batches(make=_latin),
    "in batches, blank lines": _in_batches(make=_blank_lines),
    "in batches, beside other files": _in_batches(other_files=True),
}
# Those that `make test` kills and interrupts: each engine, format, kind of release and way to put files into place.
QUICK = [
    "csv",
    "perturb parquet",
    "beside other files",
    "in batches",
    "in batches, several files",
    "in batches, parquet",
]


@dataclass(frozen=True)
class Scene:
    """A folder with a table in `input`, temporary files in `tmp` and the release at `place/out`, for one case."""

    folder: Path
    case: Case
    table: Path
    has_older: bool

    @classmethod
    def build(cls, folder: Path, case: Case, has_older: bool) -> Scene:
        """Set the scene, with an older release of another table and format if wanted."""
        for name in ("input", "tmp", "place"):
            (folder / name).mkdir(parents=True)
        table = case.make(folder / "input")
        scene = cls(folder, case, table.relative_to(folder), has_older)
        if has_older:
            small = folder.parent / "small.csv"
            small.write_bytes(to_csv(people(40)))
            older = "csv" if case.published.endswith("parquet") else "parquet"
            assert Desk(folder / "place").publish(table=small, format=older).status == 0
        if case.other_files:
            Desk(folder / "place").write("out/README.md", "mine")
        if case.is_here:
            scene.out.mkdir(exist_ok=True)
        return scene

    def copy(self, folder: Path) -> Scene:
        """Set the same scene elsewhere."""
        shutil.copytree(self.folder, folder)
        return Scene(folder, self.case, self.table, self.has_older)

    @property
    def out(self) -> Path:
        """Where the release goes."""
        return self.folder / "place" / "out"

    def words(self, *more: object) -> list[object]:
        """The command."""
        out = "." if self.case.is_here else self.out
        force = ["--force"] if self.has_older else []
        columns = {"qi": "age,gender"} if "--keep" in self.case.options else {}
        given = [*self.case.options, *force, *more]
        return Desk(self.folder).words(self.folder / self.table, *given, out=out, **columns)

    def play(self, publisher: ForkingPublisher, fault: dict[str, Any] | None = None) -> tuple[int, str]:
        """Publish, with a fault if one is given; return the exit code and what was printed as an error."""
        errors = self.folder.parent / "errors.txt"
        errors.unlink(missing_ok=True)
        cwd = self.out if self.case.is_here else self.folder
        more: dict[str, Any] = {} if fault is None else {"fault": {"folder": str(self.folder), **fault}}
        environment = {"TMPDIR": str(self.folder / "tmp")}
        publisher.start(
            *self.words(), errors=errors, environment=environment, settings=self.case.settings, cwd=str(cwd), **more
        )
        status = publisher.wait()
        return status, errors.read_text()

    def state(self) -> dict[str, bytes | None]:
        """Everything that is there."""
        return files_under(self.folder)

    def release_of(self, state: dict[str, bytes | None]) -> dict[str, bytes | None]:
        """What of it is in the folder of the release, without staging folders."""
        return {name: data for name, data in state.items() if name.startswith("place/out/") and "/." not in name}

    def left_in(self, state: dict[str, bytes | None], before: dict[str, bytes | None]) -> list[str]:
        """What is there that is neither the release nor was there before."""
        mine = {"place/out", *self.release_of(state)}
        return [name for name in state if name not in mine and name not in before]

    def is_new(self) -> bool:
        """Whether the folder holds the whole new release, and nothing of an older one."""
        names = {path.name for path in self.out.iterdir()} if self.out.is_dir() else set()
        hidden = {name for name in names if name.startswith(".")}  # what a killed process left, which verify reports
        if names - hidden - {"README.md"} != {self.case.published, "certificate.json", *self.case.companions}:
            return False
        checks = json.loads(run("verify", self.out, "--json").stdout)["checks"]
        return all(passed for name, passed in checks.items() if name != "files" or not hidden)


def wrongs(scene: Scene, before: dict[str, bytes | None]) -> Iterator[str]:
    """What is wrong after any fault: the input is changed, or the release is neither the older nor the new nor none."""
    after = scene.state()
    if {n: d for n, d in after.items() if n.startswith("input")} != {
        n: d for n, d in before.items() if n.startswith("input")
    }:
        yield "the input changed"
    if scene.release_of(after) == scene.release_of(before):
        return
    if is_release(scene.out):
        if not scene.is_new():
            yield f"a mixture that claims to be a release: {sorted(scene.release_of(after))}"
    elif not scene.case.other_files and not scene.case.is_here:  # there, files are moved one by one
        yield f"a part of a release: {sorted(scene.release_of(after))}"


def wrongs_after_kill(scene: Scene, before: dict[str, bytes | None]) -> Iterator[str]:
    """What is wrong after a kill: also what is left is open to others, or shows columns that were not named."""
    yield from wrongs(scene, before)
    after = scene.state()
    left = scene.left_in(after, before)
    for name in left:
        path, data = scene.folder / name, after[name]
        if data is not None and CANARY.encode() in data:
            yield f"{name} shows a column that was not named"
        if not any(_is_private(folder) for folder in [path, *path.parents] if folder.is_relative_to(scene.folder)):
            yield f"{name} can be read by others"
        if path.name == "certificate.json" and run("verify", path.parent).status not in (0, 1, 2):
            yield f"verify stumbles over {name}"


def _is_private(path: Path) -> bool:
    """Whether others cannot enter a folder; they may if it is empty, or a finished release that is to be moved."""
    return path.is_dir() and (not path.stat().st_mode & 0o077 or not list(path.iterdir()) or is_release(path))


def wrongs_after_stop(
    scene: Scene, before: dict[str, bytes | None], status: int, text: str, can_remove: bool = True
) -> Iterator[str]:
    """What is wrong after a fault that the process survived: also something is left, or the wrong thing is said.

    On a disk where nothing can be removed, what is left must be private, as after a kill.
    """
    yield from wrongs(scene, before) if can_remove else wrongs_after_kill(scene, before)
    after = scene.state()
    if can_remove and (left := scene.left_in(after, before)):
        yield f"left behind: {left}"
    if missing := [name for name in before if name not in after and not name.startswith("place/out")]:
        yield f"gone: {missing}"
    if "Traceback" in text or CANARY in text:
        yield f"a traceback or a cell: {text}"
    is_published = scene.release_of(after) != scene.release_of(before)
    if is_published and "othing was published" in text:
        yield "it says that nothing was published, but it was"
    if status == 0 and not is_published:
        yield "it says that it published, but it did not"


def count_steps(scene: Scene, publisher: ForkingPublisher, **fault: object) -> int:
    """Count the steps of a publish without a fault, which must be whole and leave nothing."""
    copy = scene.copy(scene.folder.parent / "counting")
    before = copy.state()
    status, text = copy.play(publisher, {"step": -1, **fault})
    assert status == 0, text
    assert copy.is_new()
    assert copy.left_in(copy.state(), before) == []
    shutil.rmtree(copy.folder)
    return len(publisher.steps)


def some(steps: Iterable[int], most: int, offset: int = 0) -> list[int]:
    """Return all steps if they are few, else some: spread evenly, the last one among them."""
    steps = list(steps)
    if len(steps) <= most:
        return steps
    return sorted({steps[-1 - (i * len(steps) // most + offset) % len(steps)] for i in range(most)} | {steps[-1]})
