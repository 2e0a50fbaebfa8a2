"""A share of the campaign of `make campaign`: random plans and whole releases, judged by code apart from betalike."""

from __future__ import annotations

import pytest

from campaign.running import check

PLANS, RELEASES, CHUNKS = 3000, 500, 10


def failures(mode: str, chunk: int, number: int, first: int) -> list[str]:
    """Whatever is wrong with a chunk of seeds, each with its seed."""
    size = number // CHUNKS
    seeds = range(first + chunk * size, first + (chunk + 1) * size)
    outcomes = [check(mode, seed, False) for seed in seeds]
    refused = [outcome.refused for outcome in outcomes if outcome.refused is not None]
    assert len(refused) < size / 4, refused
    return [f"--mode {mode} --seed {o.seed}: {reason}" for o in outcomes for reason in o.failures]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_plans_keep_their_promise_and_every_row(chunk):
    assert failures("plan", chunk, PLANS, 1_000_000) == []


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_releases_are_what_their_files_and_certificates_say(chunk):
    assert failures("release", chunk, RELEASES, 1_000_000) == []
