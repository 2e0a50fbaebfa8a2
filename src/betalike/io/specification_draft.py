"""The text of a first specification: every guess with its reason, ready to publish and to edit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from betalike.io.addresses import is_address, move_address
from betalike.schemes import DEFAULT_SCHEME
from betalike.table.schema import Role

if TYPE_CHECKING:
    from betalike.io.description import ColumnGuess

ROLES = (
    "#   identifier         left out of the release",
    "#   quasi-identifier   may be known to others; generalized",
    "#   sensitive          to be protected; published as it is (at least one column)",
    "#   person             whose rows they are; left out, and the promise is kept in people too",
    "#   kept               published as it is, unprotected",
    "#   unused             left out",
)


def draft_specification(
    rows: int,
    columns: Sequence[ColumnGuess],
    table: Path | Mapping[str, Any] | None,
    missing: Sequence[str],
    folder: Path,
) -> str:
    """Return a release.toml to edit; paths in it are relative to the folder it will be in."""
    lines = [
        f"# A first specification, guessed from {rows} rows. Check every role before you publish:",
        *ROLES,
        "# Then: betalike publish --spec THIS_FILE --out DIR",
        "",
    ]
    if table is not None:
        specified = table if isinstance(table, Mapping) else {"table": table}
        lines += [*(f"{name} = {_value(value, folder)}" for name, value in specified.items()), ""]
    lines += [
        "[promise]",
        "beta = 4            # no value becomes more than 1 + beta = 5 times as likely; smaller is safer",
        'name = "enhanced"   # or "basic", which leaves frequent values unprotected',
        "k = 1               # least number of rows in a class",
        "",
        "[release]",
        f'scheme = "{DEFAULT_SCHEME}"',
        'format = "csv"      # or "parquet", "xlsx", "sav", "dta"',
        f"missing = [{', '.join(map(_quoted, missing))}]  # codes that stand for a missing value; check them"
        if missing
        else '# missing = ["NA", "-9"]   # codes that stand for a missing value',
    ]
    for column in columns:
        lines += ["", *_draft_column(column, folder)]
    return "\n".join(lines) + "\n"


def _draft_column(column: ColumnGuess, folder: Path) -> list[str]:
    lines = [
        f"[columns.{_quoted(column.name)}]",
        f'role = "{column.role}"  # {_in_one_line(column.role_reason)}',
        f'type = "{column.kind}"  # {_in_one_line(column.kind_reason)}',
    ]
    if column.hierarchy is not None:
        lines.append(f"hierarchy = {_quoted(_relative(column.hierarchy, folder))}")
    elif column.prefix and column.role is Role.QUASI_IDENTIFIER:
        lines.append(
            f"hierarchy = {{prefix = {list(column.prefix)}}}  # codes with the same first characters are close"
        )
    elif column.kind.is_ordered and column.role is Role.QUASI_IDENTIFIER:
        lines.append("# domain = [LEAST, GREATEST]  # default: from the table")
    if column.role is Role.QUASI_IDENTIFIER:
        lines.append("weight = 1")
    if column.cost is not None and column.role is Role.SENSITIVE:
        lines.append(f"bins = {column.cost.bins}  # {column.cost.wording}")
    if column.role is Role.SENSITIVE:
        other = '"error": refuse missing values' if column.missing else '"value": a missing value counts as a value'
        lines.append(f'missing = "{"value" if column.missing else "error"}"  # or {other}')
    return lines


def _in_one_line(comment: str) -> str:
    """Return a comment that cannot end before its line does, whatever the names in it hold."""
    return "".join(sign if sign.isprintable() else " " for sign in comment)


def _relative(path: Path, folder: Path) -> str:
    return str(path) if path.is_absolute() else Path(os.path.relpath(path, folder)).as_posix()


def _value(value: Any, folder: Path) -> str:
    """Return a value in TOML; a path, also that in an address, as seen from the folder of the specification."""
    if isinstance(value, bool):
        return str(value).lower()
    if is_address(value):
        return _quoted(move_address(value, lambda file: _relative(file, folder)))
    return _quoted(_relative(value, folder) if isinstance(value, Path) else str(value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(sign if sign.isprintable() else f"\\U{ord(sign):08X}" for sign in escaped) + '"'
