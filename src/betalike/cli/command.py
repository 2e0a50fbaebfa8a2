"""Commands as signatures: the options of a command are the arguments of the function of betalike that it calls."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import betalike
from betalike.cli.outcome import NOT_KEPT, announced, print_json, run, shown_progress
from betalike.errors import ParameterError


def calls(name: str, **needs: str) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Let a command call a function of betalike with its options; its body returns what prints the result.

    `needs` has the message for each option that must be given.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(command)
        def called(json: bool, **given: Any) -> None:
            def work() -> int:
                for option, message in needs.items():
                    if not given[option]:
                        raise ParameterError(message)
                result = call(name, given)
                print_result(result, command(**given, json=json), json)
                return NOT_KEPT if getattr(result, "holds", None) is False else 0

            run(work, json)

        return called

    return decorate


def call(name: str, given: dict[str, Any]) -> Any:
    """Return the result of a function of betalike for the options of a command, the first of them its subject."""
    from betalike.cli.arguments import arguments_of

    function, arguments = getattr(betalike, name), arguments_of(given)
    first = next(iter(given))
    subject = [arguments.pop(first)] if first in arguments else []  # a table may be in the specification
    if "progress" not in inspect.signature(function).parameters:
        with announced(f"{name} is at work"):
            return function(*subject, **arguments)
    with shown_progress() as progress:
        return function(*subject, **arguments, progress=progress)


def print_result(result: Any, printer: Callable[..., None], as_json: bool) -> None:
    """Print a result with a printer of `betalike.report`, or as one JSON document."""
    if as_json:
        print_json(result.to_dict())
        return
    from betalike.report.terminal import show

    show(printer, result, is_wide=True)
