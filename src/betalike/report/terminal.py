"""The terminal: every console is made here, and shows what comes from a file as text alone.

Names and values of a table or a certificate may hold control characters: they could clear the screen and print "ok" in
the name of `verify`. A result is shown by a copy without them, in which also a line break within a value is a code.
Whatever is printed in another way is still stripped of control characters by the console.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from betalike.runtime.visible_text import visible, visible_lines

WIDEST = 100  # columns of a table that goes to a file or pipe, and is not squeezed into 80


class TerminalConsole(Console):
    """A console that takes no text for markup, and shows control characters as codes."""

    def __init__(self, file: Any, **options: Any) -> None:
        super().__init__(file=file, markup=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render text; colours and movements of the cursor are no text, and stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible_lines(segment.text), segment.style)


def terminal_console(is_error: bool = False, width: int | None = None) -> TerminalConsole:
    """Return a console on standard output, or standard error."""
    stream = sys.stderr if is_error else sys.stdout
    return TerminalConsole(getattr(stream, "styled", stream), width=width)


def show(printer: Callable[..., None], *shown: Any, is_wide: bool = False) -> None:
    """Print with a printer of `betalike.report`; wide tables of figures are not squeezed where there is no terminal."""
    console = terminal_console(width=WIDEST if is_wide and not sys.stdout.isatty() else None)
    printer(console, *map(visible_copy, shown))


def visible_copy(thing: Any) -> Any:
    """Return a result with all its texts visible; the same object where nothing had to change."""
    return _visible_copy(thing, {})


def _visible_copy(thing: Any, known: dict[int, Any]) -> Any:
    if isinstance(thing, str | Path):
        text = visible(str(thing))
        return thing if text == str(thing) else type(thing)(text)
    if id(thing) in known or isinstance(thing, Enum):
        return known.get(id(thing), thing)
    known[id(thing)] = thing  # meets itself again only in a circle
    parts = _parts(thing)
    if parts is None:
        return thing
    copies = [(_visible_copy(key, known), _visible_copy(value, known)) for key, value in parts]
    if any(old[0] is not new[0] or old[1] is not new[1] for old, new in zip(parts, copies, strict=True)):
        known[id(thing)] = _with_parts(thing, copies)
    return known[id(thing)]


def _parts(thing: Any) -> list[tuple[Any, Any]] | None:
    """Return the parts of a collection or of an object of betalike with their names; None of anything else."""
    if isinstance(thing, dict):
        return list(thing.items())
    if isinstance(thing, list | tuple):
        return list(enumerate(thing))
    if isinstance(thing, msgspec.Struct):
        return [(name, getattr(thing, name)) for name in thing.__struct_fields__]
    is_ours = type(thing).__module__.startswith("betalike.") and hasattr(thing, "__dict__")
    return list(vars(thing).items()) if is_ours else None


def _with_parts(thing: Any, parts: list[tuple[Any, Any]]) -> Any:
    if isinstance(thing, dict):
        return dict(parts)
    values = [value for _, value in parts]
    if isinstance(thing, list | tuple):
        return type(thing)(*values) if hasattr(thing, "_fields") else type(thing)(values)
    if isinstance(thing, msgspec.Struct):
        return msgspec.structs.replace(thing, **dict(parts))
    copied = copy.copy(thing)
    vars(copied).update(parts)
    return copied
