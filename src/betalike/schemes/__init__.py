"""Schemes: cells and a model become classes, or counts and a model a matrix. A new scheme is one more line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from betalike.errors import ParameterError, suggestion
from betalike.randomness import Randomness
from betalike.schemes.baseline import Baseline
from betalike.schemes.burel import Burel, Retrieval
from betalike.schemes.perturbation import Perturbation, Perturbing
from betalike.schemes.seam import Seam

Scheme = Burel | Seam | Perturbation | Baseline
# These form classes and generalize; the others publish quasi-identifiers exactly.
GENERALIZING: dict[str, Callable[..., Burel | Seam]] = {
    "seam": Seam,
    "burel": lambda **options: Burel(split=False, **options),
    "burel+split": lambda **options: Burel(split=True, **options),
}
SCHEMES: dict[str, Callable[..., Scheme]] = {**GENERALIZING, "perturb": Perturbation, "baseline": Baseline}
OPTIONS: dict[str, list[str]] = {"seam": ["effort"], "burel": ["retrieval"], "burel+split": ["retrieval"]}
DEFAULT_SCHEME = "seam"

__all__ = [
    "DEFAULT_SCHEME",
    "GENERALIZING",
    "OPTIONS",
    "SCHEMES",
    "Baseline",
    "Burel",
    "Perturbation",
    "Perturbing",
    "Retrieval",
    "Scheme",
    "Seam",
    "make_scheme",
]


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
    retrieval = options.get("retrieval")
    if retrieval is not None:
        if retrieval not in list(Retrieval):
            raise ParameterError(f"retrieval is '{retrieval}'; it must be one of: {', '.join(Retrieval)}.")
        options["retrieval"] = Retrieval(retrieval)
    return SCHEMES[name](randomness=randomness, **options)
