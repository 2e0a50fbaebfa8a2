"""The engine on this machine: dictionaries and tallies against plain counting, and releases held or in batches."""

from __future__ import annotations

import datetime
import gzip
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import betalike
from betalike.datasets import census_like, census_like_hierarchies
from betalike.engines.choice import choose_engine
from betalike.engines.combinations import Tally, count_combinations
from betalike.engines.dictionary import Dictionary
from betalike.engines.scattering import in_random_order
from betalike.errors import FileError, InputError, ParameterError
from betalike.release.recompute import is_same
from betalike.runtime.memory_size import memory_at_hand, parse_memory
from betalike.runtime.randomness import randomness
from listeners import Meanwhile

BATCHES = "the table is read in batches, as asked for"
QIS, SENSITIVE = ["age", "gender", "education"], "salary_class"
VALUES = {
    "texts": st.sampled_from(["a", "b", "", "é", None]),
    "numbers": st.one_of(st.none(), st.integers(-3, 3)),
    "far numbers": st.sampled_from([None, -(2**40), 0, 2**60]),
    "reals": st.sampled_from([None, 0.0, -0.0, 0.5, float("nan"), -1e300]),
    "dates": st.sampled_from([None, datetime.date(1, 1, 1), datetime.date(1970, 1, 1), datetime.date(2026, 11, 17)]),
    "decimals": st.sampled_from([None, Decimal("0.10"), Decimal("12345678901234567890.12")]),
}
TYPES = {"texts": pl.String, "reals": pl.Float64, "dates": pl.Date, "decimals": pl.Decimal(38, 2)}


@pytest.mark.parametrize("kind", [*VALUES, "texts with the same keys", "categories"])
@given(data=st.data())
def test_a_dictionary_gives_each_value_one_number(kind: str, data: st.DataObject) -> None:
    group = kind if kind in VALUES else "texts"
    values = data.draw(st.lists(VALUES[group], min_size=1, max_size=30))
    column = pl.Series("x", values, dtype=TYPES.get(group, pl.Int64))
    column = column.cast(pl.Categorical) if kind == "categories" else column
    size = data.draw(st.integers(1, 10))
    same = lambda texts: texts.str.len_chars().cast(pl.UInt64).to_numpy()  # noqa: E731 - of "a" and "b" alike
    parts = [column[begin : begin + size] for begin in range(0, len(column), size)]
    dictionary = Dictionary(same) if kind == "texts with the same keys" else Dictionary()
    numbers = np.concatenate([dictionary.number(part) for part in parts])
    plain = [None if value in ("", None) or value != value else value for value in values]
    assert [dictionary.values[int(number)] for number in numbers] == plain
    assert dictionary.size == len(set(plain) | {None})


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), st.integers(0, 300)), min_size=1), min_size=1)
)
def test_a_tally_counts_whatever_sizes_grow_to(batches: list[list[tuple[int, int, int]]]) -> None:
    tally = Tally(3)
    sizes = [1, 1, 1]
    for batch in batches:
        columns = [np.array(column, dtype=np.int32) for column in zip(*batch, strict=True)]
        sizes = [max(size, int(column.max()) + 1) for size, column in zip(sizes, columns, strict=True)]
        tally.add(columns, sizes, np.zeros(0, dtype=np.int64))
    found = dict(zip(zip(*(column.tolist() for column in tally.numbers), strict=True), tally.total, strict=True))
    assert found == Counter(itertools.chain(*batches))


@pytest.mark.parametrize("n_more", [0, 6])
def test_combinations_are_those_of_the_rows(n_more: int) -> None:
    more = (pl.int_range(pl.len()).shuffle(seed=i).alias(f"{i}") % 999 for i in range(n_more))
    # with more, the numbers need more bits than a key has, and are sorted and merged instead
    table = census_like(2000, seed=3).select(*QIS, SENSITIVE).with_columns(*more)
    counted = count_combinations(table.iter_slices(300), table.columns, merge_from=100)
    found = dict(zip(counted.frame.rows(), counted.count.tolist(), strict=True))
    assert found == Counter(table.rows())
    for batch in table.iter_slices(300):
        assert counted.frame[pl.Series(counted.find(batch))].rows() == batch.rows()


