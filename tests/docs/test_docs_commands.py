"""The pages on the command line and the specification name every command, option, key and choice, and no other."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args, get_origin

import msgspec
import pytest
import typer
from pages import DOCS, in_code, section, table_rows

import betalike
from betalike.attacks.catalogue import ATTACKS
from betalike.cli.app import app
from betalike.cli.arguments import OPTIONS
from betalike.comparison.compare import Equal
from betalike.engines.choice import EngineName
from betalike.io.specification import ColumnSpec, Specification
from betalike.promises.distances import Ground
from betalike.schemes import DEFAULT_SCHEME, SCHEMES, promises_of
from betalike.schemes.mondrian import AttributeRule
from betalike.schemes.perturbation import Mechanism
from betalike.schemes.retrieval import Retrieval
from betalike.schemes.sabre import Redistribution
from betalike.table.schema import Kind

COMMAND_LINE = DOCS / "reference" / "command-line.md"
SPECIFICATION = DOCS / "reference" / "specification.md"
GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = GROUP.commands
FUNCTIONS = {"report": "make_report"}  # where a function has another name than its command
PYTHON_NAMES = {"qi": "quasi_identifiers"}  # where the command line has another name than the function
NUMBERS = {9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen"}
MODELS = {model for scheme in SCHEMES for model in promises_of(scheme)}
FORMATS = {"csv", "parquet", "xlsx", "sav", "dta"}
each_command = pytest.mark.parametrize("command", COMMANDS)


def words_for(parameter: Any) -> set[str]:
    """How a parameter is written in the reference: its options, or its name in capitals."""
    return set(parameter.opts) if is_option(parameter) else {parameter.name.upper()}


def is_option(parameter: Any) -> bool:
    return bool(parameter.opts[0].startswith("-"))


def documented(text: str) -> dict[str, list[str]]:
    """Each name in the first column of the tables of a text, with the other cells of its row."""
    return {name: row[1:] for row in table_rows(text) for name in in_code(row[0])}


def test_the_first_sentence_counts_and_links_all_commands() -> None:
    first = section(COMMAND_LINE, "Command line").strip().split(".")[0]
    counted, links = first.split(" commands: ")
    assert counted.lower() == NUMBERS[len(COMMANDS)]
    assert re.findall(r"\[(\w+)\]\(#(\w+)\)", links) == [(name, name) for name in COMMANDS]


def test_every_command_has_a_section_and_no_other_is_there() -> None:
    headings = re.findall(r"^## (.+)$", COMMAND_LINE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings == list(COMMANDS)


@each_command
def test_the_usage_of_a_command_shows_its_arguments(command: str) -> None:
    usage = re.findall(r"^    (betalike .*)$", section(COMMAND_LINE, command), flags=re.MULTILINE)
    arguments = [p.name.upper() for p in COMMANDS[command].params if not is_option(p)]
    expected = ["new", "FILE"] if command == "keys" else arguments  # `new` is the one action there is
    assert usage[0].split()[: 2 + len(expected)] == ["betalike", command, *expected]
    existing = {word for p in COMMANDS[command].params for word in words_for(p)}
    assert set(re.findall(r"--[a-z-]+", " ".join(usage))) <= existing


@each_command
def test_every_option_of_a_command_is_documented_and_no_other(command: str) -> None:
    existing = {word for parameter in COMMANDS[command].params for word in words_for(parameter)}
    assert set(documented(section(COMMAND_LINE, command))) == existing


def test_the_options_of_the_program_itself_are_documented() -> None:
    existing = {word for parameter in GROUP.params for word in words_for(parameter)}
    assert set(documented(section(COMMAND_LINE, "Command line"))) == existing | {"-h", "--help"}


def default_of(command: str, parameter: Any) -> str | None:
    """What the reference must show as an option's default; None where its words are free."""
    if parameter.required:
        return "required"
    if not is_option(parameter):
        return None
    if parameter.is_flag:
        return "off"
    if parameter.default is not None:
        return f"`{parameter.default}`"
    name = FUNCTIONS.get(command, command)
    function = getattr(betalike, name) if name in betalike.__all__ else betalike.publish
    known = inspect.signature(function).parameters.get(PYTHON_NAMES.get(parameter.name, parameter.name))
    is_fixed = known is not None and isinstance(known.default, str | int) and not isinstance(known.default, bool)
    return f"`{known.default}`" if known is not None and is_fixed else None


