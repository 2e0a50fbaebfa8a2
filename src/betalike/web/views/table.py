"""The steps Open and Columns: a preview of the table, and the role and type of each column."""

from __future__ import annotations

import shutil
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from betalike.errors import BetalikeError, FileError, ParameterError
from betalike.io.foreign_tables import DEFAULTS, STATISTICS, WORKBOOK, find_foreign
from betalike.io.specification import ENDS, ColumnSpec, Specification
from betalike.table.schema import DateOrder, Kind, Role
from betalike.web.checks import problem_with_columns
from betalike.web.pages import (
    CONFLICT,
    LONGEST_NUMBER,
    SHOWN,
    SentForm,
    go,
    posted,
    project_of,
    settings_of,
    show_job,
    show_step,
    step_path,
)
from betalike.web.project import Project, SeenTable, StaleError
from betalike.web.uploads import Upload
from betalike.web.views.home import fields_of, received_upload, refuse_upload, remember_password, source_of

ROLES = {
    "quasi-identifier": "others know it",
    "sensitive": "protect",
    "kept": "publish as it is",
    "identifier": "identifies people",
    "person": "says whose row it is",
    "unused": "leave out",
}
TYPES = {
    Kind.INTEGER: "whole numbers",
    Kind.DECIMAL: "decimal numbers",
    Kind.REAL: "numbers",
    Kind.DATE: "dates",
    Kind.DATETIME: "dates with times",
    Kind.MONTH: "months",
    Kind.CATEGORICAL: "categories",
}
DATE_ORDERS = {"": "the dates themselves show it", DateOrder.DMY.value: "the day", DateOrder.MDY.value: "the month"}


def show_open(request: Request, problem: str | None = None) -> Response:
    """Show the first rows of the table, without columns that look like identifiers."""
    project = project_of(request)
    job, facts = settings_of(request).jobs.last(project, "open"), project.facts
    if facts is not None or (job is not None and job.outcome.state == "done"):
        job = None  # what it found is shown, or was deleted since
    is_gone = facts is None and project.record.origin == "upload" and not project.has_table
    if is_gone:
        job = None  # what it says is of a file that was deleted
    shown = set(request.query_params.getlist("show"))
    columns = [] if facts is None else facts.columns
    hidden = [column.name for column in columns if column.is_identifying and column.name not in shown]
    return show_step(
        request,
        "open",
        problem,
        facts=facts,
        source={**DEFAULTS, **project.record.source},
        shown=shown,
        hidden=hidden,
        n_preview=max((len(column.preview) for column in columns), default=0),
        has_password=project.id in settings_of(request).jobs.passwords,
        job=show_job(request, job, step_path(project, "open")),
        is_gone=is_gone,
        has_parts=facts is None and not is_gone and _has_parts(project),
        has_releases=any((project.folder / "releases").glob("*")),
    )


def _has_parts(project: Project) -> bool:
    """Return whether another part of the same file could be read: a sheet of a workbook, or labels of statistics."""
    try:
        found = find_foreign(project.table)
    except BetalikeError:  # no table at all
        return False
    return found is not None and found.family in (WORKBOOK, STATISTICS)


async def upload_again(request: Request) -> Response:
    """Take the table again that was uploaded and deleted, or could not be read."""
    project = project_of(request)
    try:
        async with received_upload(request) as (_, received):
            await run_in_threadpool(_adopt, request, project, received)
    except BetalikeError as error:
        return await refuse_upload(show_open, request, str(error))
    return go(step_path(project, "open"))


def _adopt(request: Request, project: Project, received: Upload) -> None:
    """Read an uploaded table in place of the one that the project had."""
    assert received.path is not None
    jobs, uploads = settings_of(request).jobs, project.folder / "uploads"
    with jobs.lock:
        last = jobs.last(project, "open")
        is_reading = last is not None and last.outcome.state == "running"
        if project.record.origin != "upload" or project.facts is not None or is_reading:
            raise FileError("this project needs no upload. Open another table on the first page.")
        shutil.rmtree(uploads, ignore_errors=True)
        uploads.mkdir(mode=0o700)
        received.path.replace(uploads / received.path.name)
        with project.changed() as record:
            record.table, record.title = f"uploads/{received.path.name}", received.path.name
            record.source = source_of(fields_of(received))
        jobs.start(project, "open")


