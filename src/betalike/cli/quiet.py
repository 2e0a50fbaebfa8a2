"""The option --quiet, which every command takes that may work for long."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any

from betalike.cli.options import flag

QUIET = "Print no progress; warnings and errors stay."
is_quiet: ContextVar[bool] = ContextVar("is_quiet", default=False)


def takes_quiet(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option --quiet, before --json."""

    @functools.wraps(command)
    def called(quiet: bool, **given: Any) -> None:
        before = is_quiet.set(quiet)
        try:
            command(**given)
        finally:
            is_quiet.reset(before)

    signature = inspect.signature(command, eval_str=True)
    listed = list(signature.parameters.values())
    annotation = Annotated[bool, flag("--quiet", QUIET)]
    option = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
    place = list(signature.parameters).index("json")
    listed.insert(place, option.replace(kind=listed[place].kind))
    called.__signature__ = signature.replace(parameters=listed)  # type: ignore[attr-defined]  # Typer reads it
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in listed}
    return called
