"""Every figure of a certificate, computed again from the table and the published classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .bounds import least, logarithm
from .jobs import Job, Truth
from .labels import Cover, Label, Scale
from .outcome import Outcome
from .promises import Judged, Promise, columnwise, delta_for, distances, is_near
from .reading import ORDERED, read
from .risks import check_risk

LIKENESS = {"enhanced": "enhanced-likeness", "basic": "basic-likeness", "capped": "capped-likeness"}
FIELDS = [
    *("name", "kind", "weight", "domain", "leaves", "leaves_under"),
    *("hierarchy", "has_missing", "round", "bottom", "top", "dates"),
]


def full_name(job: Job) -> str:
    """The name of the promise in the certificate."""
    promise = job.promise
    if not promise.is_likeness:
        return promise.model
    given = promise.parameters
    before = "two-sided-" if "negative_beta" in given else ""
    after = "-of-groups" if given.get("groups") else "-of-intervals" if given.get("width") else ""
    return f"{before}{LIKENESS[promise.model]}{'-of-each-column' if len(job.secrets) > 1 else after}"


def check_delta(job: Job, delta: float, outcome: Outcome) -> None:
    """The delta for a beta is ln(1 + min(beta, -ln(max p))), and not above it."""
    counts, beta = job.truth.secret.counts, job.promise.beta
    assert beta is not None
    outcome.expect(is_near(delta, delta_for(beta, counts)), "figure", "delta for beta")
    surprise = -logarithm(Fraction(int(counts.max()), job.n_rows))
    outcome.expect(least(delta) <= logarithm(1 + min(least(beta), surprise)), "promise", "delta above that for beta")


def check_classes(
    job: Job,
    certificate: dict[str, Any],
    scales: list[Scale],
    covers: list[dict[Label, Cover]],
    classes: list[tuple[Label, ...]],
    matrix: np.ndarray,
    judged: Judged,
    outcome: Outcome,
) -> None:
    """All figures of a release with classes."""
    sizes = matrix.sum(axis=1)
    release, told = certificate["release"], certificate["promise"]
    outcome.expect(release["rows"] == job.n_rows, "figure", "release.rows")
    outcome.expect(release["classes"] == len(classes), "figure", "release.classes")
    outcome.expect(release["smallest_class"] == sizes.min(), "figure", "release.smallest_class")
    outcome.expect(release["formed_classes"] >= len(classes), "figure", "release.formed_classes")
    losses = [
        sum((covers[i][labels[i]].loss * int(size) for labels, size in zip(classes, sizes, strict=True)), Fraction(0))
        / job.n_rows
        for i in range(len(scales))
    ]
    _check_losses(job, release, losses, outcome)
    _check_worst(told, judged, matrix, job.truth, outcome)
    found = levels(matrix, job.truth, certificate["also"]["t_ground"])
    check_risk(certificate["risk"], 1 / found["l"], sizes, judged, outcome)
    check_levels(certificate["also"], found, job.truth, outcome)
    check_table(job, certificate, outcome)
    for scale, column in zip(scales, certificate["table"]["columns"], strict=True):
        shown = {labels[scales.index(scale)] for labels in classes}
        check_column(scale, column, shown, outcome)


def _check_losses(job: Job, release: dict[str, Any], losses: list[Fraction], outcome: Outcome) -> None:
    weights = [Fraction(column.weight) for column in job.columns]
    average = sum((w * loss for w, loss in zip(weights, losses, strict=True)), Fraction(0)) / sum(weights)
    names = [column.name for column in job.columns]
    outcome.expect(list(release["loss"]) == names, "figure", "release.loss names")
    for name, loss in zip(names, losses, strict=True):
        outcome.expect(is_near(release["loss"].get(name), loss), "figure", "release.loss")
    outcome.expect(is_near(release["average_loss"], average), "figure", "release.average_loss")


def _check_worst(told: dict[str, Any], judged: Judged, matrix: np.ndarray, truth: Truth, outcome: Outcome) -> None:
    outcome.expect(told["holds"] is True, "figure", "promise.holds")
    outcome.expect(is_near(told["worst_ratio"], min(judged.worst_ratio, 1.0)), "figure", "promise.worst_ratio")
    gain = max(float(gains(matrix, part.counts, code).max()) for part, code in truth.secret.parts())
    outcome.expect(is_near(told["worst_gain"], gain), "figure", "promise.worst_gain")


def gains(matrix: np.ndarray, counts: np.ndarray, code: np.ndarray) -> np.ndarray:
    """(q - p) / p of each value of a column in each class."""
    of_column = columnwise(matrix, code, len(counts))
    return of_column / matrix.sum(axis=1)[:, None] / (counts / counts.sum()) - 1


def levels(matrix: np.ndarray, truth: Truth, ground: str) -> dict[str, Any]:
    """What a release reaches under other promises; of several columns the worst."""
    sizes, found = matrix.sum(axis=1), []
    for part, code in truth.secret.parts():
        of_column = columnwise(matrix, code, len(part.counts))
        tops = [Fraction(int(top), int(size)) for top, size in zip(of_column.max(axis=1), sizes, strict=True)]
        away = distances(of_column, part, ground)
        gain = gains(matrix, part.counts, code)
        basic = max(float(gain.max()), 0.0)
        with np.errstate(divide="ignore"):
            change = float(np.abs(np.log(gain + 1)).max())
        found.append(
            {
                "distinct_l": int((of_column > 0).sum(axis=1).min()),
                "l": float(1 / max(tops)),
                "average_l": float(sum(1 / top for top in tops) / len(tops)),
                "t": float(max(away)),
                "average_t": float(sum(away, Fraction(0)) / len(away)),
                "basic_beta": basic,
                "enhanced_beta": basic if _is_enhanced(of_column, sizes, part.counts) else None,
                "delta": change if math.isfinite(change) else None,
            }
        )
    worst: dict[str, Any] = {name: min(of[name] for of in found) for name in ("distinct_l", "l", "average_l")}
    for name in ("t", "average_t", "basic_beta", "enhanced_beta", "delta"):
        figures = [of[name] for of in found]
        worst[name] = None if None in figures else max(figures)
    return {"k": int(sizes.min()), **worst}


def _is_enhanced(matrix: np.ndarray, sizes: np.ndarray, counts: np.ndarray) -> bool:
    """Whether every gain is at most -ln p."""
    n_rows = int(counts.sum())
    for place, count in enumerate(counts.tolist()):
        cap = Fraction(count, n_rows) * (1 - logarithm(Fraction(count, n_rows)))
        if (matrix[:, place] / sizes).max() < float(cap) * (1 - 1e-9):
            continue
        if any(Fraction(int(n), int(size)) > cap for n, size in zip(matrix[:, place], sizes, strict=True)):
            return False
    return True


def check_levels(told: dict[str, Any], found: dict[str, Any], truth: Truth, outcome: Outcome) -> None:
    """Compare the levels that a certificate states."""
    outcome.expect(truth.ground in (None, told["t_ground"]), "figure", "also.t_ground")
    for name, figure in found.items():
        outcome.expect(is_near(told[name], figure), "figure", f"also.{name}")


def check_table(job: Job, certificate: dict[str, Any], outcome: Outcome) -> None:
    """What a certificate states of the table and of how it was published."""
    table = certificate["table"]
    names = [column.name for column in job.secrets]
    outcome.expect(table["rows"] == job.n_rows, "figure", "table.rows")
    outcome.expect(table["quasi_identifiers"] == [c.name for c in job.columns], "figure", "table.quasi_identifiers")
    outcome.expect(table["sensitive"] == " + ".join(names), "figure", "table.sensitive")
    outcome.expect(table["sensitive_columns"] == (names if len(names) > 1 else []), "figure", "sensitive_columns")
    outcome.expect(table["kept"] == [column.name for column in job.kept], "figure", "table.kept")
    outcome.expect(certificate["scheme"]["name"] == job.scheme, "figure", "scheme.name")
    is_system = certificate["randomness"] == "operating system"
    outcome.expect(is_system != job.is_seeded, "figure", "randomness")
    _check_prior(job, certificate, outcome)


def _check_prior(job: Job, certificate: dict[str, Any], outcome: Outcome) -> None:
    """Shares and counts of each sensitive value, by its label; of several columns by a list of labels."""
    truth = {key: int(n) for key, n in zip(job.truth.keys, job.truth.secret.counts, strict=True)}
    counts = {key_of(job, label): n for label, n in certificate["prior_counts"].items()}
    outcome.expect(counts == truth, "figure", "prior_counts")
    outcome.expect(len(counts) == len(certificate["prior_counts"]), "figure", "prior_counts labels")
    shares = {key_of(job, label): share for label, share in certificate["prior"].items()}
    is_right = all(is_near(shares.get(key), n / job.n_rows) for key, n in truth.items()) and len(shares) == len(truth)
    outcome.expect(is_right, "figure", "prior")


def key_of(job: Job, label: str) -> Any:
    import json

    texts = json.loads(label) if len(job.secrets) > 1 else [label]
    is_text = job.is_text
    keys = [
        None if not text else text if is_text or column.kind not in ORDERED else read(column.kind, text)
        for text, column in zip(texts, job.secrets, strict=True)
    ]
    return tuple(keys) if len(keys) > 1 else keys[0]


def check_column(scale: Scale, told: dict[str, Any], shown: set[Label] | None, outcome: Outcome) -> None:
    """What a certificate states of a quasi-identifier; `shown` are its published labels, None if it is exact."""
    column = scale.column
    kind = "categorical" if column.is_categorical else column.kind
    outcome.expect(told["name"] == column.name and told["kind"] == kind, "figure", "columns.name or kind")
    outcome.expect(list(told) == FIELDS, "figure", "names under columns")
    outcome.expect(told["weight"] == column.weight, "figure", "columns.weight")
    outcome.expect(told["has_missing"] == scale.has_missing, "figure", "columns.has_missing")
    _check_ends(scale, told, outcome)
    if not column.is_categorical:
        _check_domain(scale, told["domain"], shown, outcome)
        return
    outcome.expect(told["domain"] is None and told["leaves"] == scale.n_leaves, "figure", "columns.leaves")
    if shown is not None:
        under = {
            str(label): len([line for line in column.tree or () if label in line[:-1]])
            for label in shown
            if label not in (None, "*")
        }
        inner = {label: n for label, n in under.items() if n > 1}
        outcome.expect(told["leaves_under"] == inner, "figure", "columns.leaves_under")
    if column.tree is not None:
        is_same = sorted(told["hierarchy"]) == sorted(column.tree)
        outcome.expect(is_same, "figure", "columns.hierarchy")
    elif shown is not None:
        leaves = {path[0] for path in told["hierarchy"]}
        outcome.expect(leaves <= {str(label) for label in shown}, "figure", "a leaf that is not published is stated")


def _check_ends(scale: Scale, told: dict[str, Any], outcome: Outcome) -> None:
    """The step and the extremes that were asked for, as text."""
    column, found = scale.column, [told[word] for word in ("round", "bottom", "top")]
    if column.ends is None:
        outcome.expect(found == [None] * 3, "figure", "columns.round, bottom or top of a column that is not rounded")
        return
    codes = tuple(None if text is None else read(column.kind, text) for text in found[1:])
    outcome.expect(codes == column.ends.codes, "figure", "columns.bottom or top")
    step = column.ends.round
    is_unit = step is None or isinstance(step, str)
    is_right = found[0] == step if is_unit else found[0] is not None and Fraction(found[0]) == Fraction(str(step))
    outcome.expect(is_right, "figure", "columns.round")


def _check_domain(scale: Scale, told: Sequence[str] | None, shown: set[Label] | None, outcome: Outcome) -> None:
    column, domain = scale.column, scale.domain
    if domain is None:
        return
    if told is not None:
        found = tuple(read(column.kind, text) for text in told)
        outcome.expect(found == domain, "figure", "columns.domain")
    else:
        outcome.expect(column.domain is None, "figure", "a declared domain is not stated")
    if shown is not None and column.domain is None and told is not None:
        covers = [scale.cover(label).ends for label in shown]
        ends = [end for cover in covers if cover is not None for end in cover]
        outcome.expect(domain[0] in ends and domain[1] in ends, "figure", "a domain that no label shows is stated")


__all__ = ["Promise", "check_classes", "check_column", "check_levels", "check_table", "full_name", "levels"]
