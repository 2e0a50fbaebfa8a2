"""The table of parameters: ranges are those that promises check, and every reader of the table has every parameter."""

from __future__ import annotations

import inspect
import math
from typing import Any

import msgspec
import pytest
import typer

import betalike
from betalike.cli.app import app
from betalike.errors import ParameterError
from betalike.io.specification import Specification
from betalike.promises import Anonymity, Closeness, Disclosure, Diversity, Likeness, make_model
from betalike.promises.parameters import PARAMETERS, PROMISES, check_parameter, needed_by, taken_by, takes

IN_FILES = {name for name, parameter in PARAMETERS.items() if parameter.is_in_files}
COMMANDS: Any = typer.main.get_command(app)
IN_RANGE = {
    "beta": [0.001, 4, 1e9],
    "k": [1, 7, 2**53],
    "t": [1e-9, 1],
    "delta": [0.5],
    "l": [1, 2.5],
    "c": [0.1],
    "negative_beta": [0.01, 0.99, "symmetric"],
    "width": [0.5, 5000],
    "ground": ["equal", "ordered", "hierarchical"],
}
OUT_OF_RANGE = {
    "beta": [0, -1, math.nan, math.inf, True, "4", None],
    "k": [0, -3, 1.5, True, 2**53 + 1, None],
    "t": [0, 1.01, math.nan, "0.2"],
    "delta": [0, -0.5],
    "l": [0, 0.5, -2],
    "c": [0],
    "negative_beta": [0, 1, -0.5, True, "both"],
    "width": [0, math.inf],
    "ground": ["order", 1],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in IN_RANGE.items() for value in values])
def test_what_is_in_range_is_taken(name: str, value: object) -> None:
    check_parameter(name, value)


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in OUT_OF_RANGE.items() for value in values]
)
def test_what_is_out_of_range_is_refused_with_what_is_allowed(name: str, value: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        check_parameter(name, value)
    assert str(refusal.value).startswith(f"{name} is {value!r}; it must be ")
    assert PARAMETERS[name].range.wording in str(refusal.value)


@pytest.mark.parametrize("name", [name for name, parameter in PARAMETERS.items() if parameter.example is not None])
def test_every_example_is_in_range(name: str) -> None:
    check_parameter(name, PARAMETERS[name].example)


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_is_made_with_the_examples_of_what_it_needs(promise: str) -> None:
    numbers = {name: PARAMETERS[name].example for name in needed_by(promise) if name != "k"}
    assert make_model(promise, 5, numbers).k == 5
    for name in set(numbers) - {"k"}:
        with pytest.raises(ParameterError, match=f"{name} is missing"):
            make_model(promise, 5, {**numbers, name: None})


def test_every_parameter_belongs_to_a_promise_that_exists() -> None:
    for name, parameter in PARAMETERS.items():
        assert name == "promise" or {*parameter.needed_by, *parameter.taken_by}
        assert {*parameter.needed_by, *parameter.taken_by} <= set(PROMISES)
    assert takes("delta-disclosure", "beta", {"beta"})
    assert not takes("delta-disclosure", "beta", {"delta"})
    assert not takes("t-closeness", "beta", {})
    assert taken_by("t-closeness") == ("t", "k", "ground")


def test_every_promise_takes_its_numbers_under_the_names_of_the_table() -> None:
    for promise in (Anonymity, Closeness, Disclosure, Diversity, Likeness):
        arguments = set(inspect.signature(promise).parameters)
        assert arguments - {"form", "variety", "columns"} <= set(PARAMETERS)


@pytest.mark.parametrize("command", ["publish", "audit"])
def test_the_command_line_has_an_option_for_every_parameter(command: str) -> None:
    options = {parameter.name: parameter for parameter in COMMANDS.commands[command].params}
    assert set(options) >= IN_FILES
    for name in IN_FILES:
        assert options[name].opts == [f"--{name.replace('_', '-')}"]
        assert options[name].help == PARAMETERS[name].help


def test_a_specification_has_a_key_for_every_parameter() -> None:
    promise = {field.name: field for field in msgspec.structs.fields(Specification)}["promise"].type
    assert {field.name for field in msgspec.structs.fields(promise)} == IN_FILES


@pytest.mark.parametrize("function", [betalike.publish, betalike.audit])
def test_python_has_an_argument_for_every_parameter(function: Any) -> None:
    arguments = inspect.signature(function).parameters
    assert set(arguments) >= set(PARAMETERS)
    assert all(argument.kind is not inspect.Parameter.VAR_KEYWORD for argument in arguments.values())
    with pytest.raises(TypeError, match="unexpected keyword argument 'betta'"):
        function(None, quasi_identifiers=[], sensitive="s", betta=4)
