"""Tables with more cells than memory: planned on coarse cells, split part by part, and as good as in memory."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.engines import choice, local
from betalike.errors import GuaranteeError, InputError

pytestmark = pytest.mark.xdist_group("coarse")  # one process makes what these tests share

N_ROWS = 6000
QIS = ["income", "height", "born", "work"]
JOBS = ["cook", "nurse", "smith", "clerk"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real numbers, whole numbers, dates and names, some of them missing; the illness depends on the income."""
    rng = np.random.default_rng(3)
    income = rng.lognormal(10, 1, N_ROWS)
    illness = np.clip(np.rint(4 + 2 * (np.log(income) - 10) + rng.normal(size=N_ROWS)), 0, 7).astype(int)
    day = datetime.date(1950, 1, 1)
    frame = pl.DataFrame(
        {
            "income": pl.Series(income).set(pl.Series(rng.random(N_ROWS) < 0.05), None),
            "height": rng.integers(140, 210, N_ROWS),
            "born": [day + datetime.timedelta(days=int(days)) for days in rng.integers(0, 20_000, N_ROWS)],
            "work": [JOBS[i] for i in rng.integers(0, 4, N_ROWS)],
            "illness": [f"i{value}" for value in illness],
            "row": np.arange(N_ROWS),
        }
    )
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    frame.write_parquet(path, row_group_size=1000)
    return path


@contextmanager
def room_for_few_cells() -> Iterator[None]:
    """Room for 1,500 cells, and for parts of 2,000 rows, of which 1,000 are counted again at once."""
    with pytest.MonkeyPatch.context() as patch:
        for name, number in {"PER_CELL": 1500, "PER_PART_ROW": 2000, "PER_RECOUNTED_ROW": 1000}.items():
            patch.setattr(local, name, (1 << 30) // number)
        patch.setattr(choice, "MOST_HELD", -1)
        yield


@pytest.fixture
def little_memory() -> Iterator[None]:
    with room_for_few_cells():
        yield


def publish(table: Path | pl.DataFrame, out: Path | None, **more: Any) -> betalike.Release:
    wanted = {"quasi_identifiers": QIS, "sensitive": "illness", "beta": 2, "memory": "1GB"}
    return betalike.publish(table, out=out, seed=1, **{**wanted, **more})


@pytest.fixture(scope="module")
def published(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Any]]:
    """The folder and the certificate of a release by a scheme, with the number of each row, made once."""

    @cache
    def publish_once(scheme: str) -> tuple[Path, Any]:
        out = tmp_path_factory.mktemp("published") / scheme
        with room_for_few_cells():
            release = publish(table, out, scheme=scheme, keep=["row"], keep_identifiers=True, format="parquet")
        return out, release.certificate

    return publish_once


EVERY_SCHEME = pytest.mark.parametrize("scheme", ["seam", "whole", "lmondrian"])


@pytest.mark.some(2)
@EVERY_SCHEME
def test_the_loss_is_close_to_that_in_memory(published: Any, table: Path, tmp_path: Path, scheme: str) -> None:
    out, coarse = published(scheme)
    exact = publish(pl.read_parquet(table), tmp_path / "exact", scheme=scheme).certificate
    assert coarse["scheme"]["details"]["coarse_cells"] <= 1500
    assert coarse["release"]["average_loss"] <= 1.1 * exact["release"]["average_loss"]
    checked = betalike.verify(out, original=table)
    assert checked.holds, checked.explanations


@pytest.mark.usefixtures("little_memory")
def test_schemes_that_cannot_part_a_table_publish_it_from_coarse_cells(table: Path, tmp_path: Path) -> None:
    certificate = publish(table, tmp_path / "release", scheme="burel").certificate
    assert certificate["scheme"]["details"]["coarse_cells"] <= 1500
    assert certificate["scheme"]["details"]["buckets"] > 1
    assert betalike.verify(tmp_path / "release", original=table).holds


@pytest.mark.usefixtures("little_memory")
def test_a_release_in_csv_is_verified(table: Path, tmp_path: Path) -> None:
    release = publish(table, tmp_path / "release")
    assert_verified(tmp_path / "release", release.certificate, table, "csv")


def test_a_release_in_parquet_is_verified(published: Any, table: Path) -> None:
    assert_verified(*published("seam"), table, "parquet")


