"""The reference lists every function, argument, field and error, and nothing that does not exist."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import StrEnum
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
from betalike.cli.app import app
from betalike.promises.parameters import PARAMETERS
from betalike.queries.answer import Estimates
from betalike.release.certificate import Certificate
from betalike.runtime.progress import Progress
from betalike.schemes import SCHEMES

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
    assert named <= existing | {"--help"} | of_campaigns | (removed_options() if page.name == "CHANGELOG.md" else set())


def removed_options() -> set[str]:
    """Return the options that the changelog lists as removed; older sections of it may name them."""
    text = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### Removed$(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", "".join(sections)))


FUNCTIONS = [name for name in betalike.__all__ if inspect.isfunction(getattr(betalike, name))]
FROM_A_SPECIFICATION = ("table", "quasi_identifiers", "sensitive")  # required unless a specification has them
NUMBER_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
NUMBER_WORDS += ["twelve", "thirteen", "fourteen", "fifteen"]


def test_every_function_has_a_section_and_their_number_is_right() -> None:
    text = PYTHON.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert {heading for heading in headings if heading.islower()} - {"datasets"} == set(FUNCTIONS)
    assert f"{NUMBER_WORDS[len(FUNCTIONS)].capitalize()} functions: " in text


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_is_listed_with_its_default(name: str) -> None:
    listed = documented(section(PYTHON, name))
    parameters = inspect.signature(getattr(betalike, name)).parameters
    assert list(listed) == list(parameters)
    for argument, parameter in parameters.items():
        is_required = parameter.default is inspect.Parameter.empty or argument in FROM_A_SPECIFICATION
        expected = "required" if is_required else "silent" if argument == "progress" else f"`{parameter.default!r}`"
        assert listed[argument][0] == expected, argument


def test_a_listener_has_every_method_that_is_called() -> None:
    methods = {name: method for name, method in vars(Progress).items() if inspect.isfunction(method) and name[0] != "_"}
    row = documented(section(PYTHON, "publish"))["progress"]
    for name, method in methods.items():
        arguments = ", ".join(list(inspect.signature(method).parameters)[1:])
        assert f"`{name}({arguments})`" in row[1]


def call_of(kind: type) -> str:
    """How an object is made, as the reference writes it."""
    written: list[str] = []
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        default = str(parameter.default) if isinstance(parameter.default, StrEnum) else parameter.default
        shown = "..." if name == "randomness" else repr(default)
        written.append(name if parameter.default is inspect.Parameter.empty else f"{name}={shown}")
    return f"{kind.__name__}({', '.join(written)})"


def test_every_promise_and_every_scheme_is_listed_with_its_arguments() -> None:
    promises = [betalike.Likeness, betalike.Closeness, betalike.Disclosure, betalike.DisclosureForLikeness]
    promises += [betalike.Diversity, betalike.Anonymity]
    listed = [name for name in documented(section(PYTHON, "Promises")) if "(" in name]
    assert listed == [call_of(kind) for kind in promises]
    schemes = [betalike.Whole, betalike.Seam, betalike.Burel, betalike.Mondrian, betalike.Sabre, betalike.Perturbation]
    schemes += [betalike.Baseline]
    rows = documented(section(PYTHON, "Schemes"))
    assert list(rows) == [call_of(kind) for kind in schemes]
    assert {name for row in rows.values() for name in in_code(row[0])} == set(SCHEMES)


def test_every_parameter_of_a_promise_is_listed_with_its_range() -> None:
    rows = {name: row for name, row in documented(section(PYTHON, "Promises")).items() if "(" not in name}
    assert list(rows) == list(PARAMETERS)
    for name, parameter in PARAMETERS.items():
        assert rows[name] == [parameter.range.wording, parameter.help]


RESULTS = [
    "Release",
    "AuditReport",
    "VerifyReport",
    "Comparison",
    "Answer",
    "WorkloadResult",
    "RiskReport",
    "UtilityReport",
    "AttackReport",
    "ReportPage",
    "Exploration",
    "Description",
]


@pytest.mark.parametrize("name", RESULTS)
def test_every_attribute_of_a_result_is_named(name: str) -> None:
    kind = getattr(betalike, name)
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    public = {attribute for attribute in {*dir(kind), *fields} if not attribute.startswith("_")}
    named = {word for code in re.findall(r"`([^`]+)`", section(PYTHON, name)) for word in re.findall(r"\w+", code)}
    assert public - named == set()


def test_what_the_functions_return_is_listed() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "disease": ["a", "b", "a", "b"]})
    audited = betalike.audit(frame, quasi_identifiers=["age"], sensitive="disease", original=frame)
    assert list(documented(section(PYTHON, "AuditReport"))) == list(audited.to_dict())
    checked = betalike.VerifyReport(None, {}, ())
    assert list(documented(section(PYTHON, "VerifyReport"))) == list(checked.to_dict())
    release = betalike.publish(frame, quasi_identifiers=["age"], sensitive="disease", beta=2, seed=1)
    public = {name for name in dir(release) if not name.startswith("_")}
    assert {name.partition("(")[0] for name in documented(section(PYTHON, "Release"))} == public
    assert list(documented(section(PYTHON, "Answer"))) == [f.name for f in dataclasses.fields(betalike.Answer)]
    no_floats = np.zeros(0)
    nothing = betalike.WorkloadResult(no_floats, Estimates(*[no_floats] * 4), 0, "density", 3, 0.1)
    assert list(documented(section(PYTHON, "WorkloadResult"))) == list(nothing.to_dict())
    compared = [field.name for field in dataclasses.fields(betalike.SchemeResult)]
    assert list(documented(section(PYTHON, "Comparison"))) == compared
    attacked = [field.name for field in dataclasses.fields(betalike.AttackResult)]
    assert list(documented(section(PYTHON, "AttackReport"))) == attacked
    description = [field.name for field in dataclasses.fields(betalike.Description)]
    assert list(documented(section(PYTHON, "Description"))) == [*description, "to_dict()", "to_toml()"]


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


def test_each_figure_of_a_report_names_the_tests_that_compute_it_again() -> None:
    rows = table_rows(section(REFERENCE / "reliability.md", "Where each figure of a report is checked"))
    named = {test for *_, tests in rows for test in in_code(tests)}
    assert all(in_code(tests) for *_, tests in rows)
    assert [test for test in sorted(named) if not (DOCS.parent / test).exists()] == []
    pages = {path.relative_to(DOCS.parent).as_posix() for path in DOCS.parent.glob("tests/unit/*/test_*_figures.py")}
    assert len(pages) > 4
    assert pages <= named
