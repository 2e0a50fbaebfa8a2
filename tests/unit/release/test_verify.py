"""The verifier of exact rows: whatever is not as it should be is refused, and honest chance is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from betalike.engines.engine import ExactRecount
from betalike.errors import GuaranteeError, InternalError
from betalike.promises import Likeness, Transition
from betalike.release.verify import Verified, are_plausible, verify_perturbed, verify_withheld
from betalike.schemes import Perturbation
from betalike.table.axis import HierarchyAxis
from betalike.table.cells import ValueCounts
from betalike.table.hierarchy import Hierarchy

COUNTS = np.array([6000, 3000, 1000])
MODEL = Likeness(2)
MARGINS = ValueCounts(
    (HierarchyAxis("city", Hierarchy.flat("ab")),), HierarchyAxis("secret", Hierarchy.flat("xyz")), (1.0,), COUNTS
)
USED = Perturbation().perturbing(COUNTS, MODEL).transition
HONEST = ExactRecount(10_000, 0, 0, np.rint(COUNTS[:, None] * USED.probabilities).astype(np.int64))


def test_an_honest_release_is_verified() -> None:
    verified = verify_perturbed(HONEST, USED, USED, MARGINS, MODEL)
    assert verified.verdict.holds
    assert verified.classes is None
    assert verified.loss.average == 0


@pytest.mark.parametrize(
    "recount",
    [
        replace(HONEST, n_rows=9_999),
        replace(HONEST, n_changed=1),
        replace(HONEST, n_unknown=1),
        replace(HONEST, moves=None),
        replace(HONEST, moves=np.diag(COUNTS)),
        replace(HONEST, moves=HONEST.moves[:, ::-1]),
    ],
    ids=["a row lost", "a cell changed", "an unknown value", "no values", "nothing perturbed", "another matrix"],
)
def test_what_was_written_wrongly_is_refused(recount: ExactRecount) -> None:
    with pytest.raises(GuaranteeError, match="Nothing was published"):
        verify_perturbed(recount, USED, USED, MARGINS, MODEL)


def test_another_matrix_than_the_one_used_is_refused() -> None:
    other = Transition(USED.units + np.array([[-1, 1, 0], [0, 0, 0], [0, 0, 0]]))
    with pytest.raises(GuaranteeError, match="not the one that was used"):
        verify_perturbed(HONEST, other, USED, MARGINS, MODEL)


def test_a_matrix_that_breaks_the_promise_is_refused() -> None:
    tell_all = Transition.of_retention(np.array([0.9, 0.9, 0.9]))
    moves = np.rint(COUNTS[:, None] * tell_all.probabilities).astype(np.int64)
    with pytest.raises(GuaranteeError, match="break the promise"):
        verify_perturbed(replace(HONEST, moves=moves), tell_all, tell_all, MARGINS, MODEL)


def test_the_baseline_is_verified_or_refused() -> None:
    rows = ExactRecount(10_000, 0)
    verified = verify_withheld(rows, COUNTS, MARGINS, MODEL)
    assert verified.verdict.worst_gain == 0
    for recount, stated in ((HONEST, COUNTS), (rows, COUNTS[::-1]), (replace(rows, n_changed=2), COUNTS)):
        with pytest.raises(GuaranteeError, match="Nothing was published"):
            verify_withheld(recount, stated, MARGINS, MODEL)


def test_only_the_verifier_makes_a_verified_release() -> None:
    verified = verify_withheld(ExactRecount(10_000, 0), COUNTS, MARGINS, MODEL)
    with pytest.raises(InternalError):
        Verified(verified.verdict, verified.audit, verified.loss, None, object())


def test_honest_draws_are_never_called_wrong() -> None:
    rng = np.random.default_rng(5)
    chances = np.array([0.9, 0.0999, 0.0001])
    for n_draws in (1, 5, 100, 100_000):
        for _ in range(300):
            counted = rng.multinomial(n_draws, chances)
            assert are_plausible(counted, n_draws * chances, np.full(3, n_draws))
    assert not are_plausible(np.array([100_000, 0, 0]), 100_000 * chances, np.full(3, 100_000))
    assert not are_plausible(np.array([89_000, 10_990, 10]), 100_000 * chances, np.full(3, 100_000))
