"""Pictures inside a page: inline SVG that takes its colours from the page, so that it is readable in the dark too.

Each picture is narrow, so that it needs no scaling on a phone. Altair draws it; no script and no network is needed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from betalike.report.charts import FONT, Chart, load_altair

Row = Mapping[str, Any]

WIDTH = 250  # of the part with the marks; labels of the axis come on the left
BAR = 20  # height of a line of bars
LARGEST = 1.3  # times its size that a picture is shown at most
LABELS = 130  # width of the labels on the left
MOST_WIDE = 8  # signs as wide as a line is high that fit there
# Colours that stand for variables of the page's style, each with the colour that is used where the page has no style.
COLOURS = {
    "#010101": "currentColor",
    "#020202": "var(--grid,#d0d7de)",
    "#030303": "var(--before,#767676)",
    "#040404": "var(--after,#0b62c4)",
    "#050505": "var(--limit,#b3261e)",
}
INK, GRID, BEFORE, AFTER, LIMIT = COLOURS
STROKE = "M-0.18,-1.5H0.18V1.5H-0.18Z"
SERIES = {"original": BEFORE, "release": AFTER}


def draw(chart: Chart, name: str, title: str, description: str) -> str:
    """Return a chart as inline SVG with a title and a description; `name` makes its identifiers unique in the page."""
    load_altair()
    import vl_convert

    axis = {"labelColor": INK, "titleColor": INK, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"}
    themed = (
        chart.configure(background="transparent", font=FONT, padding=4, aria=False)
        .configure_axis(**axis, gridColor=GRID, domainColor=GRID, tickColor=GRID, labelLimit=LABELS)
        .configure_axisY(labelPadding=6)  # points at 0 reach over the axis
        .configure_view(stroke=None)
        .configure_legend(labelColor=INK, labelFontSize=11, orient="top", title=None, symbolSize=90, offset=4)
    )
    svg = vl_convert.vegalite_to_svg(themed.to_dict())
    for colour, meaning in COLOURS.items():
        svg = svg.replace(f'"{colour}"', f'"{meaning}"')
    svg = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", svg)  # of single marks; the whole picture has its own words
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r"(\d+\.\d{2})\d+", r"\1", svg)  # hundredths of a pixel are enough
    words = f'<title id="{name}-t">{html.escape(title)}</title><desc id="{name}-d">{html.escape(description)}</desc>'
    width = float(svg.partition('width="')[2].partition('"')[0])
    style = f'style="max-width:{LARGEST * width:.0f}px"'
    head = f'<svg role="img" aria-labelledby="{name}-t {name}-d" {style} '
    return svg.replace("<svg ", head, 1).replace(">", f">{words}", 1)


def short_labels(rows: Sequence[Row], key: str) -> list[Row]:
    """Return rows with short labels where they have signs beyond the first 65,536.

    Vega cuts long labels, and would cut such a sign in half.
    """
    given = {row[key]: row[key] for row in rows}
    for text in given:
        if any(ord(sign) > 0xFFFF for sign in text) and len(text) > MOST_WIDE:
            short = text[: MOST_WIDE - 1] + "…"
            while short in given.values():
                short += "…"
            given[text] = short
    return [{**row, key: given[row[key]]} for row in rows]


def form_of(most: float) -> str:
    """Return how an axis up to this share writes its shares."""
    return ".0%" if most > 0.1 else ".1%" if most > 0.01 else ".2%"


def values_picture(rows: Sequence[Row], name: str, title: str, description: str) -> str:
    """Draw each value's share in the table, its highest share in any class, and the most that is allowed.

    Rows have `value`, `prior`, `highest` and `cap`, which may be None.
    """
    alt = load_altair()
    rows = short_labels(rows, "value")
    kinds = {"prior": "share in the table", "highest": "highest share reached", "cap": "allowed at most"}
    points = [
        {"value": row["value"], "share": row[key], "kind": kind}
        for key, kind in kinds.items()
        for row in rows
        if row[key] is not None
    ]
    names = list(dict.fromkeys(point["kind"] for point in points))
    most = max(point["share"] for point in points)
    scale = alt.Scale(domain=[0, min(most * 1.04, 1.0)], nice=False)
    x = {"axis": alt.Axis(format=form_of(most), tickCount=4), "scale": scale, "title": None}
    y = alt.Y("value:N", title=None, sort=None, axis=alt.Axis(domain=False, ticks=False))
    colours, shapes = [BEFORE, AFTER, LIMIT][: len(names)], ["circle", "diamond", STROKE][: len(names)]
    looks = {
        "color": alt.Color("kind:N", scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(columns=1)),
        "shape": alt.Shape("kind:N", scale=alt.Scale(domain=names, range=shapes)),
    }
    base = alt.Chart(alt.Data(values=list(rows)), width=WIDTH, height=BAR * len(rows))
    line = base.mark_rule(strokeWidth=2, color=GRID).encode(y=y, x=alt.X("prior:Q", **x), x2="highest:Q")
    marks = alt.Chart(alt.Data(values=points)).mark_point(filled=True, size=55, opacity=1)
    return draw(alt.layer(line, marks.encode(y=y, x=alt.X("share:Q", **x), **looks)), name, title, description)


def bars_picture(rows: Sequence[Row], name: str, title: str, description: str) -> str:
    """Draw a bar for each `label` with its `share`."""
    alt = load_altair()
    rows = short_labels(rows, "label")
    base = alt.Chart(alt.Data(values=list(rows)), width=WIDTH, height=BAR * len(rows))
    y = alt.Y("label:N", title=None, sort=None, axis=alt.Axis(domain=False, ticks=False))
    most = max(row["share"] for row in rows)
    scale = alt.Scale(domain=[0, max(most * 1.25, 0.001)], nice=False)
    x = alt.X("share:Q", title=None, axis=alt.Axis(format=form_of(most), tickCount=4), scale=scale)
    bars = base.mark_bar(color=AFTER, height=BAR * 0.6).encode(y=y, x=x)
    texts = base.mark_text(align="left", dx=4, color=INK, fontSize=11).encode(
        y=y, x=x, text=alt.Text("share:Q", format=".1%")
    )
    return draw(alt.layer(bars, texts), name, title, description)


def pairs_picture(rows: Sequence[Row], name: str, title: str, description: str) -> str:
    """Draw two bars for each `label`: the shares of the original and of the release; `series` says which."""
    alt = load_altair()
    rows = short_labels(rows, "label")
    labels = list(dict.fromkeys(row["label"] for row in rows))
    shown = [each for each in SERIES if any(row["series"] == each for row in rows)]
    colours = [SERIES[each] for each in shown]
    colour = alt.Color("series:N", scale=alt.Scale(domain=shown, range=colours), legend=alt.Legend(symbolType="square"))
    y = alt.Y("label:N", title=None, sort=labels, axis=alt.Axis(domain=False, ticks=False))
    most = max((row["share"] for row in rows), default=0.0)
    x = alt.X("share:Q", title=None, axis=alt.Axis(format=form_of(most), tickCount=4))
    step = 9 * max(len(shown), 1)
    base = alt.Chart(alt.Data(values=list(rows)), width=WIDTH, height=(step + 6) * len(labels))
    bars = base.mark_bar().encode(y=y, x=x, color=colour, yOffset=alt.YOffset("series:N", sort=shown))
    return draw(bars, name, title, description)


def rates_picture(rows: Sequence[Row], name: str, title: str, description: str) -> str:
    """Draw the success of each `attack` with its interval, beside its baseline and control."""
    alt = load_altair()
    names = ["success", "baseline", "control"]
    points = [{"attack": row["attack"], "rate": row[kind], "kind": kind} for row in rows for kind in names]
    most = max(row["high"] for row in rows)
    scale = alt.Scale(domain=[0, min(most * 1.05, 1.0)], nice=False)
    x = {"axis": alt.Axis(format=form_of(most), tickCount=4), "scale": scale, "title": None}
    y = alt.Y("attack:N", title=None, sort=None, axis=alt.Axis(domain=False, ticks=False))
    colour = alt.Color("kind:N", scale=alt.Scale(domain=names, range=[AFTER, BEFORE, LIMIT]))
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=names, range=["diamond", "circle", "triangle-up"]))
    base = alt.Chart(alt.Data(values=list(rows)), width=WIDTH, height=1.3 * BAR * len(rows))
    reach = base.mark_rule(strokeWidth=2, color=AFTER).encode(y=y, x=alt.X("low:Q", **x), x2="high:Q")
    marks = alt.Chart(alt.Data(values=points)).mark_point(filled=True, size=55, opacity=1)
    return draw(
        alt.layer(reach, marks.encode(y=y, x=alt.X("rate:Q", **x), color=colour, shape=shape)), name, title, description
    )


def lines_picture(rows: Sequence[Row], knees: Mapping[str, float], name: str, title: str, description: str) -> str:
    """Draw a line of `share` over `beta` for each `scheme`, and mark the knee of each."""
    alt = load_altair()
    schemes = list(dict.fromkeys(row["scheme"] for row in rows))
    colours = [(AFTER, BEFORE, LIMIT)[place % 3] for place in range(len(schemes))]
    dashes = [[1, 0] if place < 3 else [4, 3] for place in range(len(schemes))]
    legend = alt.Legend(symbolType="stroke") if len(schemes) > 1 else None
    looks = {
        "color": alt.Color("scheme:N", scale=alt.Scale(domain=schemes, range=colours), legend=legend),
        "strokeDash": alt.StrokeDash("scheme:N", scale=alt.Scale(domain=schemes, range=dashes), legend=None),
    }
    betas = sorted({row["beta"] for row in rows})
    most = max(row["share"] for row in rows)
    scale = alt.Scale(type="log", domain=[betas[0], betas[-1]] if len(betas) > 1 else [betas[0] / 2, betas[0] * 2])
    x = alt.X("beta:Q", title="beta", scale=scale, axis=alt.Axis(values=betas, format="~g", grid=False))
    y_scale = alt.Scale(domain=[0, max(most * 1.08, 1e-6)], nice=False)
    y = alt.Y("share:Q", title=None, scale=y_scale, axis=alt.Axis(format=form_of(most), tickCount=4))
    base = alt.Chart(alt.Data(values=list(rows)), width=WIDTH, height=170).encode(x=x, y=y)
    layers = [
        base.mark_line(strokeWidth=2).encode(**looks),
        base.mark_point(filled=True, size=40).encode(looks["color"]),
    ]
    marked = [row for row in rows if knees.get(row["scheme"]) == row["beta"]]
    if marked:
        knee = alt.Chart(alt.Data(values=marked)).encode(x=x, y=y)
        layers.append(knee.mark_point(size=180, strokeWidth=2, color=LIMIT, filled=False))
        highest = {row["beta"]: row for row in sorted(marked, key=lambda row: row["share"])}  # one label at each beta
        knee = alt.Chart(alt.Data(values=list(highest.values()))).encode(x=x, y=y)
        layers.append(knee.mark_text(dy=-16, dx=12, align="left", color=INK, fontSize=11, text="knee"))
    return draw(alt.layer(*layers), name, title, description)
