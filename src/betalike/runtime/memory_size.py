"""How much memory there is to work with, and sizes as people write them."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from betalike.errors import ParameterError

USED_SHARE = 0.6  # of the memory at hand
CGROUP = Path("/sys/fs/cgroup/memory.max")
UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
LEAST_MEMORY, MOST_MEMORY = 256 << 20, 1 << 60


def memory_at_hand() -> int:
    """Return the memory that is free for this process: of the machine, or of the container that it runs in."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") if hasattr(os, "sysconf") else 4 << 30
    with contextlib.suppress(OSError, ValueError, AttributeError):
        found = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
        free = int(found.group(1)) << 10 if found else free
    with contextlib.suppress(OSError, ValueError):
        free = min(free, int(CGROUP.read_text()))
    return free


def parse_memory(given: str | int) -> int:
    """Return bytes from a text such as 2GB or 512MB.

    >>> parse_memory("2GB") == 2 << 30
    True
    """
    size = parse_size(given, "memory")
    if size < LEAST_MEMORY:
        raise ParameterError(f"memory is '{given}'; betalike needs at least {in_words(LEAST_MEMORY)}.")
    return size


def parse_size(given: str | int, what: str) -> int:
    """Return bytes from a text such as 2GB; an error names what is given."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", str(given), flags=re.IGNORECASE)
    unit = match.group(2).upper().replace("I", "") if match else "?"
    unit = f"{unit}B" if unit in ("K", "M", "G", "T") else unit
    if match is None or unit not in UNITS:
        raise ParameterError(f"{what} is '{given}'; write a size such as 2GB or 512MB.")
    return int(min(float(match.group(1)) * UNITS[unit], MOST_MEMORY))


def in_words(size: float) -> str:
    """Return a number of bytes for people.

    >>> in_words(3 << 29)
    '1.5 GB'
    """
    for unit in ("GB", "MB"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.1f} {unit}"
    return f"{size / 1024:.0f} KB"
