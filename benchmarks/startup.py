"""What a user waits for at the shell: help, and a whole publish of 100,000 rows, including start-up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measurement import measure


def run(folder: Path, quick: bool = False) -> list[str]:
    def shell(*words: str) -> None:
        subprocess.run([sys.executable, "-m", "betalike", *words], check=True, capture_output=True, cwd=folder)

    lines = ["## From the shell, start-up included", "", "| command | time |", "|---|---|"]
    for words in (("--help",), ("demo", "--out", "demo", "--force")):
        measured = measure(lambda words=words: shell(*words), repeats=5)
        lines.append(f"| `betalike {' '.join(words[:1])}` | {measured.seconds:.2f} s |")
    return lines
