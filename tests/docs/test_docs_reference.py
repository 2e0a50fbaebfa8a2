"""The reference lists every function, argument, field and error, and nothing that does not exist."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
import numpy as np
import polars as pl
import pytest
import typer
from pages import DOCS, PAGES, in_code, name_of, section, table_rows

import betalike
from betalike import errors
from betalike.attacks import AttackResult
from betalike.cli.app import app
from betalike.comparison.compare import SchemeResult
from betalike.io.description import Description
from betalike.queries.answer import Answer, Estimates
from betalike.queries.workload import WorkloadResult
from betalike.release.certificate import Certificate
from betalike.release.verify_folder import VerifyReport

REFERENCE = DOCS / "reference"
CAMPAIGNS = [
    *(DOCS.parent / "tests" / name / "__main__.py" for name in ("campaign", "fuzzing")),
    DOCS.parent / "experiments" / "interval_coverage.py",
]
COMMAND_LINE, PYTHON = REFERENCE / "command-line.md", REFERENCE / "python.md"
GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = GROUP.commands
PYTHON_NAMES = {"qi": "quasi_identifiers"}  # where the command line has another name than the function


def words_for(parameter: Any) -> set[str]:
    """How a parameter is written in the reference: its options, or its name in capitals."""
    return set(parameter.opts) if parameter.opts[0].startswith("-") else {parameter.name.upper()}


def documented(text: str) -> dict[str, list[str]]:
    """Each name in the first column of the tables of a text, with the row's other cells."""
    return {name: row[1:] for row in table_rows(text) for name in in_code(row[0])}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_option_named_anywhere_exists(page: Path) -> None:
    existing = {word for command in (GROUP, *COMMANDS.values()) for p in command.params for word in words_for(p)}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page.read_text(encoding="utf-8")))
    of_campaigns = {word for path in CAMPAIGNS for word in re.findall(r'"(--[a-z-]+)"', path.read_text())}
    assert named <= existing | {"--help"} | of_campaigns


FUNCTIONS = ["publish", "audit", "verify", "query", "open_release", "workload", "compare", "attack", "describe"]


@pytest.mark.parametrize("function", [getattr(betalike, name) for name in FUNCTIONS])
def test_every_argument_is_told_with_its_default(function: Callable[..., Any]) -> None:
    told = documented(section(PYTHON, function.__name__))
    parameters = inspect.signature(function).parameters
    assert list(told) == list(parameters)
    for name, parameter in parameters.items():
        is_required = parameter.default is inspect.Parameter.empty
        expected = "required" if is_required else "silent" if name == "progress" else f"`{parameter.default!r}`"
        assert told[name][0] == expected, name


def test_what_the_functions_return_is_told() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "disease": ["a", "b", "a", "b"]})
    audited = betalike.audit(frame, quasi_identifiers=["age"], sensitive="disease", original=frame)
    assert list(documented(section(PYTHON, "AuditReport"))) == list(audited.to_dict())
    checked = VerifyReport(None, {}, ())  # type: ignore[arg-type]  # only the keys matter
    assert list(documented(section(PYTHON, "VerifyReport"))) == list(checked.to_dict())
    release = betalike.publish(frame, quasi_identifiers=["age"], sensitive="disease", beta=2)
    public = {name for name in dir(release) if not name.startswith("_")}
    assert {name.partition("(")[0] for name in documented(section(PYTHON, "Release"))} == public
    answer = [field.name for field in dataclasses.fields(Answer)]
    assert list(documented(section(PYTHON, "Answer"))) == answer
    no_floats = np.zeros(0)
    nothing = WorkloadResult(no_floats, Estimates(*[no_floats] * 4), 0, "density", 3, 0.1)
    assert list(documented(section(PYTHON, "WorkloadResult"))) == list(nothing.to_dict())
    compared = [field.name for field in dataclasses.fields(SchemeResult)]
    assert list(documented(section(PYTHON, "Comparison"))) == compared
    attacked = [field.name for field in dataclasses.fields(AttackResult)]
    assert list(documented(section(PYTHON, "AttackReport"))) == attacked
    description = [field.name for field in dataclasses.fields(Description)]
    assert list(documented(section(PYTHON, "Description"))) == [*description, "to_toml()"]


def fields_of(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, msgspec.structs.FieldInfo]]:
    """The dotted names of all fields; `<name>` stands for a key of a mapping."""
    for field in msgspec.structs.fields(struct):
        name = f"{prefix}{field.encode_name}"
        inner = next((part for part in (field.type, *get_args(field.type)) if _is_struct(part)), None)
        if inner is None or inner is not field.type:
            is_mapping_of_structs = inner is not None and get_origin(field.type) is dict
            yield name, field
            name = f"{name}.<name>" if is_mapping_of_structs else name
        if inner is not None:
            yield from fields_of(inner, f"{name}.")


def _is_struct(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, msgspec.Struct)


def test_every_field_of_the_certificate_is_told_and_no_other() -> None:
    told = documented((REFERENCE / "certificate.md").read_text(encoding="utf-8"))
    assert list(told) == [name for name, _ in fields_of(Certificate)]


def test_every_error_is_told_with_its_exit_status_and_no_other() -> None:
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.BetalikeError)]
    told = documented((REFERENCE / "errors.md").read_text(encoding="utf-8"))
    assert {name: cells[0] for name, cells in told.items()} == {c.__name__: str(c.exit_status) for c in classes}
