"""Options for the parameters of a promise, made from the table that declares them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from betalike.promises.parameters import PARAMETERS, Parameter

TYPES: dict[Any, Any] = {float: float | None, int: int | None, list[str]: list[str] | None, bool: bool}  # else text


def promise_option(name: str) -> Any:
    """Return the option for a parameter."""
    return typer.Option(f"--{name.replace('_', '-')}", help=PARAMETERS[name].help)


def takes_promise(after: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for every parameter of a promise, in place of its `**promise`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        options = [_option(parameter) for parameter in PARAMETERS.values() if parameter.is_in_files]
        listed: list[inspect.Parameter] = []
        for parameter in signature.parameters.values():
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
                listed += [parameter, *(options if parameter.name == after else [])]
        command.__signature__ = signature.replace(parameters=listed)  # type: ignore[attr-defined]  # Typer reads it
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in listed}
        return command

    return decorate


def _option(parameter: Parameter) -> inspect.Parameter:
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=False if parameter.type is bool else None,
        annotation=Annotated[TYPES.get(parameter.type, str | None), promise_option(parameter.name)],
    )
