"""What came of one seed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class Outcome:
    """What was checked for one seed, and what was wrong; reasons hold no cell of a table."""

    seed: int
    mode: str
    about: str
    bounds: int = 0
    refused: str | None = None
    failures: list[tuple[str, str]] = field(default_factory=list)

    def expect(self, is_right: bool, kind: str, reason: str) -> bool:
        """Note a failure of a kind (promise, rows, label, figure, file, verify, error) unless all is right."""
        if not is_right:
            self.failures.append((kind, reason))
        return bool(is_right)


def refusal(error: Exception) -> str:
    """The kind of a message: its words without names and numbers."""
    text = re.sub(r"'[^']*'", "'...'", str(error))
    return f"{type(error).__name__}: {re.sub(r'[0-9][0-9.,e+-]*', 'N', text)[:90]}"
