"""Random jobs: a table of every kind of column, and how it is to be published. All of it follows from a seed."""

from __future__ import annotations

import datetime
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from .promises import Promise, Secret
from .reading import CANARY, ORDERED, key_of, text_of
from .round_ends import RoundEnds, random_ends
from .trees import random_tree
from .wishes import EXACT, random_promise, random_scheme

TEXTS = [
    *(
        "red",
        "blue",
        "green",
        "[1, 5]",
        "[1, 2]",
        "[",
        "1e5",
        "007",
        "7",
        "0.5",
        " x",
        "x ",
        "=cmd()",
        "+1",
        "-1",
        "@a",
    ),
    *("ümlaut", "日本", 'say "x"', '"', "a,b", "a;b", "a|b", "tab\there", "line\nbreak", "NA", "null", "None", "nan"),
    *(
        "inf",
        "(none)",
        "true",
        "level 0 group 0",
        "\\",
        "é",
        "e\u0301",
        "🙂",
        "1_000",
        "2024-01-01",
        "[a, b]",
        "**",
        "- ",
    ),
]
HARD_TEXTS = ["o'clock", "'quoted'", "'", "cr\rhere", "crlf\r\nhere"]
NODES = ["[1, 5]", "1-5", " y", "all", "7", "ü", "a, b", 'in "quotes"', "=sum", "0"]
NAMES = ["age", "a b", "x,y", "ü", "Q", "zip;code", "low", "row", "_", "sex", "value", "count", "original"]
BIG = [2**53, -(2**53), 2**62, -(2**62), 2**63 - 40, -(2**63) + 40]


@dataclass(frozen=True)
class Column:
    """A column: its kind, the cell of each row, and what `publish` is given of it."""

    name: str
    kind: str
    cells: list[Any]
    is_categorical: bool = True
    tree: list[list[str]] | None = None
    domain: tuple[Any, Any] | None = None
    weight: float = 1.0
    is_big: bool = False
    ends: RoundEnds | None = None  # how the ends of its ranges are rounded

    @property
    def keys(self) -> list[Any]:
        """What the cells stand for: numbers where they are ordered, else text."""
        kind = self.kind if not self.is_categorical or self.kind == "real" else "text"
        if kind != "text":
            return [key_of(kind, cell) for cell in self.cells]
        return [None if cell is None else text_of(self.kind, cell) for cell in self.cells]


@dataclass(frozen=True)
class Job:
    """A table and how it is to be published."""

    seed: int
    columns: list[Column]
    secrets: list[Column]
    kept: list[Column]
    unused: list[Column]
    scheme: str
    promise: Promise
    truth: Truth
    options: dict[str, Any] = field(default_factory=dict)
    form: str = "csv"
    source: str = "polars"
    engine: str = "local"
    in_batches: bool = False
    missing_text: str = ""
    delimiter: str = ","
    is_seeded: bool = True
    person: Column | None = None  # who each row is of
    bins: int | None = None  # ranges that take the place of the sensitive values
    dates: str | None = None  # what comes first in the dates of quasi-identifiers
    missing_code: int | None = None  # what stands for missing whole numbers
    with_labels: bool = False  # texts are the meanings of codes
    is_signed: bool = False
    has_alike_texts: bool = False  # texts that read as one number

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.secrets[0].cells)

    @property
    def is_exact(self) -> bool:
        """Whether quasi-identifiers are published as they are."""
        return self.scheme in EXACT

    @property
    def is_text(self) -> bool:
        """Whether the table is a CSV file, whose sensitive and kept columns are text."""
        return self.source in ("csv", "gzip", "zstd", "stdin")

    def protected_keys(self, column: Column) -> list[Any]:
        """What the cells of a sensitive or kept column stand for, as they are read back."""
        return protected_keys(column, self.is_text)


def protected_keys(column: Column, is_text: bool) -> list[Any]:
    """What the cells of a sensitive or kept column stand for: in CSV their text, else values."""
    if is_text or column.kind in ("text", "boolean"):
        return [None if cell is None else text_of(column.kind, cell) for cell in column.cells]
    return [key_of(column.kind, cell) for cell in column.cells]


