"""Tables that are not CSV, Parquet or Arrow files: workbooks, statistics files, databases and standard input.

Each is copied once, to files that the rest of betalike reads as often as it needs.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ParamSpec, TypedDict, TypeVar

import polars as pl

from betalike.errors import FileError, ParameterError
from betalike.io.addresses import is_address, parse_address
from betalike.io.arrow_files import is_stream, read_stream
from betalike.io.copies import Origin, copied, copied_as_text, origin_of
from betalike.io.databases import read_batches
from betalike.io.excel_files import read_sheet
from betalike.io.needed_columns import NeededColumns, Needs, all_columns
from betalike.io.sources import is_standard_input, open_file, read_beginning, shown, standard_input
from betalike.io.statistics_files import SAS, SPSS, STATA, TRANSPORT, read_statistics

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
WORKBOOK, STATISTICS, DATABASE, STREAM = "workbook", "statistics file", "database", "stream"
ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the first bytes of an .xls file, and of a workbook with a password
OF_SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
OF_TRANSPORT = b"HEADER RECORD*******LIB"
OF_SPSS, OF_STATA = (b"$FL2", b"$FL3"), b"<stata_dta>"
FILES_OF_WORKBOOKS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
OF_SQLITE, OF_DUCKDB = b"SQLite format 3\x00", b"DUCK"  # the latter after eight bytes
VERSIONS_OF_STATA = range(104, 116)  # first byte of an older file


class SourceOptions(TypedDict, total=False):
    """Which part of a workbook, a statistics file or a database the table is."""

    sheet: str | None
    labels: bool
    query: str | None
    table_name: str | None


DEFAULTS: dict[str, Any] = {"sheet": None, "labels": False, "query": None, "table_name": None}
WORDS = {
    "sheet": ("--sheet", WORKBOOK),
    "labels": ("--labels", STATISTICS),
    "query": ("--query", DATABASE),
    "table_name": ("--table", DATABASE),
}


@dataclass(frozen=True)
class ForeignTable:
    """A table that has to be copied: what it is in, and how it is named."""

    given: str
    family: str
    kind: str = ""


def takes_tables(
    *names: str, needs: Needs = all_columns
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Let the named arguments of a function be tables of any kind; it gets the paths of copies of foreign ones.

    A copy has only the columns that the arguments need. The function also takes the options that say which part of such
    a source is the table.
    """

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        full = _with_options(inspect.signature(function))

        @functools.wraps(function)
        def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            given = full.bind(*args, **kwargs)
            options = {name: given.arguments.pop(name, default) for name, default in DEFAULTS.items()}
            tables = {name: given.arguments[name] for name in names if given.arguments.get(name) is not None}
            with contextlib.ExitStack() as stack:
                given.arguments.update(
                    _open_all(
                        tables, options, lambda: needs(_all_arguments(given)), stack, given.arguments.get("memory")
                    )
                )
                return function(*given.args, **given.kwargs)

        called.__signature__ = full  # type: ignore[attr-defined]  # what `help` and editors show
        return called

    return decorate


def _all_arguments(given: inspect.BoundArguments) -> dict[str, Any]:
    defaults = {name: each.default for name, each in given.signature.parameters.items()}
    return {**defaults, **given.arguments}


