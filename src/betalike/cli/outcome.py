"""How a command ends: exit statuses, and errors told without a traceback and without a cell of the table."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from betalike.errors import BetalikeError

NOT_KEPT, BAD_INPUT, OUR_BUG, INTERRUPTED = 1, 2, 3, 130


def run(command: Callable[[], int], as_json: bool) -> NoReturn:
    """Run a command and leave with its exit status: 0 kept, 1 not kept, 2 bad input, 3 our bug."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        status = command()
    except BetalikeError as error:
        status = error.exit_status
        _tell(str(error), type(error).__name__, as_json)
    except KeyboardInterrupt:
        status = INTERRUPTED
        _tell("interrupted; nothing was published.", "Interrupted", as_json)
    except MemoryError:
        status = BAD_INPUT
        _tell("the table does not fit in memory.", "MemoryError", as_json)
    except Exception as error:
        status = OUR_BUG
        _tell(_describe_bug(error), "InternalError", as_json)
    sys.exit(status)


def print_json(document: Any) -> None:
    """One JSON document on standard output; not-a-number and infinity have no place in it."""
    print(json.dumps(document, indent=2, allow_nan=False))


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _tell(message: str, kind: str, as_json: bool) -> None:
    if as_json:
        print_json({"error": {"kind": kind, "message": message}})
    print(f"betalike: {message}", file=sys.stderr)


def _describe_bug(error: Exception) -> str:
    """Where a bug struck; the error's own text may hold a cell of the table and is not shown."""
    if os.environ.get("BETALIKE_DEBUG"):
        traceback.print_exc()
    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if "betalike" in place.filename] or places
    where = f"{os.path.basename(ours[-1].filename)}:{ours[-1].lineno}" if ours else "?"
    return (
        f"a bug in betalike ({type(error).__name__} at {where}); nothing was published. Please report it. "
        "With BETALIKE_DEBUG=1 the whole traceback is shown, which may hold cells of the table."
    )
