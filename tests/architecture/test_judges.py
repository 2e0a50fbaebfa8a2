"""The judges of random releases import nothing of betalike: a mistake that its writer and its reader share is seen."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).parents[1] / "campaign"
JUDGES = ["checker", "labels", "promises", "figures", "people", "risks", "bounds", "matching", "trees", "reading"]


def read_imports(name: str) -> set[str]:
    """Every module that a file of the campaign imports; `.name` for another file of it."""
    tree = ast.parse((CAMPAIGN / f"{name}.py").read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            found |= {f".{node.module}"} if node.module else {f".{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("__import__", "importlib.import_module"):
            found.add("an import by name")
    return found


@pytest.mark.parametrize("judge", JUDGES)
def test_a_judge_and_everything_that_it_imports_knows_nothing_of_betalike(judge: str):
    waiting, seen = [judge], set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        imported = read_imports(name)
        own = {module.removeprefix(".").partition(".")[0] for module in imported if module.startswith(".")}
        foreign = {module.partition(".")[0] for module in imported if not module.startswith(".")}
        assert not foreign & {"betalike", "twins", "an import by name"}, f"{name} imports {sorted(foreign)}"
        waiting += sorted(own - seen)


def test_the_walk_over_imports_sees_what_does_import_betalike():
    assert "betalike" in {module.partition(".")[0] for module in read_imports("publishing")}
