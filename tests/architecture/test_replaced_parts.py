"""Tests leave the parts of betalike as they are: they pass arguments and listeners, and make faults that are real."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
MOST = 10
SURROUNDINGS = {"sys", "os", "time", "signal", "socket", "shutil", "tempfile"}  # which are not betalike's
REPLACING = ("setattr", "setitem", "delattr", "mock.patch", "mock.patch.object", "mock.patch.multiple")


def find_replacements(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield each place that replaces a part of the program, and whether a comment beside it says why."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called, target = ast.unparse(node.func), ast.unparse(node.args[0]).strip("'")
        if not any(called == name or called.endswith(f".{name}") for name in REPLACING):
            continue
        if target.partition(".")[0].partition("[")[0] not in SURROUNDINGS:
            beside = lines[node.lineno - 1].partition("  # ")[2] or lines[node.lineno - 2].strip().startswith("# ")
            yield f"{path.relative_to(TESTS)}:{node.lineno}", bool(beside)


def test_few_tests_replace_a_part_of_betalike_and_say_why() -> None:
    found = dict(place for path in sorted(TESTS.rglob("*.py")) for place in find_replacements(path))
    assert [place for place, has_reason in found.items() if not has_reason] == []
    assert len(found) <= MOST, "pass an argument, a listener (tests/listeners.py) or a subclass instead:\n" + "\n".join(
        found
    )
