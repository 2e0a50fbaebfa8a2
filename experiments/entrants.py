"""The contestants: schemes with their options, under the names that pictures and tables show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from betalike.promises import Model, fit, make_model
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import choose_promise, make_scheme
from betalike.table.cells import Cells
from experiments.settings import SEED

_NARROWEST = {"attribute": "narrowest", "second_try": False}


@dataclass(frozen=True)
class Entrant:
    """A scheme, the parameter of its promise (beta or t), and its options."""

    scheme: str
    takes: str = "beta"
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> Any:
        """Return the scheme; its random choices are the same in every run."""
        return make_scheme(self.scheme, SeededRandomness(SEED), **self.options)

    def promise(self, parameter: float, cells: Cells) -> Model:
        """Return the promise with this parameter, for this table."""
        model = make_model(choose_promise(self.scheme, None), 1, {self.takes: parameter})
        return fit(model, cells.value_counts, cells.sensitive)


ENTRANTS = {
    "seam": Entrant("seam"),
    "whole": Entrant("whole"),
    "whole, strict": Entrant("whole", options={"strict": True}),
    "burel": Entrant("burel"),
    "burel+split": Entrant("burel+split"),
    "lmondrian": Entrant("lmondrian"),
    "lmondrian, narrowest": Entrant("lmondrian", options=_NARROWEST),
    "dmondrian": Entrant("dmondrian"),
    "dmondrian, narrowest": Entrant("dmondrian", options=_NARROWEST),
    "tmondrian": Entrant("tmondrian", "t"),
    "tmondrian, narrowest": Entrant("tmondrian", "t", _NARROWEST),
    "sabre": Entrant("sabre", "t"),
    "sabre, counts": Entrant("sabre", "t", {"redistribution": "counts"}),
    "perturb": Entrant("perturb"),
    "perturb, sets": Entrant("perturb", options={"mechanism": "sets"}),
    "baseline": Entrant("baseline"),
}
BUREL = ("burel", "burel+split")
MONDRIAN = ("lmondrian", "dmondrian")
NARROWEST = ("lmondrian, narrowest", "dmondrian, narrowest")
KEEP_LIKENESS = ("whole", "seam", *BUREL, "lmondrian", "lmondrian, narrowest", "dmondrian", "dmondrian, narrowest")
KEEP_CLOSENESS = ("tmondrian", "tmondrian, narrowest", "sabre", "sabre, counts")
