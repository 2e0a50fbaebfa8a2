"""Falsified figures of kept columns: how many rows they single out, by themselves and with the classes."""

from __future__ import annotations

from typing import Any

import polars as pl
from falsification import Falsification, told
from forger import Forger

WITH_KEPT, WITHOUT = ("labels", "parquet", "perturb", "sets"), ("rounded", "baseline", "closeness", "several")


def made_older(certificate: Any) -> None:
    """Leave the figures out, as version 0.2 did, with the warning that it gave."""
    certificate["tool"]["version"] = "0.2.0"
    certificate["kept"] = None
    certificate["warnings"] = [text.partition("; ")[0] for text in certificate["warnings"]]


def numbered(forger: Forger) -> None:
    """Give each row a note of its own, so that notes single out everybody."""
    forger.rows(lambda frame: frame.with_columns(pl.Series("note", [f"n{row}" for row in range(frame.height)])))


def numbered_and_told(forger: Forger) -> None:
    """Give each row a note of its own, and put the figures right, but not the warning."""
    numbered(forger)
    forger.certify(lambda c: c.update(kept={"singled_out": 150, "singled_out_with_classes": 150}))


FALSE_KEPT: dict[str, Falsification] = {
    "fewer rows singled out with the classes": Falsification(
        told(lambda c: c["kept"].update(singled_out_with_classes=0)), WITH_KEPT
    ),
    "more rows singled out with the classes": Falsification(
        told(lambda c: c["kept"].update(singled_out_with_classes=151)), WITH_KEPT
    ),
    "rows singled out by kept columns alone": Falsification(told(lambda c: c["kept"].update(singled_out=1)), WITH_KEPT),
    "a negative number of rows singled out": Falsification(told(lambda c: c["kept"].update(singled_out=-1)), WITH_KEPT),
    "the figures of kept columns left out": Falsification(told(lambda c: c.pop("kept")), WITH_KEPT),
    "the figures of kept columns left out, and an old version named": Falsification(
        told(lambda c: (c.pop("kept"), c["tool"].update(version="0.2.0"))), WITH_KEPT
    ),
    # what version 0.2 did not say: verify lists it as not checked
    "the figures of kept columns left out, as version 0.2 did": Falsification(
        told(made_older), WITH_KEPT, alone=False, original=False
    ),
    "figures of columns that are not kept": Falsification(
        told(lambda c: c.update(kept={"singled_out": 0, "singled_out_with_classes": 0})), WITHOUT
    ),
    "figures left out of the warning": Falsification(
        told(lambda c: c.update(warnings=[text.partition("; ")[0] for text in c["warnings"]])), WITH_KEPT
    ),
    "kept cells that single out everybody": Falsification(numbered, WITH_KEPT),
    "kept cells that single out everybody, figures put right": Falsification(numbered_and_told, WITH_KEPT),
}
