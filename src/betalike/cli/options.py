"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
Qi = Annotated[list[str] | None, typer.Option("--qi", help="Quasi-identifiers: columns others may know, a,b,c.")]
Sensitive = Annotated[
    str | None, typer.Option("--sensitive", help="The column to protect; publish takes several too, a,b.")
]
Hierarchies = Annotated[
    Path | None,
    typer.Option("--hierarchies", readable=False, help="Folder with a <column>.csv for each hierarchy (leaf;...;*)."),
]
Missing = Annotated[list[str] | None, typer.Option("--missing", help="Texts that stand for a missing value, NA,?.")]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="Of a CSV file, where it is not recognized.")]
PromiseModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="The promise to check: enhanced (default with beta), basic, delta-disclosure, t-closeness, "
        "distinct-l-diversity, entropy-l-diversity, recursive-l-diversity or k-anonymity.",
    ),
]
Delta = Annotated[float | None, typer.Option("--delta", help="Of delta-disclosure, such as 1.5.")]
Diversity = Annotated[float | None, typer.Option("--l", help="Of l-diversity: the least number of values.")]
Recursion = Annotated[float | None, typer.Option("--c", help="Of recursive l-diversity, such as 2.")]
GroundDistance = Annotated[
    str | None, typer.Option("--ground", help="Distances for t-closeness: equal, ordered or hierarchical.")
]
Scheme = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        help="seam (default), burel, burel+split, lmondrian, dmondrian, tmondrian, mondrian, sabre, perturb, baseline.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a release that is there already.")]
Method = Annotated[
    str | None,
    typer.Option("--method", help="density or uniform; of a perturbed release shrinkage, inversion or prior."),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Repeatable choices, for experiments only.")]
LeastSize = Annotated[int | None, typer.Option("--k", help="Least number of rows in a class (default: 1).")]
Numeric = Annotated[list[str] | None, typer.Option("--numeric", help="Quasi-identifiers to treat as numbers, a,b.")]
Categorical = Annotated[
    list[str] | None, typer.Option("--categorical", help="Quasi-identifiers to treat as categories, a,b.")
]
Weights = Annotated[
    list[str] | None, typer.Option("--weights", help="How much the loss on a column counts, age=2,gender=1.")
]
MissingSensitive = Annotated[
    str | None, typer.Option("--missing-sensitive", help="error (default), or value: publish it as a value.")
]
Spec = Annotated[
    Path | None, typer.Option("--spec", readable=False, help="A release.toml; options given besides it win.")
]
NegativeBeta = Annotated[
    str | None,
    typer.Option("--negative-beta", help="By how much of itself a share may fall, such as 0.5, or symmetric."),
]
Groups = Annotated[
    list[str] | None,
    typer.Option("--groups", help="Nodes of the sensitive column's hierarchy, promised as one value each, a,b."),
]
Width = Annotated[
    float | None, typer.Option("--width", help="Numbers within any interval of this width are promised together.")
]
WithValues = Annotated[
    bool, typer.Option("--with-values", help="With --groups or --width: promise each value by itself too.")
]
Closeness = Annotated[float | None, typer.Option("--t", help="Of t-closeness: the greatest distance, such as 0.2.")]
