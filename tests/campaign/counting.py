"""What a campaign has checked so far, and the lines that say so."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .outcome import Outcome

KINDS = {
    "promise": "broken promises",
    "rows": "lost or changed rows",
    "label": "wrong labels",
    "figure": "wrong figures",
    "file": "files too many or too few",
    "verify": "refused by verify",
    "error": "other errors",
}


@dataclass
class Tally:
    """Counts of what was checked and found."""

    checked: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    bounds: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count one more seed."""
        self.checked[outcome.mode] += 1
        self.bounds += outcome.bounds
        if outcome.refused is not None:
            self.refused[f"{outcome.mode}: {outcome.refused}"] += 1
        for kind in {kind for kind, _ in outcome.failures}:
            self.failed[kind] += 1

    def join(self, other: Tally) -> None:
        """Count what another process has checked."""
        self.checked += other.checked
        self.refused += other.refused
        self.failed += other.failed
        self.bounds += other.bounds

    def line(self, seconds: float) -> str:
        """What was checked, in one line."""
        plans, releases = self.checked["plan"], self.checked["release"]
        failed = sum(self.failed.values())
        return (
            f"{seconds:8.0f} s  {plans:,} plans, {releases:,} releases, {self.bounds:,} bounds, "
            f"{sum(self.refused.values()):,} refused, {failed:,} failures"
        )

    def summary(self, seconds: float) -> str:
        """Everything that was checked and found, with the rates."""
        plans, releases = self.checked["plan"], self.checked["release"]
        per = max(seconds, 1e-9)
        lines = [
            f"plans judged in memory      {plans:>12,}  {plans / per:.0f} a second",
            f"releases through files      {releases:>12,}  {releases / per:.1f} a second",
            f"exact bounds compared       {self.bounds:>12,}",
            *(f"{words:<28}{self.failed[kind]:>12,}" for kind, words in KINDS.items()),
            f"refused                     {sum(self.refused.values()):>12,}",
            *(f"    {n:>8,}  {reason}" for reason, n in self.refused.most_common(12)),
            f"seconds                     {seconds:>12,.0f}",
        ]
        return "\n".join(lines)


def keep_failure(path: Path, outcome: Outcome) -> None:
    """Append a failing seed to a file, with its reasons, which hold no cell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = {"seed": outcome.seed, "mode": outcome.mode, "about": outcome.about, "reasons": outcome.failures}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
