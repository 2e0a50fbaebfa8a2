"""The walks in docs/explanation/architecture.md are true: every hop exists, and each function uses the next."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import betalike
from betalike.datasets import census_like

SOURCE = Path(__file__).parents[2] / "src" / "betalike"
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"
MOST_HOPS = 12
HOP = re.compile(r"^( *)- `([\w/]+\.py):([\w.]+)`$")


@dataclass(frozen=True)
class Hop:
    """A function of a walk, and the function that uses it; None for the first one."""

    file: str
    function: str
    user: Hop | None

    def __str__(self) -> str:
        return f"{self.file}:{self.function}"


def read_walks(text: str) -> dict[str, list[Hop]]:
    """The walks of the page, by their headings."""
    walks: dict[str, list[Hop]] = {}
    section = text.partition("\n## Walks\n")[2].partition("\n## ")[0]
    for part in section.split("\n### ")[1:]:
        title, _, lines = part.partition("\n")
        above: list[tuple[int, Hop]] = []
        for line in filter(None, map(str.rstrip, lines.splitlines())):
            match = HOP.match(line)
            assert match is not None, f"'{line}' is no hop"
            depth = len(match[1])
            above = [entry for entry in above if entry[0] < depth]
            hop = Hop(match[2], match[3], above[-1][1] if above else None)
            walks.setdefault(title, []).append(hop)
            above.append((depth, hop))
    return walks


WALKS = read_walks(PAGE.read_text(encoding="utf-8"))
EVERY_HOP = [pytest.param(hop, id=f"{title}-{hop}") for title, walk in WALKS.items() for hop in walk]


@cache
def tree_of(file: str) -> ast.Module:
    return ast.parse((SOURCE / file).read_text(encoding="utf-8"))


def find(hop: Hop) -> ast.AST | None:
    """The definition of a hop's function or class."""
    inside: ast.AST = tree_of(hop.file)
    for name in hop.function.split("."):
        kinds = (ast.FunctionDef, ast.ClassDef)
        found = [node for node in ast.iter_child_nodes(inside) if isinstance(node, kinds) and node.name == name]
        if not found:
            return None
        inside = found[0]
    return inside


def names_used(hop: Hop) -> set[str]:
    """The names that a function uses, by the names under which they were defined, and the attributes that it reads."""
    definition = find(hop)
    assert definition is not None
    imports = [node for node in ast.walk(tree_of(hop.file)) if isinstance(node, ast.ImportFrom)]
    original = {alias.asname or alias.name: alias.name for node in imports for alias in node.names}
    nodes = list(ast.walk(definition))
    read = {original.get(node.id, node.id) for node in nodes if isinstance(node, ast.Name)}
    return read | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def test_every_walk_is_there_and_short() -> None:
    assert list(WALKS) == ["publish", "verify", "query", "publish on Spark"]
    assert {title: len(walk) for title, walk in WALKS.items() if len(walk) > MOST_HOPS} == {}
    assert all([hop.user is None for hop in walk] == [True] + [False] * (len(walk) - 1) for walk in WALKS.values())


@pytest.mark.parametrize("hop", EVERY_HOP)
def test_every_hop_exists_and_is_used_by_the_one_above_it(hop: Hop) -> None:
    assert find(hop) is not None
    assert hop.user is None or hop.function.split(".")[-1] in names_used(hop.user)


def calls_under(run: Callable[[], Any]) -> Iterator[tuple[CodeType, set[CodeType]]]:
    """Every call of a function of betalike while something runs, with the functions that were then at work."""
    found: dict[CodeType, set[CodeType]] = {}

    def notice(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            callers, caller = found.setdefault(frame.f_code, set()), frame.f_back
            while caller is not None:
                callers.add(caller.f_code)
                caller = caller.f_back

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        run()
    finally:
        sys.setprofile(before)
    yield from found.items()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("walks") / "out"


def publish(folder: Path) -> None:
    columns: dict[str, Any] = {"quasi_identifiers": ["age", "gender"], "sensitive": "salary_class"}
    betalike.publish(census_like(300, seed=1), beta=4, out=folder, seed=1, **columns)


def verify(folder: Path) -> None:
    assert betalike.verify(folder, original=census_like(300, seed=1)).holds


def query(folder: Path) -> None:
    betalike.query(folder, "age < 40")


@pytest.mark.parametrize("title", ["publish", "verify", "query"])
def test_the_walk_is_the_one_that_runs(title: str, folder: Path) -> None:
    if title != "publish" and not folder.exists():
        publish(folder)
    run = {"publish": publish, "verify": verify, "query": query}[title]
    calls = {
        (Path(code.co_filename).relative_to(SOURCE).as_posix(), code.co_qualname): {
            (caller.co_filename, caller.co_qualname) for caller in callers
        }
        for code, callers in calls_under(lambda: run(folder))
    }
    for hop in WALKS[title]:
        assert (hop.file, hop.function) in calls, f"{hop} was not called"
        if hop.user is not None:
            user = (str(SOURCE / hop.user.file), hop.user.function)
            assert user in calls[hop.file, hop.function], f"{hop} was not called under {hop.user}"
