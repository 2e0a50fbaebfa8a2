"""Every error that betalike raises on purpose.

    BetalikeError
    ├── InputError              bad input: nothing was written                    exit status 2
    │   ├── SchemaError         columns, roles, types, domains
    │   ├── HierarchyError      a hierarchy and its file
    │   ├── ParameterError      beta, k, weights, options
    │   ├── FileError           a table that cannot be read, a folder that cannot be written
    │   ├── QueryError          a predicate that cannot be read or answered
    │   └── CertificateError    a certificate that is missing or not by betalike
    ├── InfeasibleError         no release can keep this promise                  exit status 1
    ├── GuaranteeError          the verifier refused; nothing was written         exit status 1
    ├── MissingDependencyError  an optional part is not installed                 exit status 2
    └── InternalError           a bug in betalike                                 exit status 3

Messages name columns and counts, never a cell of the table: a traceback must not expose a person.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import os
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class BetalikeError(Exception):
    """Base of every error that betalike raises on purpose."""

    exit_status = 3


class InputError(BetalikeError):
    """An input cannot be used; the message says which, why, and what to do."""

    exit_status = 2


class SchemaError(InputError):
    """Columns, roles, types or domains do not fit the table."""


class HierarchyError(InputError):
    """A generalization hierarchy is malformed or does not cover the table."""


class ParameterError(InputError):
    """A parameter such as beta or k is out of range."""


class FileError(InputError):
    """A file cannot be read or written."""


class QueryError(InputError):
    """A predicate cannot be read, or a release cannot answer it."""


class CertificateError(InputError):
    """A certificate is missing, unreadable or not by betalike."""


class InfeasibleError(BetalikeError):
    """No release of this table can keep the promise."""

    exit_status = 1


class GuaranteeError(BetalikeError):
    """The verifier refused the release; nothing was published."""

    exit_status = 1


class MissingDependencyError(BetalikeError):
    """An optional dependency is needed and not installed."""

    exit_status = 2


class InternalError(BetalikeError):
    """A bug in betalike."""

    exit_status = 3


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean '...'?" if the name is close to a known one, else an empty text."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""


@contextlib.contextmanager
def extra_needed(extra: str, what: str) -> Iterator[None]:
    """Name the extra to install where a library that `what` needs is missing."""
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(
            f"{what} needs the package '{error.name}': pip install 'betalike[{extra}]'."
        ) from error


def short_traceback(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let the errors of a function show the caller's line and the message, not the way through betalike.

    With the environment variable BETALIKE_DEBUG set, and for a bug of betalike, the whole traceback stays.
    """

    @functools.wraps(function)
    def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        __tracebackhide__ = True  # IPython and pytest leave this frame out
        try:
            return function(*args, **kwargs)
        except BetalikeError as error:
            if os.environ.get("BETALIKE_DEBUG") or isinstance(error, InternalError):
                raise
            raise error.with_traceback(None) from None

    return called


def describe_failure(error: OSError) -> str:
    """Say why the system refused to read or write a file, without the text of the error; no reason means a bug."""
    if error.errno is None:
        return describe_bug(error)
    reason = os.strerror(error.errno)
    return f"a file or folder cannot be read or written: {reason}. Nothing was changed; correct that, then try again."


def describe_bug(error: BaseException) -> str:
    """Say where a bug occurred; the error's own text may contain a cell of the table and is not shown."""
    if os.environ.get("BETALIKE_DEBUG"):
        traceback.print_exception(error)
    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if "betalike" in place.filename] or places
    where = f"{os.path.basename(ours[-1].filename)}:{ours[-1].lineno}" if ours else "?"
    return (
        f"a bug in betalike ({type(error).__name__} at {where}). Please report it. "
        "With BETALIKE_DEBUG=1 the whole traceback is shown, which may contain cells of the table."
    )
