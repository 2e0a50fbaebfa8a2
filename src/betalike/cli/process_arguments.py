"""The arguments of this process, which every user of a machine can list: passwords in them are overwritten."""

from __future__ import annotations

import contextlib
import ctypes
import re
from pathlib import Path

# The password in the address of a database: before the host, also if it holds signs that an address may not, or among
# the parameters.
PASSWORDS = (
    re.compile(rb"(?<=://)[^/@:\0]*:([^\0]*)@"),
    re.compile(rb"[?&](?:ssl)?password=([^&\0]*)", re.IGNORECASE),
)
FIRST_ARGUMENT = 45  # the field of /proc/self/stat, counted after the name, that says where the arguments are


def hide_passwords() -> None:
    """Overwrite passwords where the system looks for the arguments of this process (Linux)."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        shown = Path("/proc/self/cmdline").read_bytes()
        start = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[FIRST_ARGUMENT])
        for begin, end in find_passwords(shown) if start else ():
            ctypes.memset(start + begin, ord("x"), end - begin)


def find_passwords(shown: bytes) -> list[tuple[int, int]]:
    """Return where passwords begin and end.

    >>> find_passwords(b"postgresql://ann:s3/cr@t@host:1/db")
    [(17, 24)]
    """
    return [found.span(1) for password in PASSWORDS for found in password.finditer(shown)]
