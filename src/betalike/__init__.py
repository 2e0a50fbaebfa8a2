"""Publish microdata so that nobody's secret becomes much likelier than it was, and prove it.

    import betalike
    release = betalike.publish(frame, quasi_identifiers=["age", "gender"], sensitive="salary_class", beta=4)

Everything is imported when it is first used, so that `import betalike` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from betalike.api import attack, audit, compare, describe, open_release, publish, query, verify, workload
    from betalike.queries.release import Release

__version__ = "0.1.0"
_FUNCTIONS = ("attack", "audit", "compare", "describe", "open_release", "publish", "query", "verify", "workload")
__all__ = [
    "Release",
    "__version__",
    "attack",
    "audit",
    "compare",
    "describe",
    "open_release",
    "publish",
    "query",
    "verify",
    "workload",
]


def __getattr__(name: str) -> Any:
    if name == "Release" or name in _FUNCTIONS:
        return getattr(importlib.import_module("betalike.api"), name)
    if name in ("attacks", "datasets", "errors"):
        return importlib.import_module(f"betalike.{name}")
    raise AttributeError(f"module 'betalike' has no attribute {name!r}")
