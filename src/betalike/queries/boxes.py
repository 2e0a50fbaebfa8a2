"""Boxes: one set of values per column; a predicate is a union of boxes that do not overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from betalike.errors import QueryError
from betalike.queries.value_sets import ValueSet

Box = Mapping[str, ValueSet]
MOST_BOXES = 1_000


def intersect(unions: Sequence[Sequence[Box]]) -> Sequence[Box]:
    """Return the boxes that all unions have in common: their AND.

    A long chain of comparisons is a long list of unions of one box each. Those are intersected first, in one step.
    """
    if len(unions) == 1:
        return unions[0]
    boxes: Sequence[Box] = _meet_all([union[0] for union in unions if len(union) == 1])
    for union in unions:
        if len(union) != 1:
            boxes = _intersect_two(boxes, union)
    return boxes


def unite(unions: Sequence[Sequence[Box]]) -> Sequence[Box]:
    """Return the union of all boxes (their OR) as boxes that do not overlap, so that their counts can be added."""
    if len(unions) == 1:
        return unions[0]
    united: list[Box] = []
    for box in sorted(_join_alike([box for union in unions for box in union]), key=len):  # the widest first
        pieces = [box]
        for taken in united:
            pieces = _limited([rest for piece in pieces for rest in _subtract(piece, taken)])
        united += pieces
        if len(united) > MOST_BOXES:
            united = _limited(_join_alike(united))
    return _join_alike(united)


def _meet_all(boxes: Sequence[Box]) -> list[Box]:
    """Return the one box that lies in all boxes, or no box if they have nothing in common."""
    sets: dict[str, list[ValueSet]] = {}
    for box in boxes:
        for name, values in box.items():
            sets.setdefault(name, []).append(values)
    met = {name: ValueSet.intersection(some) for name, some in sets.items()}
    return [] if any(values.is_empty for values in met.values()) else [met]


def _intersect_two(left: Sequence[Box], right: Sequence[Box]) -> list[Box]:
    met: list[Box] = []
    for box in left:
        met += [both for other in right if (both := _meet(box, other)) is not None]
        _limited(met)
    return met


def _join_alike(boxes: list[Box]) -> list[Box]:
    """Join boxes that differ on a single column, overlapping or not: `a = 1 OR a = 2 OR ...` becomes one box."""
    n_before = len(boxes) + 1
    while len(boxes) < n_before:
        n_before = len(boxes)
        for name in dict.fromkeys(name for box in boxes for name in box):
            alike: dict[object, list[Box]] = {}
            for box in boxes:
                others = frozenset((column, values) for column, values in box.items() if column != name)
                alike.setdefault(others if name in box else id(box), []).append(box)
            boxes = [
                {**some[0], name: ValueSet.union([box[name] for box in some])} if len(some) > 1 else some[0]
                for some in alike.values()
            ]
    return boxes


def _meet(a: Box, b: Box) -> Box | None:
    both = dict(a)
    for name, values in b.items():
        if name in a:
            values = a[name] & values
        if values.is_empty:
            return None
        both[name] = values
    return both


def _subtract(box: Box, taken: Box) -> list[Box]:
    """Return the parts of a box outside another: one part per column, inside the other box on earlier columns."""
    if any(name in box and box[name].is_disjoint(values) for name, values in taken.items()):
        return [box]
    pieces: list[Box] = []
    for name, values in taken.items():
        outside = _meet(box, {name: values.complement()})
        if outside is not None:
            pieces.append(outside)
        box = {**box, name: values & box[name] if name in box else values}
    return pieces


def _limited(boxes: list[Box]) -> list[Box]:
    if len(boxes) > MOST_BOXES:
        raise QueryError(
            f"the predicate falls into more than {MOST_BOXES} parts that do not overlap. OR and NOT over many columns "
            "do that; ask in several queries."
        )
    return boxes
