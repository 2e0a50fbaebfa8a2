"""Schemes: cells and a promise become classes, or counts and a promise a matrix. A new scheme is one more line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from betalike.errors import ParameterError, suggestion
from betalike.promises import (
    Likeness,
    Model,
    make_model,
    name_of,
    name_promise,
    plain_likeness_of,
)
from betalike.promises.distances import interval_distances
from betalike.promises.parameters import LIKENESS, choose, unknown
from betalike.promises.parameters import PROMISES as EVERY_PROMISE
from betalike.runtime.kernel_building import compile_ahead
from betalike.runtime.randomness import Randomness, SystemRandomness, randomness
from betalike.schemes.baseline import Baseline
from betalike.schemes.burel import Burel, Retrieval
from betalike.schemes.mondrian import AttributeRule, Mondrian
from betalike.schemes.perturbation import Mechanism, Perturbation, Perturbing
from betalike.schemes.sabre import Redistribution, Sabre
from betalike.schemes.seam import Seam
from betalike.schemes.whole import Whole
from betalike.table.kernels import class_boxes, shuffle_segments

KERNELS = (class_boxes, shuffle_segments, interval_distances)  # for classes of any scheme, after they are formed
Generalizing = Seam | Whole | Burel | Mondrian | Sabre
Scheme = Generalizing | Perturbation | Baseline
# These form classes and generalize; the others publish quasi-identifiers exactly.
GENERALIZING: dict[str, Callable[..., Generalizing]] = {
    "seam": Seam,
    "whole": Whole,
    "burel": lambda **options: Burel(split=False, **options),
    "burel+split": lambda **options: Burel(split=True, **options),
    "lmondrian": lambda **options: Mondrian("lmondrian", **options),
    "dmondrian": lambda **options: Mondrian("dmondrian", **options),
    "tmondrian": lambda **options: Mondrian("tmondrian", **options),
    "mondrian": lambda **options: Mondrian("mondrian", **options),
    "sabre": Sabre,
}
SCHEMES: dict[str, Callable[..., Scheme]] = {**GENERALIZING, "perturb": Perturbation, "baseline": Baseline}
_CUTS = ["attribute", "second_try"]
OPTIONS: dict[str, list[str]] = {
    "seam": ["effort"],
    "whole": ["effort", "strict"],
    "burel": ["retrieval"],
    "burel+split": ["retrieval"],
    "lmondrian": _CUTS,
    "dmondrian": _CUTS,
    "tmondrian": _CUTS,
    "mondrian": _CUTS,
    "sabre": ["redistribution"],
    "perturb": ["mechanism"],
}
# Options that are one of several choices, given as text.
CHOICES: dict[str, type[Retrieval] | type[AttributeRule] | type[Redistribution] | type[Mechanism]] = {
    "retrieval": Retrieval,
    "attribute": AttributeRule,
    "redistribution": Redistribution,
    "mechanism": Mechanism,
}
# The promises that each scheme can keep; the first is its default.
PROMISES: dict[str, tuple[str, ...]] = {
    "dmondrian": ("delta-disclosure",),
    "tmondrian": ("t-closeness",),
    "mondrian": EVERY_PROMISE,
    "sabre": ("t-closeness",),
}
DEFAULT_SCHEME = "whole"

__all__ = [
    "DEFAULT_SCHEME",
    "GENERALIZING",
    "OPTIONS",
    "PROMISES",
    "SCHEMES",
    "AttributeRule",
    "Baseline",
    "Burel",
    "Mechanism",
    "Mondrian",
    "Perturbation",
    "Perturbing",
    "Redistribution",
    "Retrieval",
    "Sabre",
    "Scheme",
    "Seam",
    "Whole",
    "choose_promise",
    "choose_scheme",
    "compile_kernels",
    "make_generalizing",
    "make_promise",
    "make_scheme",
    "promises_of",
]


def promises_of(scheme: str) -> tuple[str, ...]:
    """Return the names of the promises that a scheme can keep."""
    return PROMISES.get(scheme, LIKENESS)


def choose_promise(scheme: str, promise: str | None) -> str:
    """Return the name of the promise that a scheme keeps; refuse one that it cannot keep."""
    promises = promises_of(scheme)
    if promise is None:
        return promises[0]
    if promise not in EVERY_PROMISE:
        raise unknown("promise", promise, EVERY_PROMISE)
    if promise not in promises:
        raise ParameterError(
            f"the scheme '{scheme}' keeps the promise {' or '.join(promises)}, not {promise}. Take the scheme "
            "'mondrian', which keeps every promise."
        )
    return promise


def make_promise(
    scheme: str | None, promise: str | Model | None, k: int, parameters: Mapping[str, Any]
) -> Model | None:
    """Return the promise that arguments ask for, which the scheme can keep. Parameters that are None were not given.

    Without a scheme, the parameters say which promise is meant; None if there are none.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(promise, Model):
        _refuse_with_promise(promise, [*given, *({} if k == 1 else {"k"})])
        name, made = name_of(promise), promise
    else:
        if promise is not None and not isinstance(promise, str):
            raise ParameterError(
                f"promise is {_kind(promise)}; it must be the name of a promise, or one such as "
                "Likeness(beta=4) or Closeness(t=0.2)."
            )
        if "cap" in given and promise is not None:
            raise ParameterError(
                f"cap is given and the promise '{promise}'; choose one: a cap is a promise of its own."
            )
        wanted = LIKENESS[0] if "cap" in given else promise
        chosen = name_promise(wanted, k, given) if scheme is None else choose_promise(scheme, wanted)
        if chosen is None:
            return None
        name, made = chosen, make_model(chosen, k, given)
    if scheme is not None:
        choose_promise(scheme, name)
    if scheme in ("burel", "burel+split") and isinstance(made, Likeness):
        plain_likeness_of(made, scheme)
    return made


