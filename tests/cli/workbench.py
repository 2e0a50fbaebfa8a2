"""A folder with a small table to publish, and the command to publish it with: in this process, or as a real one."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from betalike.cli.app import app
from patience import PATIENCE

CANARY, NUMBER = "CANARY7731", 7731773  # stand in cells of the table; no message may show them
COLUMNS = ["name", "age", "gender", "city", "disease"]
CITIES = ["Ulm", "Bonn", "Kiel", "Rom", "Bari", "Pisa"]
DISEASES = ["flu", "cough", "ulcer", "gout", "asthma"]
LEAVES = [*((city, "north") for city in CITIES[:3]), *((city, "south") for city in CITIES[3:])]
DEFAULTS = {"--qi": "age,gender,city", "--sensitive": "disease", "--beta": "2", "--seed": "1"}

Rows = list[list[str]]
Files = dict[str, bytes | None]


def people(n_rows: int = 120) -> Rows:
    """Rows without a header; every name is a canary."""
    return [
        [f"{CANARY}-{i}", str(20 + 7 * i % 60), "fm"[i % 2], CITIES[5 * i % 6], DISEASES[(i * i + i // 7) % 5]]
        for i in range(n_rows)
    ]


def with_canaries(rows: Rows) -> Rows:
    """The rows with a canary in every column, in some rows."""
    changed = [list(row) for row in rows]
    changed[3][1] = str(NUMBER)
    changed[5][3] = f"{CANARY} town"
    for i in range(0, len(rows), 9):
        changed[i][4] = f"{CANARY} fever"
    return changed


def to_csv(rows: Iterable[Sequence[object]], header: Sequence[str] | None = COLUMNS, delimiter: str = ",") -> bytes:
    """Rows as a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([*([header] if header is not None else []), *rows])
    return text.getvalue().encode()


@dataclass(frozen=True)
class Outcome:
    """What a command ended with."""

    status: int
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        """Everything printed, on one line and without the frames around it."""
        return " ".join(re.sub(r"[│╭╮╰╯─━┃┏┓┗┛┡┩└┘┴┬┼┤├]", " ", self.stdout + " " + self.stderr).split())

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document that it must be."""
        return json.loads(self.stdout)


def run(*words: object) -> Outcome:
    """Run a command in this process."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


def run_process(*words: object, **options: Any) -> Outcome:
    """Run a command as a process of its own, as a shell does."""
    done = subprocess.run(
        command_line(*words), capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, **options
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def command_line(*words: object) -> list[str]:
    """What a shell would start."""
    return [sys.executable, "-m", "betalike", *map(str, words)]


def files_under(folder: Path) -> Files:
    """Every file and folder below a folder, with the files' content."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in sorted(folder.rglob("*"))
    }


@dataclass(frozen=True)
class Desk:
    """A folder to work in."""

    folder: Path

    @property
    def out(self) -> Path:
        """Where releases go."""
        return self.folder / "out"

    def write(self, name: str, content: bytes | str) -> Path:
        """Put a file on the desk."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def table(self, rows: Iterable[Sequence[object]] | None = None, name: str = "people.csv") -> Path:
        """Put a table on the desk."""
        return self.write(name, to_csv(people() if rows is None else rows))

    def hierarchies(self, **trees: Iterable[Sequence[str]]) -> Path:
        """Put a folder of hierarchies on the desk; without any, one for the cities."""
        for column, rows in (trees or {"city": [(*leaf, "*") for leaf in LEAVES]}).items():
            self.write(f"hierarchies/{column}.csv", "".join(";".join(row) + "\n" for row in rows))
        return self.folder / "hierarchies"

    def words(self, table: Path, *more: object, **changes: object) -> list[object]:
        """A publish command; `qi="age"` and the like change an option, None leaves it out."""
        options: dict[str, object] = {**DEFAULTS, "--out": self.out}
        options |= {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
        scheme = options.get("--scheme") or (more[more.index("--scheme") + 1] if "--scheme" in more else None)
        if scheme in (None, "whole", "seam") and "--effort" not in (*more, *options):
            options["--effort"] = 0  # how well it searches does not matter
        given = [word for name, value in options.items() if value is not None for word in (name, value)]
        return ["publish", table, *given, *more]

    def publish(self, *more: object, table: Path | None = None, **changes: object) -> Outcome:
        """Publish a table, the usual one unless told."""
        return run(*self.words(table or self.table(), *more, **changes))

    def published(self, name: str = "published.csv") -> list[dict[str, str]]:
        """The rows of a release."""
        with (self.out / name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def certificate(self) -> Any:
        """The certificate of a release."""
        return json.loads((self.out / "certificate.json").read_bytes())


def assert_refused(outcome: Outcome, *words: str, status: int = 2) -> None:
    """The exit status, the words that tell what to do, no traceback, and no cell of the table."""
    text = outcome.text
    assert outcome.status == status, text
    for word in words:
        assert word in text
    assert "Traceback" not in text
    assert CANARY not in text
    assert str(NUMBER) not in text


def change(desk: Desk, edit: Callable[[Any], object]) -> None:
    """Change the certificate of a release."""
    certificate = desk.certificate()
    edit(certificate)
    (desk.out / "certificate.json").write_text(json.dumps(certificate))


def assert_not_kept(desk: Desk, *words: str) -> None:
    """`verify` finds a release at fault, tells why in these words, and leaves everything as it was."""
    before = files_under(desk.folder)
    outcome = run("verify", desk.out)
    assert_refused(outcome, "FAILED", *words, status=1)
    document = run("verify", desk.out, "--json").document
    assert document["holds"] is False
    assert document["explanations"]
    assert files_under(desk.folder) == before


def is_release(folder: Path) -> bool:
    """Whether a folder claims to hold a release."""
    return (folder / "certificate.json").exists()


def hidden_in(folder: Path) -> list[str]:
    """Names of what a staging folder would look like."""
    return [name for name in os.listdir(folder) if ".betalike-" in name] if folder.is_dir() else []
