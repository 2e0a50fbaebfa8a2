"""Falsified rows: changed after they were published, or published by betalike from a false table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from falsification import ALL, KEPT, Falsification
from forger import EXACT, GENERALIZED, Forger


def rows(edit: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Forger], object]:
    """Change published rows, and the digest with them."""
    return lambda forger: forger.rows(edit)


def republished(edit: Callable[[pl.DataFrame], pl.DataFrame], **changes: Any) -> Callable[[Forger], object]:
    """Publish a falsified table in the place of the true release."""
    return lambda forger: forger.publish(edit, **changes)


def lines(edit: Callable[[list[str]], list[str]]) -> Callable[[Forger], object]:
    """Change the lines of a CSV file, and the digest with them."""

    def forge(forger: Forger) -> None:
        path = forger.published
        path.write_text("\n".join(edit(path.read_text(encoding="utf-8").splitlines())) + "\n", encoding="utf-8")
        forger.rehash()

    return forge


def swapped(column: str, one: str, other: str) -> pl.Expr:
    return pl.col(column).replace({one: other, other: one})


def shuffled(column: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Give each row the next row's value."""
    return lambda frame: frame.with_columns(frame[column].shift(1).fill_null(frame[column][-1]))


def mirrored(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(frame["age"].max() + frame["age"].min() - frame["age"])


def one_cell(column: str, value: object) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Another value for the person in the fourth row."""
    return lambda frame: frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    )


def classes_exchanged(frame: pl.DataFrame) -> pl.DataFrame:
    """Give each of two classes with as many rows the labels of the other, in all columns."""
    labels = [name for name in frame.columns if name not in ("disease", "note")]
    sizes = frame.group_by(labels, maintain_order=True).len().sort("len", maintain_order=True)
    pairs = ((sizes.row(i), sizes.row(i + 1)) for i in range(sizes.height - 1))
    one, other = next((a[:-1], b[:-1]) for a, b in pairs if a[-1] == b[-1])
    exchange = {one: other, other: one}
    changed = [exchange.get(row, row) for row in frame.select(labels).iter_rows()]
    return frame.with_columns(
        pl.Series(name, [row[i] for row in changed], frame[name].dtype) for i, name in enumerate(labels)
    )


def two_people(frame: pl.DataFrame) -> pl.DataFrame:
    """Exchange the diseases of the first person and the next one with another disease, gender and city."""
    first = frame.row(0, named=True)
    rows = enumerate(frame.iter_rows(named=True))
    other = next(i for i, row in rows if all(row[name] != first[name] for name in ("disease", "gender", "city")))
    diseases = frame["disease"].to_list()
    diseases[0], diseases[other] = diseases[other], diseases[0]
    return frame.with_columns(pl.Series("disease", diseases))


def first_class_label(frame: pl.DataFrame) -> pl.DataFrame:
    """One row moves into the class of another row with another label."""
    first, other = frame["city"][0], next(label for label in frame["city"] if label != frame["city"][0])
    assert first != other
    return one_cell("city", other if frame["city"][3] != other else first)(frame)


FALSE_ROWS: dict[str, Falsification] = {
    # rows, with digests put right
    "a cell too many": Falsification(lines(lambda rows: [*rows[:-1], rows[-1] + ",Miller"]), ("labels", "perturb")),
    "a cell too few": Falsification(
        lines(lambda rows: [*rows[:-1], rows[-1].rpartition(",")[0]]), ("labels", "rounded", "perturb")
    ),
    "a line of notes": Falsification(lines(lambda rows: ["# Miller has flu", *rows]), ("labels", *EXACT)),
    "a line of notes at the end": Falsification(lines(lambda rows: [*rows, "# Miller has flu"]), ("labels", *EXACT)),
    "the header twice": Falsification(lines(lambda rows: [rows[0], *rows]), ("labels", *EXACT)),
    "no header": Falsification(lines(lambda rows: rows[1:]), ("labels", *EXACT)),
    "a column without a name": Falsification(lines(lambda rows: [row + "," for row in rows]), ("labels", *EXACT)),
    "a column named twice": Falsification(
        lines(lambda rows: [f"{row},{row.partition(',')[0]}" for row in rows]), ("labels", *EXACT)
    ),
    "a number with a separator": Falsification(rows(one_cell("age", "3_7")), ("labels", "parquet")),
    "a range written in another way": Falsification(
        rows(lambda f: f.with_columns(pl.col("weight").str.replace(", ", ",  ", literal=True))), ("labels", "parquet")
    ),
    "the labels of two classes exchanged": Falsification(rows(classes_exchanged), GENERALIZED, alone=False),
    "a row removed": Falsification(rows(lambda f: f.head(-1)), ALL),
    "a row doubled": Falsification(rows(lambda f: pl.concat([f, f.head(1)])), ALL),
    "sensitive values exchanged between classes": Falsification(
        rows(lambda f: f.with_columns(f["disease"].sort())), GENERALIZED
    ),
    "labels exchanged between rows": Falsification(rows(first_class_label), GENERALIZED),
    "columns in another order": Falsification(rows(lambda f: f.select(reversed(f.columns))), ALL),
    "a label that is none": Falsification(rows(one_cell("city", "Atlantis")), GENERALIZED),
    "a range that ends before it begins": Falsification(
        rows(one_cell("weight", "[70.0, 60.0]")), ("labels", "parquet")
    ),
    "M and F exchanged in the rows": Falsification(
        rows(lambda f: f.with_columns(swapped("gender", "M", "F"))), ALL, alone=False
    ),
    "a kept cell changed": Falsification(rows(one_cell("note", "n9")), KEPT),
    "kept cells exchanged": Falsification(rows(shuffled("note")), KEPT, alone=None),
    "exact values exchanged": Falsification(rows(shuffled("weight")), EXACT, alone=False),
    "M and F exchanged beside several sensitive columns": Falsification(
        rows(lambda f: f.with_columns(swapped("gender", "M", "F"))), ("several",), alone=False
    ),
    "one of several sensitive columns exchanged": Falsification(
        republished(shuffled("note")), ("several",), alone=False
    ),
}

FALSE_ORIGINALS: dict[str, Falsification] = {
    # a false table, published by betalike: nothing in the folder is wrong
    "M and F exchanged everywhere": Falsification(
        republished(lambda f: f.with_columns(swapped("gender", "M", "F"))), ALL, alone=False
    ),
    "ages mirrored": Falsification(republished(mirrored), ALL, alone=False),
    "cities exchanged": Falsification(
        republished(lambda f: f.with_columns(swapped("city", "Ulm", "Rom"))), ALL, alone=False
    ),
    "everybody a day younger": Falsification(
        republished(lambda f: f.with_columns(pl.col("born") + pl.duration(days=1))), ALL, alone=False
    ),
    "everybody a little heavier": Falsification(
        republished(lambda f: f.with_columns(pl.col("weight") + 1e-9)), ALL, alone=False
    ),
    "everybody a year older": Falsification(republished(lambda f: f.with_columns(pl.col("age") + 1)), ALL, alone=False),
    "one person a year older": Falsification(
        republished(
            lambda f: f.with_columns(
                pl.when(pl.int_range(pl.len()) == 5).then(pl.col("age") + 1).otherwise(pl.col("age")).alias("age")
            )
        ),
        EXACT,
        alone=False,
    ),
    "two people's diseases exchanged": Falsification(republished(two_people), GENERALIZED, alone=False),
    "all ages made missing": Falsification(
        republished(lambda f: f.with_columns(pl.lit(None, dtype=pl.Int64).alias("age"))), ALL, alone=False
    ),
    "missing ages filled in": Falsification(
        republished(lambda f: f.with_columns(pl.col("age").fill_null(20))), ALL, alone=False
    ),
    "another person's disease": Falsification(republished(one_cell("disease", "gout")), ALL, alone=False),
    "diseases exchanged between people": Falsification(republished(shuffled("disease")), GENERALIZED, alone=False),
    "a person left out": Falsification(republished(lambda f: f.tail(-1)), ALL, alone=False),
    "a person made up": Falsification(republished(lambda f: pl.concat([f, f.tail(1)])), ALL, alone=False),
    "kept notes changed everywhere": Falsification(republished(shuffled("note")), KEPT, alone=False),
    "beta raised, all recomputed": Falsification(republished(lambda f: f, beta=50), ALL, alone=False, original=False),
    "a column kept that was protected": Falsification(
        republished(lambda f: f, qis=["age", "weight", "born", "gender"], keep=["city"]),
        ("labels",),
        alone=False,
        original=False,
    ),
}
