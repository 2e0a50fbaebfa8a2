"""The specification of a release, `release.toml`: the table, the promise, and the role of each column."""

from __future__ import annotations

import codecs
import datetime
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import msgspec

from betalike.errors import FileError, ParameterError, SchemaError
from betalike.io.addresses import is_address, move_address
from betalike.io.foreign_tables import DEFAULTS
from betalike.io.hierarchies import hierarchy_files
from betalike.promises.parameters import NUMBERS, PARAMETERS, as_python, choose, takes
from betalike.schemes import DEFAULT_SCHEME, promises_of
from betalike.table.schema import Kind, Role

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
ENDS = ("round", "bottom", "top")
BOTH = ("kinds", "domains")  # what quasi-identifiers and sensitive columns have
LONGEST = 1 << 24  # bytes; a device may have no end
DEEP = re.compile(rb"(?<![\w\"'-])([\w\"'-]+[ \t]*\.[ \t]*){200}")  # a.a.a and so on, which takes long to parse


# The promise to keep: a key for every parameter that a file can give.
PromiseSpec = msgspec.defstruct(
    "PromiseSpec",
    [(parameter.name, parameter.type | None, None) for parameter in PARAMETERS.values() if parameter.is_in_files],
    forbid_unknown_fields=True,
    module=__name__,
    rename={"promise": "name"},
)


class ReleaseSpec(msgspec.Struct, forbid_unknown_fields=True):
    """How to form and write the release."""

    scheme: str | None = None
    format: str | None = None
    keep_identifiers: bool = False
    missing: list[str] = []
    dates: Literal["dmy", "mdy"] | None = None
    options: dict[str, Any] = {}


class ColumnSpec(msgspec.Struct, forbid_unknown_fields=True):
    """One column; without a role it is left out of the release."""

    role: Literal["identifier", "quasi-identifier", "sensitive", "kept", "person", "unused"] = "unused"
    type: str | None = None
    domain: list[Any] | None = None
    hierarchy: str | dict[str, Any] | None = None
    weight: float = 1.0
    round: Any = None
    bottom: Any = None
    top: Any = None
    missing: Literal["error", "value"] = "error"
    bins: int | None = None


class Specification(msgspec.Struct, forbid_unknown_fields=True):
    """The content of a release.toml."""

    table: str | None = None
    sheet: str | None = None
    labels: bool = False
    query: str | None = None
    table_name: str | None = None
    delimiter: str | None = None
    promise: PromiseSpec = msgspec.field(default_factory=PromiseSpec)  # type: ignore[valid-type]  # made above
    release: ReleaseSpec = msgspec.field(default_factory=ReleaseSpec)
    columns: dict[str, ColumnSpec] = {}

    def with_role(self, role: Role) -> list[str]:
        """Return the names of the columns with this role, in the order of the file."""
        return [name for name, column in self.columns.items() if column.role == role]

    def _given(self, key: str) -> dict[str, Any]:
        """Return what the quasi-identifiers have under a key."""
        entries = {name: getattr(self.columns[name], key) for name in self.with_role(Role.QUASI_IDENTIFIER)}
        return {name: value for name, value in entries.items() if value is not None}

    def _person(self) -> str | None:
        named = self.with_role(Role.PERSON)
        if len(named) > 1:
            raise SchemaError(
                f"the specification has {len(named)} columns with the role 'person'; one column names the person."
            )
        return named[0] if named else None

    def arguments(self, folder: Path) -> dict[str, Any]:
        """Return the arguments for `betalike.publish`; paths are relative to the specification's folder."""
        named = {name: column for name, column in self.columns.items() if column.role != "unused"}
        sensitive = self.with_role(Role.SENSITIVE)
        if not sensitive:
            raise SchemaError("the specification has 0 columns with the role 'sensitive'; it needs one, or several.")
        if len({named[name].missing for name in sensitive}) > 1:
            raise SchemaError("the sensitive columns of the specification differ in 'missing'; give all the same.")
        protected = {n: c for n, c in named.items() if c.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)}
        arguments: dict[str, Any] = {
            "quasi_identifiers": self.with_role(Role.QUASI_IDENTIFIER),
            "sensitive": sensitive[0] if len(sensitive) == 1 else sensitive,
            "keep": self.with_role(Role.KEPT),
            "kinds": {name: column.type for name, column in protected.items() if column.type is not None},
            "domains": {name: _pair(name, column.domain) for name, column in protected.items() if column.domain},
            "weights": self._given("weight"),
            "hierarchies": {
                name: folder / tree if isinstance(tree, str) else tree
                for name, column in protected.items()
                if (tree := column.hierarchy) is not None
            },
            **{end: self._given(end) for end in ENDS},
            "missing_sensitive": named[sensitive[0]].missing,
            "format": self.release.format,
            "keep_identifiers": self.release.keep_identifiers,
            "bins": {name: named[name].bins for name in sensitive if named[name].bins is not None},
            "missing": self.release.missing,
            "dates": self.release.dates,
            "options": self.release.options,
            "delimiter": self.delimiter,
        }
        if (person := self._person()) is not None:
            arguments["person"] = person
        if self.table is not None:
            is_file = not is_address(self.table)
            arguments["table"] = (
                folder / self.table if is_file else move_address(self.table, lambda file: folder / file)
            )
            arguments |= {name: getattr(self, name) for name in DEFAULTS}
        promised = msgspec.structs.asdict(self.promise)
        arguments |= {name: value for name, value in promised.items() if value is not None}
        if self.release.scheme is not None:
            arguments["scheme"] = self.release.scheme
        return arguments


