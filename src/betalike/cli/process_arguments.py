"""The arguments of this process, which every user of a machine can list: passwords in them are overwritten."""

from __future__ import annotations

import contextlib
import ctypes
import re
from pathlib import Path

# The password in the address of a database: before the host, or among the parameters.
PASSWORD = re.compile(
    rb"(?<=://)[^/@:\0]*:([^/@\0]*)@|[?&](?:ssl)?password=([^&\0]*)",
    re.IGNORECASE,
)
FIRST_ARGUMENT = 45  # the field of /proc/self/stat, counted after the name, that says where the arguments are


def hide_passwords() -> None:
    """Overwrite passwords where the system looks for the arguments of this process (Linux)."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        shown = Path("/proc/self/cmdline").read_bytes()
        start = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[FIRST_ARGUMENT])
        for found in PASSWORD.finditer(shown):
            begin, end = found.span(found.lastindex or 0)
            if start and found.lastindex:
                ctypes.memset(start + begin, ord("x"), end - begin)
