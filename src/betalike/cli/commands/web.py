"""The command that shows the local page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from betalike.cli.options import flag, option
from betalike.cli.outcome import run


def web(
    port: Annotated[int, option("Port on 127.0.0.1; 0 is a free one.")] = 0,
    folder: Annotated[
        list[Path] | None, typer.Option(readable=False, help="Folder that the page may read; repeat it for more.")
    ] = None,
    projects: Annotated[Path | None, option("Folder for projects (default: the system's folder for data).")] = None,
    upload_limit: Annotated[str, option("Largest upload.")] = "2GB",
    no_browser: Annotated[bool, flag("--no-browser", "Print the address and open no browser.")] = False,
    read_only: Annotated[bool, flag("--read-only", "Show projects and change nothing.")] = False,
) -> None:
    """Show a local page that leads from a table to a verified release, without a terminal."""

    def command() -> int:
        from betalike.runtime.memory_size import parse_size
        from betalike.web.server import serve

        serve(
            port=port,
            folders=folder or [],
            projects=projects,
            upload_limit=parse_size(upload_limit, "--upload-limit"),
            opens_browser=not no_browser,
            is_read_only=read_only,
        )
        return 0

    run(command, as_json=False)
