"""Bins with round ends, one value at a time: what a column that is rounded may publish."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from .reading import EPOCH, key_of

WHOLE = ("integer", "date")
STEPS: dict[str, list[Any]] = {
    "integer": [1, 2, 5, 10, 1000],
    "real": [0.1, 0.5, 1, 10.0, 2500],
    "date": ["day", "week", "month", "quarter", "year", "decade"],
    "datetime": ["minute", "hour", "day", "week", "month", "quarter", "year", "decade"],
}
LARGEST = 2**50  # steps from 0, of reals
Ends = tuple[Any, Any]


@dataclass(frozen=True)
class RoundEnds:
    """What `publish` is asked: a step, or a unit of time, and the extremes as cells of the column."""

    kind: str
    round: Any = None
    bottom: Any = None
    top: Any = None

    @cached_property
    def codes(self) -> Ends:
        """The extremes as keys."""
        return key_of(self.kind, self.bottom), key_of(self.kind, self.top)

    def clamp(self, key: Any) -> Any:
        """The key as it is coded."""
        bottom, top = self.codes
        key = key if bottom is None else max(key, bottom)
        return key if top is None else min(key, top)

    def bin_of(self, key: Any) -> Ends:
        """The least and the greatest value that the bin of a value is published with."""
        bottom, top = self.codes
        if (bottom is not None and key <= bottom) or (top is not None and key >= top):
            return self.clamp(key), self.clamp(key)
        if self.round is None:
            return key, key
        begin = None if bottom is None else bottom + (1 if self.kind in WHOLE else 0)
        low, after = self._around(key)
        while low in self._not_cut:
            low = self._around_below(low)
        while after in self._not_cut:
            after = self._around(after)[1]
        low, after = low if begin is None else max(low, begin), after if top is None else min(after, top)
        return low, after - (1 if self.kind in WHOLE else 0)

    @cached_property
    def _not_cut(self) -> set[Any]:
        """Boundaries that would leave a bin beside a code that is narrower than a step."""
        bottom, top = self.codes
        begin = None if bottom is None else bottom + (1 if self.kind in WHOLE else 0)
        found = set()
        if begin is not None and self._around(begin)[0] != begin:
            found.add(self._around(begin)[1])
        if top is not None and self._around(top)[0] != top:
            found.add(self._around(top)[0])
        return found

    def _around_below(self, boundary: Any) -> Any:
        if self.kind != "real":
            return self._around(boundary - 1)[0]
        width = Fraction(str(self.round))
        return Fraction(float((round(boundary / width) - 1) * width))

    def _around(self, key: Any) -> Ends:
        """The round number at or below a key, and the next one."""
        if self.kind == "integer":
            return key - key % self.round, key - key % self.round + self.round
        if self.kind == "real":
            width = Fraction(str(self.round))
            place = next(p for p in range(int(key / width) + 2, int(key / width) - 4, -1) if float(p * width) <= key)
            return Fraction(float(place * width)), Fraction(float((place + 1) * width))
        if self.kind == "date":
            day = datetime.date.fromordinal(key)
            return FIRST[self.round](day).toordinal(), _next(day, FIRST[self.round]).toordinal()
        moment = EPOCH + datetime.timedelta(microseconds=key)
        if self.round in ("minute", "hour"):
            low = moment.replace(second=0, microsecond=0, **({"minute": 0} if self.round == "hour" else {}))
            after = low + datetime.timedelta(**{f"{self.round}s": 1})
        else:
            first, last = FIRST[self.round](moment.date()), _next(moment.date(), FIRST[self.round])
            low, after = (datetime.datetime.combine(day, datetime.time()) for day in (first, last))
        return key_of("datetime", low), key_of("datetime", after)


FIRST: dict[str, Callable[[datetime.date], datetime.date]] = {
    "day": lambda day: day,
    "week": lambda day: day - datetime.timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "quarter": lambda day: day.replace(day=1, month=day.month - (day.month - 1) % 3),
    "year": lambda day: day.replace(day=1, month=1),
    "decade": lambda day: day.replace(day=1, month=1, year=day.year - day.year % 10),
}


def _next(day: datetime.date, first: Callable[[datetime.date], datetime.date]) -> datetime.date:
    """The first day of the next unit: leaps that are too short to miss it, then single days."""
    start, later = first(day), day
    for leap in (300, 25, 1):
        while first(later + datetime.timedelta(days=leap)) == start:
            later += datetime.timedelta(days=leap)
    return later + datetime.timedelta(days=1)


def random_ends(rng: random.Random, kind: str, cells: list[Any]) -> RoundEnds | None:
    """A step that the values allow, and extremes among them; None in most cases."""
    pool = sorted({cell for cell in cells if cell is not None})
    if rng.random() < 0.65 or not pool:
        return None
    step = rng.choice([None, *STEPS[kind] * 2])
    if kind == "real" and step is not None and max(abs(pool[0]), abs(pool[-1])) / step > LARGEST:
        step = None
    bottom, top = (rng.choice([None, None, rng.choice(pool)]) for _ in range(2))
    if bottom is not None and top is not None and bottom >= top:
        top = None
    ends = RoundEnds(kind, step, bottom, top)
    return None if ends == RoundEnds(kind) else ends
