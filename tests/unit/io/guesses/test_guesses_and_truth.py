"""Guesses held against the truth of realistic tables; the page shows the same."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import betalike
from describe_scores import PAGE, REAL, Judged, judge_made, judge_real, lines_of
from described_tables import TABLES

LEAST_RIGHT = 0.95


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Judged]]:
    folder = tmp_path_factory.mktemp("tables")
    return {name: judge_made(name, folder) for name in TABLES}


def check(tables: dict[str, list[Judged]]) -> None:
    judged = [(name, one) for name, table in tables.items() for one in table]
    assert [(name, one.column) for name, one in judged if one.is_identifier_published] == []
    answers = [answer for _, one in judged for answer in (one.is_right, *([one.has_right_type] if one.kind else []))]
    assert sum(answers) >= LEAST_RIGHT * len(answers)


def check_page(tables: dict[str, list[Judged]]) -> None:
    shown = PAGE.read_text(encoding="utf-8").splitlines()
    expected = [line for name, table in tables.items() for line in lines_of(name, table)]
    assert [line for line in expected if line not in shown] == [], "run tests/describe_scores.py"


def test_there_are_twelve_tables() -> None:
    assert len(TABLES) >= 12


def test_made_tables(made: dict[str, list[Judged]]) -> None:
    check(made)


def test_the_page_shows_the_guesses_about_made_tables(made: dict[str, list[Judged]]) -> None:
    check_page(made)


def test_real_tables_and_the_page(data_folder: Path) -> None:
    tables = {name: judge_real(name, data_folder) for name in REAL}
    check(tables)
    check_page(tables)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["hospital visits", "payroll", "German patients"])
def test_the_draft_publishes_as_it_stands(name: str, tmp_path: Path) -> None:
    frame, truth = TABLES[name]()
    frame.write_csv(tmp_path / "table.csv")
    (tmp_path / "release.toml").write_text(betalike.describe(tmp_path / "table.csv").to_toml(), encoding="utf-8")
    release = betalike.publish(spec=tmp_path / "release.toml", options={"effort": 0}, seed=1)
    published = set(release.frame.columns)
    assert {
        column for column in published if truth[column][0] not in ("quasi-identifier", "could be sensitive")
    } == set()
    assert sum(truth[column][0] == "could be sensitive" for column in published) == 1


@pytest.mark.some(3)
@pytest.mark.parametrize("name", TABLES)
def test_no_cell_is_shown(name: str) -> None:
    frame, _ = TABLES[name]()
    described = betalike.describe(frame)
    shown = described.to_toml() + repr(described) + described._repr_html_() + str(described.to_dict())
    texts = {text for column in frame if column.dtype == str for text in column.unique() if len(text) > 6}
    assert [text for text in texts if f"'{text}'" in shown or f'"{text}"' in shown or f" {text} " in shown] == []


def test_a_number_for_missing_values_is_shown_only_if_enough_rows_have_it() -> None:
    for n_rows, shown in ((9, ()), (10, ("-99",))):
        frame = pl.DataFrame(
            {"children": [-99] * n_rows + [0, 1, 2, 3] * 50, "illness": ["a", "b"] * 100 + ["a"] * n_rows}
        )
        described = betalike.describe(frame)
        assert described.missing == shown
        assert ("-99" in described.to_toml()) == bool(shown)
