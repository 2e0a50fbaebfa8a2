"""The texts of the project: what a reader sees first, links, and what must not be in any file."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import DOCS, PAGES, PROJECT, README, anchors_of, blocks_of, links_of, name_of

import betalike


def test_the_readme_starts_with_the_two_commands() -> None:
    commands = [line.removeprefix("$ ") for block in blocks_of(README) for line in block.text.splitlines()]
    assert commands[:2] == ["make demo", "make test"]
    assert blocks_of(README)[0].line < 20, "they are on the first screen"
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


def test_the_readme_names_what_continuous_integration_runs() -> None:
    run = (PROJECT / ".ci" / "run").read_text(encoding="utf-8")
    commands = re.findall(r"^make .+$", run, flags=re.MULTILINE)
    assert commands == ["make check", "make test", "make test-long"]
    text = README.read_text(encoding="utf-8")
    assert [command for command in commands if f"`{command}`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_make_target_named_exists(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = re.findall(r"(?:^|`)make ([a-z-]+)(?:`|$)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(named) <= set(targets)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links_of(page):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), f"{name_of(page)} links to {link}"
        assert not anchor or anchor in anchors_of(target), f"{name_of(page)} links to {link}"


def test_every_page_is_in_the_index() -> None:
    index = DOCS / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in links_of(index)}
    assert {page.resolve() for page in DOCS.rglob("*.md")} - linked == {index.resolve()}


def test_the_changelog_tells_of_this_version() -> None:
    text = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{betalike.__version__}]" in text


def kept_files() -> Iterator[Path]:
    """The project's own files: everything that .gitignore does not leave out."""
    patterns = [line.strip() for line in (PROJECT / ".gitignore").read_text(encoding="utf-8").splitlines() if line]
    names = [pattern.strip("/") for pattern in (*patterns, ".git") if "/" not in pattern.strip("/")]
    folders = [PROJECT / pattern.strip("/") for pattern in patterns if "/" in pattern.strip("/")]

    def walk(folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            if path in folders or any(fnmatch.fnmatch(path.name, name) for name in names):
                continue
            if path.is_dir():
                yield from walk(path)
            else:
                yield path

    return walk(PROJECT)


FORBIDDEN = {
    "the host of a package registry": r"\b(pypi|pythonhosted|anaconda|conda|npmjs)\.(org|com|io)\b|https?://\S+/simple\b",
    "a path of somebody's machine": r"(?<![\w.])/(work|root|home|Users)/|[A-Z]:\\Users\\",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names(what: str) -> None:
    found = []
    for path in kept_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if match := re.search(FORBIDDEN[what], text):
            found.append(f"{name_of(path)}: {match.group(0)}")
    assert not found


# Each has a plainer word: say, report or show; again; anyone who; also; fix; exactly when; assign; check or read.
AVOIDED = re.compile(
    r"\b(told|tells?|telling|anew|whoever|besides|mend(s|ed)?|of ours|so many|just if|hand(s|ed|ing)? out"
    r"|look(s|ed|ing)? at)\b(?!\()",
    flags=re.IGNORECASE,
)
SOURCE = PROJECT / "src" / "betalike"
TEXTS = [README, *sorted(DOCS.rglob("*.md")), *sorted(SOURCE.rglob("*.py"))]


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_the_prose_uses_plain_words(path: Path) -> None:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    assert not [f"line {number}: {match.group(0)}" for number, line in lines if (match := AVOIDED.search(line))]


NOT_A_VERB = {
    "A",
    "All",
    "An",
    "Each",
    "Every",
    "For",
    "How",
    "Of",
    "One",
    "Some",
    "The",
    "These",
    "What",
    "Where",
    "Which",
}


def functions_of(path: Path) -> Iterator[ast.FunctionDef]:
    """The functions of a file with a docstring; properties are not among them, as their names are nouns."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            decorators = {ast.unparse(decorator).split("(")[0] for decorator in node.decorator_list}
            if not decorators & {"property", "cached_property", "functools.cached_property"}:
                yield node


@pytest.mark.parametrize("path", [path for path in TEXTS if path.suffix == ".py"], ids=name_of)
def test_docstrings_of_functions_start_with_a_verb(path: Path) -> None:
    started = {function.name: str(ast.get_docstring(function)).split()[0] for function in functions_of(path)}
    assert not {name: word for name, word in started.items() if word in NOT_A_VERB}
