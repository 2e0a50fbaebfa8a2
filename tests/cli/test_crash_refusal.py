"""The last line of defence: what a broken scheme, engine or disk hands over is refused, and nothing is written."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from workbench import CANARY, NUMBER, Desk, assert_refused, files_under, people, run, with_canaries

import betalike
from betalike.engines.local import LocalEngine
from betalike.errors import GuaranteeError
from betalike.promises import Likeness
from betalike.schemes import DEFAULT_SCHEME, SCHEMES, Seam
from betalike.table.cells import Cells, Plan

ARGUMENTS = {"quasi_identifiers": ["age", "gender", "city"], "sensitive": "disease", "beta": 2}


class CellByCell(Seam):
    """A scheme gone wrong: each cell, which has one sensitive value, is a class of its own."""

    def plan(self, cells: Cells, model: Likeness, *_: object, **__: object) -> Plan:
        number = np.arange(len(cells.count), dtype=np.int32)
        return Plan(cells, number, cells.count, number, len(number))


@pytest.fixture
def _broken_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCHEMES, DEFAULT_SCHEME, CellByCell)


@pytest.mark.usefixtures("_broken_scheme")
@pytest.mark.parametrize("options", [[], ["--format", "parquet"], ["--promise", "basic"]])
def test_a_class_that_breaks_the_promise_is_refused(desk: Desk, options: list[str]) -> None:
    table = desk.table(with_canaries(people()))
    before = files_under(desk.folder)
    outcome = desk.publish(*options, table=table)
    assert_refused(outcome, "break the promise", "Nothing was published", status=1)
    assert files_under(desk.folder) == before


@pytest.mark.usefixtures("_broken_scheme")
def test_a_refusal_leaves_the_older_release_and_no_new_folder(desk: Desk) -> None:
    table = desk.table()
    assert desk.publish("--scheme", "burel", table=table).status == 0
    before = files_under(desk.folder)
    assert desk.publish("--force", table=table).status == 1
    assert desk.publish(table=table, out=desk.folder / "a/b/c").status == 1
    assert files_under(desk.folder) == before


@pytest.mark.usefixtures("_broken_scheme")
def test_the_python_function_refuses_with_a_guarantee_error(desk: Desk) -> None:
    table = desk.table()
    with pytest.raises(GuaranteeError):
        betalike.publish(table, out=desk.out, **ARGUMENTS, seed=1)
    with pytest.raises(GuaranteeError):
        betalike.publish(pl.read_csv(table), **ARGUMENTS, seed=1)
    assert not desk.out.exists()


def swap_diseases(rows: list[list[str]]) -> None:
    """Give every class to as few diseases as there are rows of them: sorts the sensitive column."""
    for row, disease in zip(rows, sorted(row[-1] for row in rows), strict=True):
        row[-1] = disease


def sort_rows(rows: list[list[str]]) -> None:
    rows.sort(key=lambda row: row[:-1])


CORRUPTIONS: dict[str, Callable[[list[list[str]]], object]] = {
    "a label that cannot be read": lambda rows: rows[0].__setitem__(0, "[30, "),
    "a label of no hierarchy": lambda rows: rows[0].__setitem__(2, "Atlantis"),
    "a label without meaning": lambda rows: rows[0].__setitem__(0, "Atlantis"),
    "a sensitive value that nobody has": lambda rows: rows[0].__setitem__(-1, "plague"),
    "a sensitive value changed": lambda rows: rows[0].__setitem__(-1, "gout" if rows[0][-1] != "gout" else "flu"),
    "a sensitive value lost": lambda rows: rows[0].__setitem__(-1, ""),
    "a row lost": lambda rows: rows.pop(),
    "a row twice": lambda rows: rows.append(rows[0]),
    "everything lost": lambda rows: rows.clear(),
    "labels shifted": lambda rows: [
        row.__setitem__(0, re.sub(r"\d+", lambda number: str(int(number[0]) + 1), row[0])) for row in rows
    ],
    "labels narrowed": lambda rows: [row.__setitem__(0, "47") for row in rows],
    "sensitive values sorted into classes": lambda rows: (sort_rows(rows), swap_diseases(rows)),
}


@pytest.mark.parametrize("case", CORRUPTIONS)
def test_what_the_disk_corrupts_is_refused(desk: Desk, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write = LocalEngine.write

    def write_wrongly(self: LocalEngine, release: pl.DataFrame, path: Path, form: object) -> object:
        formulas = write(self, release, path, form)
        header, *rows = [list(row) for row in pl.read_csv(path, infer_schema=False, has_header=False).iter_rows()]
        CORRUPTIONS[case](rows)
        frame = pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")
        frame.write_csv(path)
        return formulas

    monkeypatch.setattr(LocalEngine, "write", write_wrongly)
    table = desk.table(with_canaries(people()))
    before = files_under(desk.folder)
    assert_refused(desk.publish(table=table), "Nothing was published", status=1)
    assert files_under(desk.folder) == before


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_the_disk_corrupts_are_refused(
    desk: Desk, form: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, rng = LocalEngine.write, random.Random(seed)

    def write_wrongly(self: LocalEngine, release: pl.DataFrame, path: Path, format: object) -> object:
        formulas = write(self, release, path, format)
        content = path.read_bytes()
        path.write_bytes(content[: rng.randrange(len(content) - 1)])
        return formulas

    monkeypatch.setattr(LocalEngine, "write", write_wrongly)
    table = desk.table(with_canaries(people()))
    before = files_under(desk.folder)
    assert_refused(desk.publish(table=table, format=form), "Nothing was published", status=1)
    assert files_under(desk.folder) == before


BUGS: dict[str, BaseException] = {
    "ValueError": ValueError(f"cannot convert {CANARY}"),
    "KeyError": KeyError(NUMBER),
    "AssertionError": AssertionError(CANARY),
    "a panic of Polars": pl.exceptions.PanicException(f"called unwrap on {CANARY}"),
    "an error of Polars": pl.exceptions.ComputeError(f"{CANARY} is not {NUMBER}"),
    "RecursionError": RecursionError(CANARY),
}


@pytest.mark.parametrize("place", ["count_cells", "generalize", "write", "recount"])
@pytest.mark.parametrize("case", BUGS)
def test_a_bug_is_told_without_its_text(desk: Desk, place: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object, **__: object) -> None:
        raise BUGS[case]

    monkeypatch.setattr(LocalEngine, place, stumble)
    table = desk.table(with_canaries(people()))
    before = files_under(desk.folder)
    outcome = desk.publish(table=table)
    assert outcome.status in (1, 3) if place == "recount" else outcome.status == 3
    assert_refused(outcome, "betalike", status=outcome.status)
    assert files_under(desk.folder) == before


def test_a_bug_with_json_is_one_document(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalEngine, "generalize", lambda *_: 1 / 0)
    outcome = desk.publish("--json")
    assert outcome.status == 3
    assert "ZeroDivisionError" in outcome.document["error"]["message"]


def test_a_bug_after_the_release_does_not_deny_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("betalike.report.summary.print_release", lambda *_: 1 / 0)
    outcome = desk.publish()
    assert run("verify", desk.out).status == 0
    assert outcome.status == 3
    assert "nothing was published" not in outcome.text


def test_too_little_memory_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(LocalEngine, "count_cells", stumble)
    assert_refused(desk.publish(), "memory")
    assert not desk.out.exists()
