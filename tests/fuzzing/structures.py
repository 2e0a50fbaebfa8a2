"""Inputs that are changed in their structure: cells, rows, keys, values, levels, clauses rather than bytes."""

from __future__ import annotations

import bz2
import copy
import datetime
import decimal
import functools
import gzip
import io
import lzma
import random
from collections.abc import Callable
from typing import Any

import polars as pl

from . import samples
from .dictionaries import CELLS, LITERALS, NAMES, NUMBERS, OPERATORS, TOML_KEYS, TOML_VALUES, WORDS

DELIMITERS = [",", ",", ",", ";", "\t", "|"]
ENCODINGS = ["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1"]


def _byte(rng: random.Random) -> bytes:
    return bytes([rng.randrange(256)])


def _encode(rng: random.Random, text: str) -> bytes:
    return text.encode(rng.choice(ENCODINGS), errors="replace")


def _change_grid(rng: random.Random, rows: list[list[str]]) -> None:
    """Change one thing about a table of cells, in place."""
    what, at = rng.randrange(9), rng.randrange(len(rows))
    if what <= 2 and rows[at]:
        rows[at][rng.randrange(len(rows[at]))] = rng.choice(CELLS)
    elif what == 3:
        column = rng.randrange(max(len(rows[at]), 1))
        cells = rng.choices(CELLS, k=rng.choice([1, 1, 2, 5]))
        for row in rows[1:]:
            row[column : column + 1] = [rng.choice(cells)]
    elif what == 4:
        del rows[at]
    elif what == 5:
        rows.insert(at, list(rng.choice([rows[at], [], [""], rows[at][:-1], [*rows[at], "x"]])))
    elif what == 6:
        rows[0][rng.randrange(max(len(rows[0]), 1)) :][:1] = []
        if rows[0]:
            rows[0][rng.randrange(len(rows[0]))] = rng.choice([*rows[0], "", *CELLS])
    elif what == 7:
        del rows[0]
    else:
        column = rng.randrange(max(len(rows[at]), 1))
        for row in rows:
            row[column:column] = row[column : column + 1]
    if not rows:
        rows.append([])


def _to_text(rng: random.Random, rows: list[list[str]], quote: str | None = None) -> str:
    delimiter, quote = rng.choice(DELIMITERS), quote or rng.choice(['"', '"', '"', "'"])
    end, always = rng.choice(["\n", "\n", "\n", "\r\n", "\r", "\n\n", " \n"]), rng.random() < 0.2

    def shown(cell: str) -> str:
        needs = always or any(sign in cell for sign in (delimiter, quote, "\n", "\r"))
        return quote + cell.replace(quote, quote * 2) + quote if needs and rng.random() < 0.95 else cell

    return end.join(delimiter.join(map(shown, row)) for row in rows) + rng.choice([end, end, "", "\x1a"])


def make_csv(rng: random.Random) -> bytes:
    """A CSV file of the table, with some cells, rows or columns changed."""
    rows = [list(row) for row in [samples.HEADER, *samples.ROWS]]
    while rng.random() < 0.6:
        _change_grid(rng, rows)
    return _byte(rng) + _encode(rng, _to_text(rng, rows))


def compress(rng: random.Random, data: bytes) -> bytes:
    """Compress with one of the four ways, or in two parts one after another."""
    import zstandard

    ways: list[Callable[[bytes], bytes]] = [
        lambda part: gzip.compress(part, mtime=0),  # else it holds the time of day
        lambda part: lzma.compress(part, preset=0),
        bz2.compress,
        zstandard.ZstdCompressor().compress,
        lambda part: zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compress(part),
    ]
    way = rng.choice(ways)
    if rng.random() < 0.1:
        middle = rng.randrange(len(data) + 1)
        return way(data[:middle]) + rng.choice([way, way, rng.choice(ways)])(data[middle:])
    return way(data)


