"""How varied the sensitive values of the least varied class are: entropy l, recursive c, and alpha."""

from __future__ import annotations

import numpy as np

from betalike.table.cells import ClassCounts


def entropy_l(classes: ClassCounts) -> float:
    """Return the largest l of entropy l-diversity: e to the least entropy of a class."""
    share = classes.count / classes.sizes[classes.ec]
    entropy = -np.add.reduceat(share * np.log(share), classes.starts[:-1])
    return float(np.exp(entropy.min()))


def recursive_c(classes: ClassCounts, l: int) -> float | None:  # noqa: E741 - the name that everybody uses
    """Return the number that c must exceed for recursive (c, l)-diversity; None if some class has fewer than l values.

    With the counts of a class in descending order, the first is less than c times the sum from the l-th on.
    """
    if int(np.diff(classes.starts).min()) < l:
        return None
    order = np.lexsort((-classes.count, classes.ec))
    count, starts = classes.count[order], classes.starts
    rank = np.arange(len(count)) - starts[classes.ec]
    rest = np.add.reduceat(np.where(rank >= l - 1, count, 0), starts[:-1])
    return float((count[starts[:-1]] / rest).max())


def alpha(classes: ClassCounts) -> float:
    """Return the largest share of a value in any class: alpha of (alpha, k)-anonymity, and the surest guess."""
    return float((classes.count / classes.sizes[classes.ec]).max())
