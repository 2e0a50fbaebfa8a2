"""Measures of a published table as pycanon computes them, where it has the measure."""

from __future__ import annotations

from math import floor

import numpy as np
import pandas as pd
import pytest
from pycanon import anonymity

import betalike

QUASI_IDENTIFIERS, SENSITIVE = ["age", "city"], "disease"


@pytest.mark.some(2)
@pytest.mark.parametrize("seed", range(5))
def test_an_audit_agrees_with_pycanon(seed: int) -> None:
    rng, n_rows = np.random.default_rng(seed), 400
    frame = pd.DataFrame(
        {
            "age": rng.choice(["20-29", "30-39", "40-49"], n_rows),
            "city": rng.choice(["Bonn", "Kiel", "Ulm"], n_rows),
            "disease": rng.choice(["asthma", "cold", "flu", "gout"], n_rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    report = betalike.audit(frame, original=frame, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE, beta=50)
    audit, diversity = report.audit, report.diversity
    asked = frame, QUASI_IDENTIFIERS, [SENSITIVE]
    alpha, k = anonymity.alpha_k_anonymity(*asked)
    assert (audit.k, diversity["alpha"]) == (k, pytest.approx(alpha))
    assert audit.distinct_l == anonymity.l_diversity(*asked)
    assert floor(diversity["entropy_l"]) == anonymity.entropy_l_diversity(*asked)
    assert audit.t == pytest.approx(anonymity.t_closeness(*asked))
    assert audit.basic_beta == pytest.approx(anonymity.basic_beta_likeness(*asked))
    assert audit.delta == pytest.approx(anonymity.delta_disclosure(*asked))
