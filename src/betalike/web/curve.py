"""The curve of loss against beta: measured once for a choice of columns and scheme, and drawn as it fills in."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from betalike.web.project import Project

BETAS = (0.5, 1, 1.5, 2, 3, 4, 6, 8)
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 560, 236, 64, 52, 12
RIGHT = WIDTH - 12
LEAST, MOST = 0.4, 10.0  # betas at the ends of the picture


def curve_name(project: Project) -> str:
    """Return the file of the curve that belongs to the current columns, k and scheme; beta does not matter."""
    spec = msgspec.to_builtins(project.spec)
    spec["promise"]["beta"] = None
    digest = hashlib.sha256(msgspec.json.encode(spec, order="deterministic")).hexdigest()[:12]
    return f"curve-{digest}.json"


def curve_of(project: Project) -> dict[str, Any] | None:
    """Return the points that are known; None before the first."""
    try:
        known: dict[str, Any] = msgspec.json.decode((project.folder / curve_name(project)).read_bytes())
    except FileNotFoundError:
        return None
    return known


def draw_curve(points: Sequence[Mapping[str, Any]], beta: float | None, total: int) -> dict[str, Any]:
    """Return the places of the points of a curve in a picture, and of the chosen beta."""
    known = [point for point in points if point["loss"] is not None]
    low, high = math.log(LEAST), math.log(MOST)
    most = max((point["loss"] for point in known), default=0.0) or 0.01

    def x(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (math.log(min(max(value, LEAST), MOST)) - low) / (high - low)

    def y(loss: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * loss / (1.08 * most)

    placed = [{**point, "x": round(x(point["beta"]), 1), "y": round(y(point["loss"]), 1)} for point in known]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": RIGHT,
        "least": LEAST,
        "most": MOST,
        "bottom": HEIGHT - BOTTOM,
        "points": placed,
        "line": " ".join(f"{point['x']},{point['y']}" for point in placed),
        "beta": None if beta is None else round(x(beta), 1),
        "ticks": [{"x": round(x(value), 1), "label": f"{value:g}"} for value in BETAS],
        "digits": 0 if most >= 0.1 else 1,
        "levels": [{"y": round(y(most * share), 1), "loss": most * share} for share in (0, 0.5, 1)],
        "refusals": sorted({point["refusal"] for point in points if point["refusal"]}),
        "known": len(points),
        "total": total,
    }
