"""Checks releases that publish quasi-identifiers as they are: the schemes perturb and baseline."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from . import checker, figures
from .jobs import Job
from .labels import Scale
from .outcome import Outcome
from .promises import Promise, bounds_of, is_near, promised_sets
from .reading import read, read_csv

ROUNDED = 1e-6  # figures of a perturbed table are measured on rounded posteriors


def check(
    job: Job,
    folder: Path,
    certificate: dict[str, Any],
    header: list[str],
    cells: list[list[str | None]],
    outcome: Outcome,
) -> None:
    """Note what is wrong with exact rows and with what is beside them."""
    n_qi, n_secret = len(job.columns), len(job.secrets) if job.scheme == "perturb" else 0
    rows = Counter(
        (
            tuple(_key(job, i, text) for i, text in enumerate(line[:n_qi])),
            tuple(checker.protected(job, c, x) for c, x in zip(job.kept, line[n_qi + n_secret :], strict=True)),
        )
        for line in cells
    )
    truth = Counter((point, kept) for point, _, kept in checker.original_rows(job))
    outcome.expect(rows == truth, "rows", "exact quasi-identifiers or kept cells differ")
    promise = checker.fitted(job, certificate, outcome)
    figures.check_table(job, certificate, outcome)
    release = certificate["release"]
    outcome.expect(release["rows"] == job.n_rows, "figure", "release.rows")
    is_null = all(release[name] is None for name in ("classes", "formed_classes", "smallest_class"))
    outcome.expect(is_null and release["average_loss"] == 0, "figure", "figures of classes")
    outcome.expect(not any(release["loss"].values()), "figure", "release.loss")
    for column, told in zip(job.columns, certificate["table"]["columns"], strict=True):
        figures.check_column(Scale(column), told, None, outcome)
    if job.scheme == "baseline":
        _check_withheld(job, folder, certificate, promise, outcome)
    else:
        _check_perturbed(job, folder, certificate, promise, cells, outcome)


def _key(job: Job, place: int, text: str | None) -> Any:
    column = job.columns[place]
    if text is None:
        return None
    return read("text" if column.is_categorical and column.kind != "real" else column.kind, text)


def _check_withheld(job: Job, folder: Path, certificate: dict[str, Any], promise: Promise, outcome: Outcome) -> None:
    header, lines = read_csv(folder / "sensitive.csv")
    outcome.expect(header == ["value", "count"], "file", "the header of sensitive.csv")
    found = {figures.key_of(job, text or ""): int(n or "0") for text, n in lines}
    truth = {key: int(n) for key, n in zip(job.truth.keys, job.truth.secret.counts, strict=True)}
    outcome.expect(found == truth, "rows", "sensitive.csv is not the distribution")
    matrix = job.truth.secret.counts[None, :]
    _check_figures(job, certificate, promise, matrix.astype(object), 1e-9, outcome)


def _check_perturbed(
    job: Job,
    folder: Path,
    certificate: dict[str, Any],
    promise: Promise,
    cells: list[list[str | None]],
    outcome: Outcome,
) -> None:
    header, lines = read_csv(folder / "transition.csv")
    keys = [figures.key_of(job, text or "") for text in header[1:]]
    outcome.expect(
        keys == [figures.key_of(job, line[0] or "") for line in lines], "file", "transition.csv is no square"
    )
    if not outcome.expect(sorted(keys, key=str) == sorted(job.truth.keys, key=str), "file", "values of transition.csv"):
        return
    place = [keys.index(key) for key in job.truth.keys]
    chances = [[Fraction(Decimal(text or "nan")) for text in line[1:]] for line in lines]
    outcome.expect(all(sum(row) == 1 and min(row) >= 0 for row in chances), "promise", "chances do not add up to 1")
    first = len(job.columns)
    secrets = [
        [checker.protected(job, c, x) for c, x in zip(job.secrets, line[first:], strict=False)] for line in cells
    ]
    values = {tuple(row) if len(row) > 1 else row[0] for row in secrets}
    outcome.expect(values <= {*job.truth.keys}, "rows", "a published value that the table does not have")
    # Rows that are expected with each published value, by their original value: in units, as exact integers.
    units = [[int(chances[i][v] * 10**15) for v in place] for i in place]
    counts = job.truth.secret.counts.tolist()
    joint = np.array(
        [[n * unit for n, unit in zip(counts, row, strict=True)] for row in zip(*units, strict=True)], object
    )
    _check_figures(job, certificate, promise, joint[[sum(row) > 0 for row in joint.tolist()]], ROUNDED, outcome)


def _check_figures(
    job: Job, certificate: dict[str, Any], promise: Promise, joint: np.ndarray, tolerance: float, outcome: Outcome
) -> None:
    """The promise and the figures, from the weight of each original value (columns) given what is seen (rows)."""
    secret, told, also = job.truth.secret, certificate["promise"], certificate["also"]
    sets = promised_sets(secret, promise)
    totals = [int(secret.counts[values].sum()) for values in sets]
    caps, floors = bounds_of(totals, secret.n_rows, promise)
    sizes, broken, used = [int(sum(row)) for row in joint.tolist()], 0, 0.0
    for row, size in zip(joint.tolist(), sizes, strict=True):
        for number, values in enumerate(sets):
            weight = sum(row[v] for v in values)
            broken += caps[number].compare(weight, size) > 0
            used = max(used, float(Fraction(weight, size) / caps[number].value))
            if floors:
                broken += floors[number].compare(weight, size) < 0
                used = max(used, float(floors[number].value * size / weight) if weight else float("inf"))
    outcome.bounds += len(sizes) * len(sets) * (2 if floors else 1)
    outcome.expect(broken == 0, "promise", f"{broken} bounds broken by the matrix")
    outcome.expect(is_near(told["worst_ratio"], min(used, 1.0)), "figure", "promise.worst_ratio")
    shares = np.array([[Fraction(x, size) for x in row] for row, size in zip(joint.tolist(), sizes, strict=True)])
    gain, top, change, is_whole = 0.0, 0.0, 0.0, True
    for part, code in secret.parts():
        of_column = np.zeros((len(shares), len(part.counts)), dtype=float)
        np.add.at(of_column.T, code, shares.astype(float).T)
        ratio = of_column / (part.counts / secret.n_rows)
        gain, top = max(gain, float(ratio.max()) - 1), max(top, float(of_column.max()))
        is_whole &= bool((ratio > 0).all())
        change = max(change, float(np.abs(np.log(ratio[ratio > 0])).max()))
    outcome.expect(is_near(told["worst_gain"], max(gain, 0.0)), "figure", "promise.worst_gain")
    outcome.expect(is_near(also["basic_beta"], max(gain, 0.0)), "figure", "also.basic_beta")
    outcome.expect(is_near(also["l"], 1 / top), "figure", "also.l")
    outcome.expect(is_near(also["delta"], change if is_whole else None, tolerance), "figure", "also.delta")
    is_null = all(also[name] is None for name in ("k", "distinct_l", "average_l", "average_t"))
    outcome.expect(is_null, "figure", "levels of classes")
