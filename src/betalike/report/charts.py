"""Charts of several schemes, readable without colours too.

Altair and vl-convert are imported when a chart is made: they come with `betalike[charts]`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from betalike.errors import MissingDependencyError
from betalike.report.labels import place_labels
from betalike.report.marks import WHITE, in_order

Row = Mapping[str, Any]
Chart = Any  # an Altair chart: plain, layered or concatenated

WIDTH, HEIGHT = 330, 240
PNG_SCALE = 2
FONT = "sans-serif"
INK, GRID = "#222222", "#e4e4e4"
SPACING = 76  # between panels: room for the title and labels of an axis
KEY_LINE, KEY_ROW = 40, 21
MOST_TICKS = 7
DIGITS = ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,))
MARGIN = 0.04  # share of an axis that stays free beyond the least and the greatest figure


@dataclass(frozen=True)
class Quantity:
    """A column of the rows, shown as an axis; the title names the unit."""

    name: str
    title: str
    is_logarithmic: bool = False
    starts_at_zero: bool = False
    ticks: tuple[float, ...] = ()
    format: str = ",.6~r"

    def has_place(self, row: Row) -> bool:
        """Return whether a row has a figure that the axis can show; a logarithmic axis has no 0."""
        figure = row[self.name]
        return figure is not None and (figure > 0 or not self.is_logarithmic)


@dataclass(frozen=True)
class Picture:
    """Panels that share one key, and the schemes they show; they become one chart when it is saved."""

    panels: tuple[Chart, ...]
    names: tuple[str, ...]
    columns: int = 2


def line_chart(rows: Sequence[Row], x: Quantity, y: Quantity, title: str = "", series: str = "scheme") -> Picture:
    """Draw a line with points per scheme; leave out rows whose figure is None or cannot be shown."""
    return _picture(rows, x, y, title, series, label=None)


def scatter_chart(
    rows: Sequence[Row], x: Quantity, y: Quantity, title: str = "", series: str = "scheme", label: str | None = None
) -> Picture:
    """Draw a point per row, with a label where there is room; lines join a scheme's points in the order of rows."""
    return _picture(rows, x, y, title, series, label, line_width=0.6, follows_rows=True)


def side_by_side(*pictures: Picture, columns: int = 2) -> Picture:
    """Combine pictures into one, with one key."""
    names = dict.fromkeys(name for picture in pictures for name in picture.names)
    return Picture(tuple(panel for picture in pictures for panel in picture.panels), tuple(names), columns)


