"""The first page: projects, and the ways to open a table."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from betalike.errors import BetalikeError, FileError
from betalike.io.addresses import (
    hide_password,
    is_address,
    move_address,
    parse_address,
    password_in,
    unknown_address,
)
from betalike.web.folders import MOST_ENTRIES, Folders
from betalike.web.pages import SentForm, Settings, go, posted, project_of, settings_of, show, step_path
from betalike.web.project import DEMO_TABLE, Origin, start_project
from betalike.web.uploads import Upload


def home(request: Request, problem: str | None = None, form: SentForm | None = None) -> Response:
    """Show the projects and the ways to begin; after a problem, with what was typed into the form that was sent."""
    projects, damaged = [], []
    for project in settings_of(request).shelf.all():
        try:
            projects.append((project, project.record))
        except FileError:
            damaged.append(project)
    found = {"projects": projects, "damaged": damaged, "typed": _typed(form or SentForm({}))}
    return show(request, "home.html", 422 if problem else 200, problem=problem, **found)


def _typed(form: SentForm) -> dict[str, dict[str, str]]:
    """Return what was typed to open a file or a database, never a password; the fields of the other one are empty."""
    shown = {name: form.text(name) for name in ("path", "sheet", "labels", "table_name", "query")}
    shown["path"] = hide_password(shown["path"])
    blank, is_database = dict.fromkeys(shown, ""), bool(form.texts("query"))
    return {"file": blank if is_database else shown, "database": shown if is_database else blank}


def browse(request: Request) -> Response:
    """Show the files of a folder, to choose a table."""
    folders = settings_of(request).folders
    try:
        folder = folders.check(request.query_params.get("folder") or folders.allowed[0])
        if not folder.is_dir():
            raise FileError("this is a file, not a folder. Choose a folder.")
        entries = folders.entries(folder)
    except BetalikeError as error:
        return home(request, str(error))
    shown, more = entries[:MOST_ENTRIES], max(len(entries) - MOST_ENTRIES, 0)
    above = folders.parent(folder)
    return show(request, "browse.html", folder=folder, entries=shown, more=more, above=above, folders=folders)


@posted
def open_demo(request: Request, form: SentForm) -> Response:
    """Begin a project with the built-in table."""
    folder = settings_of(request).shelf.create("demo")
    return _begin(request, folder, "Demo: a synthetic census", "demo", DEMO_TABLE, {})


@posted
def open_path(request: Request, form: SentForm) -> Response:
    """Begin a project with a file of this machine, or with a table or query of a database."""
    settings, text = settings_of(request), form.text("path")
    try:
        if not text:
            raise FileError("no path is given. Write one, or choose a file.")
        source = source_of(form)
        if is_address(text):
            address, password = allowed_address(text, settings.folders)
            folder = settings.shelf.create(source.get("table_name") or "query")
            remember_password(settings, folder.name, form.secret("password") or password)
            return _begin(request, folder, address, "database", address, source)
        if (refusal := unknown_address(text)) is not None:
            raise FileError(refusal)
        path = settings.folders.check(text)
        if not path.is_file():
            raise FileError("this is not a file. Choose a table.")
    except BetalikeError as error:
        return home(request, str(error), form)
    return _begin(request, settings.shelf.create(path.stem), path.name, "path", str(path), source)


def source_of(form: SentForm) -> dict[str, Any]:
    """Return which part of a workbook, a statistics file or a database a form asks for."""
    given = {name: form.text(name) for name in ("sheet", "query", "table_name")}
    return {name: text for name, text in given.items() if text} | ({"labels": True} if form.text("labels") else {})


def allowed_address(text: str, folders: Folders) -> tuple[str, str | None]:
    """Return the address of a database without its password, and that; its file must be in an allowed folder."""
    address = parse_address(text)
    if address.files:
        try:
            return move_address(text, lambda file: folders.check(file)), None
        except FileError as error:
            raise FileError(f"the {address.kind} database '{address.shown}' cannot be opened: {error}") from error
    return address.shown, password_in(text)


def remember_password(settings: Settings, project: str, password: str | None) -> None:
    """Keep the password of a database in memory, for the jobs of a project."""
    if password:
        settings.jobs.passwords[project] = password


@contextlib.asynccontextmanager
async def received_upload(request: Request) -> AsyncIterator[tuple[Path, Upload]]:
    """Take a file that the browser sends, in a folder of its own; what is not moved out of there is deleted."""
    settings, folder = settings_of(request), None
    length = request.headers.get("content-length") or "0"
    if not length.isdecimal():
        raise FileError("the upload has no valid length. Send it again.")
    if int(length) > settings.upload_limit:
        raise FileError(
            f"the file is larger than {settings.upload_limit >> 20:,} MB, the limit for uploads. Open it by its "
            "path instead, or start the page with a larger --upload-limit."
        )
    try:
        folder = await run_in_threadpool(settings.shelf.receive)
        received = Upload(folder / "uploads", settings.upload_limit)
        await received.receive(request.headers.get("content-type", ""), request.stream())
        yield folder, received
    finally:  # also if the browser went away
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


async def open_upload(request: Request) -> Response:
    """Begin a project with a file that the browser sends."""
    try:
        async with received_upload(request) as (arrived, received):
            assert received.path is not None
            name = received.path.name
            folder = await run_in_threadpool(settings_of(request).shelf.create, Path(name).stem, arrived)
    except BetalikeError as error:
        return await refuse_upload(home, request, str(error))
    source = source_of(fields_of(received))
    return await run_in_threadpool(_begin, request, folder, name, "upload", f"uploads/{name}", source)


async def refuse_upload(page: Callable[[Request, str], Response], request: Request, problem: str) -> Response:
    """Return a page that says why an upload is refused, and end the connection: the rest of the upload is not read."""
    answer = await run_in_threadpool(page, request, problem)
    answer.headers["connection"] = "close"
    return answer


def fields_of(received: Upload) -> SentForm:
    """Return the fields that came with an upload."""
    return SentForm({field: [text] for field, text in received.fields.items()})


def _begin(request: Request, folder: Path, title: str, origin: Origin, table: str, source: dict[str, Any]) -> Response:
    project = start_project(folder, title, origin, table, source)
    settings_of(request).jobs.start(project, "open")
    return go(step_path(project, "open"))


@posted
def delete(request: Request, form: SentForm) -> Response:
    """Delete a project with its uploads and releases."""
    settings, project = settings_of(request), project_of(request)
    settings.jobs.stop(project)
    settings.jobs.passwords.pop(project.id, None)  # another project may get the same name
    settings.shelf.delete(project)
    return go("/")


@posted
def keep(request: Request, form: SentForm) -> Response:
    """Keep the uploaded table when the server ends, or do not."""
    project = project_of(request)
    with project.changed(form.text("version")) as record:
        record.is_kept = form.text("kept") == "yes"
    return go(step_path(project, "open"))


@posted
def undo(request: Request, form: SentForm) -> Response:
    """Take back the last change."""
    project = project_of(request)
    project.undo(form.text("version"))
    return go(step_path(project, form.text("step") or "columns"))


ROUTES = [
    Route("/", home),
    Route("/browse", browse),
    Route("/open/demo", open_demo, methods=["POST"]),
    Route("/open/path", open_path, methods=["POST"]),
    Route("/open/upload", open_upload, methods=["POST"]),
    Route("/p/{project}/delete", delete, methods=["POST"]),
    Route("/p/{project}/keep", keep, methods=["POST"]),
    Route("/p/{project}/undo", undo, methods=["POST"]),
]
