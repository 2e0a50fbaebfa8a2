"""Compare regression coefficients of a release with those of its original: by midpoints, and by draws.

CENSUS and Adult are found through BETALIKE_DATA; `cps` is a simulated survey of wages, and the logarithm of the wage is
what is explained. `--tables` names a folder of further CSV files whose last column is
sensitive. Each release is analysed in two ways. By midpoints: the middle of each range, and the most likely value under
each node of a hierarchy. By draws: completed tables, combined by Rubin's rules. A row is printed for every coefficient,
then a summary for every release.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import betalike
from betalike.measures.combining import combine
from betalike.measures.sample import Sample
from betalike.queries.columns import NamedColumn
from betalike.queries.completion import Completion, sample_columns, sensitive_codes
from betalike.queries.estimator import Estimator
from betalike.queries.label_shares import LeafShares, Spread
from betalike.queries.original import count_original, original_sample
from betalike.runtime.randomness import SeededRandomness
from experiments.interval_coverage import Source, sources
from experiments.regression import RegressionModel
from experiments.wages import cps_like

WAGES = "cps"
CERTAIN = 1.96  # standard errors of a 95 % interval
FIELDS = (
    "table",
    "scheme",
    "beta",
    "term",
    "original",
    "error",
    "midpoints",
    "midpoints_error",
    "draws",
    "draws_error",
)
MOST_ERROR = 10.0  # of a coefficient that is compared: beyond it the original does not determine it either
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """Coefficients and standard errors of one release: original, midpoints, draws; and the interval of the draws."""

    names: list[str]
    original: tuple[Floats, Floats]
    midpoints: tuple[Floats, Floats]
    draws: tuple[Floats, Floats]
    low: Floats
    high: Floats

    def summary(self) -> dict[str, float]:
        """Return distances in standard errors of the original, and how many intervals hold the original."""
        truth, error = self.original
        apart = {way: np.abs(figures[0] - truth) / error for way, figures in self.ways().items()}
        middle, reach = self.midpoints
        return {
            "coefficients": len(self.names),
            "midpoints_distance": float(np.median(apart["midpoints"])),
            "draws_distance": float(np.median(apart["draws"])),
            "nearer_by_draws": float(np.mean(apart["draws"] < apart["midpoints"])),
            "midpoints_covered": float(np.mean(np.abs(middle - truth) <= CERTAIN * reach)),
            "draws_covered": float(np.mean((self.low <= truth) & (truth <= self.high))),
        }

    def ways(self) -> dict[str, tuple[Floats, Floats]]:
        """Return the coefficients and errors of both ways."""
        return {"midpoints": self.midpoints, "draws": self.draws}


def complete_by_midpoints(release: Estimator) -> Sample:
    """Return the table with the middle of each range, and the most likely leaf under each node."""
    index, counts = release.index, release.index.counts
    columns = []
    for axis, (column, shares) in enumerate(zip(index.columns, index.shares(Spread.DENSITY), strict=True)):
        spans = index.spans[axis]
        if isinstance(column, NamedColumn):
            assert isinstance(shares, LeafShares)
            middle = np.where(spans.is_present, spans.low, np.nan)
            inner = np.flatnonzero(shares.row >= 0)
            share = np.diff(shares.before, axis=1)[shares.row[inner], : max(len(column.leaves), 1)]
            middle[inner] = np.argmax(share, axis=1)
        else:
            ends = spans.measured(spans.low) + spans.measured(spans.high)
            middle = np.where(spans.missing | ~spans.is_present, np.nan, ends / 2)
            middle = Completion(release).number(axis, middle)
        columns.append(middle[index.ids[:, axis]][counts.ec])
    sensitive = sensitive_codes(release.values, counts.value.astype(np.int32))
    return Sample.of(sample_columns(release), [*columns, sensitive], counts.count.astype(np.float64))


def compare(source: Source, scheme: str, beta: float, n_draws: int) -> Compared | None:
    """Publish a table, and fit the same regression to it, to midpoints and to completed tables."""
    release = betalike.publish(
        source.frame.select(*source.quasi_identifiers, source.sensitive),
        quasi_identifiers=source.quasi_identifiers,
        sensitive=source.sensitive,
        beta=beta,
        scheme=scheme,
        hierarchies=None if source.hierarchies is None else trees_of(source),
        seed=1,
    ).estimator
    original = original_sample(release, *count_original(release, source.frame))
    model = RegressionModel.of(original)
    if model is None:
        return None
    if source.name == WAGES:
        model = replace(model, numbers=np.log(model.numbers))
    completion, randomness = Completion(release), SeededRandomness(1)
    completed = [model.fit(completion.sample(randomness)) for _ in range(n_draws)]
    before, middle = model.fit(original), model.fit(complete_by_midpoints(release))
    found = combine([fit.coefficients for fit in completed], [fit.variances for fit in completed])
    known = np.all([fit.is_known for fit in (before, middle, *completed)], axis=0)
    known &= (np.sqrt(before.variances) < MOST_ERROR) & (np.array(model.names) != "intercept")

    def pick(coefficients: Floats, errors: Floats) -> tuple[Floats, Floats]:
        return coefficients[known], errors[known]

    return Compared(
        [name for name, is_known in zip(model.names, known, strict=True) if is_known],
        pick(before.coefficients, np.sqrt(before.variances)),
        pick(middle.coefficients, np.sqrt(middle.variances)),
        pick(found.estimate, found.standard_error),
        *pick(found.low, found.high),
    )


def trees_of(source: Source) -> dict[str, Path]:
    """Return the hierarchies of a table, except that of age, which is a number."""
    assert source.hierarchies is not None
    wanted = set(source.quasi_identifiers) - {"age"}
    return {path.stem: path for path in sorted(source.hierarchies.glob("*.csv")) if path.stem in wanted}


def chosen_sources(folder: Path | None, names: Sequence[str]) -> Iterator[Source]:
    """Yield the tables; Adult also with salary-class as the sensitive column, and a survey of wages."""
    if not names or WAGES in names:
        frame = cps_like()
        yield Source(WAGES, frame, [name for name in frame.columns if name not in ("weight", "wage")], "wage")
        if names == [WAGES]:
            return
    for source in sources(folder, [name for name in names if name != WAGES]):
        yield source
        if source.name == "adult":
            yield replace(source, name="adult, salary", sensitive="salary-class")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare every table, scheme and beta, and print the coefficients and a summary of each."""
    parser = argparse.ArgumentParser(prog="python -m experiments.coefficients", description=__doc__)
    parser.add_argument("--tables", type=Path, help="folder of further CSV files; the last column is the sensitive one")
    parser.add_argument("--only", nargs="*", default=[], help="names of the tables; by default all")
    parser.add_argument("--schemes", nargs="*", default=["whole", "seam", "lmondrian"])
    parser.add_argument("--betas", nargs="*", type=float, default=[4.0])
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args(arguments)
    writer = csv.writer(sys.stdout)
    writer.writerow(FIELDS)
    for source in chosen_sources(options.tables, options.only):
        for scheme in options.schemes:
            for beta in options.betas:
                found = compare(source, scheme, beta, options.draws)
                if found is None:
                    continue
                columns = [part for way in (found.original, found.midpoints, found.draws) for part in way]
                for name, *figures in zip(found.names, *columns, strict=True):
                    writer.writerow([source.name, scheme, f"{beta:g}", name, *(f"{figure:.4g}" for figure in figures)])
                shown = ", ".join(f"{name} {figure:.3g}" for name, figure in found.summary().items())
                print(f"{source.name}, {scheme}, beta {beta:g}: {shown}", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
