"""Comparing the releases of this source with those of the commit that the golden file names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .cases import CASES, Case
from .digests import make_digests
from .environment import environment

PROJECT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("golden.json")
Digests = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Comparison:
    """Which releases differ, and in what: their rows, their certificate, or that only one side makes them."""

    differing: dict[str, list[str]]
    n_compared: int
    is_remade: bool  # whether the digests of the commit were made here, for this is another environment
    made: Digests = field(repr=False)

    def __str__(self) -> str:
        against = "the commit's source, published here" if self.is_remade else "the golden file"
        lines = [f"{name}: {', '.join(parts)}" for name, parts in self.differing.items()]
        return "\n".join([f"{self.n_compared} releases compared with {against}: {len(lines)} differ", *lines])


def compare(cases: Collection[Case] = CASES) -> Comparison:
    """Compare the cases, published by this source, with the golden file; in another environment, with its commit's."""
    golden = read_golden()
    is_remade = golden["environment"] != environment()
    before: Digests = made_at(golden["commit"]) if is_remade else golden["releases"]
    made = make_digests(cases)
    is_whole = len(cases) == len(CASES)
    names = {**made, **before} if is_whole else made
    differing = {name: parts for name in names if (parts := _differences(before.get(name), made.get(name)))}
    return Comparison(differing, len(names), is_remade, made)


def _differences(before: dict[str, str] | None, now: dict[str, str] | None) -> list[str]:
    if before is None or now is None:
        return ["it is new" if before is None else "it is gone"]
    return [part for part in now if now[part] != before.get(part)]


def read_golden() -> dict[str, Any]:
    """Return the golden file: commit, environment, digests, and why some were renewed."""
    golden: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return golden


def can_compare() -> bool:
    """Return whether the digests of the golden file are of this environment, or can be made in it from their commit."""
    golden = read_golden()
    if golden["environment"] == environment():
        return True
    asked = ["git", "cat-file", "-e", f"{golden['commit']}^{{commit}}"]
    return subprocess.run(asked, cwd=PROJECT, capture_output=True).returncode == 0


def made_at(commit: str) -> Digests:
    """Return the digests that the source of a commit makes in this environment."""
    with tempfile.TemporaryDirectory() as name:
        tree, result = Path(name) / "tree", Path(name) / "digests.json"
        _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            variables = {**os.environ, "PYTHONPATH": str(tree / "src")}
            command = [sys.executable, "-m", "tests.golden", "--make", str(result)]
            subprocess.run(command, cwd=tree, env=variables, check=True, stdout=subprocess.DEVNULL)
            digests: Digests = json.loads(result.read_text(encoding="utf-8"))
        finally:
            _git("worktree", "remove", "--force", str(tree))
    return digests


def renew(names: Collection[str], why: str) -> Comparison:
    """Write the golden file again, with new digests of the releases that are named; the others may not differ.

    It names the present commit, so the source and the cases must be committed.
    """
    if _git("status", "--porcelain", "--", "src", "tests/golden", f":!{GOLDEN.relative_to(PROJECT)}"):
        raise SystemExit(
            "commit the source and the cases first: the golden file names the commit that it was made from."
        )
    is_first = not GOLDEN.exists()
    comparison = Comparison({}, len(CASES), False, make_digests()) if is_first else compare()
    others = comparison.differing.keys() - set(names)
    unchanged = [] if is_first else sorted(set(names) - comparison.differing.keys())
    if others or unchanged:
        reason = (
            f"{', '.join(sorted(others))} differ and are not named"
            if others
            else f"{', '.join(unchanged)} do not differ"
        )
        raise SystemExit(f"nothing was renewed: {reason}.")
    renewed = [] if is_first else read_golden()["renewed"]
    golden = {
        "commit": _git("rev-parse", "HEAD"),
        "environment": environment(),
        "releases": comparison.made,
        "renewed": [*renewed, *([] if is_first else [{"releases": sorted(names), "why": why}])],
    }
    GOLDEN.write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")
    return comparison


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=PROJECT, check=True, capture_output=True, text=True)
    return done.stdout.strip()