def make_compressed(rng: random.Random) -> bytes:
    """A compressed CSV file; now and then one that becomes much larger."""
    data = make_csv(rng)
    if rng.random() < 0.001:
        return data[:1] + gzip.compress(data[1:] + data[-40:] * (20_000_000 // 40), compresslevel=1, mtime=0)
    if rng.random() < 0.3:
        from .mutations import mutate

        data = data[:1] + mutate(rng, data[1:])
    return data[:1] + compress(rng, data[1:])


@functools.cache
def _odd_columns() -> list[pl.Series]:
    """Columns of every type that a file may hold."""
    n = len(samples.ROWS)
    day, moment = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 12)
    return [
        pl.Series(range(n), dtype=pl.Int8), pl.Series([2**64 - 1 - i for i in range(n)], dtype=pl.UInt64),
        pl.Series([2**63 - 1 - i % 3 for i in range(n)]), pl.Series([-(2**63), 2**63 - 1] * (n // 2)),
        pl.Series([2**100 + i for i in range(n)], dtype=pl.Int128), pl.Series([0.0, -0.0] * (n // 2)),
        pl.Series([float("nan"), float("inf"), 1.5] * (n // 3)), pl.Series([1.1] * n, dtype=pl.Float32),
        pl.Series([True, False, None] * (n // 3)), pl.Series([None] * n), pl.Series([None] * n, dtype=pl.String),
        pl.Series([day + datetime.timedelta(i) for i in range(n)]),
        pl.Series([2_000_000_000 + i for i in range(n)]).cast(pl.Date),
        pl.Series([-(2**62) + i for i in range(n)]).cast(pl.Datetime("us")),
        pl.Series([moment] * n, dtype=pl.Datetime("ns")),
        pl.Series([moment] * n, dtype=pl.Datetime("ms", "Europe/Rome")),
        pl.Series([2**62 - i for i in range(n)]).cast(pl.Datetime("ms")),
        pl.Series([datetime.time(i) for i in range(n)]), pl.Series([datetime.timedelta(i) for i in range(n)]),
        pl.Series([decimal.Decimal("1.10"), decimal.Decimal("-2.25")] * (n // 2)), pl.Series([b"\xff\x00"] * n),
        pl.Series(["zqxjkv", "qzjxvk", None] * (n // 3), dtype=pl.Categorical),
        pl.Series(["zqxjkv", "qzjxvk"] * (n // 2), dtype=pl.Enum(["zqxjkv", "qzjxvk", "unused"])),
        pl.Series([[1], [2, 3]] * (n // 2)), pl.Series([["zqxjkv"], []] * (n // 2)),
        pl.Series([{"a": 1, "b": "zqxjkv"}] * n), pl.Series([[1, 2]] * n, dtype=pl.Array(pl.Int64, 2)),
        pl.Series(["", "*", "[1, 2]"] * (n // 3)), pl.Series(["y" * 5000, "\u202e"] * (n // 2)),
        pl.Series(["\x00", "a\nb"] * (n // 2)),
    ]  # fmt: skip


def _make_frame(rng: random.Random) -> pl.DataFrame:
    frame = samples.table()
    while rng.random() < 0.6:
        column = rng.choice(_odd_columns()).alias(rng.choice(samples.HEADER))
        frame = frame.with_columns(column)
    if rng.random() < 0.05:
        frame = frame.head(rng.choice([0, 1, 2]))
    if rng.random() < 0.1:
        frame = frame.rename({rng.choice(samples.HEADER): rng.choice(CELLS)})
    return frame


def make_parquet(rng: random.Random) -> bytes:
    """A Parquet file of the table, with some columns of another type."""
    file = io.BytesIO()
    way: Any = rng.choice(["zstd", "snappy", "gzip", "uncompressed", "uncompressed", "brotli"])
    _make_frame(rng).write_parquet(
        file, compression=way, statistics=rng.random() < 0.7, row_group_size=rng.choice([5, None])
    )
    return _byte(rng) + file.getvalue()


def make_arrow(rng: random.Random) -> bytes:
    """An Arrow IPC file of the table, with some columns of another type, or a stream."""
    file, frame = io.BytesIO(), _make_frame(rng)
    way: Any = rng.choice(["uncompressed", "uncompressed", "lz4", "zstd"])
    frame.write_ipc(file, compression=way) if rng.random() < 0.9 else frame.write_ipc_stream(file, compression=way)
    return _byte(rng) + file.getvalue()


def make_hierarchy(rng: random.Random) -> bytes:
    """A hierarchy file, with some lines, levels or labels changed."""
    rows = [line.split(";") for line in samples.HIERARCHY.decode().split()]
    if rng.random() < 0.3:
        rows = [[row[0], *(f"{row[1]} {level}" for level in range(rng.choice([1, 3, 60]))), "*"] for row in rows]
    while rng.random() < 0.6:
        row = rng.choice(rows)
        if rng.random() < 0.3:
            rows[rng.randrange(len(rows))] = list(
                rng.choice([row[::-1], row[:-1], [*row, "*"], [], ["", ""], ["*", "*"]])
            )
        elif rng.random() < 0.1:
            rows.append([f"leaf {rng.randrange(9)}", *row[1:]])
        elif rng.random() < 0.02:
            row[:1] = ["y" * 140_000]
        elif row:
            row[rng.randrange(len(row))] = rng.choice([*CELLS, "Ulm", "Bonn", "north", "south", "*"])
    text = "\n".join(";".join(row) for row in rows) + "\n"
    return _byte(rng) + (text.encode(errors="replace") if rng.random() < 0.9 else _encode(rng, text))


def make_specification(rng: random.Random) -> bytes:
    """A release.toml, with some lines, keys or values changed."""
    lines = samples.SPECIFICATION.split("\n")
    while rng.random() < 0.75:
        at, what = rng.randrange(len(lines)), rng.randrange(8)
        key, sign, value = lines[at].partition(" = ")
        if what <= 2 and sign:
            lines[at] = f"{key} = {rng.choice(TOML_VALUES)}"
        elif what == 3:
            lines[at] = f"{rng.choice(TOML_KEYS)} = {value or rng.choice(TOML_VALUES)}"
        elif what == 4:
            del lines[at]
            lines = lines or [""]
        elif what == 5:
            lines.insert(at, rng.choice([*lines, f"{rng.choice(TOML_KEYS)} = {rng.choice(TOML_VALUES)}"]))
        elif what == 6 and lines[at].startswith("["):
            lines[at] = f"[columns.{rng.choice([*samples.HEADER, 'other', chr(34) * 2, chr(39) + 'a b' + chr(39)])}]"
        elif what == 7 and rng.random() < 0.05:
            depth = rng.choice([10, 200, 3000])
            lines[at] = f"{key or 'x'} = " + rng.choice(["[" * depth + "]" * depth, "{a=" * depth + "1" + "}" * depth])
    return _byte(rng) + "\n".join(lines).encode()


def _odd_value(rng: random.Random, near: Any) -> Any:
    """Another value, mostly of the same type, as others are refused at once."""
    if rng.random() < 0.2:
        return rng.choice([None, True, "", [], {}, [[]], {"": 0}, *NUMBERS, [near], {"a": near}, str(near)])
    if isinstance(near, bool):
        return not near
    if isinstance(near, int | float):
        return rng.choice(
            [near + 1, near - 1, -near, *(number for number in NUMBERS if isinstance(number, type(near)))]
        )
    if isinstance(near, str):
        return rng.choice([rng.choice(WORDS), rng.choice(CELLS), near.upper(), near + " ", near[1:], near * 2])
    if isinstance(near, list):
        return rng.choice([near[1:], near[::-1], near * 2, [*near, *near[:1]], [*near, rng.choice(WORDS)]])
    if isinstance(near, dict):
        keys = list(near)[: rng.randrange(len(near) + 1)]
        return rng.choice(
            [{key: near[key] for key in keys}, {**near, rng.choice(WORDS): rng.choice(list(near.values()) or [1])}]
        )
    return rng.choice([0, 1.5, "x"])


def _change_tree(rng: random.Random, tree: Any) -> Any:
    """Change one thing somewhere in a JSON document, in place where it can be."""
    while isinstance(tree, dict | list) and tree and rng.random() < 0.9:
        key = rng.choice(list(tree)) if isinstance(tree, dict) else rng.randrange(len(tree))
        if isinstance(tree[key], dict | list) and tree[key]:
            tree = tree[key]
            continue
        break
    if not isinstance(tree, dict | list) or not tree:
        return
    key = rng.choice(list(tree)) if isinstance(tree, dict) else rng.randrange(len(tree))
    what = rng.randrange(6)
    if what == 0:
        del tree[key]
    elif what == 1:
        tree[key] = tree[rng.choice(list(tree))] if isinstance(tree, dict) else rng.choice(tree)
    elif what == 2 and isinstance(tree, dict):
        tree[str(_odd_value(rng, str(key)))] = tree.pop(key)
    elif what == 3 and isinstance(tree, list):
        tree.insert(key, copy.deepcopy(tree[key]))
    else:
        tree[key] = _odd_value(rng, tree[key])


def _to_json(tree: Any) -> bytes:
    import json

    return json.dumps(tree, allow_nan=True, ensure_ascii=False).encode("utf-8", errors="replace")


def make_certificate(rng: random.Random) -> bytes:
    """A certificate of one of the releases, with some entries changed."""
    mode = rng.randrange(4 * len(samples.CHOICES))
    tree = copy.deepcopy(samples.releases()[mode % len(samples.CHOICES)].certificate)
    while rng.random() < 0.6:
        _change_tree(rng, tree)
    data = _to_json(tree)
    if rng.random() < 0.01:
        depth = rng.choice([100, 2000, 100_000])
        data = data.replace(b"[", b"[" * depth, 1)
    return bytes([mode]) + data


def _predicate(rng: random.Random, depth: int = 0) -> str:
    what = rng.randrange(12 if depth < 4 else 6)
    name, one, two = rng.choice(NAMES[: rng.choice([5, 13])]), rng.choice(LITERALS), rng.choice(LITERALS)
    if what <= 2:
        return f"{name} {rng.choice(OPERATORS[: rng.choice([6, 16])])} {one}"
    if what == 3:
        return f"{name} {rng.choice(['', 'NOT '])}BETWEEN {one} AND {two}"
    if what == 4:
        many = rng.choice([0, 1, 2, 3, 40])
        return f"{name} {rng.choice(['', 'NOT '])}IN ({', '.join(rng.choices(LITERALS, k=many))})"
    if what == 5:
        return f"{name} IS {rng.choice(['', 'NOT '])}NULL"
    if what == 6:
        return f"NOT {_predicate(rng, depth + 1)}"
    if what == 7:
        deep = rng.choice([1, 1, 2, 60, 300])
        return "(" * deep + _predicate(rng, depth + 1) + ")" * deep
    joined = [_predicate(rng, depth + 1) for _ in range(rng.choice([2, 2, 3, 5]))]
    return rng.choice([" AND ", " OR ", " and ", " OR NOT ", " XOR "]).join(joined)


def make_predicate(rng: random.Random) -> bytes:
    """A predicate by the rules of SQL, or nearly so."""
    text = _predicate(rng)
    if rng.random() < 0.1:
        start = rng.choice(
            ["SELECT COUNT(*) FROM r WHERE ", "select count(*) from r, s where ", "SELECT * FROM r WHERE "]
        )
        text = (
            start + text + rng.choice(["", "", " GROUP BY age", ";", "; DROP TABLE r", " LIMIT 1", " UNION SELECT 1"])
        )
    return _byte(rng) + text.encode("utf-8", errors="replace")


def make_labels(rng: random.Random) -> bytes:
    """The published table of one of the releases, with some labels changed."""
    mode = rng.randrange(4 * len(samples.CHOICES))
    sample = samples.releases()[mode % len(samples.CHOICES)]
    table = sample.files[sample.published]
    if sample.published.endswith("parquet"):
        frame = pl.read_parquet(io.BytesIO(table))
        frame = frame.with_columns(rng.choice(_odd_columns())[: frame.height].alias(rng.choice(frame.columns)))
        file = io.BytesIO()
        frame.write_parquet(file, compression="uncompressed")
        return bytes([mode]) + file.getvalue()
    rows = [list(row) for row in pl.read_csv(table, has_header=False, infer_schema=False).fill_null("").rows()]
    while rng.random() < 0.7:
        _change_grid(rng, rows)
    text = "\n".join(",".join(_quoted(cell) for cell in row) for row in rows) + "\n"
    return bytes([mode]) + text.encode("utf-8", errors="replace")


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',"\r\n') else cell


MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    "csv": make_csv,
    "compressed": make_compressed,
    "parquet": make_parquet,
    "arrow": make_arrow,
    "hierarchies": make_hierarchy,
    "release.toml": make_specification,
    "certificate": make_certificate,
    "predicates": make_predicate,
    "labels": make_labels,
}
# How often the bytes are changed as well; most changed files in a compressed or binary form are refused at once.
BYTES_SHARE = {
    "csv": 0.5,
    "compressed": 0.4,
    "parquet": 0.7,
    "arrow": 0.8,
    "hierarchies": 0.4,
    "release.toml": 0.3,
    "certificate": 0.15,
    "predicates": 0.3,
    "labels": 0.3,
}
