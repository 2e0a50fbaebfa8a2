"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def input_option(name: str, help: str) -> Any:
    """Declare an option for a path that betalike reads, and whose errors betalike reports, not Typer."""
    return typer.Option(name, readable=False, help=help)


def input_argument(help: str) -> Any:
    """Declare an argument of the same kind."""
    return typer.Argument(readable=False, help=help)


Folder = Annotated[Path, typer.Argument(help="The folder of a release.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
Qi = Annotated[list[str] | None, typer.Option("--qi", help="Quasi-identifiers: columns that others may know, a,b,c.")]
Sensitive = Annotated[
    str | None, typer.Option("--sensitive", help="The column to protect; publish takes several too, a,b.")
]
Hierarchies = Annotated[
    Path | None, input_option("--hierarchies", "Folder with a <column>.csv for each hierarchy (leaf;...;*).")
]
Missing = Annotated[list[str] | None, typer.Option("--missing", help="Texts that stand for a missing value, NA,?.")]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="Delimiter of a CSV file, if not recognized.")]
Scheme = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        help="seam (default), whole, burel, burel+split, lmondrian, dmondrian, tmondrian, mondrian, sabre, perturb or "
        "baseline.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a release that is already in the folder.")]
Method = Annotated[
    str | None,
    typer.Option("--method", help="density or uniform; for a perturbed release shrinkage, inversion or prior."),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Repeatable choices, for experiments only.")]
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
Spec = Annotated[Path | None, input_option("--spec", "A release.toml; options on the command line win over it.")]
