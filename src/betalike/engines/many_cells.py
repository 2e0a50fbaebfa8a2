"""Tables with more cells than memory: rounded columns are counted in their bins, and an error says what would fit."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
import polars as pl

from betalike.engines.coding import Codes, domain_of, empty_to_missing, ordered_numbers, rank_numbers, settle_type
from betalike.engines.combinations import Combinations, TooManyError, count_combinations
from betalike.engines.distinct_estimate import DistinctEstimate
from betalike.errors import InputError, SchemaError
from betalike.io.column_types import Seen, TypeGuess, add_seen, see
from betalike.runtime.arrays import Ids, Ints, Words
from betalike.table.axis import OrderedAxis
from betalike.table.date_units import MICROSECONDS_OF_DAY, Unit
from betalike.table.exact_numbers import Numbers, as_numbers
from betalike.table.rounded_axis import rounded_like
from betalike.table.rounding import Ends, make_rounding
from betalike.table.schema import Attribute, Kind, RoundEnds, Schema

SAMPLE_ROWS = 200_000
LADDER = (10_000, 3000, 1000, 300, 100, 30, 10, 3)  # bins of a column, from a suggestion that loses little on
SPARE = 0.9  # of the cells that fit: estimates may be wrong by a few per cent
MOST_BINS = 1 << 18  # of a rounded column, of which each takes 200 bytes
TAIL = 0.001  # of the values at either end, which do not decide how wide a bin is
DAYS = {Unit.DAY: 1, Unit.MONTH: 31, Unit.YEAR: 366, Unit.DECADE: 3653}
LENGTH_OF_DAY = {Kind.DATE: 1, Kind.DATETIME: MICROSECONDS_OF_DAY}
MOST_NAMED = 3
Read = Callable[[], Iterable[pl.DataFrame]]


class RoundedColumn:
    """A column of numbers or dates in the bins that are published, so that only these take memory; 0 is missing."""

    def __init__(self, attribute: Attribute, taken: TypeGuess) -> None:
        rounding = make_rounding(attribute.name, taken.kind, attribute.round_ends)
        assert rounding is not None
        self.attribute, self.taken, self.rounding = attribute, taken, rounding
        self._ends: Ends | None = None
        self._number_of: dict[Ends, int] = {}

    @property
    def size(self) -> int:
        """One more than the greatest number of a bin."""
        return len(self._number_of) + 1

    @property
    def values(self) -> pl.Series:
        """The number of each bin, which stands for it here; the first is missing."""
        return pl.Series([None, *range(1, self.size)], dtype=pl.Int32)

    def rank(self, column: pl.Series) -> tuple[Numbers, Codes]:
        """Return the distinct numbers of some rows, in order, and the place of each row's number, missing ones last."""
        return rank_numbers(ordered_numbers(column, self.taken.kind, self.taken.dates))

    def bins(self, values: Numbers, codes: Codes) -> tuple[Numbers, Numbers, Codes]:
        """Return the ends of the bins that ranked values are in, and the bin of each row, missing ones last."""
        low, high = self.rounding.bins(values)
        is_new = np.ones(len(low), dtype=bool)
        is_new[1:] = np.asarray((low[1:] != low[:-1]) | (high[1:] != high[:-1]), dtype=bool)
        return low[is_new], high[is_new], np.append(np.cumsum(is_new) - 1, is_new.sum())[codes]

    def number(self, column: pl.Series) -> Ids:
        """Return the number of each row's bin; new bins get new numbers."""
        values, codes = self.rank(column)
        if len(values):
            least, greatest = values[:1].tolist()[0], values[-1:].tolist()[0]
            ends = self._ends or (least, greatest)
            self._ends = min(ends[0], least), max(ends[1], greatest)
        low, high, codes = self.bins(values, codes)
        known = self._number_of
        numbers = [known.setdefault(ends, len(known) + 1) for ends in zip(low.tolist(), high.tolist(), strict=True)]
        if len(known) > MOST_BINS:
            raise TooManyError
        return np.array([*numbers, 0], dtype=np.int32)[codes]

    def code(self, numbers: pl.Series) -> tuple[OrderedAxis, Ints]:
        """Return the axis of some bins, given by their numbers, and the code of each; a missing value may be first."""
        name, kind, has_missing = self.attribute.name, self.taken.kind, numbers.null_count() > 0
        bins = list(self._number_of)
        used = [bins[number - 1] for number in numbers.drop_nulls()]
        order = sorted(range(len(used)), key=used.__getitem__)
        codes = np.empty(len(numbers), dtype=np.int64)
        codes[np.array(order, dtype=np.int64) + has_missing] = np.arange(len(used))
        codes[:has_missing] = len(used)
        low, high = (as_numbers([used[place][side] for place in order]) for side in (0, 1))
        domain, is_declared = domain_of(self.attribute, kind, self._ends, lambda *_: "")
        axis = OrderedAxis(name, kind, low, domain, has_missing, is_declared, self.taken.dates)
        return rounded_like(axis, low, high, self.rounding), codes


