"""Arguments for `betalike.publish` and `betalike.compare`, from a command line and a specification."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from betalike.errors import ParameterError
from betalike.promises.parameters import PARAMETERS

WORDS = {"table": "TABLE", "quasi_identifiers": "--qi", "sensitive": "--sensitive", "out": "--out"}
OPTIONS = ("retrieval", "effort", "strict", "attribute", "second_try", "redistribution")


def split_list(given: list[str] | None) -> list[str]:
    """Return the items of `a,b` and of repeated options, without spaces around them."""
    return [part.strip() for text in given or [] for part in text.split(",") if part.strip()]


def one_or_several(given: str) -> Any:
    """Return a column, or a list if several are named."""
    names = split_list([given])
    return names if len(names) > 1 else given


def publish_arguments(given: Mapping[str, Any], spec: Path | None) -> dict[str, Any]:
    """Return the arguments for `betalike.publish`; options on the command line win over the specification."""
    flags = {
        "spreadsheet_safe": given["spreadsheet_safe"] or None,
        "strict": given["strict"] or None,
        "second_try": False if given["no_second_try"] else None,
    }
    arguments = _arguments({**given, **flags}, spec, tuple(WORDS))
    return arguments | {name: given[name] for name in ("engine", "memory", "master") if given[name] is not None}


def compare_arguments(given: Mapping[str, Any], spec: Path | None) -> dict[str, Any]:
    """Return the arguments for `betalike.compare`."""
    arguments = _arguments(given, spec, ("table", "quasi_identifiers", "sensitive"))
    taken = ("table", "quasi_identifiers", "sensitive", "beta", "model", "k", "t", "hierarchies", "kinds", "domains")
    further = ("weights", "missing", "missing_sensitive", "delimiter", "seed")
    compared = {name: value for name, value in arguments.items() if name in (*taken, *further)}
    if given["beta"]:
        compared["beta"] = [_parse_number("--beta", text) for text in split_list(given["beta"])]
    if given["schemes"]:
        compared["schemes"] = split_list(given["schemes"])
    return compared


def _arguments(given: Mapping[str, Any], spec: Path | None, needed: tuple[str, ...]) -> dict[str, Any]:
    given = {**given, **dict.fromkeys(PARAMETERS), **promise_arguments(given)}
    if given.get("sensitive") is not None:
        given["sensitive"] = one_or_several(given["sensitive"])
    lists = ("quasi_identifiers", "keep", "missing")
    arguments: dict[str, Any] = {name: split_list(given[name]) for name in lists if given.get(name)}
    plain = ("table", "sensitive", "out", "scheme", "hierarchies", "missing_sensitive", "format", "layout", "delimiter")
    for name in (*plain, *PARAMETERS, "spreadsheet_safe", "sign", "force", "seed"):
        if given.get(name) is not None:
            arguments[name] = given[name]
    further = {
        "kinds": _kinds(given),
        "weights": _parse_weights(split_list(given["weights"])),
        "options": {name: given[name] for name in OPTIONS if given.get(name) is not None},
    }
    arguments |= {name: value for name, value in further.items() if value}
    if spec is not None:
        from betalike.io.specification import with_specification

        arguments = with_specification(spec, arguments)
    for name in needed:
        if arguments.get(name) in (None, []):
            raise ParameterError(f"{WORDS[name]} is missing. Give it, or name a specification with --spec.")
    return arguments


def promise_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a promise that were given, with numbers and lists read from their text."""
    found: dict[str, Any] = {}
    for name, parameter in PARAMETERS.items():
        value = given.get(name)
        if parameter.type == list[str]:
            value = split_list(value) or None
        elif isinstance(value, str) and parameter.type == float | str and value not in parameter.range.words:
            value = _parse_number(f"--{name.replace('_', '-')}", value)
        if value is not None and value is not False:
            found[name] = value
    return found


def _parse_number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ParameterError(f"{option} has '{text}', which is not a number.") from error


def _kinds(given: Mapping[str, Any]) -> dict[str, str]:
    kinds = dict.fromkeys(split_list(given["categorical"]), "categorical")
    for column in split_list(given["numeric"]):
        if column in kinds:
            raise ParameterError(f"'{column}' is named with --numeric and with --categorical. Choose one.")
        kinds[column] = "numeric"
    return kinds


def _parse_weights(given: list[str]) -> dict[str, float]:
    weights = {}
    for text in given:
        column, sign, number = text.partition("=")
        try:
            weights[column.strip()] = float(number)
        except ValueError as error:
            raise ParameterError(f"--weights has '{text}'; write column=number, such as age=2.") from error
        if not sign:
            raise ParameterError(f"--weights has '{text}'; write column=number, such as age=2.")
    return weights
