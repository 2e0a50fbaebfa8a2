"""Caps by any monotone function of a value's share, or as listed in a certificate. Paper: Section 3.

"This framework applies for any monotonic upper-bound function": all that is needed is p <= f(p) <= 1, so that the table
itself is allowed, and f(p) <= f(p') for p < p', so that a rarer value is never allowed more than a frequent one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from betalike.errors import CertificateError, ParameterError
from betalike.promises.verdict import exact

STEPS = 1000
GRID = (*(10.0**-exponent for exponent in range(12, 3, -1)), *(step / STEPS for step in range(1, STEPS + 1)))


@dataclass(frozen=True)
class MonotoneCap:
    """A function from the share of a value in the table to its highest share in a class; checked to be monotone."""

    function: Callable[[float], float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"cap is {self.function!r}; it must be a function from a share to a share.")
        self._check([(share, self._call(share)) for share in GRID])

    def at(self, count: int, n_rows: int) -> Fraction:
        """Return the cap for a value that occurs `count` times in `n_rows` rows; never below its share by rounding."""
        if count == 0:
            return Fraction(0)
        return max(exact(self._call(count / n_rows)), Fraction(count, n_rows))

    def check(self, counts: Sequence[int], n_rows: int) -> None:
        """Refuse a function that is not monotone on the shares that occur."""
        self._check([(count / n_rows, self._call(count / n_rows)) for count in sorted({*counts} - {0})])

    def _call(self, share: float) -> float:
        try:
            cap, again = float(self.function(share)), float(self.function(share))
        except Exception as error:  # of any kind: the message says where the function fails
            raise ParameterError(f"cap fails at the share {share:g}: {type(error).__name__}: {error}.") from error
        if not share <= cap <= 1:
            raise ParameterError(
                f"cap is {cap!r} at the share {share!r}; it must be from the share itself up to 1. With less, the "
                "table itself would break the promise."
            )
        if cap != again:
            raise ParameterError(f"cap is {cap!r} and then {again!r} at the share {share!r}; it must stay the same.")
        return cap

    def _check(self, caps: Sequence[tuple[float, float]]) -> None:
        for (share, cap), (next_share, next_cap) in pairwise(caps):
            if next_cap < cap:
                raise ParameterError(
                    f"cap falls from {cap!r} at the share {share!r} to {next_cap!r} at {next_share!r}; it must be "
                    "monotone, or a rare value would be allowed more than a frequent one."
                )


@dataclass(frozen=True)
class CertificateCap:
    """Caps as listed in a certificate, by how often a value or a set occurs in its table."""

    caps: Mapping[int, Fraction]
    n_rows: int

    @staticmethod
    def of(listed: Mapping[str, str], n_rows: int) -> CertificateCap:
        """Read the caps of a certificate; refuse what cannot be caps."""
        try:
            caps = {int(count): Fraction(text) for count, text in listed.items()}
        except (ValueError, ZeroDivisionError) as error:
            raise CertificateError("the caps in the certificate are not numbers.") from error
        ordered = [caps[count] for count in sorted(caps)]
        is_cap = all(n_rows > 0 and Fraction(count, n_rows) <= cap <= 1 for count, cap in caps.items())
        if not is_cap or ordered != sorted(ordered):
            raise CertificateError("the caps in the certificate are not those of a monotone function up to 1.")
        return CertificateCap(caps, n_rows)

    def at(self, count: int, n_rows: int) -> Fraction:
        """Return the cap for a value that occurs `count` times in `n_rows` rows."""
        if count == 0:
            return Fraction(0)
        if n_rows != self.n_rows or count not in self.caps:
            raise CertificateError("the certificate does not list the cap of every value.")
        return self.caps[count]


Cap = MonotoneCap | CertificateCap
