"""What the page on architecture says about adding a promise: done to a copy of the package, and then used."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import DOCS, PROJECT, blocks_of, in_code, section, table_rows

PAGE = DOCS / "explanation" / "architecture.md"
ROWS = [in_code(place)[:2] + in_code(line)[:1] for place, line, _ in table_rows(section(PAGE, "A promise"))]
IMPORT = "from betalike.promises.alpha import AlphaAnonymity\n"
TABLE = "age,city,disease\n" + "".join(f"{20 + 7 * i % 50},{'abc'[i % 3]},{'xyz'[i * i % 7 % 3]}\n" for i in range(90))


def add_to(package: Path, name: str, file: str, line: str) -> None:
    """Add a line to a table of the source: a tuple in one line, or one that begins with its name in a line."""
    path = package / file
    text = path.read_text(encoding="utf-8")
    if name == "PROMISES":
        changed = text.replace('"k-anonymity")', f'{line} "k-anonymity")', 1)
    else:
        changed = re.sub(rf"^({name}\b.*[({{])$", rf"\g<1>\n{line}", text, count=1, flags=re.MULTILINE)
    assert changed != text, f"{file} has no {name}"
    if file.endswith("catalogue.py"):
        changed = changed.replace("from betalike.promises.anonymity", IMPORT + "from betalike.promises.anonymity", 1)
    path.write_text(changed, encoding="utf-8")


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package and a table."""
    folder = tmp_path_factory.mktemp("with a promise")
    leave_out = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    shutil.copytree(PROJECT / "src" / "betalike", folder / "betalike", ignore=leave_out)
    (blocks,) = [block for block in blocks_of(PAGE) if block.note == "run by: test_docs_new_promise"]
    (folder / "betalike" / "promises" / "alpha.py").write_text(blocks.text + "\n", encoding="utf-8")
    for name, file, line in ROWS:
        add_to(folder / "betalike", name, file, line)
    (folder / "people.csv").write_text(TABLE, encoding="utf-8")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "betalike", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_page_names_three_places() -> None:
    assert [row[:2] for row in ROWS] == [
        ["_MAKERS", "promises/catalogue.py"],
        ["PROMISES", "promises/parameters.py"],
        ["TABLE", "promises/parameters.py"],
    ]


def test_a_promise_that_is_added_as_the_page_says_is_published_and_verified(copied: Path) -> None:
    asked = ["--qi", "age,city", "--sensitive", "disease", "--scheme", "mondrian", "--promise", "alpha-k-anonymity"]
    done = run(copied, "publish", "people.csv", *asked, "--alpha", "0.6", "--k", "4", "--seed", "1", "--out", "release")
    assert done.returncode == 0, done.stderr
    promise = json.loads((copied / "release" / "certificate.json").read_text(encoding="utf-8"))["promise"]
    assert (promise["model"], promise["parameters"], promise["k"]) == ("alpha-k-anonymity", {"alpha": 0.6}, 4)
    verified = run(copied, "verify", "release", "--json")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert json.loads(verified.stdout)["holds"]


def test_its_number_is_checked_as_any_other(copied: Path) -> None:
    asked = [
        "publish",
        "people.csv",
        "--qi",
        "age,city",
        "--sensitive",
        "disease",
        "--scheme",
        "mondrian",
        "--out",
        "no",
    ]
    refused = run(copied, *asked, "--promise", "alpha-k-anonymity", "--alpha", "2")
    assert refused.returncode == 2
    assert "alpha is 2.0; it must be a number above 0 and at most 1" in " ".join(refused.stderr.split())
    few = run(copied, *asked, "--promise", "alpha-k-anonymity", "--alpha", "0.5")
    assert "Choose a larger alpha" in " ".join(few.stderr.split())
    missing = run(copied, *asked, "--promise", "alpha-k-anonymity")
    assert "alpha is missing. The promise 'alpha-k-anonymity' needs it" in " ".join(missing.stderr.split())
