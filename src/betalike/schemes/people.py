"""Merge classes that break a promise in people, each with the neighbour that costs least, until all keep it.

This step follows every scheme that forms classes. Merging keeps every promise in rows. In people it may not: a person
can be in both classes with different values. So a merged class is judged again, and merging ends at the latest with one
class of all rows, which keeps every promise.
"""

from __future__ import annotations

import heapq

import numpy as np

from betalike.promises.people import Holdings
from betalike.promises.rule import Rule, is_allowed
from betalike.runtime.arrays import Bools, Ids, Ints
from betalike.runtime.compilation import kernel
from betalike.schemes.spans import Spans, box_loss, joint_loss_up_to, list_spans
from betalike.table.cells import Plan


def merge_for_people(plan: Plan, held: Holdings, rule: Rule) -> Ints:
    """Return the new number of each class of a plan, after those that break a rule in people joined others."""
    n_classes, n_sets = plan.n_classes, held.n_sets
    starts = np.searchsorted(held.ec, np.arange(n_classes + 1))
    pairs = held.person * n_sets + held.member
    of_class = [pairs[starts[ec] : starts[ec + 1]] for ec in range(n_classes)]
    low, high = (side.copy() for side in plan.boxes)
    n_rows = plan.class_counts.sizes.copy()
    spans, is_there = list_spans(plan.cells), np.ones(n_classes, dtype=np.bool_)
    joined = np.arange(n_classes)
    waiting = [(len(own), ec) for ec, own in enumerate(of_class) if not _is_kept(own, rule, n_sets)]
    heapq.heapify(waiting)
    while waiting:
        _, ec = heapq.heappop(waiting)
        if not is_there[ec] or _is_kept(of_class[ec], rule, n_sets):
            continue
        other = _nearest(spans, low, high, n_rows, is_there, ec)
        if other < 0:
            break  # one class of all rows
        of_class[ec], of_class[other] = np.union1d(of_class[ec], of_class[other]), pairs[:0]
        np.minimum(low[ec], low[other], out=low[ec])
        np.maximum(high[ec], high[other], out=high[ec])
        n_rows[ec] += n_rows[other]
        is_there[other], joined[other] = False, ec
        heapq.heappush(waiting, (len(of_class[ec]), ec))
    while (joined != joined[joined]).any():
        joined = joined[joined]
    return np.unique(joined, return_inverse=True)[1]


def _is_kept(pairs: Ints, rule: Rule, n_sets: int) -> bool:
    """Whether a class keeps a rule, by its distinct pairs of person and set of values, in order."""
    person, member = np.divmod(pairs, n_sets)
    n_people = int(np.count_nonzero(np.diff(person))) + 1
    return bool(is_allowed(rule, np.bincount(member, minlength=n_sets), n_people))


@kernel
def _nearest(spans: Spans, low: Ids, high: Ids, n_rows: Ints, is_there: Bools, ec: int) -> int:
    """Return the class whose union with this one costs least loss, added up over their rows; -1 if there is none."""
    best, least = -1, np.inf
    own = box_loss(spans, low[ec], high[ec]) * n_rows[ec]
    for other in range(len(n_rows)):
        if other == ec or not is_there[other]:
            continue
        together = n_rows[ec] + n_rows[other]
        before = own + box_loss(spans, low[other], high[other]) * n_rows[other]
        most = (least + before) / together
        cost = joint_loss_up_to(spans, low, high, ec, other, most) * together - before
        if cost < least:
            best, least = other, cost
    return best
