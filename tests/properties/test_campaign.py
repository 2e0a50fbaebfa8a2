"""A share of the campaign of `make campaign`: random plans and whole releases, judged by code apart from betalike."""

from __future__ import annotations

import pytest

from campaign.running import check

FIRST = 1_000_000
PLANS, RELEASES, ON_SPARK = 200, 50, 6  # of each chunk
N_CHUNKS = 40


def chunks(n_quick: int) -> pytest.MarkDecorator:
    """Every chunk, of which `make test` runs the first."""
    cases = [pytest.param(chunk, marks=() if chunk < n_quick else pytest.mark.long) for chunk in range(N_CHUNKS)]
    return pytest.mark.parametrize("chunk", cases)


def failures(mode: str, chunk: int, size: int) -> list[str]:
    """List what is wrong with a chunk of seeds, each with its seed."""
    seeds = range(FIRST + chunk * size, FIRST + (chunk + 1) * size)
    outcomes = [check(mode, seed, False) for seed in seeds]
    refused = [outcome.refused for outcome in outcomes if outcome.refused is not None]
    assert len(refused) < max(size / 4, 4), refused
    return [f"--mode {mode} --seed {o.seed}: {reason}" for o in outcomes for reason in o.failures]


@chunks(3)
def test_random_plans_keep_their_promise_and_every_row(chunk):
    assert failures("plan", chunk, PLANS) == []


@chunks(1)
def test_random_releases_are_what_their_files_and_certificates_say(chunk):
    assert failures("release", chunk, RELEASES) == []


@pytest.mark.long
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("chunk", range(8))
def test_random_releases_on_spark_are_what_their_files_and_certificates_say(chunk):
    pytest.importorskip("pyspark", reason="Spark is not installed")
    assert failures("spark", chunk, ON_SPARK) == []
