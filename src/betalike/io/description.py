"""A first specification of a table: guessed types and roles, each with its reason, never with a cell."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from betalike.errors import FileError, SchemaError
from betalike.io.column_types import stored_kind
from betalike.io.hierarchies import write_new_file
from betalike.io.sources import shown_name, table_files
from betalike.io.tables import CSV, kind_of, load
from betalike.runtime.display import Row, Shown
from betalike.schemes import DEFAULT_SCHEME
from betalike.table.schema import Kind, Role

IDENTIFIERS = r"(^|_)(id|name|surname|forename|ssn|phone|telephone|e?mail|address|passport|iban|record|uuid|key)($|_)"
SENSITIVES = r"disease|diagnos|illness|condition|symptom|salary|income|wage|earning|religion|orientation|hiv|drug|debt"
QUASI_IDENTIFIERS = (
    r"age|sex|gender|zip|post_?code|birth|dob|educat|marital|race|ethnic|work|country|nation|native|region|city|state|"
    r"occupation|weight|height|date|lat|lon"
)
REASONS = {
    Kind.INTEGER: "whole numbers",
    Kind.DECIMAL: "numbers",
    Kind.REAL: "numbers",
    Kind.DATE: "dates",
    Kind.DATETIME: "dates with times",
    Kind.CATEGORICAL: "text",
}
NUMBER = re.compile(r"\s*[+-]?(\d[\d., ]*|\d*[.,]\d+)([eE][+-]?\d+)?\s*%?\s*")
MOMENT = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?\s*|\s*\d{1,2}:\d{2}(:\d{2})?.*")


@dataclass(frozen=True)
class ColumnGuess:
    """The guessed type and role of a column, with reasons."""

    name: str
    kind: Kind
    kind_reason: str
    role: Role
    role_reason: str
    hierarchy: Path | None = None


@dataclass(frozen=True, repr=False)
class Description(Shown):
    """The guessed types and roles of a table's columns."""

    rows: int
    columns: tuple[ColumnGuess, ...]
    table: Path | None

    def _summary(self) -> Row:
        return {"rows": self.rows, "columns": [column.name for column in self.columns]}

    def _parts(self) -> list[Row]:
        return [{"column": column.name, "type": str(column.kind), "role": str(column.role)} for column in self.columns]

    def to_toml(self, folder: Path = Path()) -> str:
        """Return a release.toml to edit; paths in it are relative to the folder it will be in."""
        lines = [
            f"# A first specification, guessed from {self.rows} rows. Check every role before you publish:",
            "#   identifier         left out of the release",
            "#   quasi-identifier   may be known to others; generalized",
            "#   sensitive          to be protected; published as it is (at least one column)",
            "#   kept               published as it is, unprotected",
            "#   unused             left out",
            "# Then: betalike publish --spec THIS_FILE --out DIR",
            "",
        ]
        if self.table is not None:
            lines += [f"table = {_quoted(_relative(self.table, folder))}", ""]
        lines += [
            "[promise]",
            "beta = 4            # no value becomes more than 1 + beta = 5 times as likely; smaller is safer",
            'model = "enhanced"  # or "basic", which leaves frequent values unprotected',
            "k = 1               # least number of rows in a class",
            "",
            "[release]",
            f'scheme = "{DEFAULT_SCHEME}"',
            'format = "csv"      # or "parquet"',
            'layout = "labels"   # or "bounds": two columns for each range',
            '# missing = ["NA", "?"]   # texts that stand for a missing value',
        ]
        for column in self.columns:
            lines += ["", f"[columns.{_quoted(column.name)}]"]
            lines.append(f'role = "{column.role}"  # {column.role_reason}')
            lines.append(f'type = "{column.kind}"  # {column.kind_reason}')
            if column.hierarchy is not None:
                lines.append(f"hierarchy = {_quoted(_relative(column.hierarchy, folder))}")
            elif column.kind.is_ordered and column.role is Role.QUASI_IDENTIFIER:
                lines.append("# domain = [LEAST, GREATEST]  # default: from the table")
            if column.role is Role.QUASI_IDENTIFIER:
                lines.append("weight = 1")
            if column.role is Role.SENSITIVE:
                lines.append('missing = "error"  # or "value": a missing value counts as a value')
        return "\n".join(lines) + "\n"


