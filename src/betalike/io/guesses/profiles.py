"""The figures of a column that guesses rest on: counts, shapes of values, lengths of texts. No cell is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl

from betalike.io.column_types import has_no_text
from betalike.io.guesses.vocabulary import NameHint, read_name
from betalike.table.schema import Kind

MOST_SHAPED = 1_000  # rows whose texts are compared with shapes
MOSTLY = 0.8  # share of texts that must have a shape


class Shape(StrEnum):
    """What values look like, worded to follow "its values look like"."""

    EMAIL = "e-mail addresses"
    PHONE = "phone numbers"
    NETWORK = "network addresses"
    UUID = "random identifiers"
    OFFICIAL = "official numbers of persons"
    ACCOUNT = "account or card numbers"
    LINK = "web addresses"
    STREET = "street addresses"
    POINT = "coordinates"
    MOMENT = "dates or times"
    NUMBER = "numbers"


_HEX = "[0-9A-Fa-f]"
_STREET_ENDS = (
    "st|street|ave|avenue|rd|road|dr|drive|ln|lane|blvd|way|ct|court|pl|place|sq|square|hwy|pkwy|terrace|close"
)
_DEGREES = r"[-+]?\d{1,3}([.,]\d{3,}°?|°\s?\d{1,2}['\u2032\u2019].*)"
_SHAPES = {
    Shape.EMAIL: r"[^@\s]+@[^@\s]+\.[^@\s.]{2,}",
    Shape.POINT: r"(?i)(srid=\d+;)?point ?z? ?\(.*\)|"
    rf"[(\[]?[ns]? ?{_DEGREES} ?[ns]?\s*[,;/ ]\s*[ewo]? ?{_DEGREES} ?[ewo]?[)\]]?",
    Shape.MOMENT: r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?|\d{1,2}:\d{2}(:\d{2})?.*",
    Shape.NETWORK: r"(\d{1,3}\.){3}\d{1,3}|"
    rf"({_HEX}{{2}}[:-]){{5}}{_HEX}{{2}}|{_HEX}{{0,4}}(:{_HEX}{{0,4}}){{5,7}}",
    Shape.UUID: rf"\{{?({_HEX}{{8}}-({_HEX}{{4}}-){{3}}{_HEX}{{12}}|{_HEX}{{32,64}})\}}?",
    Shape.OFFICIAL: r"\d{3}-\d{2}-\d{4}|\d{6}[-+]\d{4}|[A-Z]{2} ?(\d{2} ?){3}[A-D]|\d{3}\.\d{3}\.\d{3}-\d{2}",
    Shape.ACCOUNT: r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?|(\d{4}[ -]){3}\d{4}",
    Shape.PHONE: r"(\+\d[\d ()./-]{6,18}|\(?0?\d{2,4}\)?[ /-]\d{3,4}[ -]\d{3,5}|\(\d{2,5}\) ?[\d -]{5,10}|"
    r"0\d{2,4}[ /-]?\d{5,8})(\s*(x|ext\.?)\s*\d+)?",
    Shape.NUMBER: r"[+-]?(\d[\d.,' ]*|[.,]\d+)([eE][+-]?\d+)?\s*%?",
    Shape.LINK: r"(https?://|www\.)\S+",
    Shape.STREET: rf"(?i)\d+\w?,? +[a-z].* ({_STREET_ENDS})\b.*|"
    r".*(stra(ß|ss)e|str\.|weg|gasse|platz|allee|straat|laan|gatan|vej)\s*\d+\s*\w?.*|"
    r"(\d+\w?,? )?(rue|avenue|boulevard|calle|via|viale|piazza|rua|avenida|plaza|c/) .*",
}


@dataclass(frozen=True)
class ColumnProfile:
    """The figures of one column; `distinct` counts a missing value as a value."""

    name: str
    kind: Kind
    rows: int
    distinct: int
    missing: int
    hints: tuple[NameHint, ...]
    shape: Shape | None = None
    words: float = 0.0  # mean number of words of a text
    is_sequence: bool = False  # whole numbers, each one once, without gaps
    code_length: int | None = None  # of codes with digits that all have the same length
    mean: float | None = None
    places: int = 0  # median number of digits after the point
    is_nested: bool = False

    @property
    def values(self) -> int:
        """Distinct values that are not missing."""
        return self.distinct - (self.missing > 0)

    @property
    def present(self) -> int:
        """Rows with a value."""
        return self.rows - self.missing

    @property
    def rows_per_value(self) -> float:
        """Mean number of rows with the same value."""
        return self.present / max(self.values, 1)

    @property
    def hint(self) -> NameHint | None:
        """The strongest hint of the name."""
        return self.hints[0] if self.hints else None

    def suggests(self, hints: Sequence[NameHint]) -> bool:
        """Return whether the strongest hint of the name is one of these."""
        return self.hint in hints


def profile_column(column: pl.Series, kind: Kind, distinct: int) -> ColumnProfile:
    """Measure a column of this type; `distinct` counts its values, the missing one among them."""
    present = column.head(100 * MOST_SHAPED).drop_nulls()
    sample = present.gather_every(max(len(present) // MOST_SHAPED, 1)).head(MOST_SHAPED)
    is_text = column.dtype == pl.String or column.dtype.base_type() in (pl.Categorical, pl.Enum)
    texts = sample.cast(pl.String) if is_text else None
    missing = column.null_count()
    is_whole = column.dtype.is_integer()
    return ColumnProfile(
        name=column.name,
        kind=kind,
        is_nested=has_no_text(column.dtype),
        rows=len(column),
        distinct=distinct,
        missing=missing,
        hints=read_name(column.name),
        shape=None if texts is None else _find_shape(texts),
        words=0.0 if texts is None or not len(texts) else float(texts.str.count_matches(r"\S+").sum()) / len(texts),
        is_sequence=is_whole and _is_sequence(column, distinct, missing),
        code_length=_code_length(sample.cast(pl.String)) if is_whole or texts is not None else None,
        places=_places(sample) if column.dtype.is_float() else 0,
        mean=_mean(sample) if column.dtype.is_numeric() and len(sample) else None,
    )


def _mean(numbers: pl.Series) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # the sum of extreme numbers is infinite
        return float(numbers.cast(pl.Float64).to_numpy().mean())


def _places(numbers: pl.Series) -> int:
    digits = numbers.cast(pl.String).str.extract(r"\.(\d+)$").str.len_bytes().median()
    return 0 if digits is None else int(str(digits).partition(".")[0])


def _find_shape(texts: pl.Series) -> Shape | None:
    if not len(texts):
        return None
    for shape, pattern in _SHAPES.items():
        if texts.str.contains(rf"^\s*(?:{pattern})\s*$").sum() >= MOSTLY * len(texts):
            return shape
    return None


def _is_sequence(column: pl.Series, distinct: int, missing: int) -> bool:
    """Return whether whole numbers are each there once, with steps of one."""
    if missing or distinct < len(column) or len(column) < 2:
        return False
    return bool(pl.select(pl.lit(column.max()) - pl.lit(column.min())).item() == len(column) - 1)


def _code_length(codes: pl.Series) -> int | None:
    lengths = codes.str.len_chars()
    is_code = len(codes) > 0 and lengths.n_unique() == 1 and bool(codes.str.contains(r"\d").all())
    return int(lengths[0]) if is_code else None
