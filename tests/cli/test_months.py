"""Months such as 2010-03: recognized, published as ranges, rounded, verified, asked for, and drawn."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from workbench import Desk, assert_refused, run

import betalike
from betalike.errors import HierarchyError, ParameterError, QueryError, SchemaError
from betalike.io.column_types import guess_type, see
from betalike.table.date_units import Unit
from betalike.table.exact_numbers import as_numbers, format_values, parse_values
from betalike.table.rounding import Rounding
from betalike.table.schema import Kind

ASKED: dict[str, Any] = {"quasi_identifiers": ["born", "sex"], "sensitive": "grade", "beta": 1, "seed": 1}


def pupils(n_rows: int = 400, n_missing: int = 0) -> pl.DataFrame:
    draw = random.Random(4)
    born = [f"{draw.randint(1996, 2010)}-{draw.randint(1, 12):02}" for _ in range(n_rows)]
    sex, grade = ([draw.choice(signs) for _ in range(n_rows)] for signs in ("fm", "ABCDE"))
    return pl.DataFrame({"born": [None] * n_missing + born[n_missing:], "sex": sex, "grade": grade})


def written(folder: Path, frame: pl.DataFrame) -> Path:
    path = folder / "pupils.csv"
    frame.write_csv(path)
    return path


def ends_of(label: str) -> tuple[str, str]:
    low, _, high = label.strip("[]").partition(", ")
    return low, high or low


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["2010-03", "1999-12"], Kind.MONTH),
        ([" 2010-03", "1999-12 "], Kind.MONTH),
        (["2010-03", "NA"], Kind.MONTH),
        (["2010-03", "2010-13"], Kind.CATEGORICAL),
        (["2010-03", "2010-00"], Kind.CATEGORICAL),
        (["2010-03", "2010-3"], Kind.CATEGORICAL),
        (["2010-03", "2010-03-05"], Kind.CATEGORICAL),
        (["2009-10", "2010-11", "2011-12"], Kind.CATEGORICAL),  # school years
        (["2009-10", "2010-11", "2011-09"], Kind.MONTH),
        (["0000-01", "2010-11"], Kind.CATEGORICAL),
    ],
)
def test_which_texts_are_months(texts: list[str], kind: Kind) -> None:
    assert guess_type(see(pl.Series("born", texts))).kind is kind


def test_few_other_texts_are_warned_of() -> None:
    taken = guess_type(see(pl.Series("born", ["2010-03", "2010-04", "later"])))
    assert taken.warning == "text: 1 of 3 values are no months"


def test_a_month_is_published_and_read_back_alike() -> None:
    texts = ["0001-01", "1969-12", "1970-01", "2010-03", "9999-12"]
    numbers = parse_values(texts, Kind.MONTH)
    assert numbers.tolist()[1:4] == [-1, 0, 482]
    assert format_values(numbers.tolist(), Kind.MONTH) == texts
    for wrong in ("2010-13", "2010-3", "2010-03-01", "2010", "10-03", "2010-03 ", "\uff12010-03"):
        with pytest.raises(ValueError, match=r"month"):
            parse_values([wrong], Kind.MONTH)


@pytest.mark.parametrize(
    ("unit", "ends"),
    [
        (Unit.MONTH, ("2010-05", "2010-05")),
        (Unit.QUARTER, ("2010-04", "2010-06")),
        (Unit.YEAR, ("2010-01", "2010-12")),
        (Unit.DECADE, ("2010-01", "2019-12")),
    ],
)
def test_months_are_rounded_to_units_of_months(unit: Unit, ends: tuple[str, str]) -> None:
    bins = Rounding(Kind.MONTH, unit).bins(as_numbers(parse_values(["2010-05"], Kind.MONTH).tolist()))
    assert [format_values(side.tolist(), Kind.MONTH)[0] for side in bins] == list(ends)


def test_describe_finds_them_and_its_draft_publishes_them(desk: Desk) -> None:
    table = written(desk.folder, pupils())
    (born,) = [column for column in betalike.describe(table).columns if column.name == "born"]
    assert (born.kind, born.kind_reason.partition(";")[0]) == (Kind.MONTH, "months (YYYY-MM)")
    spec = desk.folder / "release.toml"
    assert run("describe", table, "-o", spec).status == 0
    assert 'type = "month"' in spec.read_text()
    outcome = run("publish", "--spec", spec, "--out", desk.out, "--beta", 1, "--seed", 1, "--json")
    assert outcome.status == 0, outcome.text
    assert outcome.document["table"]["columns"][0]["kind"] == "month"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"format": "parquet"},
        {"format": "xlsx"},
        {"round": {"born": "year"}},
        {"round": {"born": "quarter"}, "bottom": {"born": "1998-01"}, "top": {"born": "2008-06"}},
        {"domains": {"born": ("1990-01", "2012-12")}},
        {"hierarchies": {"born": {"dates": ["month", "year", "decade"]}}},
        {"scheme": "perturb", "beta": 3},
        {"scheme": "mondrian", "promise": "basic"},
        {"scheme": "burel"},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_missing", [0, 9])
def test_releases_verify_count_and_draw(desk: Desk, changes: dict[str, Any], n_missing: int) -> None:
    frame = pupils(n_missing=n_missing)
    table = written(desk.folder, frame)
    betalike.publish(table, out=desk.out, **{**ASKED, **changes})
    verified = betalike.verify(desk.out, original=table)
    assert verified.holds, verified.explanations
    release = betalike.open_release(desk.out)
    meant = (pl.col("born") >= "2003-05") & (pl.col("born") <= "2006-02")
    answer = release.count("born >= '2003-05' AND born <= '2006-02'")
    assert answer.at_least <= frame.filter(meant).height <= answer.at_most
    drawn = release.draws(1, seed=1)[0]
    assert guess_type(see(drawn["born"].drop_nulls())).kind is Kind.MONTH
    assert drawn.height == frame.height


def test_a_range_holds_the_months_of_its_rows(desk: Desk) -> None:
    frame = pupils()
    release = betalike.publish(frame, **ASKED)
    labels = release.frame["born"].to_list()
    assert any(low < high for low, high in map(ends_of, labels))
    assert {end for label in labels for end in ends_of(label)} <= set(frame["born"])
    rounded = betalike.publish(frame, **ASKED, round={"born": "year"}).frame["born"].to_list()
    assert {(low[-2:], high[-2:]) for low, high in map(ends_of, rounded)} == {("01", "12")}


def test_its_loss_is_that_of_whole_numbers() -> None:
    frame = pupils()
    year, month = (pl.col("born").str.slice(*part).cast(pl.Int64) for part in ((0, 4), (5, 2)))
    counted = frame.with_columns(year * 12 + month)
    losses = [betalike.publish(each, **ASKED).facts.release.average_loss for each in (frame, counted)]
    assert losses[0] == pytest.approx(losses[1])


def test_the_recipe_for_dates_builds_years_over_months(desk: Desk) -> None:
    table = written(desk.folder, pupils())
    tree = betalike.build_hierarchy(table, "born", {"dates": ["day", "month", "year", "decade"]})
    assert tree.paths[0] == ("1996-01", "1996-01", "1996", "1990s", "*")
    with pytest.raises(ParameterError, match="'born' holds months, which have no level day"):
        betalike.build_hierarchy(table, "born", {"dates": ["day"]})
    outcome = run("hierarchy", "dates", table, "--column", "born")
    assert outcome.status == 0
    with pytest.raises(HierarchyError, match=r"5 of 5 values of the column 'grade' are not a date such as 2021-03-05"):
        betalike.build_hierarchy(table, "grade", {"dates": ["year"]})
    with pytest.raises(HierarchyError, match=r"2 of 2 values of the column 'sex' are not a number"):
        betalike.build_hierarchy(table, "sex", {"intervals": [5]})


def test_leaves_that_are_months_compare_in_queries(desk: Desk) -> None:
    frame = pupils()
    release = betalike.publish(frame, **ASKED, hierarchies={"born": {"dates": ["year", "decade"]}})
    answer = release.count("born < '2000-01'")
    assert answer.at_least <= frame.filter(pl.col("born") < "2000-01").height <= answer.at_most


def test_what_is_no_month_is_refused_with_words(desk: Desk) -> None:
    table = written(desk.folder, pupils())
    release = betalike.publish(table, **ASKED)
    with pytest.raises(QueryError, match="is of type month; give a month such as '2024-01'"):
        release.count("born > '2003-05-01'")
    with pytest.raises(ParameterError, match="round to one of: month, quarter, year, decade"):
        betalike.publish(table, **ASKED, round={"born": "day"})
    with pytest.raises(SchemaError, match="has '2010', which is not of type month"):
        betalike.publish(table, **ASKED, domains={"born": ("1990-01", "2010")})
    with pytest.raises(SchemaError, match="'sex' is of type month, but 400 of its 400 values are not"):
        betalike.publish(table, **ASKED, kinds={"sex": "month"})
    outcome = run(
        "publish", table, "--qi", "born,sex", "--sensitive", "grade", "--beta", 1, "--top", "born=x", "--out", desk.out
    )
    assert_refused(outcome, "the top of 'born' is 'x', which is not of type month")


def test_a_sensitive_column_of_months_in_bins() -> None:
    frame = pupils()
    release = betalike.publish(frame, quasi_identifiers=["sex"], sensitive="born", beta=2, bins={"born": 10}, seed=1)
    labels = release.frame["born"].unique().to_list()
    assert len(labels) == 10
    assert all(low <= high for low, high in map(ends_of, labels))
