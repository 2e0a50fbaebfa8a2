"""What jobs do: each task calls the functions that users call, and returns figures for the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import msgspec
import numpy as np

from betalike import api, datasets
from betalike.engines.recipes import build_hierarchy, count_values
from betalike.errors import BetalikeError
from betalike.io.foreign_tables import DEFAULTS, SourceOptions, takes_tables
from betalike.io.guesses.meanings import Meaning
from betalike.io.hierarchies import hierarchy_text
from betalike.io.needed_columns import counted_columns
from betalike.io.specification import Specification
from betalike.io.tables import Frame, text_in_batches
from betalike.release.needed_original import columns_of_releases
from betalike.report.page import make_report
from betalike.runtime.progress import Progress
from betalike.table.schema import Role
from betalike.web.project import DEMO_TABLE, MOST_COUNTED, Project, SeenColumn, SeenTable

Arguments = Mapping[str, Any]
DEMO_ROWS = 20_000
DEMO_COLUMNS = ("age", "gender", "education", "salary_class")  # as `betalike demo` takes them
HIDDEN = (Meaning.IDENTIFIER, Meaning.PERSON_KEY, Meaning.HOUSEHOLD_KEY, Meaning.FREE_TEXT)  # until asked for
MOST_PREVIEWED = 20
SIZE_BINS = 16


def open_table(project: Project, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Guess the columns of the table, and keep a preview and the counts of values for the next pages."""
    progress.start("load")
    record = project.record
    hierarchies = _write_demo(project) if record.origin == "demo" else None
    progress.start("describe")
    description = api.describe(project.table, hierarchies=hierarchies, **record.source)
    spec = msgspec.toml.decode(description.to_toml(project.folder), type=Specification)
    spec.table = record.table
    for name, value in record.source.items():
        setattr(spec, name, value)
    if hierarchies is not None:
        _take_demo_columns(spec, hierarchies.name)
    rows = preview(project.table, [column.name for column in description.columns], **record.source)
    facts = SeenTable(
        description.rows,
        [
            SeenColumn(
                column.name,
                str(column.kind),
                column.kind_reason,
                column.role_reason,
                column.role is Role.IDENTIFIER or column.meaning in HIDDEN,
                column.unique,
                column.separation,
                rows[column.name],
                list(column.prefix),
                "" if column.cost is None else column.cost.wording,
                column.unique_people,
            )
            for column in description.columns
        ],
        [
            {"columns": list(found.columns), "unique": found.unique, "unique_people": found.unique_people}
            for found in description.combinations
        ],
        next((column.name for column in description.columns if column.role is Role.PERSON), None),
    )
    progress.start("count")
    counted = [column.name for column in description.columns if column.role is not Role.IDENTIFIER]
    count_columns(project, {"columns": counted}, progress)
    project.write("table.json", msgspec.json.encode(facts))
    with project.changed() as changed:
        changed.spec, changed.history = _kept(changed.spec, spec), []  # what came before is of a file that is gone
    return {"rows": description.rows}


def _kept(chosen: Specification | None, guessed: Specification) -> Specification:
    """Return what was chosen already, if the table has the same columns as before; else what is guessed."""
    if chosen is None or set(chosen.columns) != set(guessed.columns):
        return guessed
    for name in ("table", "delimiter", *DEFAULTS):
        setattr(chosen, name, getattr(guessed, name))
    return chosen


@takes_tables("table", needs=counted_columns)
def preview(table: Frame, columns: Sequence[str], **source: Unpack[SourceOptions]) -> dict[str, list[str | None]]:
    """Return the first values of each column as text."""
    rows = next(iter(text_in_batches(table, columns, (), None))).head(MOST_PREVIEWED)
    return {name: [None if cell is None else str(cell) for cell in rows[name]] for name in columns}


def _take_demo_columns(spec: Specification, folder: str) -> None:
    for name, column in spec.columns.items():
        column.role = column.role if name in DEMO_COLUMNS else "unused"
        column.hierarchy = None if column.hierarchy is None else f"{folder}/{name}.csv"


