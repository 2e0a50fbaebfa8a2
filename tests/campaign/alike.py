"""Texts that read as one number, or as no value: each is a value of its own, and has to stay one."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from .jobs import Column, Job, truth_of

SHARE = 0.6
TWINS = [
    *(["1", "1.0"], ["0", "0.0"], ["-1", "-1.0"], ["12", "12.0"], ["2", "2.0", "x"]),
    *(["0", "-0"], ["1", "01"], ["1", " 1"], ["nan", "NaN"]),
]
ALIKE = [
    *("1", "1.0", "01", " 1", "+1", "1e0", "1.00", "1.", "-1", "-1.0", "0", "-0", "0.0", "-0.0", "00", "2", "2.0"),
    *(
        "nan",
        "NaN",
        "None",
        "null",
        "NULL",
        "none",
        "inf",
        "Infinity",
        "1e400",
        "true",
        "True",
        "20240101",
        "20240101.0",
    ),
]


def with_alike_texts(rng: random.Random, job: Job) -> Job:
    """Put such texts in the place of others, in all columns of text."""
    if rng.random() > SHARE or not any(column.kind == "text" for column in (*job.columns, *job.secrets)):
        return job
    names = {column.name: _new_names(rng, column) for column in (*job.columns, *job.secrets, *job.kept)}
    secrets = [_renamed(column, names[column.name]) for column in job.secrets]
    parameters = dict(job.promise.parameters)
    if "groups" in parameters:
        parameters["groups"] = [names[secrets[0].name].get(label, label) for label in parameters["groups"]]
    return replace(
        job,
        columns=[_renamed(column, names[column.name]) for column in job.columns],
        secrets=secrets,
        kept=[_renamed(column, names[column.name]) for column in job.kept],
        truth=truth_of(secrets, job.source == "csv"),
        promise=replace(job.promise, parameters=parameters),
        has_alike_texts=True,
    )


def _new_names(rng: random.Random, column: Column) -> Mapping[str, str]:
    """New texts for some of a column's, among them two that are alike; labels of nodes stay as they are."""
    if column.kind != "text":
        return {}
    labels = {label for path in column.tree or [] for label in path}
    texts = sorted(({*column.cells} - {None}) | {path[0] for path in column.tree or []})
    rng.shuffle(texts)
    used, alike = {*texts} | labels, [*rng.choice(TWINS), *rng.sample(ALIKE, len(ALIKE))]
    return dict(zip(texts, [text for text in dict.fromkeys(alike) if text not in used], strict=False))


def _renamed(column: Column, names: Mapping[str, str]) -> Column:
    tree = None if column.tree is None else [[names.get(label, label) for label in path] for path in column.tree]
    return replace(column, cells=[names.get(cell, cell) if names else cell for cell in column.cells], tree=tree)
