"""The last line of defence: what a broken scheme, engine or disk hands over is refused, and nothing is written."""

from __future__ import annotations

import random
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from workbench import CANARY, NUMBER, Desk, assert_refused, files_under, people, run, with_canaries

import betalike
from betalike.engines.local import LocalEngine
from betalike.errors import GuaranteeError
from betalike.promises import Likeness
from betalike.report import summary
from betalike.schemes import Seam
from betalike.table.cells import Cells, Plan
from listeners import Meanwhile, staged

ARGUMENTS = {"quasi_identifiers": ["age", "gender", "city"], "sensitive": "disease", "beta": 2, "seed": 1}
BRIEF = {"effort": 0}


class CellByCell(Seam):
    """A scheme gone wrong: each cell, which has one sensitive value, is a class of its own."""

    def plan(self, cells: Cells, model: Likeness, *_: object, **__: object) -> Plan:
        number = np.arange(len(cells.count), dtype=np.int32)
        return Plan(cells, number, cells.count, number, len(number))


def refuse(desk: Desk, table: Path, words: str, **options: Any) -> None:
    """Publishing is refused in words that show no cell, and leaves everything as it was."""
    before = files_under(desk.folder)
    with pytest.raises(GuaranteeError, match=words) as refused:
        betalike.publish(table, **{**ARGUMENTS, "out": desk.out, **options})
    shown = "".join(traceback.format_exception(refused.value))
    assert CANARY not in shown
    assert str(NUMBER) not in shown
    assert files_under(desk.folder) == before


@pytest.mark.parametrize("options", [{}, {"format": "parquet"}, {"promise": "basic"}])
def test_a_class_that_breaks_the_promise_is_refused(desk: Desk, options: dict[str, Any]) -> None:
    table = desk.table(with_canaries(people()))
    refuse(desk, table, "break the promise.*Nothing was published", scheme=CellByCell(), **options)
    with pytest.raises(GuaranteeError):
        betalike.publish(pl.read_csv(table), **ARGUMENTS, scheme=CellByCell())


def test_a_refusal_leaves_the_older_release_and_no_new_folder(desk: Desk) -> None:
    table = desk.table()
    assert desk.publish("--scheme", "burel", table=table).status == 0
    refuse(desk, table, "promise", scheme=CellByCell(), force=True)
    refuse(desk, table, "promise", scheme=CellByCell(), out=desk.folder / "a/b/c")


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
def test_what_the_disk_corrupts_is_refused(desk: Desk, case: str) -> None:
    def corrupt() -> None:
        path = staged(desk.out, "published.csv")
        header, *rows = [list(row) for row in pl.read_csv(path, infer_schema=False, has_header=False).iter_rows()]
        CORRUPTIONS[case](rows)
        pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row").write_csv(path)

    table = desk.table(with_canaries(people()))
    refuse(desk, table, "Nothing was published", options=BRIEF, progress=Meanwhile("verify", corrupt))


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_the_disk_corrupts_are_refused(desk: Desk, form: str, seed: int) -> None:
    rng = random.Random(seed)

    def corrupt() -> None:
        path = staged(desk.out, f"published.{form}")
        content = path.read_bytes()
        path.write_bytes(content[: rng.randrange(len(content) - 1)])

    table, asked = desk.table(with_canaries(people())), {"options": BRIEF, "format": form}
    refuse(desk, table, "Nothing was published", **asked, progress=Meanwhile("verify", corrupt))


BUGS: dict[str, BaseException] = {
    "ValueError": ValueError(f"cannot convert {CANARY}"),
    "KeyError": KeyError(NUMBER),
    "AssertionError": AssertionError(CANARY),
    "a panic of Polars": pl.exceptions.PanicException(f"called unwrap on {CANARY}"),
    "an error of Polars": pl.exceptions.ComputeError(f"{CANARY} is not {NUMBER}"),
    "RecursionError": RecursionError(CANARY),
}


@pytest.fixture
def break_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, BaseException], None]:
    """Let a function fail."""

    def set_fault(owner: Any, name: str, error: BaseException) -> None:
        def stumble(*_: object, **__: object) -> None:
            raise error

        # It is a bug of betalike, which no input and no disk can make.
        monkeypatch.setattr(owner, name, stumble)

    return set_fault


Break = Callable[[Any, str, BaseException], None]


@pytest.mark.parametrize("place", ["count_cells", "generalize", "write", "recount"])
@pytest.mark.parametrize("case", BUGS)
def test_a_bug_is_told_without_its_text(desk: Desk, place: str, case: str, break_at: Break) -> None:
    break_at(LocalEngine, place, BUGS[case])
    table = desk.table(with_canaries(people()))
    before = files_under(desk.folder)
    outcome = desk.publish(table=table)
    assert outcome.status in (1, 3) if place == "recount" else outcome.status == 3
    assert_refused(outcome, "betalike", status=outcome.status)
    assert files_under(desk.folder) == before


def test_a_bug_with_json_is_one_document(desk: Desk, break_at: Break) -> None:
    break_at(LocalEngine, "generalize", ZeroDivisionError())
    outcome = desk.publish("--json")
    assert outcome.status == 3
    assert "ZeroDivisionError" in outcome.document["error"]["message"]


@pytest.mark.parametrize(("error", "status"), [(ZeroDivisionError(), 3), (KeyboardInterrupt(), 130)])
def test_a_bug_or_an_interrupt_after_the_release_does_not_deny_it(
    desk: Desk, error: BaseException, status: int, break_at: Break
) -> None:
    break_at(summary, "print_release", error)
    outcome = desk.publish()
    assert run("verify", desk.out).status == 0
    assert outcome.status == status
    assert "nothing was published" not in outcome.text


def test_a_broken_promise_ends_with_its_own_status(desk: Desk, break_at: Break) -> None:
    break_at(LocalEngine, "recount", GuaranteeError("classes break the promise. Nothing was published."))
    assert_refused(desk.publish(), "break the promise", "Nothing was published", status=1)
    assert not desk.out.exists()


def test_too_little_memory_is_told(desk: Desk, break_at: Break) -> None:
    break_at(LocalEngine, "count_cells", MemoryError())
    assert_refused(desk.publish(), "memory")
    assert not desk.out.exists()