def count_many(read: Read, schema: Schema, n_rows: int, most: int) -> Combinations:
    """Count a table that has more than `most` cells, with rounded columns in their bins.

    Raises InputError if there are still too many; it says which columns have most values, and what would fit.
    """
    types, sample = _look(read(), schema, n_rows)
    names = [*schema.quasi_identifier_names, *schema.sensitive_columns]
    rounded = _rounded(schema.quasi_identifiers, types)
    if rounded:
        try:
            return count_combinations(read(), names, most, rounded)
        except TooManyError:
            pass
    numbers, fitting = _climb(read(), names, _ladder(schema, types, sample), most)
    raise InputError(too_many(most, numbers, schema, fitting))


def too_many(most: int, numbers: Mapping[str, int], schema: Schema, fitting: Mapping[str, str] | None) -> str:
    """Return what to say of a table with too many cells, given about how many distinct values each column has.

    `fitting` says to what some columns may be rounded, if that is known to fit.
    """
    widest = sorted(schema.quasi_identifier_names, key=lambda name: -numbers[name])[:MOST_NAMED]
    shown = ", ".join(f"'{name}' (about {_in_short(numbers[name])})" for name in widest)
    text = (
        f"the table has more than {most:,} distinct combinations of quasi-identifiers and sensitive value, which is "
        f"what the memory holds. The columns with most values: {shown}. "
    )
    if fitting is None:
        return f"{text}Allow more memory (--memory), or name fewer quasi-identifiers."
    options = " ".join(f"--round {shlex.quote(f'{name}={step}')}" for name, step in fitting.items())
    return f"{text}With {options} it fits (Python: round={dict(fitting)}). Or allow more memory (--memory)."


def _in_short(number: int) -> str:
    """Return a number with two digits, because it is an estimate."""
    return f"{round(number, 2 - len(str(number))):,}"


def _rounded(attributes: Iterable[Attribute], types: Mapping[str, TypeGuess]) -> dict[str, RoundedColumn]:
    """Return the columns among some that have round ends."""
    return {a.name: RoundedColumn(a, types[a.name]) for a in attributes if a.round_ends not in (None, RoundEnds())}


