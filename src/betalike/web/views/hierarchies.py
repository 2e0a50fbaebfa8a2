"""The step Hierarchies: builders with a preview, uploads, and what covers which values."""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from betalike.engines.recipes import build_from_counts, recipes_in
from betalike.errors import BetalikeError, FileError, HierarchyError
from betalike.io.hierarchies import hierarchy_text, read_hierarchy
from betalike.io.specification import ENDS, ColumnSpec, Specification
from betalike.report.trees import tree_branches
from betalike.table.hierarchy import Hierarchy
from betalike.table.hierarchy_recipes import Auto, DateLevel
from betalike.table.schema import Kind, Role
from betalike.web.checks import check_columns
from betalike.web.pages import (
    CONFLICT,
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
from betalike.web.project import Project, StaleError
from betalike.web.uploads import Upload, plain_name

LARGEST_FILE = 1 << 24
NO_HIERARCHY = "No hierarchy: a class shows its value if all have the same, and else hides it."
BUILDERS = {
    "intervals": "Intervals of numbers",
    "dates": "Parts of dates",
    "prefix": "First characters of codes",
    "frequency": "Rare values together",
    "groups": "Groups that you name",
    "auto": "Values whose rows look alike",
}


def show_hierarchies(
    request: Request,
    problem: str | None = None,
    status: int = 200,
    preview: Mapping[str, Any] | None = None,
    form: SentForm | None = None,
) -> Response:
    """Show each quasi-identifier with what its values become."""
    project, jobs = project_of(request), settings_of(request).jobs
    spec, counts, facts = project.record.spec, project.counts, project.facts
    if spec is None or facts is None:
        return go(step_path(project, "open"))
    known = [*spec.with_role(Role.QUASI_IDENTIFIER), *spec.with_role(Role.SENSITIVE)]
    uncounted = [name for name in known if name not in counts]
    with jobs.lock:
        counting = jobs.last(project, "count")
        is_idle = counting is None or counting.outcome.state == "done"
        if uncounted and is_idle and not settings_of(request).is_read_only:
            counting = jobs.start(project, "count", columns=uncounted)
    building = jobs.last(project, "tree")
    numbers = {name: number for number, name in enumerate(spec.columns)}
    prefixes = {fact.name: fact.prefix for fact in facts.columns}
    return show_step(
        request,
        "hierarchies",
        problem,
        status,
        spec=spec,
        columns=[_column(project, spec, name, numbers[name], counts.get(name), prefixes[name]) for name in known],
        builders=BUILDERS,
        levels=list(DateLevel),
        preview=preview,
        form=form or SentForm({}),
        job=show_job(request, counting if uncounted else _unfinished(building), step_path(project, "hierarchies")),
    )


def _unfinished(job: Any) -> Any:
    return None if job is None or job.outcome.state == "done" else job


def _column(
    project: Project, spec: Specification, name: str, number: int, counts: dict[str, int] | None, prefix: list[int]
) -> dict[str, Any]:
    """Return what the page shows of a column."""
    column = spec.columns[name]
    tree, problem = None, None
    if column.hierarchy is not None:
        try:
            tree = draw(tree_of(project, name, column.hierarchy, counts or {}), counts)
        except BetalikeError as error:
            problem = str(error)
    is_ordered = column.type is not None and Kind(column.type).is_ordered
    return {
        "name": name,
        "number": number,
        "role": column.role,
        "is_ordered": is_ordered,
        "hierarchy": column.hierarchy,
        "tree": tree,
        "problem": problem,
        "words": words_for(column),
        "n_values": None if counts is None else len(counts),
        "suggested": "prefix" if prefix else _suggested(column.type),
        "lengths": ", ".join(map(str, prefix or (3, 1))),
        "is_recipe": not isinstance(column.hierarchy, str),
        "is_rounded": any(getattr(column, end) is not None for end in ENDS),
        **{end: "" if getattr(column, end) is None else getattr(column, end) for end in ENDS},
    }


def words_for(column: ColumnSpec) -> str:
    """Return what becomes of a column's values."""
    if column.hierarchy is None and column.role == "sensitive":
        return f"To protect: {'it is published as ranges' if column.bins else 'its values are published as they are'}."
    words = ""
    if column.role == "sensitive":
        words = "To protect: its values are published as they are; the hierarchy only says which are close. "
    if isinstance(column.hierarchy, str):
        return f"{words}Its hierarchy is in the file {column.hierarchy}."
    if column.hierarchy is not None:
        return f"{words}Its hierarchy is built from its values: {recipe_words(column.hierarchy)}."
    kind = None if column.type is None else Kind(column.type)
    if kind in (Kind.DATE, Kind.DATETIME):
        return "Becomes ranges, such as [1980-01-01, 1984-12-31]."
    if kind is Kind.MONTH:
        return "Becomes ranges, such as [1980-01, 1984-12]."
    return "Becomes ranges, such as [30, 45]." if kind is not None and kind.is_ordered else NO_HIERARCHY


def recipe_words(recipe: Mapping[str, Any]) -> str:
    """Return a recipe in words, with the builder's name as the page has it."""
    name = next((name for name in BUILDERS if name in recipe), "")
    given = recipe.get(name)
    values = ", ".join(map(str, given)) if isinstance(given, list | dict) else "" if given is True else str(given)
    ends = "".join(f", {end} {recipe[end]}" for end in ("bottom", "top") if end in recipe)
    return f"{BUILDERS.get(name, name).lower()}{': ' if values else ''}{values}{ends}"


def _suggested(kind: str | None) -> str:
    """Return the builder that fits a type best."""
    if kind in (Kind.DATE, Kind.DATETIME, Kind.MONTH):
        return "dates"
    return "intervals" if kind is not None and Kind(kind).is_ordered else "frequency"


def tree_of(project: Project, name: str, given: str | Mapping[str, Any], counts: Mapping[str, int]) -> Hierarchy:
    """Return a hierarchy from its file, or built from the values that the project knows."""
    if isinstance(given, str):
        return read_hierarchy(project.folder / given)
    recipe = recipes_in({name: given})[name]
    if isinstance(recipe, Auto):
        raise HierarchyError("this builder compares rows of the table; press Use to build it.")
    if not counts:
        raise HierarchyError("the values of this column are not counted, or there are too many to show.")
    return build_from_counts(recipe, counts, name, project.spec.release.dates)


def draw(tree: Hierarchy, counts: Mapping[str, int] | None) -> dict[str, Any]:
    """Return a tree for the page, with the values of the table that it does not cover."""
    leaves = set(tree.leaves)
    lacking = [value for value in counts or {} if value not in leaves]
    return {
        "height": tree.height,
        "leaves": tree.n_leaves,
        "branch": tree_branches(tree, counts),
        "lacking": len(lacking),
        "lacking_rows": sum((counts or {})[value] for value in lacking),
    }


def recipe_in(form: SentForm) -> dict[str, Any]:
    """Return the recipe that a form describes."""
    builder = form.text("builder")
    if builder == "prefix":
        return {"prefix": [_number(item, int) for item in form.listed("lengths")]}
    if builder == "dates":
        return {"dates": form.texts("levels")}
    if builder == "intervals":
        ends = {name: form.number(name, name) for name in ("bottom", "top")}
        given = {name: _plain(end) for name, end in ends.items() if end is not None}
        return {"intervals": [_number(item, float) for item in form.listed("widths")], **given}
    if builder == "frequency":
        return {"frequency": _plain(form.number("least", "the least number of rows") or 0)}
    if builder == "groups":
        lines = [line.partition(":") for line in form.text("groups").splitlines() if line.strip()]
        return {
            "groups": {label.strip(): [v.strip() for v in values.split(",") if v.strip()] for label, _, values in lines}
        }
    if builder == "auto":
        return {"auto": True}
    raise FileError("no builder is chosen. Choose one.")


def _number(text: str, kind: type[int] | type[float]) -> int | float:
    try:
        return _plain(kind(text))
    except ValueError as error:
        raise FileError(f"'{text[:SHOWN]}' is not a{' whole' * (kind is int)} number.") from error


def _plain(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number


@posted
def change_hierarchy(request: Request, form: SentForm) -> Response:
    """Preview a hierarchy, use it, or remove the one that is used."""
    project = project_of(request)
    name = _column_of(project, form.text("column"))
    action = form.text("do")
    try:
        if action == "round":
            _round(project, form, name)
            return go(step_path(project, "hierarchies"))
        if action == "remove":
            _set(project, form.text("version"), name, None)
            return go(step_path(project, "hierarchies"))
        recipe = recipe_in(form)
        counts = project.counts.get(name)
        if "auto" in recipe and action == "use":
            file = _file_name(project, name)
            writes = [f"hierarchies/{file}"]
            settings_of(request).jobs.start(project, "tree", column=name, recipe=recipe, file=file, writes=writes)
            return go(step_path(project, "hierarchies"))
        tree = tree_of(project, name, recipe, counts or {})
        if action == "use":
            _set(project, form.text("version"), name, recipe)
            return go(step_path(project, "hierarchies"))
        preview = {"column": name, "tree": draw(tree, counts), "problem": None}
        return show_hierarchies(request, None, 200, preview, form)
    except StaleError as error:
        return show_hierarchies(request, str(error), CONFLICT)
    except BetalikeError as error:
        if action in ("round", "remove"):
            return show_hierarchies(request, str(error))
        return show_hierarchies(request, None, 422, {"column": name, "tree": None, "problem": str(error)}, form)


async def upload_hierarchy(request: Request) -> Response:
    """Take a hierarchy file for a column."""
    project = project_of(request)
    with tempfile.TemporaryDirectory(prefix=".hierarchy-", dir=project.folder) as folder:
        try:
            received = Upload(Path(folder), LARGEST_FILE)
            await received.receive(request.headers.get("content-type", ""), request.stream())
            return await run_in_threadpool(_adopt, project, received)
        except BetalikeError as error:
            status = CONFLICT if isinstance(error, StaleError) else 200
            words = str(error).replace(f"{folder}/", "")
            return await run_in_threadpool(show_hierarchies, request, words, status)


def _adopt(project: Project, received: Upload) -> Response:
    """Check an uploaded hierarchy and use it for its column."""
    assert received.path is not None
    name = _column_of(project, received.fields.get("column", ""))
    text = hierarchy_text(read_hierarchy(received.path))
    file = f"hierarchies/{_file_name(project, name)}"
    (project.folder / "hierarchies").mkdir(mode=0o700, exist_ok=True)
    (project.folder / file).write_text(text, encoding="utf-8")
    try:
        _set(project, received.fields.get("version", ""), name, file)
    except BetalikeError:
        (project.folder / file).unlink()
        raise
    return go(step_path(project, "hierarchies"))


def _set(project: Project, version: str | None, name: str, hierarchy: str | dict[str, Any] | None) -> None:
    def change(spec: Specification) -> Specification:
        column = spec.columns[name]
        column.hierarchy = hierarchy
        guessed = next(fact.kind for fact in project.facts.columns if fact.name == name) if project.facts else None
        column.type = guessed if hierarchy is None else str(Kind.CATEGORICAL)
        for end in ENDS if hierarchy is not None else ():
            setattr(column, end, None)
        return spec

    project.edit(version, change)


def _round(project: Project, form: SentForm, name: str) -> None:
    """Take what the ends of a column's ranges are rounded to; refuse what `publish` would refuse."""

    def change(spec: Specification) -> Specification:
        for end in ENDS:
            text = form.text(end)
            setattr(spec.columns[name], end, (_end(text) if text else None))
        check_columns(spec.arguments(project.folder))
        return spec

    project.edit(form.text("version"), change)


def _end(text: str) -> int | float | str:
    """Return a number as one, and anything else, such as a date, as text."""
    try:
        return _plain(float(text)) if math.isfinite(float(text)) else text
    except ValueError:
        return text


def _column_of(project: Project, number: str) -> str:
    names = list(project.spec.columns)
    place = SentForm({"column": [number]}).whole("column")
    if place is None or place >= len(names):
        raise FileError("the form names no column of the table. Load the page again.")
    return names[place]


def _file_name(project: Project, name: str) -> str:
    """Return a name for the file of a column's hierarchy, which no file has: older ones are needed to undo a change."""
    plain, folder = plain_name(name), project.folder / "hierarchies"
    names = (f"{plain}.csv" if number == 1 else f"{plain}-{number}.csv" for number in itertools.count(1))
    return next(file for file in names if not (folder / file).exists())


ROUTES = [
    Route("/p/{project}/hierarchies", show_hierarchies),
    Route("/p/{project}/hierarchies", change_hierarchy, methods=["POST"]),
    Route("/p/{project}/hierarchies/upload", upload_hierarchy, methods=["POST"]),
]
