"""A category that no row has, and metadata that nobody asked for, are in no published file and no returned frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import betalike

CANARY = "CANARY7731"
N_ROWS = 48


def with_unused(kind: str) -> Any:
    """A frame with a category that no row has, in every role, and with metadata that is nobody's business."""
    texts = [["x", "y", "z"][i * i % 5 % 3] for i in range(N_ROWS)]
    plain = {"age": [20 + i % 9 for i in range(N_ROWS)]}
    names = ["city", "disease", "note"]
    if kind == "polars":
        enum = pl.Enum(["x", CANARY, "y", "z"])
        return pl.DataFrame({**plain, **{name: pl.Series(texts, dtype=enum) for name in names}})
    if kind == "pandas":
        category = pd.CategoricalDtype(["x", CANARY, "y", "z"], ordered=True)
        frame = pd.DataFrame({**plain, **{name: pd.Series(texts, dtype=category) for name in names}})
        frame.attrs["note"] = CANARY
        return frame
    codes = pa.array(["xyz".index(text) for text in texts])
    dictionary = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y", "z", CANARY]))
    table = pa.table({**plain, **dict.fromkeys(names, dictionary)})
    table = table.replace_schema_metadata({"note": CANARY})
    field = table.schema.field("note").with_metadata({"note": CANARY})
    return table.set_column(3, field, table["note"])


def check_no_canary(release: betalike.Release, folder: Path) -> None:
    for path in folder.rglob("*"):
        assert path.is_dir() or CANARY.encode() not in path.read_bytes(), path.name
    frame = release.frame
    if isinstance(frame, pa.Table):
        assert CANARY not in str(frame.schema.metadata) + str([field.metadata for field in frame.schema])
        assert CANARY not in str(frame.to_pydict())
        assert CANARY not in str([column.chunks for column in frame.columns])
    elif isinstance(frame, pd.DataFrame):
        assert CANARY not in str([getattr(dtype, "categories", None) for dtype in frame.dtypes]) + str(frame.attrs)
    else:
        assert CANARY not in str(frame.lazy().collect_schema())


@pytest.mark.parametrize("scheme", ["seam", "perturb", "baseline"])
@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_a_category_that_no_row_has_is_not_published(kind: str, scheme: str, tmp_path: Path) -> None:
    release = betalike.publish(
        with_unused(kind),
        quasi_identifiers=["age", "city"],
        sensitive="disease",
        keep=["note"],
        beta=4,
        scheme=scheme,
        format="parquet",
        out=tmp_path / "out",
        seed=1,
    )
    check_no_canary(release, tmp_path / "out")


@pytest.mark.parametrize("scheme", ["seam", "perturb"])
@pytest.mark.parametrize("written", ["polars", "pyarrow", "pandas", "ipc"])
def test_a_category_of_a_file_that_no_row_has_is_not_published(
    written: str, scheme: str, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "table.parquet"
    if written == "polars":
        with_unused("polars").write_parquet(path)
    elif written == "ipc":
        with_unused("polars").write_ipc(path)
    elif written == "pyarrow":
        pq.write_table(with_unused("pyarrow"), path)
    else:
        with_unused("pandas").to_parquet(path)
    release = betalike.publish(
        path,
        quasi_identifiers=["age", "city"],
        sensitive="disease",
        keep=["note"],
        beta=4,
        scheme=scheme,
        engine=engine,
        format="parquet",
        out=tmp_path / "out",
        seed=1,
    )
    check_no_canary(release, tmp_path / "out")
