"""What a file has beyond what its writer writes: such places could hold the original table."""

from __future__ import annotations


class SurplusError(Exception):
    """A file has something that betalike does not write; the words say what, without a cell."""
