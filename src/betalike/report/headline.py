"""The first figures that a reader sees of a release, the same in a terminal, a report and the page."""

from __future__ import annotations

from dataclasses import dataclass

from betalike.promises.wording import surest_guess
from betalike.release.certificate import Certificate

SMALL_CLASS = 5  # with fewer, a person is found with a chance above 20 %


@dataclass(frozen=True)
class Headline:
    """The figures of a release in people, where a column says whose row each is; otherwise in rows.

    The surest guess and the largest gain are the greater of the two: a reader may guess from rows as well.
    """

    unit: str
    smallest_class: int | None
    surest_guess: float
    largest_gain: float
    surest_words: str
    small_classes: str | None

    @staticmethod
    def of(facts: Certificate) -> Headline:
        """Return the figures of a certificate."""
        people, smallest = facts.people, facts.release.smallest_class
        surest, gain, unit = 1 / facts.also.l, facts.promise.worst_gain, "rows"
        if people is not None:
            smallest, gain, unit = people.smallest_class, max(gain, people.worst_gain), "people"
            surest = max(surest, people.risk.surest_guess)
        has_classes, has_several = smallest is not None, bool(facts.table.sensitive_columns)
        words = surest_guess(1 / surest, has_classes, has_several)
        is_small = smallest is not None and smallest < SMALL_CLASS and facts.promise.k <= 1
        small = f"some classes have fewer than {SMALL_CLASS} {unit}, the smallest {smallest}; a k asks for larger ones"
        return Headline(unit, smallest, surest, gain, words, small if is_small else None)
