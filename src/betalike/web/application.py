"""The application: its pages, its two files for the browser, and the guard in front of them."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from betalike.errors import BetalikeError, describe_bug, describe_failure
from betalike.web.guard import Guard, Keys
from betalike.web.pages import Settings, show, show_error
from betalike.web.views import hierarchies, home, promise, release, table

STATIC = Path(__file__).parent / "static"


def make_app(settings: Settings, port: int, keys: Keys) -> Guard:
    """Return the application behind its guard."""
    views = (home, table, hierarchies, promise, release)
    app = Starlette(
        routes=[
            *(route for view in views for route in view.ROUTES),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        exception_handlers={
            BetalikeError: show_error,
            OSError: _show_failure,
            HTTPException: _show_missing,
            Exception: _show_bug,
        },
    )
    app.state.settings = settings
    return Guard(app, port, keys, settings.is_read_only)


def _show_missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return show(request, "problem.html", status, problem="There is no such page.")


def _show_failure(request: Request, error: Exception) -> Response:
    """Show why the system refused to read or write a file: a full disk, or a folder that is gone."""
    assert isinstance(error, OSError)
    return show(request, "problem.html", 500, problem=describe_failure(error))


def _show_bug(request: Request, error: Exception) -> Response:
    """Show where a bug occurred, without its own text, which may contain a cell."""
    return show(request, "problem.html", 500, problem=describe_bug(error))
