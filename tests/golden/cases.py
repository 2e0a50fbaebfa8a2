"""The releases of the golden corpus: schemes, promises, kinds of columns, formats and engines, each at least once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import betalike

from .table import hierarchies, make_table

MIXED = ["age", "sex", "job", "born"]
BRIEF = {"options": {"effort": 0}}  # no long search, which other tests are about


@dataclass(frozen=True)
class Case:
    """One release: its name, what `publish` is asked for, and the table, as it is given."""

    name: str
    asked: dict[str, Any] = field(default_factory=dict)
    qi: list[str] = field(default_factory=lambda: list(MIXED))
    table: dict[str, Any] = field(default_factory=dict)  # arguments of `make_table`
    source: str = "frame"  # or the ending of a file

    @property
    def is_on_spark(self) -> bool:
        """Whether it takes Spark, which starts slowly."""
        return self.asked.get("engine") == "spark"

    def publish(self, folder: Path, number: int) -> Path:
        """Publish the table into a folder."""
        trees = hierarchies()
        secret = self.asked.get("sensitive", "diagnosis")
        used = {
            name: trees[name]
            for name in [*self.qi, *([secret] if isinstance(secret, str) else secret)]
            if name in trees
        }
        given = {"sensitive": "diagnosis", "beta": 2, "hierarchies": used, "seed": 1000 + number, **self.asked}
        given = {name: value for name, value in given.items() if value is not None}
        out = folder / self.name
        betalike.publish(self._source(folder), quasi_identifiers=self.qi, out=out, **given)
        return out

    def _source(self, folder: Path) -> Any:
        frame = make_table(**self.table)
        if self.source == "frame":
            return frame
        path = folder / f"{self.name}-source.{self.source}"
        WRITERS[self.source](frame, path)
        return path


WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
}


def case(name: str, *qi: str, table: dict[str, Any] | None = None, source: str = "frame", **asked: Any) -> Case:
    """Describe a release in a line."""
    return Case(name, asked, list(qi) or list(MIXED), table or {}, source)


CASES = [
    # Schemes and their options.
    case("whole"),
    case("whole-brief", **BRIEF),
    case("whole-strict", options={"strict": True}),
    case("seam", scheme="seam"),
    case("seam-effort", scheme="seam", options={"effort": 2}),
    case("burel", scheme="burel"),
    case("burel-hilbert", scheme="burel", options={"retrieval": "hilbert"}),
    case("burel-split", scheme="burel+split"),
    case("lmondrian", scheme="lmondrian", k=3),
    case("lmondrian-narrowest", scheme="lmondrian", options={"attribute": "narrowest", "second_try": False}),
    case("dmondrian", scheme="dmondrian"),
    case("tmondrian", scheme="tmondrian", beta=None, t=0.3),
    case("tmondrian-tree", scheme="tmondrian", beta=None, t=0.3, ground="hierarchical"),
    case("sabre", scheme="sabre", beta=None, t=0.3),
    case("sabre-counts", scheme="sabre", beta=None, t=0.3, options={"redistribution": "counts"}),
    case("mondrian-distinct", scheme="mondrian", promise="distinct-l-diversity", beta=None, l=4),
    case("mondrian-entropy", scheme="mondrian", promise="entropy-l-diversity", beta=None, l=3.5),
    case("mondrian-recursive", scheme="mondrian", promise="recursive-l-diversity", beta=None, l=2, c=2),
    case("mondrian-k", scheme="mondrian", promise="k-anonymity", beta=None, k=5),
    case("perturb-matrix", scheme="perturb", options={"mechanism": "matrix"}),
    case("perturb-sets", "age", "job", scheme="perturb", options={"mechanism": "sets"}, source="csv"),
    case("baseline", "age", "town", scheme="baseline", source="csv"),
    # Promises of likeness.
    case("basic", promise="basic", **BRIEF),
    case("negative", scheme="seam", negative_beta=0.6, beta=3),
    case("groups", groups=["mental", "infections"], with_values=True, beta=3, **BRIEF),
    case("width", sensitive="salary", width=300, beta=3, **BRIEF),
    # Kinds of columns, with and without missing values.
    case("reals", "height", "exact", "huge", scheme="lmondrian", beta=4),
    case("moments", "seen", "born text", **BRIEF),
    case("texts", "town", "zip", "insured", scheme="lmondrian", beta=4),
    case("holes", "age", "height", "born", "sex", "job", table={"holes": 0.03}, **BRIEF),
    case("holes-csv", "age", "zip", "seen", table={"holes": 0.05}, source="csv", scheme="lmondrian", keep=["region"]),
    case("rounded", "age", "born", "height", round={"age": 5, "born": "month", "height": 2.5}, top={"age": 80},
         bottom={"age": 20}, **BRIEF),
    case("domains", "age", "height", domains={"age": (0, 120)}, weights={"age": 2.0}, keep=["region"], **BRIEF),
    # People, several sensitive columns, ranges in place of sensitive numbers.
    case("people", person="person", k=3, beta=4, **BRIEF),
    case("several", sensitive=["diagnosis", "smokes"], beta=4, **BRIEF),
    case("bins", sensitive="salary", bins={"salary": 12}, scheme="seam"),
    # Formats and engines.
    case("parquet", "age", "born", "sex", format="parquet", source="parquet", **BRIEF),
    case("xlsx", "age", "town", format="xlsx", scheme="lmondrian"),
    case("sav", "age", "job", format="sav", scheme="lmondrian"),
    case("dta", "age", "sex", format="dta", scheme="lmondrian"),
    case("spark", "age", "sex", "job", engine="spark", source="csv", **BRIEF),
    case("spark-perturb", "age", "sex", scheme="perturb", engine="spark", source="parquet"),
]  # fmt: skip
