"""What a sensitive column costs: the more values it has, the larger are the classes that may hold each of them."""

from __future__ import annotations

import numpy as np

from betalike.promises.likeness import posterior_cap
from betalike.runtime.arrays import Floats, Ints

PROPOSED_BETA = 4.0
PROPOSED_BINS = 50


def estimate_loss(counts: Ints, n_quasi_identifiers: int, beta: float = PROPOSED_BETA) -> float:
    """Estimate the loss of a release from how often each sensitive value occurs.

    A class with a row of a value has at least 1 / cap rows. The estimate takes the least size of which a random class
    is expected to hold at most one row whose value needs a larger class. If classes have this share of all rows, their
    ranges cover about its root (one for each quasi-identifier) of each domain.
    """
    n_rows = int(counts.sum())
    if n_rows == 0 or n_quasi_identifiers == 0:
        return 0.0
    needed: Floats = 1 / posterior_cap(counts / n_rows, beta)
    order = np.argsort(needed)
    above = 1 - np.cumsum(counts[order]) / n_rows  # share of rows whose value needs a larger class
    fits = needed[order] * above <= 1
    share = float(needed[order][np.argmax(fits)]) / n_rows
    return float(min(share, 1.0) ** (1 / n_quasi_identifiers))


def even_bins(n_rows: int, n_bins: int = PROPOSED_BINS) -> Ints:
    """Return how many rows each of these bins has, if all have about as many."""
    return np.full(n_bins, max(n_rows // n_bins, 1))
