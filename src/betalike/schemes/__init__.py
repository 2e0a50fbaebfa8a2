"""Schemes: cells and a model become classes. A new scheme is one more line in SCHEMES."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from betalike.errors import ParameterError, suggestion
from betalike.randomness import Randomness
from betalike.schemes.burel import Burel, Retrieval

SCHEMES: dict[str, Callable[..., Burel]] = {
    "burel": lambda **options: Burel(split=False, **options),
    "burel+split": lambda **options: Burel(split=True, **options),
}
DEFAULT_SCHEME = "burel+split"

__all__ = ["DEFAULT_SCHEME", "SCHEMES", "Burel", "Retrieval", "make_scheme"]


def make_scheme(name: str, randomness: Randomness, retrieval: str = "hilbert", **unknown: Any) -> Burel:
    """The scheme of this name; options that it does not have are an error."""
    if name not in SCHEMES:
        raise ParameterError(
            f"there is no scheme '{name}'. There are: {', '.join(SCHEMES)}.{suggestion(name, SCHEMES)}"
        )
    if unknown:
        raise ParameterError(f"the scheme '{name}' has no option '{next(iter(unknown))}'; it has: retrieval.")
    if retrieval not in list(Retrieval):
        raise ParameterError(f"retrieval is '{retrieval}'; it must be one of: {', '.join(Retrieval)}.")
    return SCHEMES[name](randomness=randomness, retrieval=Retrieval(retrieval))
