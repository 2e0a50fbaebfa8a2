"""Places for labels beside the points of a picture, so that none hides a point or another label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CHARACTER, LINE = 6.0, 11.0  # pixels that a character and a line take
POINT = 5.0  # half the side of a point
GAP = 3.0
# Sideways and downwards from the point, in multiples of a label's size and gap; the best to read come first.
DIRECTIONS = ((1, -0.6), (1, 0), (-1, -0.6), (0, -1), (1, 0.6), (-1, 0), (0, 1), (-1, 0.6))


@dataclass(frozen=True)
class Rectangle:
    """A rectangle of pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Rectangle) -> bool:
        """Return whether two rectangles overlap."""
        is_beside = self.left >= other.right or other.left >= self.right
        is_above_or_below = self.top >= other.bottom or other.top >= self.bottom
        return not (is_beside or is_above_or_below)

    def is_within(self, width: float, height: float) -> bool:
        """Return whether it lies inside a picture."""
        return self.left >= 0 and self.top >= 0 and self.right <= width and self.bottom <= height


def place_labels(
    points: Sequence[tuple[float, float]], labels: Sequence[str], width: float, height: float
) -> list[tuple[float, float] | None]:
    """Return the middle of each label beside its point, in pixels from the top left; None if no place is free.

    >>> place_labels([(50, 50)], ["4"], 100, 100)
    [(61.0, 41.9)]
    """
    marks = [Rectangle(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points]
    taken: list[Rectangle] = []
    places: list[tuple[float, float] | None] = []
    for (x, y), label in zip(points, labels, strict=True):
        half = CHARACTER * len(label) / 2, LINE / 2
        place = None
        for sideways, downwards in DIRECTIONS:
            middle = x + sideways * (POINT + GAP + half[0]), y + downwards * (POINT + GAP + half[1])
            box = Rectangle(middle[0] - half[0], middle[1] - half[1], middle[0] + half[0], middle[1] + half[1])
            if box.is_within(width, height) and not any(box.meets(other) for other in (*marks, *taken)):
                place = middle
                taken.append(box)
                break
        places.append(place)
    return places
