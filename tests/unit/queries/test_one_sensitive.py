"""One sensitive column of a release with several: its figures are those of a release with this column alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.errors import BetalikeError, ParameterError
from betalike.queries.one_sensitive import transition_of_column

RNG = np.random.default_rng(3)
AGE = RNG.integers(20, 60, 900)
PEOPLE = pl.DataFrame(
    {
        "age": AGE,
        "ill": np.where(RNG.random(900) < AGE / 100, "gout", np.where(RNG.random(900) < 0.5, "flu", "cough")),
        "income": (AGE // 10 + RNG.integers(0, 3, 900)).astype(str),
    }
)


def publish(scheme: str) -> betalike.Release:
    asked = {"quasi_identifiers": ["age"], "sensitive": ["ill", "income"], "beta": 2}
    return betalike.publish(PEOPLE, scheme=scheme, seed=1, **asked)


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["whole", "perturb", "baseline"])
def test_each_column_is_counted_drawn_and_compared_by_itself(scheme: str) -> None:
    release = publish(scheme)
    with pytest.raises(BetalikeError, match=r"release\.of_column\('ill'\)"):
        release.count("ill = 'flu'")
    for name in ("ill", "income"):
        one = release.of_column(name)
        counts = dict(PEOPLE[name].value_counts().iter_rows())
        assert one.facts.prior_counts == counts
        value = next(iter(counts))
        assert one.count(f"{name} = '{value}'").count == pytest.approx(counts[value], abs=1)
        assert one.draws(1, seed=1)[0].columns == ["age", name]
        found = one.utility(PEOPLE, queries=20, seed=1)
        assert [column.column for column in found.distributions] == ["age", name]
        assert found.distributions[1].distance < 0.05  # the distribution of each column is certified
        assert one.risk(PEOPLE).before is not None
        assert one.of_column(name) is one


def test_the_relation_to_a_column_is_that_of_the_published_rows() -> None:
    release = publish("whole")
    shares = {
        label: rows["ill"].eq("gout").sum() for (label,), rows in release.frame.group_by("age", maintain_order=True)
    }
    counts = release.of_column("ill").estimator.index.counts
    gout = list(release.of_column("ill").facts.prior_counts).index("gout")
    assert sorted(counts.count[counts.value == gout].tolist()) == sorted(n for n in shares.values() if n)


def test_chances_of_one_column_are_averages_over_the_others() -> None:
    counts = {'["a", "x"]': 1, '["a", "y"]': 3, '["b", "x"]': 4}
    chances = [[0.5, 0.25, 0.25], [0.1, 0.7, 0.2], [0.3, 0.3, 0.4]]
    transition = {value: dict(zip(counts, row, strict=True)) for value, row in zip(counts, chances, strict=True)}
    first = transition_of_column(transition, counts, 0)
    assert first["a"] == pytest.approx({"a": (1 * 0.75 + 3 * 0.8) / 4, "b": (1 * 0.25 + 3 * 0.2) / 4})
    assert first["b"] == pytest.approx({"a": 0.6, "b": 0.4})
    second = transition_of_column(transition, counts, 1)
    assert second["y"] == pytest.approx({"x": 0.3, "y": 0.7})
    assert list(second["x"]) == list(second["y"])


def test_another_column_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"'il' is no sensitive column .* They are: ill, income\. .*'ill'"):
        publish("whole").of_column("il")
