"""The parameters of promises, declared once.

The command line makes its options from this table, a specification its keys, and Python its arguments; promises check
their numbers against it, and the reference pages are tested against it.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

from betalike.errors import ParameterError, suggestion

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Choice = TypeVar("Choice", bound=StrEnum)

OF_PYTHON: dict[str, Callable[[Any], object]] = {"b": bool, "i": int, "u": int, "f": float, "U": str}  # kinds of NumPy
LARGEST_COUNT = 2**53  # rows that can be counted and compared without rounding
SYMMETRIC = "symmetric"
GROUNDS = ("equal", "ordered", "hierarchical")
LIKENESS = ("enhanced", "basic")
DIVERSITY = ("distinct-l-diversity", "entropy-l-diversity", "recursive-l-diversity")
PROMISES = (*LIKENESS, "delta-disclosure", "t-closeness", *DIVERSITY, "k-anonymity")


@dataclass(frozen=True)
class Range:
    """The values that are allowed, in words and as limits on a number."""

    wording: str
    above: float = -math.inf
    least: float = -math.inf
    below: float = math.inf
    most: float = math.inf
    words: tuple[str, ...] = ()


ANYTHING_ABOVE_0 = Range("a number greater than 0", above=0)


@dataclass(frozen=True)
class Parameter:
    """One parameter: its type, range and example, what it means, and the promises that need or take it."""

    name: str
    type: Any
    range: Range
    help: str
    example: object = None
    needed_by: tuple[str, ...] = ()
    taken_by: tuple[str, ...] = ()
    is_in_files: bool = True  # false if only Python can give it

    def allows(self, given: Any) -> bool:
        """Whether a value is in range."""
        if isinstance(given, str) or self.type is str:
            return given in self.range.words
        if self.type is bool:
            return isinstance(given, bool)
        if self.type == list[str]:
            return isinstance(given, Sequence) and bool(given) and all(isinstance(one, str) and one for one in given)
        is_number = isinstance(given, Integral if self.type is int else Real) and not isinstance(given, bool)
        if not is_number or not math.isfinite(given):
            return False
        return bool(self.range.above < given < self.range.below and self.range.least <= given <= self.range.most)


# A table reads best as one.
# fmt: off
TABLE = (
    Parameter("beta", float, ANYTHING_ABOVE_0, example=4, needed_by=LIKENESS, taken_by=("delta-disclosure",), help=
        "The largest gain of a value: 4 means that no value becomes more than 5 times as likely."),
    Parameter("promise", str, Range(f"one of: {', '.join(PROMISES)}", words=PROMISES), help=
        f"The promise: {', '.join(PROMISES)}; by default the one that the scheme or the numbers are for."),
    Parameter("k", int, Range(f"a whole number of 1 or more, up to {LARGEST_COUNT:,} (no table has more rows)", least=1,
        most=LARGEST_COUNT), example=5, needed_by=("k-anonymity",), taken_by=PROMISES[:-1], help=
        "Least number of rows in a class (default: 1)."),
    Parameter("t", float, Range("a number greater than 0 and at most 1 (no distance is greater than 1)", above=0,
        most=1), example=0.2, needed_by=("t-closeness",), help=
        "t-closeness: the largest distance of a class from the table, such as 0.2."),
    Parameter("delta", float, ANYTHING_ABOVE_0, example=1.5, needed_by=("delta-disclosure",), help=
        "delta-disclosure: the largest change of the logarithm of a share, such as 1.5."),
    Parameter("l", float, Range("a number of 1 or more (a whole one, except for entropy-l-diversity)", least=1),
        example=3, needed_by=DIVERSITY, help="l-diversity: the least number of values in a class."),
    Parameter("c", float, ANYTHING_ABOVE_0, example=2, needed_by=("recursive-l-diversity",), help=
        "recursive-l-diversity: the most frequent value is rarer than c times the l-th and all after it together."),
    Parameter("ground", str, Range(f"one of: {', '.join(GROUNDS)}", words=GROUNDS), example="ordered",
        taken_by=("t-closeness",), help="t-closeness: distances between values: equal, ordered or hierarchical."),
    Parameter("negative_beta", float | str, Range(f"'{SYMMETRIC}', or a number between 0 and 1: the part of its share "
        "that a value may lose (with 1 it could vanish, and nothing would be promised)", above=0, below=1,
        words=(SYMMETRIC,)), example=0.5, taken_by=LIKENESS, help=
        "Likeness: the part of its share that a value may lose, such as 0.5, or symmetric."),
    Parameter("groups", list[str], Range("a list of nodes of the sensitive column's hierarchy"), taken_by=LIKENESS,
        help="Likeness: nodes of the sensitive column's hierarchy, each promised as one value, a,b."),
    Parameter("width", float, ANYTHING_ABOVE_0, example=5000, taken_by=LIKENESS, help=
        "Likeness: numbers within any interval of this width are promised together."),
    Parameter("with_values", bool, Range("true or false"), taken_by=LIKENESS, help=
        "With groups or a width: promise each value by itself too."),
    Parameter("cap", Callable, Range("a function from a share to a share"), taken_by=LIKENESS, is_in_files=False, help=
        "Likeness, instead of beta: a monotone function from a share in the table to the largest share in a class."),
)
# fmt: on
PARAMETERS = {parameter.name: parameter for parameter in TABLE}
NUMBERS = tuple(name for name in PARAMETERS if name not in ("promise", "k"))  # what a promise takes, except k


def needed_by(promise: str) -> tuple[str, ...]:
    """Return the parameters that a promise needs."""
    return tuple(name for name, parameter in PARAMETERS.items() if promise in parameter.needed_by)


def taken_by(promise: str) -> tuple[str, ...]:
    """Return the parameters that a promise takes, those that it needs first."""
    further = (name for name, parameter in PARAMETERS.items() if promise in parameter.taken_by)
    return (*needed_by(promise), *further)


def takes(promise: str, parameter: str, given: Container[str]) -> bool:
    """Whether a promise takes a parameter along with those given; delta-disclosure takes a beta instead of a delta."""
    if promise == "delta-disclosure" and parameter == "beta":
        return "delta" not in given
    return parameter in taken_by(promise)


def takes_parameters(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let the `**parameters` of a function be those of promises: its signature lists them, and refuses others."""
    signature = inspect.signature(function)
    own = [given for given in signature.parameters.values() if given.kind is not inspect.Parameter.VAR_KEYWORD]
    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=parameter.type | None)
        for name, parameter in PARAMETERS.items()
        if name not in signature.parameters
    ]
    place = [given.name for given in own].index("k") + 1
    full = signature.replace(parameters=[*own[:place], *further, *own[place:]])

    @functools.wraps(function)
    def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            full.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{function.__name__}(): {error}") from None
        return function(*args, **kwargs)

    called.__signature__ = full  # type: ignore[attr-defined]  # what `help` and editors show
    return called