@each_command
def test_every_default_is_the_programs(command: str) -> None:
    rows = documented(section(COMMAND_LINE, command))
    for parameter in COMMANDS[command].params:
        default = default_of(command, parameter)
        written = rows[parameter.opts[-1] if is_option(parameter) else parameter.name.upper()]
        assert all(cell for cell in written), f"{parameter.name} has an empty cell"
        assert default is None or written[0] == default, parameter.name


CHOICES: list[tuple[str, str, Iterable[str]]] = [
    ("publish", "--scheme", SCHEMES),
    ("publish", "--promise", MODELS),
    ("publish", "--ground", Ground),
    ("publish", "--engine", EngineName),
    ("publish", "--format", FORMATS),
    ("publish", "--retrieval", Retrieval),
    ("publish", "--attribute", AttributeRule),
    ("publish", "--redistribution", Redistribution),
    ("publish", "--mechanism", Mechanism),
    ("audit", "--ground", Ground),
    ("compare", "--match", Equal),
    ("attack", "--attacks", ATTACKS),
]


@pytest.mark.parametrize(("command", "option", "choices"), CHOICES, ids=[f"{c} {o}" for c, o, _ in CHOICES])
def test_every_choice_is_named_in_the_reference_and_in_the_help(
    command: str, option: str, choices: Iterable[str]
) -> None:
    meaning = documented(section(COMMAND_LINE, command))[option][1]
    parameter = next(parameter for parameter in COMMANDS[command].params if option in parameter.opts)
    for choice in map(str, choices):
        assert f"`{choice}`" in meaning
        assert re.search(rf"(?<![\w-]){re.escape(choice)}(?![\w+-])", parameter.help), f"--help lacks {choice}"


def keys_of(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, msgspec.structs.FieldInfo]]:
    """The dotted names of all keys; `<name>` stands for the name of a column."""
    for field in msgspec.structs.fields(struct):
        name = f"{prefix}{field.encode_name}"
        inner = next((part for part in (field.type, *get_args(field.type)) if _is_struct(part)), None)
        if inner is None:
            yield name, field
        else:
            yield from keys_of(inner, f"{name}.<name>." if get_origin(field.type) is dict else f"{name}.")


def _is_struct(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, msgspec.Struct)


def test_every_key_of_a_specification_is_documented_with_its_default_and_no_other() -> None:
    rows = documented(SPECIFICATION.read_text(encoding="utf-8"))
    existing = dict(keys_of(Specification))
    assert list(rows) == list(existing)
    for name, field in existing.items():
        default = DEFAULT_SCHEME if name == "release.scheme" else field.default
        if isinstance(default, str | int | float):
            written = str(default).lower() if isinstance(default, bool) else default  # as TOML writes it
            assert rows[name][0] == f"`{written}`", name


ROLES = get_args(next(field.type for field in msgspec.structs.fields(ColumnSpec) if field.name == "role"))


@pytest.mark.parametrize(
    ("key", "choices"),
    [
        ("promise.name", MODELS),
        ("promise.ground", Ground),
        ("release.scheme", SCHEMES),
        ("release.format", FORMATS),
        ("columns.<name>.role", ROLES),
        ("columns.<name>.type", Kind),
    ],
)
def test_every_choice_of_a_key_is_named(key: str, choices: Iterable[str]) -> None:
    meaning = documented(SPECIFICATION.read_text(encoding="utf-8"))[key][1]
    assert {f"`{choice}`" for choice in choices} <= set(re.findall("`[^`]+`", meaning))


def test_every_option_of_a_scheme_is_a_key_and_an_option_on_the_command_line() -> None:
    meaning = documented(SPECIFICATION.read_text(encoding="utf-8"))["release.options"][1]
    assert set(re.findall(r"`(\w+) = ", meaning)) == set(OPTIONS)
    flags = {word for parameter in COMMANDS["publish"].params for word in words_for(parameter)}
    for option in OPTIONS:
        name = option.replace("_", "-")
        assert {f"--{name}", f"--no-{name}"} & flags