def _pair(name: str, domain: list[Any]) -> tuple[Any, Any]:
    if len(domain) != 2:
        raise SchemaError(f"the domain of '{name}' has {len(domain)} entries; it needs two, the least and greatest.")
    low, high = (end.isoformat() if isinstance(end, datetime.date) else end for end in domain)
    if not all(isinstance(end, int | float | str) for end in (low, high)):
        raise SchemaError(f"the domain of '{name}' must be two numbers or two dates.")
    return low, high


def read_specification(path: str | Path) -> Specification:
    """Read a release.toml; errors name the wrong entry."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST + 1)
        if len(content) > LONGEST:
            raise SchemaError(f"{path.name} is not a specification: it is longer than {LONGEST >> 20} MB.")
        if DEEP.search(content):
            raise RecursionError
        return msgspec.toml.decode(content.removeprefix(codecs.BOM_UTF8), type=Specification)
    except FileNotFoundError as error:
        raise FileError(
            f"there is no specification '{path}'. Write a first one with: betalike describe TABLE."
        ) from error
    except OSError as error:
        raise FileError(f"the specification '{path}' cannot be read: {error.strerror}.") from error
    except (RecursionError, OverflowError) as error:
        raise SchemaError(
            f"{path.name} is not a specification: it is nested too deeply, or a number is too large."
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SchemaError(f"{path.name} is not a specification: {error}.") from error
    except ValueError as error:  # a whole number of thousands of digits
        raise SchemaError(f"{path.name} is not a specification: a number is too large.") from error


def with_specification(path: str | Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that a specification and a call give together; where both say something, the call counts."""
    path = Path(path)
    arguments = read_specification(path).arguments(path.parent)
    if given.get("table") is not None:  # another table, which has parts of its own
        arguments = {name: value for name, value in arguments.items() if name not in DEFAULTS}
    merged = {**arguments, **given}
    quasi_identifiers, protected = merged["quasi_identifiers"], merged["sensitive"]
    sensitive = [protected] if isinstance(protected, str) else protected
    for name in ("kinds", "domains", "weights", "bins", *ENDS):  # leave out columns that the call does not name
        named = sensitive if name == "bins" else [*quasi_identifiers, *(sensitive if name in BOTH else [])]
        kept = {column: value for column, value in arguments[name].items() if column in named}
        is_cleared = name == "bins" and given.get(name) == {}
        merged[name] = {} if is_cleared else {**kept, **(given.get(name) or {})}
    merged["hierarchies"] = _combine_hierarchies(arguments["hierarchies"], given.get("hierarchies"), merged["kinds"])
    is_same = merged.get("scheme", DEFAULT_SCHEME) == arguments.get("scheme", DEFAULT_SCHEME)
    merged["options"] = {**(arguments["options"] if is_same else {}), **(given.get("options") or {})}
    if {"scheme", "promise"} & set(given):
        _leave_out_other_promise(merged, given)
    return merged


def _combine_hierarchies(specified: Mapping[str, Any], given: Any, kinds: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the hierarchies of a specification and of a call, whose own count more; `{}` means none at all."""
    if given is None or given == {}:
        return specified if given is None else {}
    if isinstance(given, str | Path):
        files = hierarchy_files(given)  # a folder may have some of columns that are numbers here
        ordered = {column for column, kind in kinds.items() if choose(Kind, kind, f"type of '{column}'").is_ordered}
        given = {column: file for column, file in files.items() if column not in ordered}
    return {**specified, **given}


def warn_about_replaced(
    path: str | Path | None, hierarchies: Any, quasi_identifiers: Sequence[str], sensitive: str | Sequence[str]
) -> list[str]:
    """Return a warning for each of the columns whose hierarchy in the specification is not the one that is used."""
    if path is None or not hierarchies:
        return []
    columns = [*quasi_identifiers, *([sensitive] if isinstance(sensitive, str) else sensitive)]
    specified = read_specification(path).arguments(Path(path).parent)["hierarchies"]
    return [
        f"the hierarchy given for '{column}' replaces the one in the specification"
        for column, tree in specified.items()
        if column in columns and hierarchies.get(column) != tree
    ]


def _leave_out_other_promise(arguments: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Drop what the specification promises but the scheme or the promise of the call does not take."""
    scheme = arguments.get("scheme", DEFAULT_SCHEME)
    promises = promises_of(scheme if isinstance(scheme, str) else scheme.name)
    promise = given.get("promise")
    if promise is None and arguments.get("promise") in promises:
        promise = arguments["promise"]
    elif "promise" not in given:
        arguments.pop("promise", None)
    for name in ("k", *NUMBERS):
        is_taken = takes(promise or promises[0], name, arguments) if isinstance(promise, str | None) else False
        if name not in given and name in arguments and not is_taken:
            del arguments[name]


def takes_specification(
    *own: str,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Let the argument `spec` name a specification; arguments of the call count more.

    The arguments that are a function's `own` are not taken from the specification.
    """

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        signature = inspect.signature(function)
        kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
        further = next((name for name, kind in kinds.items() if kind is inspect.Parameter.VAR_KEYWORD), "")

        @functools.wraps(function)
        def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            given: dict[str, Any] = dict(signature.bind_partial(*args, **kwargs).arguments)
            given |= given.pop(further, {})
            given = {name: as_python(value, name) for name, value in given.items()}
            if given.get("spec") is not None:
                merged = with_specification(given["spec"], given)
                taken = {name: value for name, value in merged.items() if name in given or name not in own}
                given = {name: value for name, value in taken.items() if further or name in signature.parameters}
            for name in ("table", "quasi_identifiers", "sensitive"):
                if given.get(name) is None:
                    raise ParameterError(f"{name} is missing. Give it, or name a specification: spec=...")
            return function(**given)  # type: ignore[call-arg]  # by name, as the signature says

        return called

    return decorate
