"""How results show themselves: one line in a shell, a small table in a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from betalike.runtime.visible_text import visible

Row = Mapping[str, object]


class Shown:
    """A result that is shown by its summary. A summary has figures and names of columns, never a cell of a table."""

    def _summary(self) -> Row:
        """Return what to show of the result as a whole."""
        raise NotImplementedError

    def _parts(self) -> Sequence[Row]:
        """Return what to show of each part, with the same keys for all; nothing if there are no parts."""
        return ()

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {_text(value)}" for name, value in self._summary().items() if value is not None)
        return f"<betalike.{type(self).__name__}: {figures}>"

    def _repr_html_(self) -> str:
        whole = [[name, value] for name, value in self._summary().items() if value is not None]
        parts = list(self._parts())
        listed = _table([list(part.values()) for part in parts], list(parts[0])) if parts else ""
        return f"<strong>betalike.{type(self).__name__}</strong>{_table(whole)}{listed}"


def _table(rows: Sequence[Sequence[object]], headings: Sequence[str] = ()) -> str:
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(_text(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def _text(value: object) -> str:
    """Return a figure as text: 4 digits of a number, yes or no, names with commas.

    >>> [_text(value) for value in (12345, 0.123456, True, ["a", "b"], None)]
    ['12,345', '0.1235', 'yes', 'a, b', '']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return visible(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
