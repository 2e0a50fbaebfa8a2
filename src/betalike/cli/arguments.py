"""Arguments for the functions of betalike, from the options of a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from betalike.errors import ParameterError
from betalike.promises.parameters import PARAMETERS

WORDS = {"table": "TABLE", "quasi_identifiers": "--qi", "sensitive": "--sensitive", "out": "--out"}
OPTIONS = ("retrieval", "effort", "strict", "attribute", "second_try", "redistribution", "mechanism")  # of schemes


ENDS = {
    "round": "number, such as age=5, or birth=month",
    "bottom": "value, such as age=18",
    "top": "value, such as age=90",
}


def split_list(given: list[str] | None) -> list[str]:
    """Return the items of `a,b` and of repeated options, without spaces around them."""
    return [part.strip() for text in given or [] for part in text.split(",") if part.strip()]


def check_given(given: Mapping[str, Any], *needed: str) -> None:
    """Refuse a command without an option that it needs; a specification may give all but the folder."""
    for name in needed:
        is_given = split_list(given[name]) if isinstance(given[name], list) else given[name] is not None
        if not is_given and (given["spec"] is None or name == "out"):
            raise ParameterError(f"{WORDS[name]} is missing. Give it, or name a specification with --spec.")


def arguments_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that options stand for; those that were not given are left out."""
    split: dict[str, Any] = {n: split_list(value) if isinstance(value, list) else value for n, value in given.items()}
    read = {name: _read_parameter(name, value) for name, value in split.items() if name in PARAMETERS}
    if isinstance(split.get("sensitive"), str):  # one column, or several: a,b
        names = split_list([split["sensitive"]])
        read["sensitive"] = names if len(names) > 1 else split["sensitive"]
    if split.get("thresholds") is not None:
        read["thresholds"] = [_parse_number("--thresholds", text) for text in split["thresholds"]]
    options = {name: split.pop(name, None) for name in OPTIONS}
    read["options"] = {name: value for name, value in options.items() if not _is_absent(value)}
    if split.pop("no_second_try", False):
        read["options"]["second_try"] = False
    numeric, categorical = (split.pop(name, None) or [] for name in ("numeric", "categorical"))
    read["kinds"] = _kinds(numeric, categorical)
    read["weights"] = _by_column("weights", split.pop("weights", None), float, "number, such as age=2")
    read["bins"] = _by_column("bins", split.pop("bins", None), int, "whole number, such as salary=50")
    read |= {name: _by_column(name, split.pop(name, None), _some, example) for name, example in ENDS.items()}
    return {name: value for name, value in {**split, **read}.items() if not _is_absent(value)}


def _is_absent(value: Any) -> bool:
    return value is None or value is False or value == {}


def _read_parameter(name: str, value: Any) -> Any:
    """Return the value of a promise's parameter; numbers that may be words, or several, come as text."""
    parameter, option = PARAMETERS[name], f"--{name.replace('_', '-')}"
    if parameter.type is float and isinstance(value, list):
        return [_parse_number(option, text) for text in value]
    is_number = parameter.type == float | str and isinstance(value, str) and value not in parameter.range.words
    return _parse_number(option, value) if is_number else value


def _parse_number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ParameterError(f"{option} has '{text}', which is not a number.") from error


def _kinds(numeric: list[str], categorical: list[str]) -> dict[str, str]:
    for column in numeric:
        if column in categorical:
            raise ParameterError(f"'{column}' is named with --numeric and with --categorical. Choose one.")
    return {**dict.fromkeys(categorical, "categorical"), **dict.fromkeys(numeric, "numeric")}


def _by_column(option: str, given: list[str] | None, read: Callable[[str], Any], wanted: str) -> dict[str, Any]:
    """Return what `age=2,gender=1` says about each column."""
    found = {}
    for text in given or []:
        column, _, value = text.partition("=")
        try:
            found[column.strip()] = read(value.strip())  # an empty text where there is no sign
        except ValueError as error:
            raise ParameterError(f"--{option} has '{text}'; write column={wanted}.") from error
    return found


def _some(text: str) -> str:
    if not text:
        raise ValueError("no text")
    return text
