"""A share of the campaign of `make campaign`: random plans and whole releases, judged by code apart from betalike."""

from __future__ import annotations

import pytest

from campaign.running import check

FIRST = 1_000_000
PLANS, RELEASES = 200, 50  # of each chunk
CHUNKS = pytest.mark.parametrize(
    "chunk", [pytest.param(chunk, marks=() if chunk < 10 else pytest.mark.long) for chunk in range(40)]
)


def failures(mode: str, chunk: int, size: int) -> list[str]:
    """List what is wrong with a chunk of seeds, each with its seed."""
    seeds = range(FIRST + chunk * size, FIRST + (chunk + 1) * size)
    outcomes = [check(mode, seed, False) for seed in seeds]
    refused = [outcome.refused for outcome in outcomes if outcome.refused is not None]
    assert len(refused) < size / 4, refused
    return [f"--mode {mode} --seed {o.seed}: {reason}" for o in outcomes for reason in o.failures]


@CHUNKS
def test_random_plans_keep_their_promise_and_every_row(chunk):
    assert failures("plan", chunk, PLANS) == []


@CHUNKS
def test_random_releases_are_what_their_files_and_certificates_say(chunk):
    assert failures("release", chunk, RELEASES) == []