def assert_verified(out: Path, certificate: Any, table: Path, form: str) -> None:
    """A release in parts holds, and an audit of its rows finds the same figures."""
    assert certificate["scheme"]["details"]["parts"] > 1
    assert betalike.verify(out, original=table).holds
    audited = betalike.audit(
        out / f"published.{form}", quasi_identifiers=QIS, sensitive="illness", original=table, beta=2
    )
    assert audited.holds
    assert audited.audit.classes == certificate["release"]["classes"]
    also = certificate["also"]
    assert (also["k"], also["t"], also["basic_beta"]) == pytest.approx(
        (audited.audit.k, audited.audit.t, audited.audit.basic_beta)
    )
    assert (also["average_l"], also["average_t"]) == pytest.approx((audited.audit.average_l, audited.audit.average_t))


@EVERY_SCHEME
def test_every_row_lies_within_its_labels(published: Any, table: Path, scheme: str) -> None:
    rows = pl.read_parquet(published(scheme)[0] / "published.parquet")
    assert rows["row"].to_list() != list(range(N_ROWS))
    both = rows.join(pl.read_parquet(table), on="row", suffix=" before")
    assert both.height == N_ROWS
    assert (both["illness"] == both["illness before"]).all()
    for name in ("income", "height", "born"):
        value = both[f"{name} before"].cast(pl.String if name == "born" else pl.Float64)
        ends = both[name].cast(pl.String).str.strip_chars("[]").str.split(", ")
        low, high = (end.cast(value.dtype, strict=False) for end in (ends.list.first(), ends.list.last()))
        assert ((low <= value) & (value <= high)).fill_null(value.is_null() | (both[name] == "*")).all()
    assert (both["work"].is_in(["*"]) | (both["work"] == both["work before"])).all()


@pytest.mark.usefixtures("little_memory")
def test_the_same_seed_gives_the_same_rows_in_memory_and_in_a_folder(published: Any, table: Path) -> None:
    release = publish(table, None, scheme="seam", keep=["row"], keep_identifiers=True)
    assert isinstance(release.frame, pl.DataFrame)
    written = pl.read_parquet(published("seam")[0] / "published.parquet")
    assert release.frame.rows() == written.rows()


@pytest.mark.usefixtures("little_memory")
def test_several_sensitive_columns_of_more_cells_than_memory(table: Path, tmp_path: Path) -> None:
    secrets = {"sensitive": ["illness", "work"], "quasi_identifiers": QIS[:3]}
    certificate = publish(table, tmp_path / "release", keep=["row"], keep_identifiers=True, **secrets).certificate
    assert certificate["scheme"]["details"]["coarse_cells"] <= 1500
    published = pl.read_csv(tmp_path / "release" / "published.csv")
    both = published.join(pl.read_parquet(table), on="row", suffix=" before")
    assert both.height == N_ROWS
    assert both.filter(pl.col("illness") != pl.col("illness before")).is_empty()
    assert both.filter(pl.col("work") != pl.col("work before")).is_empty()
    checked = betalike.verify(tmp_path / "release", original=table)
    assert checked.holds, checked.explanations


@pytest.mark.usefixtures("little_memory")
def test_rows_that_are_written_otherwise_are_not_published(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scan(*arguments: Any) -> Any:
        for batch in written(*arguments):
            yield batch.with_columns(pl.lit("*").alias("work"))

    written = local.scan_written
    monkeypatch.setattr(local, "scan_written", scan)
    with pytest.raises(GuaranteeError, match="the labels that were written are not those planned"):
        publish(table, tmp_path / "release", scheme="lmondrian")
    assert not (tmp_path / "release").exists()


@pytest.mark.usefixtures("in_batches")
def test_names_cannot_be_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "PER_CELL", (1 << 30) // 100)
    rng = np.random.default_rng(1)
    names = pl.DataFrame({"name": [f"n{i}" for i in rng.integers(0, 400, 2000)], "illness": rng.integers(0, 4, 2000)})
    names.write_parquet(tmp_path / "names.parquet")
    with pytest.raises(InputError, match="no numbers that could be put together"):
        publish(tmp_path / "names.parquet", tmp_path / "release", quasi_identifiers=["name"])


@pytest.mark.usefixtures("little_memory")
def test_a_declared_domain_is_kept_and_checked(table: Path, tmp_path: Path) -> None:
    release = publish(table, tmp_path / "release", scheme="lmondrian", domains={"height": (100, 250)})
    column = next(c for c in release.certificate["table"]["columns"] if c["name"] == "height")
    assert column["domain"] == ["100", "250"]
    with pytest.raises(InputError, match="'height' has values outside its declared domain"):
        publish(table, tmp_path / "other", domains={"height": (150, 250)})
