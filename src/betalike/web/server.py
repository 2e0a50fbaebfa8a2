"""The server: on this machine alone, with a start address that works once."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from betalike.errors import FileError, MissingDependencyError, ParameterError

if TYPE_CHECKING:
    from betalike.web.pages import Settings

HOST = "127.0.0.1"
UPLOAD_LIMIT = 2 << 30
PATIENCE = 5  # seconds for unfinished requests, such as an upload that does not go on, once the server is to end
WAITING = 512  # connections that may wait


def serve(
    *,
    port: int = 0,
    folders: Sequence[Path] = (),
    projects: Path | None = None,
    upload_limit: int = UPLOAD_LIMIT,
    opens_browser: bool = True,
    is_read_only: bool = False,
) -> None:
    """Show the page until the process is stopped; then end its jobs and delete uploads that are not to be kept."""
    check_installed()
    from betalike.runtime.locks import take
    from betalike.web.folders import Folders
    from betalike.web.guard import Keys
    from betalike.web.jobs import Jobs
    from betalike.web.pages import Settings
    from betalike.web.project import Shelf

    allowed = Folders(list(folders) or [Path.home()])
    settings = Settings(allowed, Shelf(projects or projects_folder()), Jobs(), upload_limit, is_read_only)
    keys, shelf = Keys(), settings.shelf
    with _listening(port) as listener:
        if not is_read_only:
            if take(shelf.folder / ".lock") is None:  # held until this process ends
                raise FileError(
                    f"another `betalike web` uses the projects in '{shelf.folder}'. Stop it with Ctrl+C where it runs, "
                    "or choose another folder with --projects."
                )
            _clean(settings)  # an earlier server may have been killed
        number = listener.getsockname()[1]
        address = f"http://{HOST}:{number}/start?token={keys.token}"
        try:
            _run(settings, listener, number, keys, address, opens_browser)
        finally:
            settings.jobs.stop()
            if not is_read_only:
                _clean(settings)


def _clean(settings: Settings) -> None:
    """Delete what unfinished jobs wrote, and uploads that are not to be kept."""
    for project in settings.shelf.all():
        settings.jobs.sweep(project)
    settings.shelf.close()


def _run(
    settings: object, listener: socket.socket, number: int, keys: object, address: str, opens_browser: bool
) -> None:
    import uvicorn

    from betalike.web.application import make_app

    app = make_app(settings, number, keys)  # type: ignore[arg-type]  # imported late
    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        server_header=False,
        lifespan="off",
        backlog=WAITING,
        timeout_graceful_shutdown=PATIENCE,
    )
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # thousands of lines if connections use up the open files
    print(f"betalike is open at {address}", flush=True)
    print("The address works once, in one browser. Stop with Ctrl+C.", file=sys.stderr, flush=True)
    if opens_browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


@contextlib.contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    if not 0 <= port <= 65535:
        raise ParameterError(f"the port is {port}; it must be a number from 1 to 65535, or 0 for a free one.")
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise FileError(f"port {port} cannot be used: {error.strerror}. Choose another with --port.") from error
        listener.listen(WAITING)  # now, so that the address can be opened as soon as it is printed
        yield listener


def projects_folder() -> Path:
    """Return the folder that projects are kept in, as the system wants it."""
    if base := os.environ.get("XDG_DATA_HOME"):
        return Path(base) / "betalike" / "projects"
    home = Path.home()
    if not home.is_dir():
        raise FileError(f"your home folder '{home}' is not there. Name a folder for projects with --projects.")
    return home / ".local" / "share" / "betalike" / "projects"


def check_installed() -> None:
    """Raise an error if the packages for the page are not installed."""
    try:
        import jinja2  # noqa: F401
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import tomli_w  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            f"the page needs the package '{error.name}', which is not installed: pip install 'betalike[web]'."
        ) from error
