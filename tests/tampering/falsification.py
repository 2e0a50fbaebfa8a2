"""A way to falsify a release: what the forger does, the kinds of releases it is for, and who must notice it.

`alone`: the folder shows it. `original`: a comparison with the original shows it. A signature shows all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forger import EXACT, GENERALIZED, Forger

ALL = (*GENERALIZED, *EXACT)
KEPT = ("labels", "parquet", "perturb")


@dataclass(frozen=True)
class Falsification:
    """What a forger does, and who must notice."""

    forge: Callable[[Forger], object]
    kinds: tuple[str, ...]
    alone: bool | None = True  # None: it depends on how the rows were put into classes
    original: bool | None = True


def told(edit: Callable[[Any], object]) -> Callable[[Forger], object]:
    """Change the certificate alone."""
    return lambda forger: forger.certify(edit)


def column_of(certificate: Any, name: str) -> Any:
    return next(column for column in certificate["table"]["columns"] if column["name"] == name)


def add_to_files(certificate: Any, name: str) -> None:
    certificate["files"][name] = dict(next(iter(certificate["files"].values())))
