"""Pages from templates: every text is escaped, every page knows its steps."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from betalike.errors import BetalikeError, FileError
from betalike.runtime.memory_size import in_words
from betalike.web.folders import Folders
from betalike.web.jobs import Jobs, PageJob
from betalike.web.progress import progress_of, sentence
from betalike.web.project import Project, Shelf, StaleError

STEPS = {
    "open": "Open",
    "columns": "Columns",
    "hierarchies": "Hierarchies",
    "promise": "Promise",
    "publish": "Publish",
    "look": "Look",
    "take-away": "Take away",
}
LONGEST_FORM = 1 << 20
MOST_FIELDS = 20_000
LONGEST_NUMBER = 9  # digits
THOUSANDS = re.compile(r"\b[1-9]\d{0,2},\d{3}\b")  # a comma in such a number may also be a decimal point
SHOWN = 40  # characters of a wrong entry that a message repeats
UNPROCESSABLE, CONFLICT = 422, 409


@dataclass(frozen=True)
class Settings:
    """What was chosen when the server was started."""

    folders: Folders
    shelf: Shelf
    jobs: Jobs
    upload_limit: int
    is_read_only: bool = False


@functools.cache
def templates() -> Environment:
    """Return the templates; every text that they show is escaped, and an unknown name is an error."""
    environment = Environment(
        loader=PackageLoader("betalike.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "number": lambda value: f"{value:,}", "bytes": in_words}
    environment.filters["sentence"] = sentence
    environment.globals |= {"steps": STEPS}
    return environment


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share for people.

    >>> percent(0.0123)
    '1.2 %'
    """
    return "" if share is None else f"{100 * share:.{digits}f} %"


def settings_of(request: Request) -> Settings:
    """Return what was chosen at the start."""
    settings: Settings = request.app.state.settings
    return settings


def project_of(request: Request) -> Project:
    """Return the project that an address names."""
    return settings_of(request).shelf.find(request.path_params["project"])


def show(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Return a page."""
    known = {"settings": settings_of(request), "project": None, "record": None, "step": "", "problem": None, **values}
    return HTMLResponse(templates().get_template(template).render(known), status)


def show_step(request: Request, step: str, problem: str | None = None, status: int = 200, **values: Any) -> Response:
    """Return the page of a step of a project."""
    project = project_of(request)
    return show(
        request,
        f"{step}.html",
        UNPROCESSABLE if problem and status == 200 else status,
        **{"project": project, "record": project.record, "step": step, "problem": problem, **values},
    )


def show_job(request: Request, job: PageJob | None, next_page: str) -> dict[str, Any] | None:
    """Return what a page shows of a job; None without one."""
    return None if job is None else {**progress_of(job), "next": next_page}


def go(path: str) -> Response:
    """Lead on to another page."""
    return RedirectResponse(path, status_code=303)


def step_path(project: Project, step: str) -> str:
    """Return the address of a step; a step that there is not is the first."""
    return f"/p/{project.id}/{step if step in STEPS else next(iter(STEPS))}"


class SentForm:
    """The fields of a form that was sent."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def text(self, name: str, default: str = "") -> str:
        """Return a field without spaces around it."""
        return self._fields.get(name, [default])[-1].strip()

    def secret(self, name: str) -> str:
        """Return a field as it is, also with spaces around it."""
        return self._fields.get(name, [""])[-1]

    def texts(self, name: str) -> list[str]:
        """Return every value of a field."""
        return self._fields.get(name, [])

    def listed(self, name: str) -> list[str]:
        """Return the items of a field with commas."""
        return [item.strip() for item in self.text(name).split(",") if item.strip()]

    def number(self, name: str, what: str) -> float | None:
        """Return a field as a number; None if it is empty."""
        text = self.text(name)
        if THOUSANDS.search(text):
            raise FileError(
                f"{what} is '{text[:SHOWN]}'. Write it without a comma if that parts thousands, or else with a point."
            )
        try:
            number = float(text.replace(",", ".")) if text else None
        except ValueError:
            number = math.nan
        if number is not None and not math.isfinite(number):
            raise FileError(f"{what} is '{text[:SHOWN]}', which is not a number. Write one such as 4 or 0.5.")
        return number

    def whole(self, name: str) -> int | None:
        """Return a field that names something by its number; None if it is none."""
        text = self.text(name)
        return int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else None


def posted(handler: Any) -> Any:
    """Let a handler take a form; it runs in a thread, so that the server goes on answering."""

    @functools.wraps(handler)
    async def endpoint(request: Request) -> Response:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > LONGEST_FORM:
                return HTMLResponse("This form is too long.", 413)
        try:
            fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
        except ValueError:
            return HTMLResponse("This form has too many fields.", 413)
        answer: Response = await run_in_threadpool(handler, request, SentForm(fields))
        return answer

    return endpoint


async def show_error(request: Request, error: Exception) -> Response:
    """Return the page for an error that no handler took."""
    status = CONFLICT if isinstance(error, StaleError) else UNPROCESSABLE if isinstance(error, BetalikeError) else 500
    return await run_in_threadpool(show, request, "problem.html", status, problem=str(error))


def release_folder(project: Project, number: int) -> Path:
    """Return the folder of a release."""
    return project.folder / "releases" / str(number)