@pytest.mark.long
def test_every_order_of_rows_is_equally_likely(tmp_path: Path) -> None:
    seen: Counter[tuple[int, ...]] = Counter()
    chance = randomness(4)
    frame = pl.DataFrame({"x": range(4)})
    for _ in range(2400):
        parts = in_random_order(iter(frame.iter_slices(2)), 4, 16, tmp_path, chance)
        seen[tuple(itertools.chain(*(part["x"].to_list() for part in parts)))] += 1
    assert stats.chisquare([seen[order] for order in itertools.permutations(range(4))]).pvalue > 1e-3
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return census_like(3000, seed=2).select(*QIS, SENSITIVE, "country")


def publish(source: object, out: Path | None, **more: object) -> betalike.Release:
    return betalike.publish(
        source,
        quasi_identifiers=QIS,
        sensitive=SENSITIVE,
        out=out,
        **{"hierarchies": census_like_hierarchies(), "beta": 3, "seed": 1, "format": "parquet", "force": True, **more},
    )


def rows_of(folder: Path) -> Counter[tuple[object, ...]]:
    return Counter(pl.scan_parquet(folder / "published.parquet").collect().rows())


@pytest.mark.some(4)
@pytest.mark.parametrize("kept", [[], ["country"]], ids=["", "kept"])
@pytest.mark.parametrize("scheme", ["seam", "whole", "burel", "lmondrian", "perturb", "perturb by sets", "baseline"])
def test_a_release_in_batches_is_that_of_a_held_table(
    scheme: str, kept: list[str], table: pl.DataFrame, tmp_path: Path
) -> None:
    table.write_parquet(tmp_path / "t.parquet")
    name, _, by_sets = scheme.partition(" by ")
    options = {"scheme": name, "keep": kept, "options": {"mechanism": by_sets} if by_sets else None}
    inside = publish(table, tmp_path / "a", **options)
    outside = publish(tmp_path / "t.parquet", tmp_path / "b", engine="batches", **options)
    assert rows_of(tmp_path / "a") == rows_of(tmp_path / "b")
    for key in ("promise", "release", "also", "prior", "scheme", "table"):
        assert is_same(inside.certificate[key], outside.certificate[key])
    assert betalike.verify(tmp_path / "b", original=tmp_path / "t.parquet").holds
    assert inside.engine is not None
    assert outside.engine is not None
    assert (inside.engine.holds_table, outside.engine.holds_table) == (True, False)
    unwritten = publish(tmp_path / "t.parquet", None, engine="batches", **options)
    assert Counter(unwritten.frame.rows()) == rows_of(tmp_path / "b")
    assert isinstance(publish(table.lazy(), None, engine="batches", **options).frame, pl.LazyFrame)


@pytest.mark.parametrize("form", ["csv", "csv.gz", "latin", "folder", "pattern", "lazy"])
def test_every_kind_of_source(form: str, table: pl.DataFrame, tmp_path: Path) -> None:
    source: object = tmp_path / "t.csv"
    texts = table.with_columns(pl.format("é{}", "education").alias("education")) if form == "latin" else table
    text = texts.write_csv().encode()
    if form == "csv":
        (tmp_path / "t.csv").write_bytes(text)
    elif form == "csv.gz":
        (tmp_path / "t.csv").write_bytes(gzip.compress(text))
    elif form == "latin":
        (tmp_path / "t.csv").write_bytes(text.decode().encode("cp1252"))
    elif form == "lazy":
        source = table.lazy()
    else:
        (tmp_path / "parts").mkdir()
        for place, part in enumerate(table.iter_slices(1100)):
            part.write_parquet(tmp_path / "parts" / f"part-{place}.parquet")
        source = tmp_path / "parts" if form == "folder" else tmp_path / "parts" / "part-*.parquet"
    more = {"hierarchies": None} if form == "latin" else {}
    publish(source, tmp_path / "b", **more)
    publish(source, tmp_path / "a", engine="batches", **more)
    same = [Counter(map(str, rows.elements())) for rows in (rows_of(tmp_path / "a"), rows_of(tmp_path / "b"))]
    assert same[0] == same[1]
    assert {path.name for path in tmp_path.iterdir()} <= {"t.csv", "parts", "a", "b"}  # nothing is left behind


