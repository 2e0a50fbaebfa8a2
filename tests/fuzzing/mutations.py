"""Inputs for every target from a number: well-formed ones, changed in their structure, in their bytes, or in both."""

from __future__ import annotations

import random
from collections.abc import Callable

from . import structures
from .dictionaries import TOKENS

Mutation = Callable[[random.Random, bytes], bytes]


def _flip(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _replace(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _overwrite(rng: random.Random, data: bytes) -> bytes:
    at, token = rng.randrange(len(data)), rng.choice(TOKENS)
    return data[:at] + token + data[at + len(token) :]


def _delete(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    times = min(rng.choice([2, 2, 3, 10, 200]), 1 + 20_000 // max(end - start, 1))
    return data[:start] + data[start:end] * times + data[end:]


def _splice(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[start:end] + data[at:]


def _truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.8 else data[rng.randrange(len(data) + 1) :]


def _number(rng: random.Random, data: bytes) -> bytes:
    """Four bytes become a number at a limit: a length or an offset in a binary file."""
    at = rng.randrange(len(data))
    value = rng.choice([0, 1, 2, 127, 128, 255, 1 << 15, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, len(data)])
    return data[:at] + value.to_bytes(4, rng.choice(["little", "big"])) + data[at + 4 :]


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice([1, 1, 2, 4, 8, 32, len(data)]))


MUTATIONS: list[Mutation] = [
    _flip, _flip, _replace, _insert, _insert, _overwrite, _delete, _repeat, _splice, _truncate, _number,
]  # fmt: skip


def mutate(rng: random.Random, data: bytes) -> bytes:
    """Change a few bytes, mostly only once or twice."""
    while True:
        data = rng.choice(MUTATIONS)(rng, data) if data else rng.choice(TOKENS)
        if rng.random() < 0.6:
            return data


def make_input(target: str, number: int) -> bytes:
    """The input of a target that has this number."""
    rng = random.Random(f"{target} {number}")
    data = structures.MAKERS[target](rng)
    mode, content = data[:1], data[1:]
    if rng.random() < structures.BYTES_SHARE[target]:
        content = mutate(rng, content)
    if target == "compressed" and rng.random() < 0.1:
        content = structures.compress(rng, content)  # compressed twice
    return mode + content
