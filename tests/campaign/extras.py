"""What a job may also have: persons, other sources and formats, bins, orders of dates, codes, signatures.

Each follows from the seed by itself, so that the rest of a job stays what it was.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .alike import with_alike_texts
from .jobs import Column, Job, make_job, truth_of
from .reading import CANARY, ORDERED, text_of
from .wishes import EXACT

WHOLE_DISTRIBUTIONS = ("t-closeness", "entropy-l-diversity", "recursive-l-diversity")  # refused in people
PERSONS, BINS, DATES, CODES, SIGNED = 0.12, 0.08, 0.3, 0.1, 0.03
SOURCES = {  # how many of the jobs with a source come from another one instead
    "csv": [("gzip", 0.03), ("zstd", 0.03), ("stdin", 0.04), ("xlsx", 0.02)],
    "parquet": [("arrow", 0.2), ("sqlite", 0.06), ("duckdb", 0.03), ("xlsx", 0.04), ("sav", 0.012), ("dta", 0.012)],
}
FORMS = [("xlsx", 0.025), ("sav", 0.006), ("dta", 0.006)]
STATISTICS = ("sav", "dta")
CODE = -9


def draw_job(seed: int, is_plain: bool = False) -> Job:
    """The job of a seed, with everything that it may have."""
    job = make_job(seed, is_plain)
    for words, change in CHANGES.items():
        job = change(random.Random(f"{words} {seed}"), job)
    return job


def draw_spark_job(seed: int) -> Job:
    """Draw the first job after a seed that Spark can take, with its table in a file, and publish it there."""
    jobs = (draw_job(1000 * seed + number) for number in itertools.count())
    return next(
        replace(job, engine="spark", form="parquet", in_batches=False)
        for job in jobs
        if job.source in ("csv", "parquet")
        and len(job.secrets) == 1
        and job.form in ("csv", "parquet")
        and job.person is None
        and job.bins is None
    )


def every_column(job: Job) -> list[Column]:
    """All columns of the table, in their order."""
    person = [] if job.person is None else [job.person]
    return [*job.unused, *person, *job.columns, *job.secrets, *job.kept]


def _with_persons(rng: random.Random, job: Job) -> Job:
    """Name the persons: few with many rows, or many; at random, or those of like rows; each row may be marked."""
    if rng.random() > PERSONS or job.scheme in EXACT or job.promise.model in WHOLE_DISTRIBUTIONS:
        return job
    n_people = max(1, round(job.n_rows * rng.choice([0.1, 0.3, 0.5, 0.8, 1.0])))
    owners = [*range(n_people), *rng.choices(range(n_people), k=job.n_rows - n_people)]
    if rng.random() < 0.2:  # one person with a third of the rows
        owners = [0 if rng.random() < 0.3 else owner for owner in owners]
    if rng.random() < 0.4:
        rng.shuffle(owners)
    else:  # rows of a person are alike, also in the order of columns after the first
        keys = [job.columns[0].keys, *(job.protected_keys(column) for column in job.secrets)]
        keys = keys if rng.random() < 0.5 else keys[:1]
        order = sorted(range(job.n_rows), key=lambda row: [(of[row] is None, str(of[row])) for of in keys])
        owner_of = dict(zip(order, sorted(owners), strict=True))
        owners = [owner_of[row] for row in range(job.n_rows)]
    is_text = rng.random() < 0.6
    cells: list[Any] = [f"{CANARY}{rng.getrandbits(24):06x}-{owner}" for owner in range(n_people)] if is_text else []
    cells = [cells[owner] if is_text else 70_000 + owner for owner in owners]
    marks = [Column("visit", "integer", list(range(job.n_rows)))] * (rng.random() < 0.5)
    k = min(job.promise.k, len({*cells}))
    return replace(
        job,
        person=Column("patient", "text" if is_text else "integer", cells),
        kept=[*job.kept, *marks],
        promise=replace(job.promise, k=k),
    )


def _from_elsewhere(rng: random.Random, job: Job) -> Job:
    """Take another source for the table, if it holds every cell."""
    draw, before = rng.random(), "parquet" if job.source in ("pandas", "pyarrow") else job.source
    for source, share in SOURCES.get(before, []):
        draw -= share
        if draw < 0:
            return _stored_in(rng, job, source)
    return job


def _stored_in(rng: random.Random, job: Job, source: str) -> Job:
    if source in ("gzip", "zstd", "stdin"):
        return replace(job, source=source)
    if source in ("arrow", "duckdb"):
        return replace(job, source=source, engine="local")
    if not is_held(job, source):
        return job
    truth = truth_of(job.secrets, is_text=False)
    if any(column.kind in ("date", "datetime") for column in job.secrets):
        if "width" in job.promise.parameters or job.promise.parameters.get("ground") == "ordered":
            return job
        truth = replace(truth, ground=None)  # text, in some of them
    changed = replace(job, source=source, truth=truth, engine="local", missing_text="")
    if source not in STATISTICS:
        return changed
    return replace(_renamed(changed), with_labels=rng.random() < 0.5)


def is_held(job: Job, form: str) -> bool:
    """Whether a source or format holds every cell of a table, and comes back with it."""
    columns = every_column(job)
    kinds, texts = {column.kind for column in columns}, {x for c in columns for x in c.cells if isinstance(x, str)}
    if form == "sqlite":
        return "boolean" not in kinds
    if any(column.is_big for column in columns) or any("\r" in text for text in texts):
        return False
    if form == "xlsx":  # empty rows are left out, and programs write 16 digits
        has_cells = all(any(cell is not None for cell in row) for row in zip(*(c.cells for c in columns), strict=True))
        reals = [cell for column in columns if column.kind == "real" for cell in column.cells if cell is not None]
        return has_cells and all(float(f"{cell:.16g}") == cell for cell in reals)
    is_trimmed = any(text != text.strip() for text in texts)  # spaces at the end are lost
    return "boolean" not in kinds and not is_trimmed and len(job.secrets) == 1


def _renamed(job: Job) -> Job:
    """The same with names that statistics programs allow."""
    names = {column.name: f"v{number}" for number, column in enumerate(every_column(job))}

    def rename(columns: Sequence[Column]) -> list[Column]:
        return [replace(column, name=names[column.name]) for column in columns]

    return replace(
        job,
        columns=rename(job.columns),
        secrets=rename(job.secrets),
        kept=rename(job.kept),
        unused=rename(job.unused),
        person=None if job.person is None else rename([job.person])[0],
    )


def _in_bins(rng: random.Random, job: Job) -> Job:
    """Put the numbers or dates of the sensitive column into ranges."""
    (secret, *others), promise = job.secrets, job.promise
    if rng.random() > BINS or others or secret.kind not in ORDERED or secret.kind == "datetime":
        return job
    if not promise.is_likeness or promise.parameters.keys() & {"groups", "width"} or job.in_batches:
        return job
    return replace(job, bins=rng.choice([2, 3, 5, 8])) if len({*secret.cells}) > 3 else job


def _with_day_first(rng: random.Random, job: Job) -> Job:
    """Write the dates of quasi-identifiers with the day or the month first."""
    is_read = job.is_text and not job.is_exact and any(column.kind == "date" for column in job.columns)
    return replace(job, dates=rng.choice(["dmy", "mdy"])) if is_read and rng.random() < DATES else job


def _with_codes(rng: random.Random, job: Job) -> Job:
    """Let a number stand for the missing cells of whole numbers, also in sources with types."""
    if rng.random() > CODES or job.is_text or job.source in STATISTICS:
        return job
    cells = (text_of(column.kind, cell) for column in every_column(job) for cell in column.cells if cell is not None)
    is_free = not any(text in (str(CODE), f"{CODE}.0") for text in cells)
    return replace(job, missing_code=CODE, missing_text=str(CODE)) if is_free else job


def _in_form(rng: random.Random, job: Job) -> Job:
    """Publish a workbook or a statistics file; perhaps signed."""
    draw = rng.random()
    job = replace(job, is_signed=rng.random() < SIGNED)
    for form, share in FORMS:
        draw -= share
        if draw < 0 and is_held(job, form):
            return replace(_renamed(job) if form in STATISTICS else job, form=form)
    return job


CHANGES = {
    "texts": with_alike_texts,
    "persons": _with_persons,
    "source": _from_elsewhere,
    "bins": _in_bins,
    "dates": _with_day_first,
    "codes": _with_codes,
    "form": _in_form,
}
