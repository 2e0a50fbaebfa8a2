from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.errors import MissingDependencyError
from betalike.report.charts import Quantity, line_chart, log_ticks, save, scatter_chart, side_by_side
from betalike.report.labels import CHARACTER, LINE, POINT, place_labels
from betalike.report.marks import MARKS, OTHERS, in_order

BETA = Quantity("beta", "beta (no unit)")
LOSS = Quantity("loss", "loss (share of a range)", is_logarithmic=True)
ROWS = [
    {"scheme": scheme, "beta": beta, "loss": loss / beta}
    for scheme, loss in (("seam", 0.1), ("burel", 0.4), ("a new one", 0.2))
    for beta in (1, 2, 4)
]


def test_a_picture_is_written_as_svg_with_text_and_as_png(tmp_path: Path) -> None:
    panels = [line_chart(ROWS, BETA, LOSS, "(a) lines"), scatter_chart(ROWS, LOSS, BETA, "(b) points", label="beta")]
    svg, png = save(side_by_side(*panels), tmp_path / "both.panels")
    assert (svg.name, png.name) == ("both.panels.svg", "both.panels.png")
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", svg.read_text(encoding="utf-8"))
    wanted = {"(a) lines", "(b) points", "beta (no unit)", "loss (share of a range)", "seam", "burel", "a new one"}
    assert wanted <= set(texts)
    assert texts.count("seam") == 1, "one key for both panels"
    _, other = save(panels[0], tmp_path / "one")
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (png, other))
    assert png.stat().st_size > other.stat().st_size, "two panels are more to see than one"


def test_rows_without_a_figure_are_left_out(tmp_path: Path) -> None:
    rows = [*ROWS, {"scheme": "lmondrian", "beta": 1, "loss": None}, {"scheme": "dmondrian", "beta": 1, "loss": 0}]
    svg, _ = save(line_chart(rows, BETA, LOSS), tmp_path / "some")
    assert "mondrian" not in svg.read_text(encoding="utf-8")
    even, _ = save(line_chart(rows, BETA, Quantity("loss", "loss (linear)")), tmp_path / "even")
    assert "dmondrian" in even.read_text(encoding="utf-8")
    assert "lmondrian" not in even.read_text(encoding="utf-8")


def test_marks_are_told_apart_without_colours() -> None:
    looks = [(mark.shape, mark.dash, mark.is_filled) for mark in (*MARKS.values(), *OTHERS)]
    for one, other in itertools.combinations(looks, 2):
        assert one != other
    points = [(mark.shape, mark.is_filled) for mark in (*MARKS.values(), *OTHERS)]
    assert len(set(points)) == len(points)


def test_a_scheme_has_the_same_mark_whoever_is_beside_it() -> None:
    alone, among = in_order(["sabre"]), in_order(["other", "sabre", "seam", "another"])
    assert alone["sabre"] == among["sabre"]
    assert list(among) == ["seam", "sabre", "other", "another"]
    assert among["other"] != among["another"]


@given(st.floats(1e-6, 1e6), st.floats(1.5, 1e6))
def test_logarithmic_ticks_are_few_and_within_the_axis(low: float, span: float) -> None:
    ticks = log_ticks(low, low * span)
    assert all(low <= tick <= low * span for tick in ticks)
    assert len(ticks) <= 13
    assert span < 10 or len(ticks) >= 1


points_and_labels = st.lists(
    st.tuples(st.floats(0, 300), st.floats(0, 200), st.text("0123456789.", min_size=1, max_size=6)), max_size=40
)


@given(points_and_labels)
def test_no_label_hides_a_point_or_another_label(given: list[tuple[float, float, str]]) -> None:
    points = [(x, y) for x, y, _ in given]
    places = place_labels(points, [label for _, _, label in given], 300, 200)
    placed = [
        (place, CHARACTER * len(label) / 2)
        for place, (_, _, label) in zip(places, given, strict=True)
        if place is not None
    ]
    for ((x, y), half), ((other_x, other_y), other_half) in itertools.combinations(placed, 2):
        assert abs(x - other_x) >= half + other_half - 1e-9 or abs(y - other_y) >= LINE - 1e-9
    for (x, y), half in placed:
        assert half <= x <= 300 - half
        assert all(abs(x - a) >= half + POINT - 1e-9 or abs(y - b) >= LINE / 2 + POINT - 1e-9 for a, b in points)


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_without_the_extra_an_error_names_it(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingDependencyError, match=r"betalike\[charts\]"):
        line_chart(ROWS, BETA, LOSS)
