"""How tests wait: for events where there are some, else by asking again and again; never for so many seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
PATIENCE = 600.0  # seconds: only for what would hang otherwise; a shorter guard fails on a busy machine


def ask_until(ask: Callable[[], Found]) -> Found:
    """Ask until the answer is true, and return it; the only way to wait for what other programs do not announce.

    There is no deadline, which a slow machine could miss. So `ask` fails once the answer cannot become true.
    """
    while not (answer := ask()):
        time.sleep(0.02)
    return answer
