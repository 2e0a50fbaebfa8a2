"""The look of each scheme in every picture: colour, shape and dash, so that pictures work without colours too."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

WHITE = "#ffffff"


@dataclass(frozen=True)
class Mark:
    """The colour of a line and its points, the shape of the points, and the dash of the line."""

    colour: str
    shape: str
    dash: tuple[int, ...] = (1, 0)
    is_filled: bool = True

    @property
    def fill(self) -> str:
        """Return the colour that points are filled with."""
        return self.colour if self.is_filled else WHITE

    @property
    def size(self) -> int:
        """Return the size of points: hollow ones are larger, to show around a filled one in the same place."""
        return 50 if self.is_filled else 100


_CROSS = "M-1,-0.7L-0.7,-1L0,-0.3L0.7,-1L1,-0.7L0.3,0L1,0.7L0.7,1L0,0.3L-0.7,1L-1,0.7L-0.3,0Z"
_STAR = "M0,-1.2L0.27,-0.38L1.14,-0.37L0.45,0.14L0.71,0.97L0,0.47L-0.71,0.97L-0.45,0.14L-1.14,-0.37L-0.27,-0.38Z"
_PENTAGON = "M0,-1.1L1.05,-0.34L0.65,0.89L-0.65,0.89L-1.05,-0.34Z"
_HOURGLASS = "M-0.9,-0.9L0.9,-0.9L-0.9,0.9L0.9,0.9Z"
MARKS: dict[str, Mark] = {
    "seam": Mark("#000000", "circle"),
    "whole": Mark("#e08214", _PENTAGON),
    "whole, strict": Mark("#e08214", _PENTAGON, (7, 2), is_filled=False),
    "burel": Mark("#b2182b", "square", (6, 3), is_filled=False),
    "burel+split": Mark("#b2182b", "square"),
    "lmondrian": Mark("#2166ac", "triangle-up"),
    "lmondrian, narrowest": Mark("#2166ac", "triangle-up", (6, 3), is_filled=False),
    "dmondrian": Mark("#5aa9d6", "triangle-down", (2, 2)),
    "dmondrian, narrowest": Mark("#5aa9d6", "triangle-down", (8, 2, 2, 2), is_filled=False),
    "tmondrian": Mark("#1b7837", "diamond", (10, 3)),
    "tmondrian, narrowest": Mark("#1b7837", "diamond", (3, 3), is_filled=False),
    "mondrian": Mark("#7f7f7f", "triangle-right", (4, 2)),
    "sabre": Mark("#b35806", _CROSS, (8, 2, 2, 2)),
    "sabre, counts": Mark("#b35806", "cross", (2, 3), is_filled=False),
    "perturb": Mark("#762a83", _STAR),
    "perturb, inversion": Mark("#762a83", _STAR, (6, 3), is_filled=False),
    "perturb, sets": Mark("#762a83", "triangle-left", (9, 2)),
    "baseline": Mark("#6f6f6f", "circle", (1, 2), is_filled=False),
}
OTHERS = (
    Mark("#4d4d4d", _HOURGLASS, (5, 2), is_filled=False),
    Mark("#a6761d", "triangle-left", (2, 4), is_filled=False),
    Mark("#01665e", "triangle-right", (9, 4), is_filled=False),
    Mark("#c51b7d", _HOURGLASS, (3, 1)),
)


def in_order(names: Collection[str]) -> dict[str, Mark]:
    """Return known schemes with their marks, in the order of the marks, then others with the remaining marks."""
    known = {name: mark for name, mark in MARKS.items() if name in names}
    others = [name for name in dict.fromkeys(names) if name not in known]
    return {**known, **{name: OTHERS[place % len(OTHERS)] for place, name in enumerate(others)}}