def _look(
    batches: Iterable[pl.DataFrame], schema: Schema, n_rows: int
) -> tuple[dict[str, TypeGuess], dict[str, pl.Series]]:
    """Read the table once for the types of the quasi-identifiers and a sample, of which numbers are exact numbers."""
    step = -(-n_rows // SAMPLE_ROWS)
    samples: list[pl.DataFrame] = []
    seen: dict[str, Seen] = {}
    for batch in batches:
        samples.append(batch.gather_every(step))
        seen = add_seen(seen, {name: _see(batch[name]) for name in schema.quasi_identifier_names})
    sample, types, columns = pl.concat(samples), {}, {}
    for attribute in schema.quasi_identifiers:
        column = empty_to_missing(sample[attribute.name])
        taken = types[attribute.name] = settle_type(seen[attribute.name], column.dtype, attribute)
        if taken.kind.is_ordered:
            columns[attribute.name] = ordered_numbers(column, taken.kind, taken.dates).drop_nulls()
    return types, columns


def _see(column: pl.Series) -> Seen:
    if column.dtype != pl.String:
        return see(column)
    counted = column.value_counts()  # many texts repeat
    return see(counted[column.name], counted["count"].cast(pl.Int64).to_numpy())


@dataclass(frozen=True)
class _Rung:
    """One of the roundings that may fit, and the estimated numbers of cells and bins with it."""

    steps: dict[str, str]
    columns: Mapping[str, RoundedColumn]
    cells: DistinctEstimate = field(default_factory=DistinctEstimate)
    bins: DistinctEstimate = field(default_factory=DistinctEstimate)  # of all columns together


def _ladder(schema: Schema, types: Mapping[str, TypeGuess], sample: Mapping[str, pl.Series]) -> list[_Rung]:
    """Return roundings that leave every column about as many bins, from many bins to few."""
    rungs: list[_Rung] = []
    for n_bins in LADDER:
        steps: dict[str, str] = {}
        attributes = []
        for attribute in schema.quasi_identifiers:
            step = _step(attribute, types[attribute.name].kind, sample.get(attribute.name), n_bins)
            if step is not None:
                steps[attribute.name] = step
                attribute = replace(attribute, round_ends=replace(attribute.round_ends or RoundEnds(), round=step))
            attributes.append(attribute)
        if steps and (not rungs or steps != rungs[-1].steps):
            rungs.append(_Rung(steps, _rounded(attributes, types)))
    return rungs


def _step(attribute: Attribute, kind: Kind, sample: pl.Series | None, n_bins: int) -> str | None:
    """Return the step that makes about as many bins of a column; None if it has no more values, or is as round."""
    if sample is None or sample.n_unique() <= n_bins:
        return None
    numbers = sample.cast(pl.Float64).to_numpy()
    low, high = np.quantile(numbers, [TAIL, 1 - TAIL])
    width = float(high - low or numbers.max() - numbers.min()) / n_bins
    wished = make_rounding(attribute.name, kind, attribute.round_ends)
    given = None if wished is None else wished.step
    if not kind.is_number:
        days, order = width / LENGTH_OF_DAY[kind], list(Unit)
        finest = order.index(given) if isinstance(given, Unit) else order.index(Unit.DAY) - (kind is Kind.DATETIME)
        units = [unit for unit in DAYS if DAYS[unit] >= days and order.index(unit) > finest]
        return str(units[0]) if units else None
    if kind is Kind.INTEGER:
        width = max(width, 1)
    exponent = math.floor(math.log10(width))
    steps = [Decimal(digit).scaleb(exponent) for digit in (1, 2, 5, 10)]
    step = next((step for step in steps if step >= width), steps[-1])
    is_coarser = given is None or (isinstance(given, int | float | Decimal) and step > Decimal(given))
    return f"{step.normalize():f}" if is_coarser else None


def _climb(
    batches: Iterable[pl.DataFrame], names: Sequence[str], rungs: list[_Rung], most: int
) -> tuple[dict[str, int], dict[str, str] | None]:
    """Estimate in one pass how many values each column has, and which is the first rounding that fits."""
    values = {name: DistinctEstimate() for name in names}
    for batch in batches:
        words = {name: _hashes(batch[name]) for name in names}
        for name, estimate in values.items():
            estimate.add(words[name])
        ordered = {name: column for rung in rungs for name, column in rung.columns.items()}
        ranked = {name: column.rank(batch[name]) for name, column in ordered.items()}
        rungs = [rung for rung in rungs if _fits(rung, ranked, words, most)]
    return {name: estimate.number for name, estimate in values.items()}, rungs[0].steps if rungs else None


def _fits(rung: _Rung, ranked: Mapping[str, tuple[Numbers, Codes]], words: Mapping[str, Words], most: int) -> bool:
    """Add the rows of a batch, also ranked and as hashes, to what a rung has seen; return whether that still fits."""
    row_words = dict(words)
    for name, column in rung.columns.items():
        try:
            low, high, codes = column.bins(*ranked[name])
        except SchemaError:  # values so large that no number holds the multiples of so small a step
            return False
        bins = _hashes_of_bins(low, high)
        rung.bins.add(bins)
        row_words[name] = np.append(bins, np.uint64(0))[codes]
    rung.cells.add(pl.DataFrame(row_words).hash_rows().to_numpy())
    return rung.cells.number <= SPARE * most and rung.bins.number <= SPARE * MOST_BINS


def _hashes(column: pl.Series) -> Words:
    """Return a hash of each value, the same in every batch."""
    is_listed = column.dtype in (pl.Categorical, pl.Enum)
    return (column.cast(pl.String) if is_listed else column).hash().to_numpy()


def _hashes_of_bins(low: Numbers, high: Numbers) -> Words:
    """Return a hash of each bin; whole numbers and decimals beyond 64 bits take part with Python's hashes."""
    ends = [e if e.dtype != object else np.array([hash(n) for n in e.tolist()], dtype=np.int64) for e in (low, high)]
    return pl.DataFrame(ends, schema=["low", "high"]).hash_rows().to_numpy()
