"""How much memory there is to work with."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

USED_SHARE = 0.6  # of the memory at hand
CGROUP = Path("/sys/fs/cgroup/memory.max")


def memory_at_hand() -> int:
    """Return the memory that is free for this process: of the machine, or of the container that it runs in."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") if hasattr(os, "sysconf") else 4 << 30
    with contextlib.suppress(OSError, ValueError, AttributeError):
        found = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
        free = int(found.group(1)) << 10 if found else free
    with contextlib.suppress(OSError, ValueError):
        free = min(free, int(CGROUP.read_text()))
    return free