def check_parameter(name: str, given: object) -> object:
    """Return a value that is in range, as one of Python if it is of NumPy; refuse any other."""
    parameter, given = PARAMETERS[name], as_python(given, name)
    if not parameter.allows(given):
        example = "" if parameter.example is None else f", such as {parameter.example}"
        raise ParameterError(f"{name} is {given!r}; it must be {parameter.range.wording}{example}.")
    return given


def as_python(given: Any, argument: str) -> Any:
    """Return numbers, truth values and texts of NumPy as those of Python, also within lists and mappings.

    Certificates and checks of types know those of Python alone. A number that is larger than any real one is refused.
    """
    if type(given).__module__ == "numpy" and getattr(given, "ndim", None) == 0:  # which is not imported for this
        convert = OF_PYTHON.get(given.dtype.kind)
        return given if convert is None else convert(given)
    if isinstance(given, int) and abs(given) > sys.float_info.max:
        raise ParameterError(f"{argument} has a whole number of more than 308 digits. Give a smaller one.")
    if type(given) is dict:
        return {as_python(name, argument): as_python(value, argument) for name, value in given.items()}
    if type(given) in (list, tuple):
        return type(given)(as_python(value, argument) for value in given)
    return given


def choose(choices: type[Choice], given: str, what: str) -> Choice:
    """Return one of some choices by its name."""
    if given not in list(choices):
        raise unknown(what, given, choices)
    return choices(given)


def unknown(what: str, given: object, known: Iterable[str]) -> ParameterError:
    """Return the error for a name that is none of those known."""
    names = [str(name) for name in known]
    return ParameterError(
        f"the {what} is '{given}'; it must be one of: {', '.join(names)}.{suggestion(str(given), names)}"
    )