@dataclass(frozen=True)
class Truth:
    """The sensitive values of a table in their order, and how far apart they naturally are (None: not clear)."""

    secret: Secret
    keys: list[Any]
    ground: str | None

    @property
    def code(self) -> dict[Any, int]:
        """The place of each value."""
        return {key: place for place, key in enumerate(self.keys)}


def make_job(seed: int, is_plain: bool = False) -> Job:
    """The job of a seed; a plain one leaves out values that are hard to hold: huge integers, odd quotes."""
    rng = random.Random(f"release {seed}")
    draw = rng.random()
    n_rows = rng.randint(2, 50) if draw < 0.8 else rng.randint(50, 300) if draw < 0.99 else rng.randint(300, 3000)
    source = rng.choice(["csv", "csv", "csv", "parquet", "polars", "polars", "pandas", "pyarrow"])
    names = rng.sample(NAMES, 8)
    columns = [random_column(rng, names.pop(), n_rows, is_plain) for _ in range(rng.choice([1, 1, 2, 2, 3, 4, 5]))]
    secrets = [random_secret(rng, "secret", n_rows, is_plain)]
    if rng.random() < 0.08:
        secrets.append(random_secret(rng, "other secret", n_rows, is_plain))
    missing_text = rng.choice(["", "", "NA", "?"]) if source == "csv" else ""
    truth = truth_of(secrets, source == "csv")
    scheme, options = random_scheme(rng, truth.secret, is_planning=False)
    if scheme == "perturb" and n_rows < 40:
        scheme, options = "seam", {"effort": 0}
    promise = random_promise(rng, scheme, truth.secret)
    if scheme not in EXACT:
        columns = [_rounded(random.Random(f"ends {seed} {column.name}"), column) for column in columns]
    kept = [random_kept(rng, f"kept {i}", n_rows) for i in range(rng.choice([0, 0, 0, 0, 1, 2]))]
    engine, in_batches = _random_engine(rng, source)
    return Job(
        seed=seed,
        columns=columns,
        secrets=secrets,
        kept=kept,
        unused=[Column("name", "text", [f"{CANARY}name {i}" for i in range(n_rows)])] * (rng.random() < 0.3),
        scheme=scheme,
        promise=promise,
        truth=truth,
        options=options,
        form=rng.choice(["csv", "csv", "parquet"]),
        source="lazy" if source == "polars" and in_batches else source,
        engine=engine,
        in_batches=in_batches,
        missing_text=missing_text if not _holds(missing_text, [*columns, *secrets, *kept]) else "",
        delimiter=rng.choice([",", ",", ";", "\t"]),
        is_seeded=rng.random() < 0.9,
    )


def _random_engine(rng: random.Random, source: str) -> tuple[str, bool]:
    """The engine, and whether it reads the table in batches."""
    if source not in ("csv", "parquet", "polars"):
        return rng.choice(["local", "auto"]), False
    return rng.choice([("local", False), ("local", False), ("auto", False), ("local", True)])


def _rounded(rng: random.Random, column: Column) -> Column:
    """The column, perhaps with round ends."""
    if column.is_categorical:
        return column
    return replace(column, ends=random_ends(rng, column.kind, column.cells))


def _holds(text: str, columns: Sequence[Column]) -> bool:
    return any(cell == text for column in columns for cell in column.cells)


def _fill(rng: random.Random, pool: Sequence[Any], n_rows: int, missing: float) -> list[Any]:
    """Cells from a pool, evenly or with a favourite."""
    weights = [1 / (i + 1) ** rng.choice([0, 0, 1]) for i in range(len(pool))]
    cells = rng.choices(pool, weights, k=n_rows)
    return [None if rng.random() < missing else cell for cell in cells] if missing else cells


