"""Boxes: a set of values for each of some columns; predicates are unions of boxes that do not overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from betalike.errors import QueryError
from betalike.queries.values import ValueSet

Box = Mapping[str, ValueSet]
MOST_BOXES = 1_000


def intersect(left: Sequence[Box], right: Sequence[Box]) -> list[Box]:
    """What lies in both unions."""
    met = [_meet(a, b) for a in left for b in right]
    return _limited([box for box in met if box is not None])


def unite(left: Sequence[Box], right: Sequence[Box]) -> list[Box]:
    """What lies in either union, as boxes that do not overlap: counts may be added."""
    united = list(left)
    for box in right:
        pieces = [box]
        for taken in united:
            pieces = [rest for piece in pieces for rest in _subtract(piece, taken)]
        for piece in pieces:
            _add(united, piece)
        _limited(united)
    return united


def _meet(a: Box, b: Box) -> Box | None:
    both = {**a, **{name: values & a[name] if name in a else values for name, values in b.items()}}
    return None if any(values.is_empty for values in both.values()) else both


def _subtract(box: Box, taken: Box) -> list[Box]:
    """The parts of a box outside another: one for each column, within the other on the columns before."""
    if _meet(box, taken) is None:
        return [box]
    pieces: list[Box] = []
    for name, values in taken.items():
        outside = _meet(box, {name: values.complement()})
        if outside is not None:
            pieces.append(outside)
        box = {**box, name: values & box[name] if name in box else values}
    return pieces


def _add(boxes: list[Box], piece: Box) -> None:
    """Add a box, joined to one that differs from it on a single column if there is such."""
    for i, box in enumerate(boxes):
        if box.keys() == piece.keys():
            different = [name for name in box if box[name] != piece[name]]
            if len(different) <= 1:
                boxes[i] = {**box, **{name: box[name] | piece[name] for name in different}}
                return
    boxes.append(piece)


def _limited(boxes: list[Box]) -> list[Box]:
    if len(boxes) > MOST_BOXES:
        raise QueryError(
            f"the predicate falls into more than {MOST_BOXES} parts that do not overlap. OR and NOT over many columns "
            "do that; ask in several queries."
        )
    return boxes
