"""The curves of docs/reference/performance.md, drawn from its tables: `python -m benchmarks.curves`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "performance.md"
PANELS = (
    ("### With rows", "rows", "time", True),
    ("### With quasi-identifiers", "QI", "whole publish", False),
    ("### With sensitive values", "values", "whole publish", True),
)
WIDTH, HEIGHT, LEFT, TOP, GAP = 230, 190, 60, 34, 70
SECONDS = (0.1, 1, 10, 100)


def main() -> None:
    """Redraw the picture."""
    text = PAGE.read_text()
    panels = "".join(_panel(place, text, *panel) for place, panel in enumerate(PANELS))
    width, height = LEFT + len(PANELS) * (WIDTH + GAP) - GAP + 20, TOP + HEIGHT + 54
    PAGE.with_name("growth.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="12">\n<rect width="{width}" height="{height}" fill="white"/>\n'
        f"{panels}</svg>\n"
    )


def read_table(text: str, heading: str) -> list[dict[str, str]]:
    """Return the rows of the first table under a heading."""
    lines = text[text.index(heading) :].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def _panel(place: int, text: str, heading: str, x: str, y: str, is_logarithmic: bool) -> str:
    rows = [row for row in read_table(text, heading) if row.get("scheme", "`seam`") == "`seam`"]
    numbers = [float(row[x].replace(",", "")) for row in rows]
    seconds = [float(row[y].removesuffix(" s")) for row in rows]
    left = LEFT + place * (WIDTH + GAP)
    along = [math.log10(number) if is_logarithmic else number for number in numbers]
    at = [left + (value - along[0]) / (along[-1] - along[0]) * WIDTH for value in along]
    parts = [f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 42}" text-anchor="middle">{_name(x)}</text>']
    for tick in SECONDS:
        parts.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{_up(tick)}" y2="{_up(tick)}" stroke="#ccc"/>')
        parts.append(f'<text x="{left - 6}" y="{_up(tick) + 4}" text-anchor="end">{tick:g} s</text>')
    parts += [
        f'<text x="{place_x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{_short(number)}</text>'
        for place_x, number in zip(at, numbers, strict=True)
    ]
    parts.append(_line(at, seconds))
    if place == 0:
        parts.append(f'<text x="{left}" y="{TOP - 14}">seconds to publish with seam (logarithmic)</text>')
    return "\n".join(parts) + "\n"


def _line(at: Sequence[float], seconds: Sequence[float]) -> str:
    points = [(x, _up(second)) for x, second in zip(at, seconds, strict=True)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="black" stroke-width="1.5"/>{dots}'


def _up(seconds: float) -> float:
    share = math.log10(seconds / SECONDS[0]) / math.log10(SECONDS[-1] / SECONDS[0])
    return round(TOP + HEIGHT * (1 - share), 1)


def _short(number: float) -> str:
    for unit, word in ((1e6, "M"), (1e3, "K")):
        if number >= unit:
            return f"{number / unit:g}{word}"
    return f"{number:g}"


def _name(column: str) -> str:
    return {"QI": "quasi-identifiers", "values": "sensitive values"}.get(column, column)


if __name__ == "__main__":
    main()
