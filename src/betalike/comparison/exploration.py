"""Choose a promise before anything is published: what each beta costs and protects, and what each column costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from betalike.comparison.compare import Contest, SchemeResult, compare_schemes, name_schemes
from betalike.engines.local import LocalEngine
from betalike.engines.recipes import with_built
from betalike.errors import InfeasibleError, InputError, ParameterError, short_traceback
from betalike.io.arguments import check_one_sensitive, make_schema, missing_is_value
from betalike.io.foreign_tables import SourceOptions, takes_tables
from betalike.io.needed_columns import published_columns
from betalike.io.specification import takes_specification
from betalike.io.tables import Frame, read
from betalike.measures.loss import Loss
from betalike.measures.sample import Holders
from betalike.promises import Form, Likeness
from betalike.promises.parameters import choose
from betalike.release.person_rows import person_keys
from betalike.release.publish import Job, publish
from betalike.runtime.arrays import Ints
from betalike.runtime.display import Row, Shown
from betalike.runtime.notebook import shows_progress
from betalike.runtime.progress import SILENT, Progress, Stopwatch
from betalike.schemes import DEFAULT_SCHEME, GENERALIZING, Scheme, choose_scheme

BETAS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)


@dataclass(frozen=True)
class Trial:
    """What a scheme reaches with one beta; if it refuses, only `refusal` is set and says why.

    `average_risk` is the average chance to find a person's row: the number of classes over that of rows. With a person
    column it, the surest guess and the smallest class are counted in people.
    """

    scheme: str
    beta: float
    loss: float | None = None
    surest_guess: float | None = None
    average_risk: float | None = None
    count_error: float | None = None
    smallest_class: int | None = None
    refusal: str | None = None


@dataclass(frozen=True)
class ValueCaps:
    """A sensitive value: how many people have it, its share of the rows, and the most it may reach with each beta."""

    value: str
    people: int
    share: float
    caps: tuple[float, ...]


@dataclass(frozen=True)
class ColumnCost:
    """What a column costs: the average loss of the other columns and the average risk, with it and without it.

    `is_added` says that the column is only considered, and is not among the quasi-identifiers.
    """

    column: str
    is_added: bool
    loss_with: float
    loss_without: float
    risk_with: float
    risk_without: float

    @property
    def cost(self) -> float:
        """How much more the other columns lose because of it."""
        return self.loss_with - self.loss_without


@dataclass(frozen=True, repr=False)
class Exploration(Shown):
    """Trials over betas and schemes, the knee of each scheme's loss, caps of the values, and what each column costs."""

    n_rows: int
    betas: tuple[float, ...]
    trials: list[Trial]
    knees: dict[str, float]
    values: list[ValueCaps]
    columns: list[ColumnCost]
    column_beta: float
    has_people: bool = False

    def _summary(self) -> Row:
        return {"rows": self.n_rows, "betas": list(self.betas), "knees": self.knees}

    def _parts(self) -> list[Row]:
        return [asdict(trial) for trial in self.trials]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `explore --json`."""
        return {
            "rows": self.n_rows,
            "betas": list(self.betas),
            "trials": [asdict(trial) for trial in self.trials],
            "knees": self.knees,
            "values": [asdict(value) for value in self.values],
            "columns": [{**asdict(column), "cost": column.cost} for column in self.columns],
            "column_beta": self.column_beta,
            "has_people": self.has_people,
        }


@short_traceback
@takes_specification("beta")
@shows_progress
@takes_tables("table", needs=published_columns)
def explore(
    table: Frame = None,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: str | None = None,
    spec: str | Path | None = None,
    beta: Sequence[float] = BETAS,
    schemes: Sequence[str | Scheme] = (DEFAULT_SCHEME,),
    consider: Sequence[str] = (),
    promise: str = "enhanced",
    k: int = 1,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    weights: Mapping[str, float] | None = None,
    round: Mapping[str, Any] | None = None,
    bottom: Mapping[str, Any] | None = None,
    top: Mapping[str, Any] | None = None,
    person: str | None = None,
    missing: Sequence[str] = (),
    missing_sensitive: str = "error",
    dates: str | None = None,
    bins: Mapping[str, int] | None = None,
    queries: int = 1000,
    delimiter: str | None = None,
    seed: int | None = None,
    progress: Progress = SILENT,
    **source: Unpack[SourceOptions],
) -> Exploration:
    """Publish a table in memory with several betas, and show what each costs and protects; nothing is written.

    Args:
        table: as for `publish`, and so are the other arguments that `publish` has.
        quasi_identifiers: columns that others may know.
        sensitive: the column to protect.
        spec: a specification, as for `publish`; its beta is not used.
        beta: the betas to try.
        schemes: names, or schemes such as Seam(effort=4), that take a beta and form classes.
        consider: further columns, to see what each would cost as a quasi-identifier.
        promise: "enhanced" or "basic".
        k: least number of rows in a class.
        hierarchies: a folder, or a mapping from column to hierarchy.
        kinds: types of columns where the guess is wrong.
        domains: least and greatest value of a numeric column, where the table does not show them.
        weights: how much the loss on each quasi-identifier counts.
        round: as for `publish`, and so are `bottom` and `top`.
        bottom: as for `publish`.
        top: as for `publish`.
        person: as for `publish`.
        missing: codes that stand for a missing value.
        missing_sensitive: "error", or "value".
        dates: "dmy" or "mdy".
        bins: as for `publish`.
        queries: how many random COUNT queries each release is asked; 0 for none.
        delimiter: of a CSV file, where it is not recognized.
        seed: repeatable choices, for experiments only.
        progress: a listener for the progress of the work; by default a bar in notebooks once it takes long.
    """
    check_one_sensitive(sensitive, "explored")
    assert isinstance(sensitive, str)
    betas = tuple(sorted({float(each) for each in ([beta] if isinstance(beta, int | float) else beta)}))
    names, made = name_schemes(schemes)
    if other := [name for name in names if name not in GENERALIZING]:
        raise ParameterError(f"'{other[0]}' forms no classes, so it has no loss to explore. Name another scheme.")
    known = [*quasi_identifiers, *consider]
    hierarchies = with_built(hierarchies, table, known, sensitive, missing, delimiter)
    form, is_value = choose(Form, promise, "promise"), missing_is_value(missing_sensitive)
    ends = {"round": round, "bottom": bottom, "top": top}
    whole = make_schema(known, sensitive, hierarchies, kinds, domains, weights, (), is_value, ends, person, dates, bins)
    frame = read(table, whole, missing, delimiter)

    def engine_of(columns: Sequence[str]) -> LocalEngine:
        """Return the table with some of its columns as quasi-identifiers."""
        chosen = tuple(each for each in whole.quasi_identifiers if each.name in columns)
        return LocalEngine(frame, replace(whole, quasi_identifiers=chosen))

    engine = engine_of(quasi_identifiers)
    n_predicates = min(3, len(quasi_identifiers))
    contest = Contest(names, betas, None, form, k, None, queries, n_predicates, 0.1, seed, made)
    compared = compare_schemes(engine, contest, progress)
    trials = [_trial(result, number, compared.n_rows, betas) for number, result in _by_beta(compared.groups)]
    knees = {name: knee for name in names if (knee := find_knee(_curve(trials, name))) is not None}
    column_beta = knees.get(names[0], betas[len(betas) // 2])
    scheme = made.get(names[0], names[0])
    costs = _Costs(engine_of, lambda: choose_scheme(scheme, seed, {}), Likeness(column_beta, form, k))
    columns = list(costs.of_columns(quasi_identifiers, consider, progress))
    return Exploration(
        compared.n_rows, betas, trials, knees, _caps(engine, betas, form, k), columns, column_beta, person is not None
    )


def _by_beta(groups: Sequence[Sequence[SchemeResult]]) -> Iterator[tuple[int, SchemeResult]]:
    return ((number, result) for number, group in enumerate(groups) for result in group)


def _trial(result: SchemeResult, number: int, n_rows: int, betas: Sequence[float]) -> Trial:
    if result.refusal is not None:
        return Trial(result.scheme, betas[number], refusal=result.refusal)
    return Trial(
        scheme=result.scheme,
        beta=betas[number],
        loss=result.loss,
        surest_guess=None if result.l is None else max(1 / result.l, result.guess_in_people or 0.0),
        average_risk=_average_risk(result, n_rows),
        count_error=result.count_error,
        smallest_class=result.smallest_class if result.smallest_in_people is None else result.smallest_in_people,
    )


def _average_risk(result: SchemeResult, n_rows: int) -> float | None:
    in_rows = None if result.classes is None else result.classes / n_rows
    return in_rows if result.risk_in_people is None else result.risk_in_people


def _curve(trials: Sequence[Trial], scheme: str) -> list[tuple[float, float]]:
    return [(trial.beta, trial.loss) for trial in trials if trial.scheme == scheme and trial.loss is not None]


def find_knee(curve: Sequence[tuple[float, float]]) -> float | None:
    """Return the beta after which more of it gains little: the point farthest below the line between the two ends.

    Beta is taken logarithmically. There is no knee with fewer than 3 points, or where the loss does not fall.

    >>> find_knee([(1, 0.5), (2, 0.2), (4, 0.15), (8, 0.12)])
    2
    """
    if len(curve) < 3 or curve[0][1] <= curve[-1][1]:
        return None
    (first, high), (last, low) = curve[0], curve[-1]

    def below(point: tuple[float, float]) -> float:
        along = math.log(point[0] / first) / math.log(last / first)
        return (1 - along) - (point[1] - low) / (high - low)

    knee = max(curve[1:-1], key=below)
    return knee[0] if below(knee) > 0 else None


def _caps(engine: LocalEngine, betas: Sequence[float], form: Form, k: int) -> list[ValueCaps]:
    """Return what each value may reach with each beta, the most frequent value first."""
    counts = engine.count_cells().value_counts
    people = counts if engine.schema.person is None else _people_with(engine, engine.schema.person.name)
    ceilings = np.column_stack([Likeness(beta, form, k).ceilings(counts) for beta in betas])
    shares = counts / counts.sum()
    return [
        ValueCaps(label, int(people[place]), float(shares[place]), tuple(map(float, np.minimum(ceilings[place], 1.0))))
        for place, label in sorted(enumerate(engine.sensitive_labels), key=lambda it: -counts[it[0]])
    ]


def _people_with(engine: LocalEngine, person: str) -> Ints:
    """Return how many people have each sensitive value in one of their rows."""
    cells = engine.count_cells()
    keys = person_keys(pl.concat(batch.to_series() for batch in engine.read_rows([person])))
    code = keys.cast(pl.String).fill_null("").rank("dense").cast(pl.Int64).to_numpy() - 1
    held = Holders.of(cells.value[engine.cell_of_rows].astype(np.int64), code)
    return np.bincount(held.row, minlength=len(cells.value_counts))


@dataclass(frozen=True)
class _Costs:
    """How to publish a table with other quasi-identifiers, to see what each costs."""

    engine_of: Callable[[Sequence[str]], LocalEngine]
    make_scheme: Callable[[], Scheme]
    promise: Likeness

    def of_columns(self, columns: Sequence[str], considered: Sequence[str], progress: Progress) -> Iterator[ColumnCost]:
        """Yield what each column costs when it is left out, and what each considered one costs when it is added."""
        if len(columns) < 2 and not considered:
            return
        whole = self._publish(columns)
        turns = [*(columns if len(columns) > 1 else ()), *considered]
        for column in progress.track(turns, "leaving out columns"):
            is_added = column in considered
            others = [each for each in columns if each != column]
            try:
                other = self._publish([*columns, column] if is_added else others)
            except (InputError, InfeasibleError):
                continue
            with_it, without = (other, whole) if is_added else (whole, other)
            loss_with, loss_without = (_average(loss, others) for loss, _ in (with_it, without))
            yield ColumnCost(column, is_added, loss_with, loss_without, with_it[1], without[1])

    def _publish(self, columns: Sequence[str]) -> tuple[Loss, float]:
        """Return the loss of a release with these quasi-identifiers, and the average risk."""
        found = publish(self.engine_of(columns), Job(self.make_scheme(), self.promise), Stopwatch()).verified
        if found.people is not None:
            return found.loss, found.people.risk.prosecutor_average
        return found.loss, (found.audit.classes or 0) / found.audit.rows


def _average(loss: Loss, columns: Sequence[str]) -> float:
    return float(np.mean([loss.per_attribute[column] for column in columns]))