def save(picture: Picture, path: Path, forms: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write a picture in each form to a path without a suffix; return the paths with suffixes."""
    alt = load_altair()
    panels = alt.concat(*picture.panels, columns=picture.columns, bounds="flush", spacing=SPACING)
    chart = alt.hconcat(_own_scales(panels), _key(picture.names), spacing=24)
    chart = _themed(_own_scales(chart))
    paths = {form: path.with_name(f"{path.name}.{form}") for form in forms}
    for form, file in paths.items():
        chart.save(str(file), scale_factor=PNG_SCALE if form == "png" else 1)
    return list(paths.values())


def check_charts() -> None:
    """Raise an error if the packages for charts are not installed."""
    load_altair()


def _own_scales(chart: Chart) -> Chart:
    """Return the chart with marks chosen by name in each panel, not by position among all names."""
    return chart.resolve_scale(**dict.fromkeys(("color", "shape", "fill", "size", "strokeDash"), "independent"))


def load_altair() -> Any:
    """Return Altair; raise an error if it, or what writes its pictures, is not installed."""
    try:
        import altair
        import vl_convert  # noqa: F401 - Altair writes pictures with it
    except ImportError as error:
        raise MissingDependencyError(
            "pictures need Altair and vl-convert, which are not installed. Install betalike[charts]."
        ) from error
    return altair


def _picture(
    rows: Sequence[Row],
    x: Quantity,
    y: Quantity,
    title: str,
    series: str,
    label: str | None,
    line_width: float = 1.6,
    follows_rows: bool = False,
) -> Picture:
    alt = load_altair()
    shown = [{**row, "place": number} for number, row in enumerate(rows) if x.has_place(row) and y.has_place(row)]
    names = tuple(in_order(list(dict.fromkeys(str(row[series]) for row in shown))))
    ends = _ends(x, [row[x.name] for row in shown]), _ends(y, [row[y.name] for row in shown])
    place = {"x": _axis(alt.X, x, ends[0]), "y": _axis(alt.Y, y, ends[1])}
    base = alt.Chart(alt.Data(values=shown), title=title, width=WIDTH, height=HEIGHT)
    looks = _looks(alt, series, names)
    order = {"order": alt.Order("place:Q")} if follows_rows else {}
    lines = base.mark_line(strokeWidth=line_width).encode(
        **place, **order, color=looks["color"], strokeDash=looks["strokeDash"]
    )
    marks = in_order(names)
    hollow_first = sorted(shown, key=lambda row: marks[str(row[series])].is_filled)
    layers = [lines, _points(alt.Chart(alt.Data(values=hollow_first)), place, looks)]
    if label is not None:
        layers.append(_labels(alt, shown, (x, y), ends, label))
    return Picture((alt.layer(*layers),), names, 1)


def _points(chart: Chart, place: Mapping[str, Any], looks: Mapping[str, Any]) -> Chart:
    channels = {name: looks[name] for name in ("color", "shape", "fill", "size")}
    return chart.mark_point(opacity=1, strokeWidth=1.4).encode(**place, **channels)


def _labels(alt: Any, rows: Sequence[Row], axes: tuple[Quantity, Quantity], ends: tuple[Any, Any], label: str) -> Chart:
    """Draw labels beside points, placed in pixels."""
    x, y = axes
    left = [WIDTH * _share(x, row[x.name], ends[0]) for row in rows]
    top = [HEIGHT * (1 - _share(y, row[y.name], ends[1])) for row in rows]
    texts = [str(row[label]) for row in rows]
    placed = zip(place_labels(list(zip(left, top, strict=True)), texts, WIDTH, HEIGHT), texts, strict=True)
    values = [{"left": place[0], "top": place[1], "text": text} for place, text in placed if place is not None]
    pixels = {"x": alt.X("left:Q", scale=None, axis=None), "y": alt.Y("top:Q", scale=None, axis=None)}
    base = alt.Chart(alt.Data(values=values)).encode(**pixels, text="text:N")
    behind = base.mark_text(fontSize=10, stroke=WHITE, strokeWidth=3)  # keeps lines from running through a label
    return alt.layer(behind, base.mark_text(fontSize=10, color=INK))


def _looks(alt: Any, series: str, names: Sequence[str]) -> dict[str, Any]:
    """Return colour, shape, fill, size and dash of each scheme, without a legend: the key shows them."""
    marks = list(in_order(names).values())
    values: dict[str, tuple[Any, list[Any]]] = {
        "color": (alt.Color, [mark.colour for mark in marks]),
        "shape": (alt.Shape, [mark.shape for mark in marks]),
        "fill": (alt.Fill, [mark.fill for mark in marks]),
        "size": (alt.Size, [mark.size for mark in marks]),
        "strokeDash": (alt.StrokeDash, [list(mark.dash) for mark in marks]),
    }
    return {
        channel: kind(f"{series}:N", scale=alt.Scale(type="ordinal", domain=list(names), range=marked), legend=None)
        for channel, (kind, marked) in values.items()
    }


def _key(names: Collection[str]) -> Chart:
    """Draw the key: per scheme a piece of its line with a point on it, and its name."""
    alt = load_altair()
    ordered = list(in_order(names))
    rows = [{"scheme": name, "x": x, "y": n} for n, name in enumerate(ordered) for x in (0, KEY_LINE)]
    height = KEY_ROW * len(ordered)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.5, len(ordered) - 0.5], reverse=True), axis=None)
    x_of = {"scale": alt.Scale(domain=[0, KEY_LINE]), "axis": None}
    base = alt.Chart(alt.Data(values=rows), width=KEY_LINE, height=height)
    looks = _looks(alt, "scheme", ordered)
    line = base.mark_line(strokeWidth=1.6).encode(
        x=alt.X("x:Q", **x_of), y=y, color=looks["color"], strokeDash=looks["strokeDash"]
    )
    once = alt.Chart(alt.Data(values=[{**row, "x": KEY_LINE / 2} for row in rows[::2]]))
    point = _points(once, {"x": alt.X("x:Q", **x_of), "y": y}, looks)
    text = once.mark_text(align="left", dx=KEY_LINE / 2 + 6, fontSize=12, color=INK).encode(
        x=alt.X("x:Q", **x_of), y=y, text="scheme:N"
    )
    return alt.layer(line, point, text)


def _scaled(quantity: Quantity, value: float) -> float:
    return math.log10(value) if quantity.is_logarithmic else float(value)


def _ends(quantity: Quantity, values: Sequence[float]) -> tuple[float, float]:
    """Return the least and the greatest figure of an axis, with a margin."""
    scaled = [_scaled(quantity, value) for value in values] or [0.0]
    low, high = min(scaled), max(scaled)
    if quantity.starts_at_zero:
        low = 0.0
    margin = MARGIN * (high - low) or 0.5
    low, high = low - (0.0 if quantity.starts_at_zero else margin), high + margin
    return (10**low, 10**high) if quantity.is_logarithmic else (low, high)


def _share(quantity: Quantity, value: float, ends: tuple[float, float]) -> float:
    """Return the position of a figure on its axis, from 0 to 1."""
    low, high = (_scaled(quantity, end) for end in ends)
    return (_scaled(quantity, value) - low) / (high - low)


def log_ticks(low: float, high: float) -> list[float]:
    """Return ticks of a logarithmic axis: round numbers, and fewer per power of ten if they would be too many.

    >>> log_ticks(0.009, 0.9)
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in DIGITS:
        ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
        within = [tick for tick in ticks if low <= tick <= high]
        if len(within) <= MOST_TICKS:
            break
    return within


def _axis(kind: Any, quantity: Quantity, ends: tuple[float, float]) -> Any:
    alt = load_altair()
    scale = alt.Scale(type="log" if quantity.is_logarithmic else "linear", domain=list(ends), nice=False, zero=False)
    ticks = list(quantity.ticks) or (log_ticks(*ends) if quantity.is_logarithmic else None)
    values = {} if ticks is None else {"values": ticks}
    axis = alt.Axis(format=quantity.format, labelFlush=False, **values)
    return kind(f"{quantity.name}:Q", title=quantity.title, scale=scale, axis=axis)


def _themed(chart: Chart) -> Chart:
    """Apply the common look: dark text on white, generic fonts, a faint grid."""
    axis = {"labelColor": INK, "titleColor": INK, "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    return (
        chart.configure(background=WHITE, font=FONT, padding=10)
        .configure_axis(**axis, gridColor=GRID, domainColor=INK, tickColor=INK, tickCount=6)
        .configure_view(stroke=None)
        .configure_title(fontSize=13, anchor="start", frame="group", color=INK, fontWeight="bold")
    )
