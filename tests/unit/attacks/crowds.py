"""Invented people whose disease depends on their age, and releases of them that are made to be broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import betalike
from betalike.attacks import Target, open_target

DISEASES = ["angina", "cough", "flu", "gout", "ulcer"]
TREE = [[d, "chest" if d in ("angina", "cough", "flu") else "other", "*"] for d in DISEASES]
CITIES = ["Bari", "Bonn", "Kiel", "Rom"]
COLUMNS = ["age", "city"]


def crowd(n_rows: int = 2_000, seed: int = 1, noise: float = 0.2) -> pl.DataFrame:
    """People whose disease is that of their decade, with a share of exceptions."""
    rng = np.random.default_rng(seed)
    age, city = rng.integers(20, 70, n_rows), rng.integers(0, len(CITIES), n_rows)
    typical = (age - 20) // 10
    disease = np.where(rng.random(n_rows) < noise, rng.integers(0, len(DISEASES), n_rows), typical)
    return pl.DataFrame({"age": age, "city": [CITIES[c] for c in city], "disease": [DISEASES[d] for d in disease]})


def release_of(frame: pl.DataFrame, **arguments: Any) -> betalike.Release:
    """A release in memory; without arguments one that promises anonymity alone, and so gives diseases away."""
    told = arguments or {"scheme": "mondrian", "promise": "k-anonymity", "k": 10}
    return betalike.publish(frame, quasi_identifiers=COLUMNS, sensitive="disease", seed=1, **told)


def target_of(frame: pl.DataFrame, hierarchies: Any = None, **arguments: Any) -> Target:
    """The release as a target."""
    return open_target(release_of(frame, **arguments), original=frame, hierarchies=hierarchies)


def label_test(label: str | None) -> Callable[[Any], bool]:
    """Whether a label covers a value, read from its text."""
    if label is None:
        return lambda value: value is None
    if label == "*":
        return lambda value: True
    if label.startswith("["):
        low, high = map(float, label[1:-1].split(", "))
        return lambda value: value is not None and low <= float(value) <= high
    return lambda value: value is not None and str(value) == label
