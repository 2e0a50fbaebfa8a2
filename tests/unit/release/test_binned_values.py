"""Ranges of binned values from a certificate: read if they are ranges, left out if they are not."""

from __future__ import annotations

import msgspec
import polars as pl

import betalike
from betalike.release.binned_values import as_binned, ranges_of
from betalike.release.certificate import BinnedFacts, Certificate


def certificate() -> Certificate:
    table = pl.DataFrame({"age": [1, 2] * 40, "pay": list(range(80))})
    return betalike.publish(table, quasi_identifiers=["age"], sensitive="pay", beta=4, bins={"pay": 4}, seed=1).facts


def binned(facts: Certificate, *claims: BinnedFacts) -> Certificate:
    return msgspec.structs.replace(facts, table=msgspec.structs.replace(facts.table, binned=list(claims)))


def test_values_of_the_original_get_the_labels_of_the_certificate() -> None:
    facts = certificate()
    labels = as_binned(pl.Series("pay", ["0", "19", "20", None, "80"]), facts).to_list()
    assert labels == ["[0, 19]", "[0, 19]", "[20, 39]", None, "outside all ranges"]
    assert as_binned(pl.Series("pay", ["0"]), None).to_list() == ["0"]


def test_claims_that_are_not_true_are_left_out() -> None:
    facts = certificate()
    assert [*ranges_of(facts)] == ["pay"]
    for claim in (BinnedFacts("age", "integer"), BinnedFacts("pay", "date"), BinnedFacts("pay", "categorical")):
        assert ranges_of(binned(facts, claim)) == {}
