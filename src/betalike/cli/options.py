"""Options that several commands share; an option without a name has that of its parameter."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def option(help: str) -> Any:
    """Declare an option by what it means."""
    return typer.Option(help=help)


def flag(name: str, help: str) -> Any:
    """Declare an option that is given or not."""
    return typer.Option(name, help=help)


def input_option(help: str) -> Any:
    """Declare an option for a path to read; betalike reports its errors, not Typer."""
    return typer.Option(readable=False, help=help)


def input_argument(help: str) -> Any:
    """Declare an argument for a path to read."""
    return typer.Argument(readable=False, help=help)


Texts = list[str] | None
TABLE = "CSV, Parquet, Arrow IPC, Excel, SPSS, Stata or SAS file, or a database (- is standard input)"
Folder = Annotated[Path, typer.Argument(help="The folder of a release.")]
Json = Annotated[bool, flag("--json", "Print one JSON document on standard output.")]
Qi = Annotated[Texts, typer.Option("--qi", help="Quasi-identifiers: columns that others may know, a,b,c.")]
Sensitive = Annotated[str | None, option("The column to protect; publish takes several too, a,b.")]
Hierarchies = Annotated[Path | None, input_option("Folder with a <column>.csv for each hierarchy (leaf;...;*).")]
Missing = Annotated[Texts, option("Codes that stand for a missing value, NA,-9.")]
Dates = Annotated[str | None, option("dmy or mdy: what comes first in dates such as 03/04/1980, if that is not clear.")]
Delimiter = Annotated[str | None, option("Delimiter of a CSV file, if not recognized.")]
Force = Annotated[bool, flag("--force", "Replace a release that is already in the folder.")]
ForceFile = Annotated[bool, flag("--force", "Replace an existing file.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="File to write (default: standard output).")]
Method = Annotated[str | None, option("density or uniform; for a perturbed release shrinkage, inversion or prior.")]
Seed = Annotated[int | None, option("Repeatable choices, for experiments only.")]
Numeric = Annotated[Texts, option("Quasi-identifiers to treat as numbers, a,b.")]
Categorical = Annotated[Texts, option("Quasi-identifiers to treat as categories, a,b.")]
Person = Annotated[str | None, option("Column that names the person of each row, if one may have several.")]
Round = Annotated[Texts, option("Round the ends of ranges outward: age=5,birth=month.")]
Bottom = Annotated[Texts, option("Publish all values up to here as one: age=18.")]
Top = Annotated[Texts, option("Publish all values from here on as one: age=90.")]
Bins = Annotated[Texts, option("Publish a sensitive column of numbers or dates in ranges: salary=50.")]
Weights = Annotated[Texts, option("How much the loss on a column counts, age=2,gender=1.")]
MissingSensitive = Annotated[str | None, option("error (default), or value: publish it as a value.")]
Spec = Annotated[Path | None, input_option("A release.toml; options on the command line win over it.")]
Sheet = Annotated[str | None, option("Sheet of a workbook, if it has several.")]
Labels = Annotated[bool, flag("--labels", "SPSS, Stata, SAS: take what codes mean in place of the codes.")]
Query = Annotated[str | None, option("Database: the SELECT whose rows are the table.")]
TableName = Annotated[str | None, typer.Option("--table", help="Database: the table, in place of a query.")]
TableNameInFull = Annotated[str | None, option("Database: the table, in place of a query.")]
Population = Annotated[int | None, option("People that the table is a sample of, for journalist risk.")]
Thresholds = Annotated[Texts, option("Risks above which people are counted (default: 0.05,0.09,0.2).")]
Selectivity = Annotated[float, option("Expected share of the rows.")]
