"""Schemes: cells and a model become classes, or counts and a model a matrix. A new scheme is one more line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from betalike.errors import ParameterError, suggestion
from betalike.promises import MODELS, DisclosureForLikeness, Model, MonotoneCap, WiderLikeness, likeness_of
from betalike.runtime.randomness import Randomness
from betalike.schemes.baseline import Baseline
from betalike.schemes.burel import Burel, Retrieval
from betalike.schemes.mondrian import AttributeRule, Mondrian
from betalike.schemes.perturbation import Perturbation, Perturbing
from betalike.schemes.sabre import Redistribution, Sabre
from betalike.schemes.seam import Seam

Generalizing = Burel | Seam | Mondrian | Sabre
Scheme = Generalizing | Perturbation | Baseline
# These form classes and generalize; the others publish quasi-identifiers exactly.
GENERALIZING: dict[str, Callable[..., Generalizing]] = {
    "seam": Seam,
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
    "burel": ["retrieval"],
    "burel+split": ["retrieval"],
    "lmondrian": _CUTS,
    "dmondrian": _CUTS,
    "tmondrian": _CUTS,
    "mondrian": _CUTS,
    "sabre": ["redistribution"],
}
# Choices of options: given as text, made to what a scheme takes.
CHOICES: dict[str, type[Retrieval] | type[AttributeRule] | type[Redistribution]] = {
    "retrieval": Retrieval,
    "attribute": AttributeRule,
    "redistribution": Redistribution,
}
_LIKENESS = ("enhanced", "basic")
# The promises that each scheme can keep, the one that it keeps if none is named first.
PROMISES: dict[str, tuple[str, ...]] = {
    "dmondrian": ("delta-disclosure",),
    "tmondrian": ("t-closeness",),
    "mondrian": MODELS,
    "sabre": ("t-closeness",),
}
DEFAULT_SCHEME = "seam"

__all__ = [
    "DEFAULT_SCHEME",
    "GENERALIZING",
    "OPTIONS",
    "PROMISES",
    "SCHEMES",
    "AttributeRule",
    "Baseline",
    "Burel",
    "Mondrian",
    "Perturbation",
    "Perturbing",
    "Redistribution",
    "Retrieval",
    "Sabre",
    "Scheme",
    "Seam",
    "capping",
    "check_kept",
    "choose_promise",
    "make_generalizing",
    "make_scheme",
    "promises_of",
]


def promises_of(scheme: str) -> tuple[str, ...]:
    """The promises that a scheme can keep."""
    return PROMISES.get(scheme, _LIKENESS)


def choose_promise(scheme: str, model: str | None) -> str:
    """The name of the promise that a scheme is to keep; one that it cannot keep is an error."""
    promises = promises_of(scheme)
    if model is None:
        return promises[0]
    if model not in MODELS:
        raise ParameterError(
            f"the model is '{model}'; it must be one of: {', '.join(MODELS)}.{suggestion(str(model), MODELS)}"
        )
    if model not in promises:
        raise ParameterError(
            f"the scheme '{scheme}' keeps the promise {' or '.join(promises)}, not {model}. Take the scheme "
            "'mondrian', which keeps every promise."
        )
    return model


def capping(scheme: str, model: str | None, cap: Callable[[float], float]) -> MonotoneCap:
    """A cap for a scheme that keeps likeness; with another promise named, or another scheme, it is an error."""
    if model is not None:
        raise ParameterError(f"cap is given and the model '{model}'; choose one, for a cap is a model of its own.")
    choose_promise(scheme, "enhanced")
    return MonotoneCap(cap)


def check_kept(scheme: str, model: Model | DisclosureForLikeness) -> None:
    """Refuse a wider promise that a scheme cannot keep, before anything is read."""
    if scheme in ("burel", "burel+split") and isinstance(model, WiderLikeness):
        likeness_of(model, scheme)


def make_scheme(name: str, randomness: Randomness, **options: Any) -> Scheme:
    """The scheme of this name; options that it does not have are an error."""
    if name not in SCHEMES:
        raise ParameterError(
            f"there is no scheme '{name}'. There are: {', '.join(SCHEMES)}.{suggestion(name, SCHEMES)}"
        )
    for option in options:
        if option not in OPTIONS.get(name, []):
            known = ", ".join(OPTIONS.get(name, [])) or "none"
            raise ParameterError(f"the scheme '{name}' has no option '{option}'; it has: {known}.")
    for option, choices in CHOICES.items():
        given = options.get(option)
        if given is not None:
            if given not in list(choices):
                raise ParameterError(f"{option} is '{given}'; it must be one of: {', '.join(choices)}.")
            options[option] = choices(given)
    return SCHEMES[name](randomness=randomness, **options)


def make_generalizing(name: str, randomness: Randomness, **options: Any) -> Generalizing:
    """A scheme that forms classes, where it can be no other."""
    scheme = make_scheme(name, randomness, **options)
    assert not isinstance(scheme, Perturbation | Baseline)
    return scheme
