"""Certificates that are changed at random: found at fault or refused, never a bug, never a cell."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from workbench import CANARY, Desk, assert_refused, change, run

VALUES: list[Any] = [
    *[0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**400, -(2**63), -(10**30), 0.5, -0.0, 1e300, -1e300],
    *["", "*", "x", "[1, 2]", "../..", "/etc/passwd", "a\0b", "x" * 100_000, "\u202e", "9" * 5000, "2020-01-01", "nan"],
    *[None, True, False, [], {}, [[]], [["x"]], [["x", "*"]], {"x": 1}, {"": {}}, [1, "a", None]],
]


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a document."""
    if path:
        yield path
    entries = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def changed(content: Any, chance: random.Random) -> Any:
    """The document with one or two random changes."""
    content = copy.deepcopy(content)
    for _ in range(chance.choice([1, 1, 1, 2])):
        *path, last = chance.choice(list(places(content)))
        inner = content
        for key in path:
            inner = inner[key]
        what = chance.randrange(6)
        if what == 0:
            del inner[last]
        elif what == 1 and isinstance(inner, dict):
            inner[chance.choice(["x", "layout", "../x", "", "disease", "\0"])] = inner.pop(last)
        elif what == 2 and isinstance(inner, list):
            inner.append(copy.deepcopy(inner[last]))
        else:
            inner[last] = copy.deepcopy(chance.choice(VALUES))
    return content


@pytest.fixture
def releases(desk: Desk) -> list[Path]:
    for scheme in ("seam", "perturb", "baseline"):
        assert desk.publish(scheme=scheme, out=desk.folder / scheme, hierarchies=desk.hierarchies()).status == 0
    kept = desk.folder / "kept"
    assert desk.publish("--keep-identifiers", out=kept, keep="name").status == 0
    tree = desk.folder / "t"
    assert desk.publish(scheme="sabre", beta=None, t="0.3", out=tree).status == 0
    return [desk.folder / name for name in ("seam", "perturb", "baseline", "kept", "t")]


@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.long)])
def test_changed_at_random(desk: Desk, releases: list[Path], times: int) -> None:
    chance = random.Random(times)
    original = ["--original", desk.folder / "people.csv"]
    for folder in releases:
        path = folder / "certificate.json"
        true = json.loads(path.read_bytes())
        for number in range(times):
            path.write_text(json.dumps(changed(true, chance)))
            outcome = run("verify", folder, *(original if number % 4 == 0 else []))
            assert outcome.status in (0, 1, 2), path.read_text()[:2000]
            assert CANARY not in outcome.stderr
        path.write_text(json.dumps(true))
        assert run("verify", folder, *original).status == 0


RAW: dict[str, bytes] = {
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"scheme": {"details": ' + b'{"x": ' * 50_000,
    "not a number": b'{"seconds": {"load": NaN}}',
    "infinite": b'{"seconds": {"load": Infinity}}',
    "half a letter": b'{"randomness": "\\ud800"}',
}


@pytest.mark.parametrize("case", RAW)
def test_what_is_hardly_json(desk: Desk, case: str) -> None:
    desk.publish()
    (desk.out / "certificate.json").write_bytes(RAW[case])
    assert run("verify", desk.out).status == 2


def test_a_name_twice(desk: Desk) -> None:
    desk.publish()
    path = desk.out / "certificate.json"
    path.write_bytes(path.read_bytes().replace(b'"k": 1,', b'"k": 1, "k": 1,', 1))
    outcome = run("verify", desk.out)
    assert outcome.status == 2
    assert "twice" in outcome.text


@pytest.mark.parametrize("count", [2**63 - 1, 2**63, 2**64, 10**30])
def test_counts_that_no_table_has(desk: Desk, count: int) -> None:
    desk.publish()
    change(desk, lambda certificate: certificate["prior_counts"].update(flu=count))
    assert run("verify", desk.out).status == 2


@pytest.mark.parametrize("count", [-6, 0])
def test_counts_of_nobody(desk: Desk, count: int) -> None:
    desk.publish()
    change(desk, lambda certificate: certificate["prior_counts"].update(flu=count))
    assert run("verify", desk.out).status == 1
    assert_refused(run("audit", desk.out, "--qi", "age,gender", "--sensitive", "disease", "--certificate", desk.out))
    assert_refused(run("query", desk.out, "age < 30"))


def test_a_quasi_identifier_twice(desk: Desk) -> None:
    desk.publish()
    change(desk, lambda certificate: certificate["table"].update(quasi_identifiers=["age", "gender", "age"]))
    assert_refused(run("verify", desk.out))
    assert_refused(run("query", desk.out, "age < 30"))


def test_a_quasi_identifier_without_facts(desk: Desk) -> None:
    desk.publish()
    change(desk, lambda certificate: certificate["table"]["columns"].pop())
    assert run("verify", desk.out).status == 1
    assert_refused(run("query", desk.out, "age < 30"))


@pytest.mark.parametrize("domain", [["x", "9"], ["9", "1"], ["1", "9" * 400], ["", ""]])
def test_a_domain_that_is_none(desk: Desk, domain: list[str]) -> None:
    desk.publish()
    change(desk, lambda certificate: certificate["table"]["columns"][0].update(domain=domain))
    assert run("verify", desk.out).status == 1
    assert_refused(run("query", desk.out, "age < 30"), "domain")


def test_what_was_verified_is_shown(desk: Desk) -> None:
    desk.publish("--keep-identifiers", keep="name", seed="7")
    outcome = run("verify", desk.out)
    for words in (
        "enhanced-likeness with beta 2",
        "whole",
        "120 rows",
        "age, gender, city",
        "disease",
        "name",
        "SEEDED",
    ):
        assert words in outcome.text
    verified = run("verify", desk.out, "--json").document["verified"]
    assert verified["beta"] == 2
    assert verified["kept"] == ["name"]
    assert verified["seeded"] is True
    assert verified["signature"] == "not signed"


def test_a_certificate_without_quasi_identifiers(desk: Desk) -> None:
    desk.publish()
    change(desk, lambda certificate: certificate["table"].update(quasi_identifiers=[]))
    for words in (["verify", desk.out], ["query", desk.out, "age > 30"]):
        assert_refused(run(*words), "names no quasi-identifiers")


def test_dates_that_no_calendar_has(desk: Desk) -> None:
    assert desk.publish(format="parquet").status == 0
    path = desk.out / "published.parquet"
    rows = pl.read_parquet(path)
    far = pl.Series([2**31 - 1] * len(rows), dtype=pl.Int32).cast(pl.Date)
    rows.with_columns(far.alias("age")).write_parquet(path)
    assert_refused(run("query", desk.out, "age < 30"))
    assert run("verify", desk.out).status == 1
