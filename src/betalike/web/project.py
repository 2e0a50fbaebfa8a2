"""A project: a private folder with a specification, what is known of its table, its releases and its jobs.

Everything is in files, so that a project can be closed, and opened by another run of the server:

    project.json       title, origin, the specification, and those before it, for undo
    release.toml       the specification as the command line reads it
    release-3.toml     the one that release 3 was made with
    table.json         what was found in the table: reasons for guesses, a preview
    counts.json        how many rows have each value
    uploads/           an uploaded table, and hierarchies
    releases/3/        a release
    jobs/7/            what a process does, how far it is, and how it ended
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from betalike.errors import FileError, InputError, SchemaError
from betalike.io.addresses import is_address, parse_address
from betalike.io.specification import Specification, read_specification
from betalike.runtime.locks import held

DEMO_TABLE = "census.csv"
MOST_UNDO = 50
MOST_COUNTED = 20_000  # values of a column: more are neither shown nor grouped on the page
NEARLY_UNIQUE = 0.9  # share of rows, or people, that a column singles out by itself
LONGEST_NAME = 80  # of a project
ARRIVING = ".arriving-"  # how the folder of an upload begins until it is there as a whole
DELETED = ".deleted-"  # and that of a project while it is deleted
STAGED = re.compile(r"\..+\.(\d+|zip)|\.hierarchy-.+")  # files and folders that are being written
HEADER = (
    "# Made with the page of betalike. The same release from a terminal, in this folder:\n"
    "#   betalike publish --spec {name} --out DIR\n\n"
)
STALE = (
    "this project was changed in another tab or window meanwhile. Here it is as it is now; make your change again if "
    "it is still needed."
)
Origin = Literal["demo", "path", "upload", "database"]


class Record(msgspec.Struct):
    """What project.json holds."""

    title: str
    origin: Origin
    table: str
    source: dict[str, Any] = {}  # which part of a workbook, a statistics file or a database the table is
    spec: Specification | None = None
    version: int = 0
    history: list[Specification] = []
    is_kept: bool = False
    chosen: int | None = None


class SeenColumn(msgspec.Struct):
    """What was found in a column, and its first values."""

    name: str
    kind: str
    kind_reason: str
    role_reason: str
    is_identifying: bool
    unique: float
    separation: float
    preview: list[str | None]
    prefix: list[int] = []
    cost: str = ""
    unique_people: float | None = None

    @property
    def identifies(self) -> bool:
        """Whether it says who a person is: by its guess, or because nearly every value is that of one row or person."""
        return self.is_identifying or max(self.unique, self.unique_people or 0) >= NEARLY_UNIQUE


class SeenTable(msgspec.Struct):
    """What was found in a table."""

    rows: int
    columns: list[SeenColumn]
    combinations: list[dict[str, Any]] = []
    person: str | None = None  # the column that people were counted by


class StaleError(InputError):
    """A form was sent that shows an older state than that of the project."""


class Project:
    """A project folder. Changes are made one at a time, and each is written before it counts."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.id = folder, folder.name
        self._lock = threading.RLock()

    @property
    def record(self) -> Record:
        """Read the state of the project."""
        try:
            return msgspec.json.decode((self.folder / "project.json").read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError) as error:
            raise FileError(f"the project '{self.id}' cannot be read: its project.json is damaged or gone.") from error

    @property
    def facts(self) -> SeenTable | None:
        """Read what was found in the table; None before it was opened."""
        found: SeenTable | None = self._read("table.json", SeenTable)
        return found

    @property
    def counts(self) -> dict[str, dict[str, int] | None]:
        """Read the rows of each value but missing ones, by column; None for a column with too many values."""
        spec, found = self.record.spec, self.all_counts
        missing = set() if spec is None else set(spec.release.missing)
        return {
            name: None if counts is None else {value: rows for value, rows in counts.items() if value not in missing}
            for name, counts in found.items()
        }

    @property
    def all_counts(self) -> dict[str, dict[str, int] | None]:
        """Read the rows of each text, also of those that mean a missing value."""
        found: dict[str, dict[str, int] | None] | None = self._read("counts.json", dict[str, dict[str, int] | None])
        return found or {}

    def _read(self, name: str, kind: Any) -> Any:
        try:
            return msgspec.json.decode((self.folder / name).read_bytes(), type=kind)
        except (FileNotFoundError, msgspec.DecodeError):  # a damaged file is made again, from the table
            return None

    @property
    def table(self) -> str | Path:
        """The table's path, or its address in a database.

        The path of a table elsewhere was resolved when it was opened. If it now leads through a link, somebody may have
        put the link there to make the page read another file.
        """
        table = self.record.table
        if is_address(table):
            return table
        path = self.folder / table
        if Path(table).is_absolute() and path.resolve() != path:
            raise FileError("the path of the table now leads through a link to another place. Open the table again.")
        return path

    @property
    def is_on_server(self) -> bool:
        """Whether the table is in a database that may ask for a password."""
        table = self.record.table
        return is_address(table) and not parse_address(table).files

    @property
    def has_table(self) -> bool:
        """Whether the table is still there, as far as files show."""
        try:
            table = self.table
        except FileError:
            return False
        return isinstance(table, str) or table.is_file()

    @property
    def spec(self) -> Specification:
        """The current specification."""
        spec = self.record.spec
        if spec is None:
            raise SchemaError("the table is not open yet. Open it first.")
        return spec

    @contextlib.contextmanager
    def changed(self, version: str | int | None = None) -> Iterator[Record]:
        """Change the record; a version that is not the current one is refused, for another tab was faster."""
        with self._lock, held(self.folder / ".lock"):  # the lock is for jobs, which are other processes
            record = self.record
            if version is not None and str(version) != str(record.version):
                raise StaleError(STALE)
            yield record
            record.version += 1
            self.write("project.json", msgspec.json.format(msgspec.json.encode(record)))
            if record.spec is not None:
                self.write("release.toml", spec_text(record.spec, "release.toml").encode())

    def edit(self, version: str | int | None, change: Callable[[Specification], Specification]) -> None:
        """Change the specification, and remember the one before. A change that is made already changes nothing."""
        if change(copy_spec(self.spec)) == self.spec:
            return
        with self.changed(version) as record:
            assert record.spec is not None
            before, record.spec = record.spec, change(copy_spec(record.spec))
            record.history = [*record.history, before][-MOST_UNDO:]

    def undo(self, version: str | int | None) -> None:
        """Return to the specification before the last change."""
        with self.changed(version) as record:
            if record.history:
                record.spec = record.history.pop()

    def hierarchy_files(self, number: int) -> list[str]:
        """Return the hierarchy files that the specification of a release names."""
        columns = read_specification(self.folder / f"release-{number}.toml").columns.values()
        return sorted({column.hierarchy for column in columns if isinstance(column.hierarchy, str)})

    def portable_spec(self, number: int, has_hierarchies: bool) -> str:
        """Return the specification of a release for use in another folder, which may have its hierarchies."""
        spec = read_specification(self.folder / f"release-{number}.toml")
        if spec.table is not None and not is_address(spec.table):
            spec.table = str(self.folder / spec.table)
        for column in spec.columns.values():
            if isinstance(column.hierarchy, str) and not has_hierarchies:
                column.hierarchy = str(self.folder / column.hierarchy)
        return spec_text(spec, "release.toml")

    def write(self, name: str, content: bytes) -> None:
        """Write a file as a whole, readable by its owner alone."""
        with self._lock:
            staged = self.folder / f".{name}.{os.getpid()}"
            with os.fdopen(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(content)
            staged.replace(self.folder / name)

    def sweep(self) -> None:
        """Delete files that were being written when an earlier server was killed."""
        for path in self.folder.glob(".*"):
            if STAGED.fullmatch(path.name):
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def delete_upload(self) -> None:
        """Delete an uploaded table, and everything that was copied from it."""
        shutil.rmtree(self.folder / "uploads", ignore_errors=True)
        for name in ("table.json", "counts.json"):
            (self.folder / name).unlink(missing_ok=True)


def copy_spec(spec: Specification) -> Specification:
    """Return a copy that can be changed."""
    return msgspec.convert(msgspec.to_builtins(spec), Specification)


def spec_text(spec: Specification, name: str) -> str:
    """Return a specification as the text of a release.toml."""
    import tomli_w

    return HEADER.format(name=name) + tomli_w.dumps(_without_defaults(spec))


def _without_defaults(spec: Specification) -> dict[str, Any]:
    """Return the entries of a specification that say something."""
    columns = {
        name: {"role": column.role, **_said(column, ("role",))}
        for name, column in spec.columns.items()
        if column.role != "unused"
    }
    whole = {**_said(spec, ("promise", "release", "columns")), "promise": _said(spec.promise)}
    return {**whole, "release": _said(spec.release), "columns": columns}


def _said(struct: Any, left_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the fields of a struct that differ from their defaults."""
    plain, defaults = msgspec.to_builtins(struct), msgspec.to_builtins(type(struct)())
    return {
        name: value
        for name, value in plain.items()
        if name not in left_out and value is not None and value != defaults[name]
    }


class Shelf:
    """The projects in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self._open: dict[str, Project] = {}
        self._lock = threading.Lock()

    def all(self) -> list[Project]:
        """List the projects, the one changed last first."""
        found = []
        for path in self.folder.glob("*/project.json"):
            with contextlib.suppress(FileError, OSError):  # deleted meanwhile, or a folder that is no project
                found.append((path.stat().st_mtime, self.find(path.parent.name)))
        return [project for _, project in sorted(found, key=lambda one: one[0], reverse=True)]

    def find(self, name: str) -> Project:
        """Return a project by its name."""
        with self._lock:
            folder, is_name = self.folder / name, "/" not in name and not name.startswith(".")
            if not is_name or len(name) > LONGEST_NAME or not (folder / "project.json").is_file():
                raise FileError("there is no such project. It may have been deleted.")
            return self._open.setdefault(name, Project(folder))

    def receive(self) -> Path:
        """Make a private folder for an upload, which is no project yet; `create` makes it one."""
        return Path(tempfile.mkdtemp(prefix=ARRIVING, dir=self.folder))

    def create(self, title: str, received: Path | None = None) -> Path:
        """Make the private folder of a new project, or that of an upload into one."""
        name = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in title.lower()).strip("-")[:40]
        name = name or "table"
        for number in range(1, 10_000):
            folder = self.folder / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir(mode=0o700)
                if received is not None:
                    received.replace(folder)  # which is empty
            except FileExistsError:
                continue
            except OSError as error:
                raise FileError(f"the project folder cannot be made: {error.strerror}.") from error
            return folder
        raise FileError("there are too many projects with this name. Delete some.")

    def delete(self, project: Project) -> None:
        """Delete a project and everything in it but the table, if that is elsewhere."""
        gone = Path(tempfile.mkdtemp(prefix=DELETED, dir=self.folder))
        with self._lock:
            with contextlib.suppress(FileNotFoundError):  # another tab was faster
                project.folder.replace(gone)  # at once: no other request sees a half of it, or writes into it
            self._open.pop(project.id, None)
        shutil.rmtree(gone, ignore_errors=True)

    def close(self) -> None:
        """Delete uploads that are not to be kept, and what was being written; also after a server was killed."""
        for beginning in (ARRIVING, DELETED):
            for folder in self.folder.glob(f"{beginning}*"):
                shutil.rmtree(folder, ignore_errors=True)
        for project in self.all():
            project.sweep()
            with contextlib.suppress(FileError):  # a damaged project can still be deleted by hand
                record = project.record
                if record.origin == "upload" and not record.is_kept:
                    project.delete_upload()


def start_project(folder: Path, title: str, origin: Origin, table: str, source: dict[str, Any]) -> Project:
    """Write the first record of a project."""
    project = Project(folder)
    project.write("project.json", msgspec.json.encode(Record(title, origin, table, source)))
    return project
