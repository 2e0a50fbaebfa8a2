"""Published Parquet files have nothing but their rows, whatever types these have; tests/tampering adds more."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from betalike.io.parquet_parts import check_parts
from betalike.io.surplus import SurplusError

N_ROWS = 900
DAY = datetime.date(2020, 1, 1)
NAMED = pl.Categorical(pl.Categories("towns", "of people"))


def column(of: Any, dtype: Any = None) -> pl.Series:
    return pl.Series([of(n) if n % 7 else None for n in range(N_ROWS)], dtype=dtype)


ROWS = pl.DataFrame(
    {
        "text": column(lambda n: f"[{n % 50}, {n % 50 + 3}]"),
        "long text": column(lambda n: "é" * 100 + str(n)),
        "empty": column(lambda n: ""),
        "number": column(lambda n: n),
        "byte": column(lambda n: n % 100, pl.Int8),
        "real": column(lambda n: (-0.0, 0.0, float("nan"), n / 3)[n % 4]),
        "short real": column(lambda n: n / 3, pl.Float32),
        "well": column(lambda n: n % 2 == 0),
        "day": column(lambda n: DAY + datetime.timedelta(n % 40)),
        "moment": column(lambda n: datetime.datetime(2020, 1, 1, n % 24, n % 60)),
        "time": column(lambda n: datetime.time(n % 24, n % 60)),
        "span": column(lambda n: datetime.timedelta(n)),
        "decimal": column(lambda n: n).cast(pl.Decimal(20, 2)),
        "bytes": column(lambda n: bytes([n % 5, 0, 255])),
        "nothing": column(lambda n: None, pl.Null),
        "category": column(lambda n: "abc"[n * 3 // N_ROWS], pl.Categorical),
        "named category": column(lambda n: "xy"[n % 2], NAMED),
        "enum": column(lambda n: "abc"[n * 3 // N_ROWS], pl.Enum(["a", "b", "c"])),
        "list": column(lambda n: [n % 9, n]),
        "texts": column(lambda n: ["z", str(n % 9)][: n % 3]),
        "parts": column(lambda n: {"name": str(n), "of": {"deep": [str(n % 3)]}}),
        "array": column(lambda n: [n % 4, 1], pl.Array(pl.Int64, 2)),
    }
)


@pytest.mark.parametrize("rows_of_a_group", [N_ROWS, 250])
def test_what_is_written_has_nothing_more(tmp_path: Path, rows_of_a_group: int) -> None:
    ROWS.write_parquet(tmp_path / "rows.parquet", row_group_size=rows_of_a_group, compression_level=1)
    check_parts(tmp_path / "rows.parquet")


def test_a_category_may_be_in_one_of_several_files_alone(tmp_path: Path) -> None:
    for number, part in enumerate(ROWS.iter_slices(300)):
        part.write_parquet(tmp_path / f"part-{number}.parquet")
    check_parts(tmp_path)
    (tmp_path / "part-2.parquet").unlink()
    with pytest.raises(SurplusError, match="categories that no row has"):
        check_parts(tmp_path)


def test_another_writer_writes_nothing_more_either(tmp_path: Path) -> None:
    """Polars of another version may write its files in another way, too."""
    table = ROWS.drop("named category", "category", "enum", "nothing").to_arrow().replace_schema_metadata(None)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=250, write_page_index=True)
    check_parts(tmp_path / "rows.parquet")


def test_a_message_names_no_text_of_the_file(tmp_path: Path) -> None:
    ROWS.write_parquet(tmp_path / "rows.parquet", metadata={"CANARY7731": "CANARY7731"})
    with pytest.raises(SurplusError) as caught:
        check_parts(tmp_path / "rows.parquet")
    assert "CANARY" not in str(caught.value)
