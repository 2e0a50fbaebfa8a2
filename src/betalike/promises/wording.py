"""What beta-likeness means, in one sentence that every command and page uses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

SHARE = Fraction(1, 100)  # of the example
DIGITS = 3
TIMES_DIGITS = 4


def times_as_likely(gain: float) -> str:
    """Return how many times as likely a value becomes with a relative gain.

    >>> times_as_likely(4)
    '5 times as likely'
    """
    return f"{1 + gain:.{TIMES_DIGITS}g} times as likely"


def at_most_times(gain: Fraction) -> str:
    """Return the same where it is a limit, so rounded up.

    >>> at_most_times(Fraction(4)), at_most_times(Fraction(4, 3))
    ('5 times as likely', '2.334 times as likely')
    """
    context = Context(prec=TIMES_DIGITS, rounding=ROUND_CEILING)
    number = context.divide(Decimal(gain.numerator + gain.denominator), Decimal(gain.denominator))
    return f"{float(number):g} times as likely"


def likeness_sentence(promise: Mapping[str, Any], has_classes: bool) -> str | None:
    """Return what a promise of likeness allows, with an example; None for a promise without a beta.

    `promise` has the fields of a certificate's promise. Gain 4 means at most 5 times as likely.

    >>> likeness_sentence({"model": "enhanced-likeness", "beta": 4.0, "parameters": {}}, has_classes=True)
    'no value becomes more than 5 times as likely (gain at most 4): one with a share of 1 % makes up at most 5 % of any class'
    """  # noqa: E501 - an example is one line
    if promise["beta"] is None:
        return None
    gain = Fraction(repr(float(promise["beta"])))
    parameters = promise["parameters"]
    is_enhanced = "basic" not in promise["model"]
    grown = min(gain, Fraction(-math.log(SHARE))) if is_enhanced else gain
    most = percent(min(SHARE * (1 + grown), Fraction(1)), ROUND_CEILING)
    bounds = f"at most {most}"
    least = _least(parameters.get("negative_beta"), grown)
    if least is not None:
        bounds = f"at least {percent(least, ROUND_FLOOR)} and {bounds}"
    reach = f"makes up {bounds} of any class" if has_classes else f"becomes {bounds} likely once a row is seen"
    subject = _subject(parameters)
    return (
        f"no {subject} becomes more than {at_most_times(gain)} (gain at most {float(gain):g}): one with a "
        f"share of {percent(SHARE, ROUND_CEILING)} {reach}"
    )


def surest_guess(l: float, has_classes: bool, is_joint: bool = False) -> str:  # noqa: E741 - the name that everybody uses
    """Return the highest share that any value has, from the level `l` of a release, which is one divided by it.

    >>> surest_guess(1 / 0.966, has_classes=True)
    'surest guess of a value: at most 96.6 %, in one class'
    """
    what = "of all sensitive values together" if is_joint else "of a value"
    most = percent(min(Fraction(1 / l).limit_denominator(10**12), Fraction(1)), ROUND_CEILING)
    return f"surest guess {what}: at most {most}{', in one class' if has_classes else ''}"


def percent(share: Fraction, rounding: str) -> str:
    """Return a share in per cent, rounded in the safe direction.

    >>> percent(Fraction(2, 3), ROUND_CEILING), percent(Fraction(2, 3), ROUND_FLOOR)
    ('66.7 %', '66.6 %')
    """
    context = Context(prec=DIGITS, rounding=rounding)
    number = context.divide(Decimal(100 * share.numerator), Decimal(share.denominator))
    return f"{float(number):g} %"


def _least(negative_beta: float | str | None, grown: Fraction) -> Fraction | None:
    """Return the least share of the example; None if a value may be absent."""
    if negative_beta is None:
        return None
    if isinstance(negative_beta, str):
        return SHARE / (1 + grown)
    return SHARE * (1 - Fraction(repr(float(negative_beta))))


def _subject(parameters: Mapping[str, Any]) -> str:
    """Return what a promise is about."""
    if "width" in parameters:
        return f"interval of width {parameters['width']:g}"
    return "group of values" if "groups" in parameters else "value"