def test_many_rows_are_a_folder_of_files(tmp_path: Path) -> None:
    age = pl.select(pl.int_range(2_000_001, dtype=pl.Int32) % 90 + 10).to_series().alias("age")
    table = pl.DataFrame([age, (age % 7).cast(pl.String).alias("disease")])
    columns = {"quasi_identifiers": ["age"], "sensitive": "disease"}
    written = {"out": tmp_path / "a", "format": "parquet", "engine": "batches"}
    asked = {**columns, "beta": 9, "scheme": "burel", "seed": 1, **written}
    release = betalike.publish(table.lazy(), **asked)
    names = [f"published.parquet/part-0000{number}.parquet" for number in range(2)]
    assert list(release.certificate["files"]) == names
    assert betalike.verify(tmp_path / "a").holds
    assert betalike.audit(tmp_path / "a", **columns).audit.rows == 2_000_001
    betalike.query(tmp_path / "a", "age < 40")
    extra = tmp_path / "a" / "published.parquet" / "part-9.parquet"
    extra.write_bytes((tmp_path / "a" / names[0]).read_bytes())
    assert not betalike.verify(tmp_path / "a").holds
    extra.unlink()
    (tmp_path / "a" / names[1]).unlink()
    assert not betalike.verify(tmp_path / "a").holds
    betalike.publish(table.head(3000).lazy(), **asked, force=True)  # replaces the folder
    assert list(betalike.open_release(tmp_path / "a").certificate["files"]) == ["published.parquet"]


def test_the_engine_follows_from_the_size_and_the_memory(table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table.write_parquet(path)
    chosen = choose_engine(path, "auto", None, 4)
    assert (chosen.name, chosen.holds_table) == ("local", True)
    assert "read at once" in chosen.reason
    large = pl.concat([table] * 700)
    large.write_parquet(path)
    chosen = choose_engine(path, "auto", "256MB", 4)
    assert (chosen.name, chosen.holds_table) == ("local", False)
    assert "in batches, with the 256.0 MB allowed" in chosen.reason
    assert not choose_engine(large.lazy(), "local", "256MB", 4).holds_table
    assert choose_engine(large, "local", "256MB", 4).holds_table
    assert choose_engine(table.lazy(), "local", "256MB", 4).holds_table
    for source in (path, table.lazy()):
        chosen = choose_engine(source, "batches", None, 4)
        assert (chosen.name, chosen.holds_table, chosen.reason) == ("local", False, BATCHES)
    assert choose_engine(table, "batches", None, 4).holds_table  # it is in memory already
    assert memory_at_hand() > 0


@pytest.mark.parametrize("memory", ["two", "10MB", "", "-1GB", "2 GBit"])
def test_memory_that_cannot_be_is_refused(memory: str) -> None:
    with pytest.raises(ParameterError, match="memory is"):
        parse_memory(memory)


@pytest.mark.parametrize("name", ["memory", "outofcore"])
def test_the_former_names_are_refused_with_the_new_one(name: str, table: pl.DataFrame) -> None:
    with pytest.raises(ParameterError, match="--engine local"):
        publish(table, None, engine=name)


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
@pytest.mark.parametrize("wanted", [{"engine": "spark"}, {"master": "local[1]"}])
def test_spark_takes_no_frame_of_another_kind(kind: str, wanted: dict[str, str], table: pl.DataFrame) -> None:
    frame = {"polars": table, "lazy": table.lazy(), "pandas": table.to_pandas()}[kind]
    with pytest.raises(ParameterError, match="takes the path of a table or a Spark frame"):
        publish(frame, None, **wanted)


def test_a_release_that_does_not_fit_in_memory_needs_a_folder() -> None:
    number = pl.int_range(7_000_000, dtype=pl.Int32)
    table = pl.select(age=number % 90, disease=number % 7).lazy()
    with pytest.raises(ParameterError, match=r"Name a folder for it \(out\)"):
        betalike.publish(table, quasi_identifiers=["age"], sensitive="disease", beta=3, memory="256MB")


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FileError):
        publish(tmp_path / "t.parquet", tmp_path / "a", engine="batches")
    assert not (tmp_path / "a").exists()


def test_a_table_with_other_rows_in_the_second_pass_is_refused(table: pl.DataFrame) -> None:
    counted = count_combinations([table], table.columns)
    for age in (-1, int(str(table["age"].max())) + 1000):
        with pytest.raises(InputError, match="other rows"):
            counted.find(table.head(3).with_columns(pl.lit(age).cast(table["age"].dtype).alias("age")))
    swapped = table.select(pl.col("age").shift(1, fill_value=0), pl.exclude("age"))
    with pytest.raises(InputError, match="other rows"):
        counted.find(swapped)


def test_the_time_of_counting_is_that_of_the_step_count(table: pl.DataFrame) -> None:
    read: list[str] = []

    class Listener(Meanwhile):
        def flow(self, batches: Iterable[Any], step: str, rows: int | None) -> Iterator[Any]:
            read.append(self.steps[-1])
            yield from batches

    publish(table, None, progress=Listener("count", list))
    assert read == ["count", "verify"]