def _write_demo(project: Project) -> Path:
    """Write the built-in table, and hierarchies for it."""
    datasets.census_like(DEMO_ROWS, seed=1).write_csv(project.folder / DEMO_TABLE)
    folder = project.folder / "hierarchies"
    folder.mkdir(mode=0o700, exist_ok=True)
    for column, rows in datasets.census_like_hierarchies().items():
        (folder / f"{column}.csv").write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def count_columns(project: Project, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Count the values of some columns, and add them to what the project knows."""
    found = count_all(project.table, arguments["columns"], **project.record.source)
    small = {name: values if len(values) <= MOST_COUNTED else None for name, values in found.items()}
    project.write("counts.json", json.dumps({**project.all_counts, **small}).encode())
    return {}


@takes_tables("table", needs=counted_columns)
def count_all(table: Frame, columns: Sequence[str], **source: Unpack[SourceOptions]) -> dict[str, dict[str, int]]:
    """Count the rows of each text in some columns of a table of any kind; which of them mean no value may change."""
    return count_values(table, columns, (), None)


def build_tree(project: Project, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Build a hierarchy that needs the rows of the table, and write it into the project."""
    column, spec = arguments["column"], project.spec
    progress.start("load")
    others = [name for name in spec.with_role(Role.QUASI_IDENTIFIER) if name != column]
    recipe = {"auto": others} if "auto" in arguments["recipe"] else arguments["recipe"]
    reading: dict[str, Any] = {"missing": spec.release.missing, "delimiter": spec.delimiter}
    built = build_hierarchy(project.table, column, recipe, dates=spec.release.dates, **reading, **project.record.source)
    name = f"hierarchies/{arguments['file']}"
    (project.folder / "hierarchies").mkdir(mode=0o700, exist_ok=True)
    (project.folder / name).write_text(hierarchy_text(built), encoding="utf-8")

    def adopt(given: Specification) -> Specification:
        given.columns[column].hierarchy, given.columns[column].type = name, "categorical"
        return given

    project.edit(None, adopt)
    return {"file": name}


def publish(project: Project, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Publish the table as a specification says, into the project."""
    _ = project.table  # which must not lead elsewhere by now
    release = api.publish(
        spec=project.folder / arguments["spec"], out=project.folder / arguments["out"], progress=progress
    )
    verified, unit = release.verified, "rows"
    sizes = None if verified is None or verified.classes is None else verified.classes.sizes
    if verified is not None and verified.people is not None:
        sizes, unit = verified.people.risk.counts.sizes, "people"
    return {"worst_value": release.worst_value, "sizes": [] if sizes is None else _histogram(sizes), "unit": unit}


def _histogram(sizes: Any) -> list[dict[str, int]]:
    """Count classes by size, in bins that grow by a factor."""
    low, high = int(sizes.min()), int(sizes.max())
    edges = np.unique(np.rint(np.geomspace(low, high + 1, min(SIZE_BINS, high - low + 1) + 1)).astype(np.int64))
    counts, _ = np.histogram(sizes, edges)
    return [
        {"low": int(first), "high": int(after) - 1, "classes": int(count)}
        for first, after, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def measure(project: Project, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Measure what a release risks and what it is worth, beside its table."""
    folder, spec = project.folder / arguments["out"], project.spec
    reading: dict[str, Any] = {"missing": spec.release.missing, "delimiter": spec.delimiter}
    return compare_with_original(folder, project.table, progress, **reading, **project.record.source)


@takes_tables("original", needs=columns_of_releases)
def compare_with_original(
    folder: Path,
    original: Frame,
    progress: Progress,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    **source: Unpack[SourceOptions],
) -> dict[str, Any]:
    """Return the risks before and after, and the distributions of each column."""
    release = api.open_release(folder)
    progress.start("risk")
    risk = release.risk(original, missing=missing, delimiter=delimiter).to_dict()
    progress.start("utility")
    utility = release.utility(original, queries=0, missing=missing, delimiter=delimiter).to_dict()
    return {"risk": risk, "distributions": utility["distributions"]}


def explore(project: Project, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Measure the loss for several betas, one by one, so that the page can show them as they come.

    Points that an earlier job measured before it was cancelled are kept.
    """
    _ = project.table  # which must not lead elsewhere by now
    spec, betas = project.folder / arguments["spec"], arguments["betas"]
    file = project.folder / arguments["curve"]
    points = json.loads(file.read_bytes())["points"] if file.exists() else []
    for beta in betas[len(points) :]:
        progress.start(f"beta {beta:g}")
        try:
            release = api.publish(spec=spec, beta=beta)  # with all that the specification says, and in memory
            points.append({"beta": beta, "loss": release.certificate["release"]["average_loss"], "refusal": None})
        except BetalikeError as error:
            points.append({"beta": beta, "loss": None, "refusal": str(error)})
        project.write(arguments["curve"], json.dumps({"points": points, "of": len(betas)}).encode())
    return {"points": len(points)}


def attack(project: Project, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Attack a release with what a reader could know."""
    spec = project.spec
    report = api.attack(
        project.folder / arguments["out"],
        original=project.table,
        attacks=arguments["attacks"],
        missing=spec.release.missing,
        progress=progress,
        **project.record.source,
    )
    return report.to_dict()


def report(project: Project, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Write a report on a release for an audience."""
    make_report(
        project.folder / arguments["out"],
        project.folder / arguments["file"],
        original=project.table if project.has_table else None,
        audience=arguments["audience"],
        missing=project.spec.release.missing,
        force=True,
        progress=progress,
        **project.record.source,
    )
    return {"file": arguments["file"]}


TASKS: dict[str, Callable[[Project, Arguments, Progress], dict[str, Any]]] = {
    "open": open_table,
    "count": count_columns,
    "tree": build_tree,
    "publish": publish,
    "measure": measure,
    "explore": explore,
    "attack": attack,
    "report": report,
}
