"""Python runs this first in the processes of a page: that of a job waits while a test holds the gate.

The gate is a file that the test locks; the system opens it if the test ends early. Its text says where jobs wait:
before they open a file with this in its path, or, if it is empty, before they begin.
"""

from __future__ import annotations

import os
import sys
from typing import Any

GATE = os.environ.get("GATE_OF_JOBS", "")


def pass_gate() -> None:
    """Wait until no test holds the gate."""
    import fcntl

    with open(GATE, encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_SH)


def pass_gate_before(place: str) -> None:
    """Pass the gate before a file is opened."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and place in str(arguments[0]):
            pass_gate()

    sys.addaudithook(hook)


if os.path.exists(GATE) and "betalike.web.worker" in sys.orig_argv:
    with open(GATE, encoding="utf-8") as file:
        place = file.read()
    if place:
        pass_gate_before(place)
    else:
        pass_gate()
