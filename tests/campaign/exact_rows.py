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
from .risks import check_risk

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
    keys = [figures.key_of(job, line[0] or "") for line in lines]
    if not outcome.expect(sorted(keys, key=str) == sorted(job.truth.keys, key=str), "file", "values of transition.csv"):
        return
    chances = [[Fraction(Decimal(text or "nan")) for text in line[1:]] for line in lines]
    outcome.expect(all(sum(row) == 1 and min(row) >= 0 for row in chances), "promise", "chances do not add up to 1")
    # Rows that are expected with each published label, by their original value: in units, as exact integers.
    units = [[int(chance * 10**15) for chance in chances[keys.index(key)]] for key in job.truth.keys]
    counts = job.truth.secret.counts.tolist()
    joint = np.array(
        [[n * unit for n, unit in zip(counts, column, strict=True)] for column in zip(*units, strict=True)], object
    )
    first = len(job.columns)
    if job.options.get("mechanism") == "sets":
        _check_sets(job, certificate, header[1:], joint, [line[first] for line in cells], outcome)
    else:
        is_square = keys == [figures.key_of(job, text or "") for text in header[1:]]
        outcome.expect(is_square, "file", "transition.csv is no square")
        secrets = [
            [checker.protected(job, c, x) for c, x in zip(job.secrets, line[first:], strict=False)] for line in cells
        ]
        values = {tuple(row) if len(row) > 1 else row[0] for row in secrets}
        outcome.expect(values <= {*job.truth.keys}, "rows", "a published value that the table does not have")
        stay = [chances[place][place] for place in map(keys.index, job.truth.keys)]
        _check_retention(job, certificate, stay, outcome)
    _check_figures(job, certificate, promise, joint[[sum(row) > 0 for row in joint.tolist()]], ROUNDED, outcome)


def _check_retention(job: Job, certificate: dict[str, Any], stay: list[Fraction], outcome: Outcome) -> None:
    """How often values are kept: a row keeps its value, or draws any, each as likely, and perhaps its own again."""
    told, counts, n_rows = certificate["scheme"]["details"], job.truth.secret.counts.tolist(), job.n_rows
    names = ["rule", "least_retention", "greatest_retention", "kept_share"]
    outcome.expect(list(told) == names, "figure", "names under scheme.details")
    outcome.expect(told["rule"] in ("theorem-3", "best-retention"), "figure", "scheme.details.rule")
    again = Fraction(1, len(counts))
    kept = [(chance - again) / (1 - again) for chance in stay]
    truth = [min(kept), max(kept), sum(a * n for a, n in zip(kept, counts, strict=True)) / n_rows]
    for name, figure in zip(names[1:], truth, strict=True):
        outcome.expect(is_near(told[name], figure), "figure", f"scheme.details.{name}")


def _check_sets(
    job: Job,
    certificate: dict[str, Any],
    header: list[str | None],
    joint: np.ndarray,
    published: list[str | None],
    outcome: Outcome,
) -> None:
    """Labels are distinct and name exactly the values that they make likelier; the figures follow from the matrix."""
    labels = [label or "" for label in header]
    outcome.expect(len({*labels}) == len(labels), "label", "two sets have one label")
    outcome.expect({text or "" for text in published} <= {*labels}, "rows", "a published set that is not in the matrix")
    n_rows, counts = job.n_rows, job.truth.secret.counts.tolist()
    likelier = [
        [weight * n_rows > n * sum(column) for n, weight in zip(counts, column, strict=True)]
        for column in joint.tolist()
    ]
    for label, is_likelier in zip(labels, likelier, strict=True):
        named = {figures.key_of(job, text) for text in _members(label)}
        truth = {key for key, is_in in zip(job.truth.keys, is_likelier, strict=True) if is_in}
        outcome.expect(named == truth, "label", "a set does not name the values that it makes likelier")
    told, sizes = certificate["scheme"]["details"], [sum(column) for column in likelier]
    names = ["rule", "sets", "fewest_values", "most_values", "named_share", "kept_share"]
    outcome.expect(list(told) == names, "figure", "names under scheme.details")
    outcome.expect(told["rule"] == "sets" and told["sets"] == len(labels), "figure", "scheme.details.sets")
    outcome.expect((told["fewest_values"], told["most_values"]) == (min(sizes), max(sizes)), "figure", "sizes of sets")
    named_rows = sum(
        weight
        for column, is_in in zip(joint.tolist(), likelier, strict=True)
        for weight, is_named in zip(column, is_in, strict=True)
        if is_named
    )
    named = Fraction(int(named_rows), n_rows * 10**15)
    outcome.expect(is_near(told["named_share"], named), "figure", "scheme.details.named_share")
    # Against labels that say nothing, on a scale where 1 is that of labels that name the value alone.
    shares = [Fraction(n, n_rows) for n in counts]
    blind = sum(
        Fraction(int(sum(column)), n_rows * 10**15)
        * sum(p for p, is_named in zip(shares, is_in, strict=True) if is_named)
        for column, is_in in zip(joint.tolist(), likelier, strict=True)
    )
    kept = (named - blind) / (1 - sum(p * p for p in shares))
    outcome.expect(is_near(told["kept_share"], kept), "figure", "scheme.details.kept_share")


def _members(label: str) -> list[str]:
    """The texts between the bars of a label; a backslash protects the character after it."""
    texts, is_protected = [""], False
    for letter in label:
        if is_protected or letter not in "\\|":
            texts[-1] += letter
            is_protected = False
        elif letter == "|":
            texts.append("")
        else:
            is_protected = True
    return texts


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
    check_risk(certificate["risk"], top, None, None, outcome)
    is_null = all(also[name] is None for name in ("k", "distinct_l", "average_l", "average_t"))
    outcome.expect(is_null, "figure", "levels of classes")