def _kind(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else f"of the type {type(given).__name__}"


def _refuse_with_promise(promise: Model, given: list[str]) -> None:
    if given:
        name = type(promise).__name__
        raise ParameterError(
            f"promise is a {name}, and {' and '.join(given)} {'is' if len(given) == 1 else 'are'} given as well. "
            f"Give every number to the promise itself: {name}(...)."
        )


def choose_scheme(scheme: str | Scheme, seed: int | None, options: Mapping[str, Any]) -> Scheme:
    """Return the scheme that arguments ask for: by its name and options, or itself."""
    if isinstance(scheme, str):
        return make_scheme(scheme, randomness(seed), **options)
    name = type(scheme).__name__
    if not isinstance(scheme, Scheme):
        raise ParameterError(
            f"scheme is {_kind(scheme)}; it must be the name of a scheme, or one such as Seam(effort=4)."
        )
    if options:
        raise ParameterError(f"scheme is a {name}, and options are given as well. Give them to it: {name}(...).")
    if seed is None:
        return scheme
    if not isinstance(scheme.randomness, SystemRandomness):
        raise ParameterError(f"scheme is a {name} with its own randomness, and a seed is given as well. Give one.")
    return replace(scheme, randomness=randomness(seed))


def make_scheme(name: str, randomness: Randomness, **options: Any) -> Scheme:
    """Return the scheme of this name; refuse options that it does not have."""
    if name not in SCHEMES:
        raise ParameterError(
            f"there is no scheme '{name}'. There are: {', '.join(SCHEMES)}.{suggestion(name, SCHEMES)}"
        )
    for option in options:
        if option not in OPTIONS.get(name, []):
            known = ", ".join(OPTIONS.get(name, [])) or "none"
            raise ParameterError(f"the scheme '{name}' has no option '{option}'; it has: {known}.")
    for option, choices in CHOICES.items():
        if options.get(option) is not None:
            options[option] = choose(choices, options[option], option)
    return SCHEMES[name](randomness=randomness, **options)


def compile_kernels(scheme: Scheme) -> None:
    """Have the kernels that a release takes compiled by processes beside this one, where they are not stored."""
    if kernels := getattr(scheme, "kernels", ()):
        compile_ahead((*kernels, *KERNELS))


def make_generalizing(name: str, randomness: Randomness, **options: Any) -> Generalizing:
    """Return a scheme that forms classes, where it can be no other."""
    scheme = make_scheme(name, randomness, **options)
    assert not isinstance(scheme, Perturbation | Baseline)
    return scheme