def load_described(path: str | Path, delimiter: str | None) -> pl.DataFrame:
    """Read a table to describe it; refuse a CSV file whose column names look like cells, which nobody may see."""
    frame = load(path, delimiter=delimiter)
    if kind_of(table_files(path)[0]) == CSV:
        if delimiter is None and frame.width == 1 and _has_other_delimiter(frame.to_series()):
            raise FileError(
                f"{shown_name(Path(path))} seems to have one column, but all of its lines contain the same character "
                "equally often. If that is the delimiter, name it with --delimiter."
            )
        n_strange = sum(_is_like_a_cell(column, place) for place, column in enumerate(frame))
        if n_strange:
            raise FileError(
                f"{shown_name(Path(path))} seems to have no header line: of the {frame.width} names in its first line, "
                f"{n_strange} {'is' if n_strange == 1 else 'are'} empty, a number, a date, or a value of the column "
                "itself. Add a line with the names of the columns."
            )
    return frame


def _has_other_delimiter(column: pl.Series) -> bool:
    """Return whether some character occurs as often in each of the first cells as in the name."""
    cells = column.head(100).cast(pl.String).drop_nulls()
    found = {sign for sign in column.name if not sign.isalnum() and sign != "_"}
    return len(cells) > 0 and any(
        bool((cells.str.count_matches(sign, literal=True) == column.name.count(sign)).all()) for sign in found
    )


def _is_like_a_cell(column: pl.Series, place: int) -> bool:
    name = column.name
    if not name.strip():
        return place > 0  # the first column may be the index of a data frame, which has no name
    if NUMBER.fullmatch(name) or MOMENT.fullmatch(name):
        return True
    return column.dtype == pl.String and bool((column == name).any())


def describe_frame(frame: pl.DataFrame, table: Path | None, hierarchies: Path | None) -> Description:
    """Guess the type and the role of each column."""
    if frame.height == 0 or frame.width == 0:
        raise SchemaError("the table has no rows; there is nothing to describe.")
    facts = [(column, column.n_unique(), stored_kind(column.dtype)) for column in frame.get_columns()]
    roles = _guess_roles(facts, frame.height)
    guesses = []
    for (column, n_distinct, kind), (role, role_reason) in zip(facts, roles, strict=True):
        path = hierarchies / f"{column.name}.csv" if hierarchies is not None else None
        has_tree = path is not None and path.is_file() and role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        n_missing = column.null_count()
        counted = f"{n_distinct} distinct values" + (f", {n_missing} missing" if n_missing else "")
        guesses.append(
            ColumnGuess(
                column.name,
                Kind.CATEGORICAL if has_tree else kind,
                f"{'it has a hierarchy' if has_tree else REASONS[kind]}; {counted}",
                role,
                role_reason,
                path if has_tree else None,
            )
        )
    return Description(frame.height, tuple(guesses), table)


def write_description(description: Description, path: Path, force: bool) -> None:
    """Write a specification to a file; replace an existing one only with `force`."""
    write_new_file(path, description.to_toml(path.parent), force)


Facts = list[tuple[pl.Series, int, Kind]]


def _guess_roles(facts: Facts, n_rows: int) -> list[tuple[Role, str]]:
    """Guess identifiers by name or uniqueness, and one sensitive column; the others are quasi-identifiers."""
    roles: list[tuple[Role, str] | None] = [_identifier(column, n, kind, n_rows) for column, n, kind in facts]
    open_places = [i for i, role in enumerate(roles) if role is None]
    named = [i for i in open_places if re.search(SENSITIVES, facts[i][0].name.lower())]
    fit = [i for i in open_places if 2 <= facts[i][1] <= max(n_rows // 2, 2)]
    unlike = [i for i in fit if not re.search(QUASI_IDENTIFIERS, facts[i][0].name.lower())]
    if named:
        roles[named[0]] = (Role.SENSITIVE, "its name suggests something private")
    elif unlike or fit:
        roles[(unlike or fit)[-1]] = (Role.SENSITIVE, "a guess: the last suitable column; check it")
    result: list[tuple[Role, str]] = []
    for (column, _, _), role in zip(facts, roles, strict=True):
        is_usual = re.search(QUASI_IDENTIFIERS, column.name.lower())
        reason = "its name suggests something that others know" if is_usual else "others may know it; check it"
        result.append(role or (Role.QUASI_IDENTIFIER, reason))
    return result


def _identifier(column: pl.Series, n_distinct: int, kind: Kind, n_rows: int) -> tuple[Role, str] | None:
    is_named = re.search(IDENTIFIERS, re.sub(r"[\W]+", "_", column.name.lower()))
    if is_named and n_distinct > n_rows / 2:
        return Role.IDENTIFIER, "its name and its many distinct values identify people"
    if kind is Kind.CATEGORICAL and n_rows >= 10 and n_distinct > n_rows / 2:
        return Role.IDENTIFIER, "text that differs in most rows identifies people"
    return None


def _relative(path: Path, folder: Path) -> str:
    return str(path) if path.is_absolute() else Path(os.path.relpath(path, folder)).as_posix()


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(sign if sign.isprintable() else f"\\U{ord(sign):08X}" for sign in escaped) + '"'