@posted
def open_again(request: Request, form: SentForm) -> Response:
    """Read the table again, after it failed: perhaps another sheet, or another query."""
    project, settings = project_of(request), settings_of(request)
    remember_password(settings, project.id, form.secret("password"))
    if project.facts is None:
        with project.changed() as record:
            record.source = source_of(form)
        settings.jobs.start(project, "open")
    return go(step_path(project, "open"))


def show_columns(request: Request, problem: str | None = None, status: int = 200) -> Response:
    """Show each column with its role, its type and the reasons for both."""
    project = project_of(request)
    record, facts = project.record, project.facts
    if record.spec is None or facts is None:
        return go(step_path(project, "open"))
    return show_step(
        request,
        "columns",
        problem,
        status,
        spec=record.spec,
        facts=facts,
        counts=project.counts,
        roles=ROLES,
        types={str(kind): words for kind, words in TYPES.items()},
        orders=DATE_ORDERS,
        has_sensitive=bool(record.spec.with_role(Role.SENSITIVE)),
        missing_is_value=_missing_is_value(record.spec),
        hint=problem_with_columns(project),
        unit=_unit(record.spec, facts),
    )


def _unit(spec: Specification, facts: SeenTable) -> str:
    """Return what is singled out: people, unless nothing says whose row it is, or another column than was found."""
    named = spec.with_role(Role.PERSON)
    return "people" if facts.person is not None and named in ([], [facts.person]) else "rows"


@posted
def change_columns(request: Request, form: SentForm) -> Response:
    """Take the roles and types of the form."""
    project = project_of(request)
    names = list(project.spec.columns)
    is_asked = bool(project.spec.with_role(Role.SENSITIVE))  # else the form does not ask what a missing value is
    is_value = bool(form.text("missing_sensitive")) or (not is_asked and _missing_is_value(project.spec))

    def change(spec: Specification) -> Specification:
        for number, name in enumerate(names):
            column = spec.columns[name]
            _change_column(column, form.text(f"role-{number}"), form.text(f"type-{number}"))
            column.bins = _bins(name, column, form.text(f"bins-{number}", "kept"))
        spec.release.missing = form.listed("missing")
        order = form.text("dates", "kept")
        if order in DATE_ORDERS:
            spec.release.dates = order or None  # type: ignore[assignment]  # one of its texts
        for column in spec.columns.values():
            if column.role == "sensitive" or not is_value:  # one that was left out keeps its choice while it stands
                column.missing = "value" if is_value else "error"
        return spec

    try:
        project.edit(form.text("version"), change)
    except StaleError as error:
        return show_columns(request, str(error), CONFLICT)
    except BetalikeError as error:
        return show_columns(request, str(error))
    if form.text("go") == "next" and problem_with_columns(project) is None:
        return go(step_path(project, "hierarchies"))
    return go(step_path(project, "columns"))


def _missing_is_value(spec: Specification) -> bool:
    """Return whether a missing sensitive value counts as one; without a sensitive column, what was chosen last."""
    asked = spec.with_role(Role.SENSITIVE) or spec.columns
    return any(spec.columns[name].missing == "value" for name in asked)


def _change_column(column: Any, role: str, kind: str) -> None:
    if role in ROLES:
        column.role = role
    if kind in TYPES and kind != column.type:
        column.type = kind
        if kind != Kind.CATEGORICAL:
            column.hierarchy = None  # ranges need none
        for end in ENDS if kind == Kind.CATEGORICAL else ():
            setattr(column, end, None)  # and categories have no ends


def _bins(name: str, column: ColumnSpec, text: str) -> int | None:
    """Return how many ranges take the place of the values of a sensitive column of numbers or dates."""
    if column.role != "sensitive" or column.type is None or not Kind(column.type).is_ordered or not text:
        return None
    if text == "kept":  # the form did not show it
        return column.bins
    if not text.isdecimal() or len(text) > LONGEST_NUMBER:
        raise ParameterError(f"bins of '{name}' is '{text[:SHOWN]}'; it must be a whole number, such as 50, or empty.")
    return int(text)


ROUTES = [
    Route("/p/{project}/open", show_open),
    Route("/p/{project}/open", open_again, methods=["POST"]),
    Route("/p/{project}/upload", upload_again, methods=["POST"]),
    Route("/p/{project}/columns", show_columns),
    Route("/p/{project}/columns", change_columns, methods=["POST"]),
]
