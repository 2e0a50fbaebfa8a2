"""Starting Python in a process of its own; every process of betalike begins here."""

from __future__ import annotations

import sys
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Any

__all__ = ["DEVNULL", "PIPE", "Process", "TimeoutExpired", "start_python"]

Process = Popen[Any]


def start_python(*words: str, **options: Any) -> Process:
    """Start this Python with these words; `options` are those of `Popen`.

    With -c and -m, Python would look for modules in the working folder first, and run a `numba.py` that came with
    somebody's data. With -P it does not.
    """
    return Popen([sys.executable, "-P", *words], **options)