def random_numbers(rng: random.Random, kind: str, size: int, is_plain: bool) -> tuple[list[Any], bool]:
    """Distinct numbers or dates, and whether they are too large for floating-point numbers."""
    if kind == "integer":
        if not is_plain and rng.random() < 0.2:
            base = rng.choice(BIG)
            return sorted({base + rng.randint(-30, 30) for _ in range(size)}), True
        reach = rng.choice([5, 30, 100, 10**6])
        return sorted({rng.randint(-reach // 4, reach) for _ in range(size)}), False
    if kind == "real":
        makes = [
            lambda: round(rng.uniform(-100, 100), 2),
            lambda: rng.gauss(0, 1) * 10.0 ** rng.randint(-12, 12),
            lambda: rng.choice([1e300, -1e300, 1e22, 5e-324, -5e-324, 1e-310, 0.1, 0.1 + 0.2, 1.0, 123456789.125]),
            lambda: rng.choice([0.0, -0.0, 1.5, -1.5, 2.25, 1e16, 1e15]),
        ]
        make = rng.choice(makes)
        return sorted({make() for _ in range(size)}), False
    if kind == "date":
        first, reach = rng.choice([(datetime.date(1950, 1, 1), 30000), (datetime.date(2024, 1, 1), 60)])
        return sorted({first + datetime.timedelta(days=rng.randint(0, reach)) for _ in range(size)}), False
    first = datetime.datetime(2001, 2, 3, 4, 5, 6)
    return sorted({first + datetime.timedelta(seconds=rng.randint(0, 10**9)) for _ in range(size)}), False


def random_column(rng: random.Random, name: str, n_rows: int, is_plain: bool) -> Column:
    """A quasi-identifier of any kind."""
    size, missing = rng.choice([1, 2, 3, 5, 8, 30]), rng.choice([0, 0, 0, 0.1, 0.5])
    weight = rng.choice([1.0, 1.0, 1.0, 2.0, 0.1, 3.5])
    kind = rng.choice(["integer", "integer", "real", "date", "datetime", "text", "text", "text", "coded", "boolean"])
    if kind in ORDERED:
        pool, is_big = random_numbers(rng, kind, size, is_plain)
        domain = None
        if rng.random() < 0.25 and kind in ("integer", "date") and not is_big:
            step = 3 if kind == "integer" else datetime.timedelta(days=3)
            domain = (pool[0] - rng.choice([0, 1]) * step, pool[-1] + rng.choice([0, 2]) * step)
        cells = _fill(rng, pool, n_rows, missing)
        return Column(name, kind, cells, False, None, domain, weight, is_big)
    if kind == "boolean":
        return Column(name, kind, _fill(rng, [True, False], n_rows, missing), weight=weight)
    texts = [*TEXTS, *([] if is_plain else HARD_TEXTS)]
    pool = rng.sample(range(-3, 99), size) if kind == "coded" else rng.sample(texts, min(size, 12))
    kind = "integer" if kind == "coded" else "text"
    tree = None
    if kind == "integer" or rng.random() < 0.5:
        unused = [] if rng.random() < 0.6 else ["never", "unseen"]
        tree = random_tree(rng, [*map(str, pool), *unused], NODES)
    return Column(name, kind, _fill(rng, pool, n_rows, missing), tree=tree, weight=weight)


def random_secret(rng: random.Random, name: str, n_rows: int, is_plain: bool) -> Column:
    """A sensitive column of at least two values, from even to very skewed."""
    kind = rng.choice(["integer", "text", "text", "text", "real", "date", "boolean", "datetime"])
    size = min(n_rows, rng.choice([2, 3, 5, 8, 8, 50]))
    is_big = False
    if kind in ORDERED:
        pool, is_big = random_numbers(rng, kind, max(size, 2), is_plain)
        if len(pool) < 2:
            pool = [pool[0], pool[0] + 1] if kind in ("integer", "real") and pool[0] != pool[0] + 1 else [1, 2]
            kind = kind if kind == "real" else "integer"
    elif kind == "boolean":
        pool = [True, False]
    else:
        pool = rng.sample([*TEXTS, *([] if is_plain else HARD_TEXTS)], max(min(size, 40), 2))
    rng.shuffle(pool)
    if n_rows > 5 and len(pool) > 2 and rng.random() < 0.15:
        pool[-1] = None
    steepness = rng.choice([0, 0.5, 1, 2])
    cells = rng.choices(pool, [1 / (i + 1) ** steepness for i in range(len(pool))], k=n_rows)
    cells[0], cells[-1] = pool[0], pool[1]
    rng.shuffle(cells)
    tree = None
    if kind == "text" and rng.random() < 0.4:
        tree = random_tree(rng, [value for value in pool if value is not None] + ["never"] * rng.choice([0, 1]), NODES)
    return Column(name, kind, cells, tree=tree, is_big=is_big)


def random_kept(rng: random.Random, name: str, n_rows: int) -> Column:
    """A column that is published as it is."""
    if rng.random() < 0.5:
        return Column(name, "integer", list(range(n_rows)))
    return Column(name, "text", _fill(rng, rng.sample(TEXTS, 5), n_rows, rng.choice([0, 0.2])))


def truth_of(secrets: Sequence[Column], is_text: bool) -> Truth:
    """The distinct sensitive values in their order, or the combinations of several columns."""
    columns = [protected_keys(column, is_text) for column in secrets]
    if len(secrets) > 1:
        return _joint_truth(secrets, columns)
    (column,), (keys,) = secrets, columns
    numbers = dict(zip(keys, _numbers(column), strict=True))
    present = sorted({key for key in keys if key is not None}, key=lambda key: (numbers[key], str(key)))
    order = [*present, *([None] if None in keys else [])]
    counts = Counter(keys)
    paths = _paths(column, order)
    ground = "equal"
    if paths is not None:
        leaves = [path for key, path in zip(order, paths, strict=True) if key is not None]
        inner = [{path[0] for path in leaves if path[i:] == one[i:]} for one in leaves for i in range(len(one))]
        ground = "hierarchical" if any(1 < len(under) < len(leaves) for under in inner) else "equal"
    elif column.kind in ORDERED:
        is_clear = not column.is_big and not (is_text and column.kind in ("date", "datetime"))
        ground = "ordered" if is_clear else None
    elif column.kind == "text" and all(_is_number(key) for key in present):
        ground = None  # text that reads as numbers
    has_width = ground == "ordered" and column.kind != "datetime"
    secret = Secret(
        np.array([counts[key] for key in order], dtype=np.int64),
        [_typed(column.kind, numbers[key]) for key in present] if has_width else None,
        paths,
    )
    return Truth(secret, order, ground)


def _typed(kind: str, number: Any) -> Fraction:
    """A number as it would be typed."""
    return Fraction(repr(float(number))) if kind == "real" else Fraction(number)


def _numbers(column: Column) -> list[Any]:
    """What puts the values in order."""
    if column.kind in ORDERED:
        return [key_of(column.kind, cell) for cell in column.cells]
    if all(cell is None or _is_number(str(cell)) for cell in column.cells):
        return [None if cell is None else float(cell) for cell in column.cells]
    return [0 for _ in column.cells]


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and math.isfinite(float(text))
    except ValueError:
        return False


def _paths(column: Column, order: list[Any]) -> list[Sequence[str]] | None:
    if column.tree is None:
        return None
    lines = {line[0]: line for line in column.tree}
    return [lines[key] if key is not None else () for key in order]


def _joint_truth(secrets: Sequence[Column], columns: list[list[Any]]) -> Truth:
    combinations = Counter(zip(*columns, strict=True))
    keys = sorted(combinations, key=str)
    codes = []
    for place in range(len(secrets)):
        distinct = {key: code for code, key in enumerate(sorted({key[place] for key in keys}, key=str))}
        codes.append([distinct[key[place]] for key in keys])
    counts = np.array([combinations[key] for key in keys], dtype=np.int64)
    names = tuple(column.name for column in secrets)
    return Truth(Secret(counts, columns=names, codes=np.array(codes).T), keys, "equal")