def _with_options(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature that lists the options of sources, before the other keywords of any name."""
    listed = [given for given in signature.parameters.values() if given.name != "source"]
    kind = inspect.Parameter.KEYWORD_ONLY
    types = inspect.get_annotations(SourceOptions)
    options = [inspect.Parameter(n, kind, default=d, annotation=types[n]) for n, d in DEFAULTS.items()]
    end = len(listed) - (listed[-1].kind is inspect.Parameter.VAR_KEYWORD)
    return signature.replace(parameters=[*listed[:end], *options, *listed[end:]])


def _open_all(
    tables: Mapping[str, Any],
    options: Mapping[str, Any],
    find_needed: Callable[[], NeededColumns | None],
    stack: contextlib.ExitStack,
    memory: str | int | None,
) -> dict[str, Path]:
    """Copy the foreign ones of some tables; refuse options that none of them takes."""
    dashes = [name for name, table in tables.items() if is_standard_input(table)]
    if len(dashes) > 1:
        raise ParameterError(f"standard input (-) is one table, not {' and '.join(dashes)}.")
    foreign = {name: found for name, table in tables.items() if (found := find_foreign(table)) is not None}
    families = {each.family for each in foreign.values()}
    for name, (option, family) in WORDS.items():
        if options[name] not in (None, False) and family not in families:
            raise ParameterError(f"{option} is for a table in a {family}, and none is given. Leave it out.")
    opened = {name: stack.enter_context(standard_input()) for name in dashes}
    streams = {name: path for name, path in opened.items() if is_stream(read_beginning(path, 4))}
    needed = find_needed() if foreign or streams else None
    for name, path in streams.items():
        frame = read_stream(path, "standard input")
        origin = replace(origin_of(path) or Origin("standard input"), columns=frame.columns)
        taken = frame if needed is None else needed.take(frame)
        opened[name] = stack.enter_context(copied([taken], origin))
    for name, each in foreign.items():
        opened[name] = stack.enter_context(open_foreign(each, options, needed, memory))
    return opened


@contextlib.contextmanager
def open_foreign(
    table: ForeignTable,
    options: Mapping[str, Any],
    needed: NeededColumns | None = None,
    memory: str | int | None = None,
) -> Iterator[Path]:
    """Copy a foreign table, or the columns that are needed, and yield the path of the copy."""
    columns: list[str] = []

    def choose(names: Sequence[str]) -> list[str]:
        columns[:] = names
        return list(names) if needed is None else needed.choose(names)

    def take(frame: pl.DataFrame) -> pl.DataFrame:
        if not columns:
            columns[:] = frame.columns
        return frame if needed is None else needed.take(frame)

    used = {name: options[name] for name, (_, family) in WORDS.items() if family == table.family and options[name]}
    if table.family == DATABASE:
        address = parse_address(table.given)
        origin = Origin(shown(address.shown), address.files, {"table": address.shown, **used}, columns=columns)
        batches = read_batches(address, options["query"], options["table_name"], choose)
        with copied(map(take, batches), origin) as folder:
            yield folder
        return
    path = Path(table.given)
    specified = {"table": path, **used}
    if table.family == STREAM:
        origin = Origin(shown(path.name), (path,), specified, columns=columns)
        with copied([take(read_stream(path, shown(path.name)))], origin) as folder:
            yield folder
        return
    if table.family == WORKBOOK:
        origin = Origin(shown(path.name), (path,), specified, delimiter=",", columns=columns)
        with copied_as_text(take(read_sheet(path, options["sheet"], memory)), origin) as folder:
            yield folder
        return
    frame, labels = read_statistics(path, table.kind, options["labels"])
    origin = Origin(shown(path.name), (path,), specified, value_labels=labels, columns=columns)
    with copied([take(frame)], origin) as folder:
        yield folder


def find_foreign(table: Any) -> ForeignTable | None:
    """Return what a table is in, from its address or the first bytes of its file; None for other tables."""
    if not isinstance(table, str | Path) or is_standard_input(table):
        return None
    if is_address(table):
        return ForeignTable(str(table), DATABASE)
    path = Path(table)
    try:
        if not path.is_file():
            return None
    except (OSError, ValueError):  # reading the table reports the error
        return None
    family, kind = recognize(path)
    return ForeignTable(str(table), family, kind) if family else None


def recognize(path: Path) -> tuple[str, str]:
    """Return whether a file is a workbook, a statistics file or a stream, and of which program; else empty texts."""
    magic = read_beginning(path, 32)
    if magic.startswith((ZIP, OLE)):
        if magic.startswith(ZIP) and not _is_workbook(path):
            raise FileError(f"'{shown(path)}' is a ZIP archive, but not a workbook. Unpack it first.")
        return WORKBOOK, ""
    if magic.startswith(OF_SQLITE) or magic[8:12] == OF_DUCKDB:
        scheme = "sqlite" if magic.startswith(OF_SQLITE) else "duckdb"
        raise FileError(f"'{shown(path)}' is a database. Write {scheme}:{shown(path)}, with --table or --query.")
    if is_stream(magic):
        return STREAM, ""
    if magic.startswith(OF_SPSS):
        return STATISTICS, SPSS
    is_older = bool(magic) and magic[0] in VERSIONS_OF_STATA
    if magic.startswith(OF_STATA) or (is_older and magic[1:3] in (b"\x01\x01", b"\x02\x01")):
        return STATISTICS, STATA
    if magic.startswith((OF_SAS, OF_TRANSPORT)):
        return STATISTICS, SAS if magic.startswith(OF_SAS) else TRANSPORT
    return "", ""


def _is_workbook(path: Path) -> bool:
    with open_file(path) as file:
        try:
            names = zipfile.ZipFile(file).namelist()
        except (zipfile.BadZipFile, OSError, ValueError):
            return True  # reading it reports the damage
    return any(name in FILES_OF_WORKBOOKS for name in names)
