"""Promises: prior counts become demands on classes, and the counts of each class become a verdict.

Imported at first use, so that the command line can read `promises.parameters` quickly.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from betalike.promises.exports import *  # noqa: F403 - its names are offered here
else:

    def __getattr__(name):
        """Import everything when something is first asked for."""
        import betalike.promises.exports as exports

        if name in exports.__all__:
            return getattr(exports, name)
        raise AttributeError(f"module 'betalike.promises' has no attribute {name!r}")
