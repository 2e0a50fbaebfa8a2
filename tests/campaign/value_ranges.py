"""Sensitive columns in ranges: which ranges are proper, and the job as it is once values are replaced."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .jobs import Column, Job, truth_of
from .outcome import Outcome
from .reading import key_of, read


def with_ranges(job: Job, certificate: dict[str, Any], outcome: Outcome) -> Job:
    """The job with the ranges that a certificate names in the place of values, each of which lies in one of them."""
    told = certificate["table"]["binned"]
    if job.bins is None:
        outcome.expect(told == [], "figure", "table.binned")
        return job
    (column,) = job.secrets
    keys = [key_of(column.kind, cell) for cell in column.cells]
    kinds = {column.kind} | ({"integer"} if all(key is None or key == int(key) for key in keys) else set())
    is_right = len(told) == 1 and told[0]["name"] == column.name and told[0]["kind"] in kinds
    outcome.expect(is_right and told[0]["dates"] is None and len(told[0]) == 3, "figure", "table.binned")
    ends = {label: _ends(column.kind, label) for label in certificate["prior_counts"] if label}
    ranges = sorted((*pair, label) for label, pair in ends.items())
    present = sorted(key for key in keys if key is not None)
    is_proper = all(low <= high and low in present and high in present for low, high, _ in ranges)
    is_proper = is_proper and all(one[1] < other[0] for one, other in pairwise(ranges)) and len(ranges) <= job.bins
    outcome.expect(is_proper, "label", "ranges overlap, do not end at values, or are too many")
    label_of = {key: [label for low, high, label in ranges if low <= key <= high] for key in {*present}}
    if not outcome.expect(all(len(labels) == 1 for labels in label_of.values()), "label", "a value in no range"):
        raise ValueError("a value without a range")
    for low, high, _ in ranges:  # about as many rows each: beyond an even share only by half of the first and the last
        rows = sum(low <= key <= high for key in present)
        spare = Fraction(present.count(low) + present.count(high), 2)
        outcome.expect(rows <= Fraction(len(present), job.bins) + spare, "label", "a range with too many rows")
    labels = [None if key is None else label_of[key][0] for key in keys]
    secrets = [Column(column.name, "text", labels)]
    return replace(job, secrets=secrets, truth=replace(truth_of(secrets, job.is_text), ground=None))


def _ends(kind: str, label: str) -> tuple[Any, Any]:
    texts = label[1:-1].split(", ") if label.startswith("[") else [label, label]
    low, high = (read(kind, text) for text in texts)
    return low, high
