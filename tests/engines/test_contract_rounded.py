"""What every engine keeps for columns with round ends: bins as cells, and labels that are read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from contract import EngineMaker, planned, random_plan, schema_of

from betalike.engines.engine import Format
from betalike.promises import Form, Likeness
from betalike.release.verify import PlannedLabels, verify
from betalike.runtime.randomness import randomness
from betalike.table.schema import RoundEnds, Schema

ANYTHING_GOES = Likeness(1e9, Form.BASIC)
ENDS = {"age": RoundEnds(5, 20, 60), "born": RoundEnds("decade"), "seen": RoundEnds("hour", None, "2024-03-01")}


def rounded(schema: Schema) -> Schema:
    columns = (replace(attribute, round_ends=ENDS.get(attribute.name)) for attribute in schema.quasi_identifiers)
    return replace(schema, quasi_identifiers=tuple(columns))


@pytest.mark.some(2)
def test_a_rounded_release_is_read_back_as_planned(
    make_engine: EngineMaker, table: pl.DataFrame, tmp_path: Path
) -> None:
    engine = make_engine(table, rounded(schema_of(["age", "born", "seen", "work"], kept=("row",))))
    cells = engine.count_cells()
    codes = np.arange(4)
    assert cells.axes[0].labels(codes, codes) == ["<= 20", "[21, 29]", "[35, 39]", "60+"]
    plan = random_plan(cells, 20)
    release = engine.generalize(plan, randomness(1))
    engine.write(release, tmp_path / "release", Format.PARQUET)
    recount = engine.recount(None, tmp_path / "release", Format.PARQUET)
    verified = verify(recount, cells, ANYTHING_GOES, PlannedLabels.of(plan))
    assert verified.audit.rows == table.height
    assert sum(planned(engine, plan).values()) == table.height
