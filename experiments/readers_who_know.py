"""What readers who know the program, and who is in which class, learn: `python -m experiments.readers_who_know`.

A table is parted in three at random. From the first part the readers know how likely values are in the population. The
second part is theirs, too, and they publish it with the same scheme. From it they learn how a person's value depends on
what they see. Then they guess the values of the third part, which is the published one, in three ways:

(a) from the shares of the values in the person's class;
(b) from these and a population model: how likely each value is for such quasi-identifiers;
(c) from both and the person's place: in the class, between its neighbours, and as far as the class had to reach.

The leak is what (c) adds to (b) in log-likelihood per person. In the control the classes and their values stay, but who
in a class has which value is drawn from the population model. There a place says nothing, so nothing should be found.
Only the files of releases and the original table are used. All learning is by LightGBM.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import lzma
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import betalike

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Row = dict[str, Any]

PROJECT = Path(__file__).parent.parent
OUT = PROJECT / "docs" / "explanation" / "attacks" / "readers-who-know.csv"
PERSON = "person"  # a column that numbers the people, which is published as it is: it says who is in which class
BETA, SEED, MOST_ROWS = 4.0, 1, 135_000
SCHEMES: dict[str, dict[str, Any]] = {"whole": {}, "whole --strict": {"strict": True}, "seam": {}, "lmondrian": {}}
SCHEMES |= {"burel+split": {}, "burel": {}}
HELD = 5  # one class in five decides how much is learned from the others
NEIGHBOURS, AT_CAP, CORE = 8, 0.9, 0.25
SCALINGS, SWAPS, RESAMPLES = 20, 60, 1_000
TINY = 1e-12
TREES = {"learning_rate": 0.1, "num_leaves": 15, "max_bin": 63, "lambda_l2": 10.0, "min_sum_hessian_in_leaf": 5.0}
POPULATION = {"learning_rate": 0.1, "num_leaves": 8, "min_data_in_leaf": 50, "lambda_l2": 5.0}
COMMON = {"verbosity": -1, "num_threads": 1, "seed": SEED, "deterministic": True, "force_col_wise": True}


@dataclass(frozen=True)
class Original:
    """A table of people with its columns; hierarchies are lists of paths from a value to `*`."""

    name: str
    frame: pl.DataFrame
    quasi_identifiers: list[str]
    sensitive: str
    hierarchies: Mapping[str, list[list[str]]]

    def positions(self) -> Floats:
        """Return everybody's quasi-identifiers as positions between 0 and 1, as the program orders them."""
        columns = []
        for name in self.quasi_identifiers:
            order = {path[0]: i for i, path in enumerate(self.hierarchies.get(name, []))}
            texts = self.frame[name].cast(pl.String)
            number = (texts.replace_strict(order) if order else self.frame[name]).to_numpy().astype(np.float64)
            columns.append((number - number.min()) / max(number.max() - number.min(), TINY))
        return np.column_stack(columns)


@dataclass(frozen=True)
class Crowd:
    """People with quasi-identifiers, values, classes, and the chances that the population model gives them."""

    positions: Floats
    value: Ints
    ec: Ints
    population: Floats
    caps: Floats
    kind: Ints

    @cached_property
    def along(self) -> Floats:
        """Everybody's rank along the Hilbert curve, on which BUREL looks for neighbours; ties share theirs."""
        return _ranks(hilbert_keys(self.positions), np.zeros(len(self.ec), dtype=np.int64)) * len(self.ec)

    @cached_property
    def sizes(self) -> Floats:
        """People in each class."""
        return np.bincount(self.ec).astype(np.float64)

    @cached_property
    def counts(self) -> Floats:
        """People with each value in each class."""
        counts = np.zeros((len(self.sizes), self.population.shape[1]))
        np.add.at(counts, (self.ec, self.value), 1.0)
        return counts

    @cached_property
    def shares(self) -> Floats:
        """The share of each value in each class."""
        return self.counts / self.sizes[:, None]

    @cached_property
    def tight(self) -> Floats:
        """How near each share is to the cap that the promise sets."""
        return self.shares / self.caps

    @cached_property
    def surplus(self) -> Floats:
        """The logarithm of how many more people of a class have a value than the population model expects."""
        return np.log((self.counts + 0.5) / (self.sums(self.population) + 0.5))

    def sums(self, rows: Floats) -> Floats:
        """Return the sum of the rows of each class's people."""
        return np.column_stack([np.bincount(self.ec, column, len(self.sizes)) for column in rows.T])

    def matched(self, chances: Floats) -> Floats:
        """Return everybody's chances so that the people of a class have the class's values together."""
        found = np.where(self.counts[self.ec] > 0, np.maximum(chances, TINY), 0.0)
        for _ in range(SCALINGS):
            found *= (self.counts / np.maximum(self.sums(found), TINY))[self.ec]
            found /= np.maximum(found.sum(axis=1, keepdims=True), TINY)
        return found

    def redrawn(self, rng: np.random.Generator) -> Crowd:
        """Redraw who in a class has which value: assignments are as likely as the population model says."""
        logs, ec = np.log(np.maximum(self.population, TINY)), self.ec
        value = self.value[np.lexsort((rng.random(len(ec)), ec))][np.argsort(np.argsort(ec, kind="stable"))]
        for turn in range(SWAPS):
            order = np.lexsort((rng.random(len(ec)), ec))[turn % 2 :]
            one, two = order[:-1][::2], order[1:][::2]
            pair = ec[one] == ec[two]
            one, two = one[pair], two[pair]
            gain = logs[one, value[two]] + logs[two, value[one]] - logs[one, value[one]] - logs[two, value[two]]
            swap = np.log(rng.random(len(one))) < gain
            value[one[swap]], value[two[swap]] = value[two[swap]], value[one[swap]]
        return replace(self, value=value)


def publish(original: Original, rows: Ints, scheme: str, folder: Path) -> tuple[Ints, float]:
    """Publish some rows; return everybody's class as the files show it, and the loss."""
    known, frame = original.quasi_identifiers, original.frame.with_row_index(PERSON)[rows]
    columns = {"quasi_identifiers": known, "sensitive": original.sensitive, "hierarchies": original.hierarchies}
    wanted = {"scheme": scheme.split()[0], "options": SCHEMES[scheme], "beta": BETA, "seed": SEED, "out": folder}
    betalike.publish(frame, **columns, **wanted, keep=[PERSON], keep_identifiers=True)
    shown = pl.read_csv(folder / "published.csv", infer_schema=False)
    shown = frame.select(pl.col(PERSON).cast(pl.String)).join(shown, on=PERSON, how="left", maintain_order="left")
    labels = shown.select(pl.struct(known).rank("dense") - 1).to_series().to_numpy()
    certificate = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    return labels.astype(np.int64), certificate["release"]["average_loss"]


def caps_of(counts: Ints) -> Floats:
    """Return the largest share that the promise allows for each value of a table."""
    prior = np.maximum(counts / counts.sum(), TINY)
    return prior * (1 + np.minimum(BETA, -np.log(prior)))


def kinds_of(counts: Ints) -> Ints:
    """Number the values by the bucket that BUREL puts them in: as few buckets as their caps allow."""
    order, caps, prior = np.argsort(counts, kind="stable"), caps_of(counts), counts / counts.sum()
    fewest, start = [0], [0]
    for end in range(1, len(order) + 1):
        fits = [i for i in range(end) if i == end - 1 or prior[order[i:end]].sum() < caps[order[i]]]
        first = min(reversed(fits), key=lambda i: fewest[i])
        fewest.append(fewest[first] + 1)
        start.append(first)
    kind, end = np.zeros(len(order), dtype=np.int64), len(order)
    while end > 0:
        kind[order[start[end] : end]] = fewest[end] - 1
        end = start[end]
    return kind


def learn_population(positions: Floats, value: Ints, n_values: int) -> lgb.Booster:
    """Learn how likely each value is for some quasi-identifiers; one person in five decides how much is learned."""
    is_held = np.arange(len(value)) % HELD == 0
    data = lgb.Dataset(positions[~is_held], value[~is_held])
    held = lgb.Dataset(positions[is_held], value[is_held], reference=data)
    wanted = {**COMMON, **POPULATION, "objective": "multiclass", "num_class": n_values}
    return lgb.train(wanted, data, 400, [held], callbacks=[lgb.early_stopping(10, verbose=False)])


def chances_of(model: lgb.Booster, positions: Floats) -> Floats:
    """Return everybody's chances by a model of the population."""
    points, at = np.unique(positions, axis=0, return_inverse=True)
    return np.asarray(model.predict(points))[at.ravel()]


def hilbert_keys(positions: Floats) -> Ints:
    """Return the place of each point of the unit cube along a Hilbert curve (Skilling's transform)."""
    n_axes = positions.shape[1]
    bits = min(20, 62 // n_axes)
    x = np.rint(positions * ((1 << bits) - 1)).astype(np.int64)
    for level in range(bits - 1, 0, -1):
        side = 1 << level
        for axis in range(n_axes):
            is_far = (x[:, axis] & side) > 0
            swap = np.where(is_far, 0, (x[:, 0] ^ x[:, axis]) & (side - 1))
            x[:, 0] ^= np.where(is_far, side - 1, swap)
            x[:, axis] ^= swap
    for axis in range(1, n_axes):
        x[:, axis] ^= x[:, axis - 1]
    flip = np.zeros(len(x), dtype=np.int64)
    for level in range(bits - 1, 0, -1):
        flip ^= np.where(x[:, -1] & (1 << level), (1 << level) - 1, 0)
    keys = np.zeros(len(x), dtype=np.int64)
    for level in range(bits - 1, -1, -1):
        for axis in range(n_axes):
            keys = (keys << 1) | (((x[:, axis] ^ flip) >> level) & 1)
    return keys


def _ranks(number: NDArray[Any], ec: Ints) -> Floats:
    """Return the share of a class's people with a lower number; the same number counts crowd."""
    ranks = (pl.col("number").rank() - 0.5) / pl.len()
    return pl.DataFrame({"number": number, "ec": ec}).select(ranks.over("ec")).to_series().to_numpy()


def clues_of(crowd: Crowd) -> Iterator[Floats]:
    """Yield clues about each person and value: first the score of guess (b), then what the program may give away."""
    ec, prior = crowd.ec, np.maximum(crowd.population.mean(axis=0), TINY)
    yield np.log(np.maximum(crowd.matched(crowd.population), TINY))
    yield np.log(np.maximum(crowd.population, TINY) / prior)
    yield np.log(np.maximum(crowd.shares, TINY))[ec]
    yield np.log(prior)[None, :]
    yield np.log(crowd.sizes)[ec][:, None]
    yield crowd.surplus[ec]
    yield crowd.tight[ec]
    yield np.where(crowd.tight > AT_CAP, crowd.shares, 0.0).sum(axis=1)[ec][:, None]
    yield np.arange(crowd.counts.shape[1], dtype=np.float64)[None, :]
    yield from _position_clues(crowd)
    yield from _neighbour_clues(crowd)
    yield from _reach_clues(crowd)


def _position_clues(crowd: Crowd) -> Iterator[Floats]:
    """Yield where a person is in the class: along the curve, from the middle, on each column and from the sides."""
    ec = crowd.ec
    middle = crowd.sums(crowd.positions) / crowd.sizes[:, None]
    away = crowd.positions - middle[ec]
    yield _ranks(crowd.along, ec)[:, None]
    yield _ranks(np.abs(crowd.along - _medians(crowd)[ec]), ec)[:, None]
    yield _ranks(np.sqrt((away**2).sum(axis=1)).round(9), ec)[:, None]
    yield np.abs(away).sum(axis=1, keepdims=True)
    sides = pl.DataFrame(crowd.positions).with_columns(ec=ec)
    low, high = (sides.select(getattr(pl.exclude("ec"), end)().over("ec")).to_numpy() for end in ("min", "max"))
    yield (high - low).sum(axis=1, keepdims=True)
    yield np.minimum(crowd.positions - low, high - crowd.positions).sum(axis=1, keepdims=True)
    for column in crowd.positions.T[:6]:
        yield _ranks(column, ec)[:, None]


def _medians(crowd: Crowd) -> Floats:
    """Return the middle of each class along the curve."""
    frame = pl.DataFrame({"along": crowd.along, "ec": crowd.ec})
    return frame.group_by("ec").agg(pl.median("along")).sort("ec")["along"].to_numpy()


def _neighbour_clues(crowd: Crowd) -> Iterator[Floats]:
    """Yield what near classes hold, and the other classes of people at the same point."""
    ec, n_classes = crowd.ec, len(crowd.sizes)
    middle = crowd.sums(crowd.positions) / crowd.sizes[:, None]
    near = cKDTree(middle).query(middle, min(NEIGHBOURS + 1, n_classes))[1].reshape(n_classes, -1)[:, 1:]
    near = near if near.size else np.arange(n_classes)[:, None]
    yield crowd.tight[near].mean(axis=1)[ec]
    yield crowd.tight[near].max(axis=1)[ec]
    yield crowd.surplus[near].mean(axis=1)[ec]
    points, point = np.unique(crowd.positions, axis=0, return_inverse=True)
    point = point.ravel()
    pair, place, people = np.unique(point * n_classes + ec, return_inverse=True, return_counts=True)
    at, of_class = pair // n_classes, pair % n_classes
    own, total = people[place][:, None], np.bincount(point)[point][:, None]
    yield own / total
    for rows in (crowd.tight, crowd.surplus):
        sums = np.add.reduceat(rows[of_class] * people[:, None], np.searchsorted(at, np.arange(len(points))))
        yield np.where(total > own, (sums[point] - own * rows[ec]) / np.maximum(total - own, 1), -9.0)


def _reach_clues(crowd: Crowd) -> Iterator[Floats]:
    """Yield how scarce a value, and its bucket, is where the class was formed, and how far the class had to reach."""
    ec, along, middle = crowd.ec, crowd.along, _medians(crowd)
    is_core = _ranks(np.abs(along - middle[ec]), ec) <= CORE
    distance = np.abs(along - middle[ec])[:, None]
    n_core = np.maximum(np.bincount(ec, is_core, len(crowd.sizes)), 1)[:, None]
    for kind in (crowd.kind, np.arange(len(crowd.kind))):
        joined = (kind[:, None] == np.arange(kind.max() + 1)).astype(np.float64)
        expected, wanted = crowd.population @ joined, crowd.counts @ joined
        core = crowd.sums(expected * is_core[:, None]) / n_core
        yield np.log((wanted / crowd.sizes[:, None] + 1e-3) / (core + 1e-3))[:, kind][ec]
        order = np.argsort(along, kind="stable")
        found = np.cumsum(expected[order], axis=0)
        widths = [_half_width(along[order], of, middle, want) for of, want in zip(found.T, wanted.T, strict=True)]
        yield np.log((distance + 1) / (np.column_stack(widths)[:, kind][ec] + 1))


def _half_width(along: Floats, found: Floats, centre: Floats, wanted: Floats) -> Floats:
    """Return how far on both sides of each centre one must go to expect the wanted number of people."""
    low, high = np.zeros_like(centre), np.full_like(centre, along[-1])
    for _ in range(24):
        middle = (low + high) / 2
        enough = np.interp(centre + middle, along, found) - np.interp(centre - middle, along, found) >= wanted
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


@dataclass(frozen=True)
class Pairs:
    """People with the values of their classes: which are possible, where each person starts, truth, scores, clues."""

    possible: Bools
    starts: Ints
    truth: Bools
    score: Floats
    clues: NDArray[np.float32]

    @staticmethod
    def in_classes(crowd: Crowd) -> Pairs:
        """List everybody with each value that the person's class has."""
        possible = crowd.counts[crowd.ec] > 0
        starts = np.append(0, np.cumsum(possible.sum(axis=1)))
        truth = (np.arange(possible.shape[1]) == crowd.value[:, None])[possible]
        wide = (np.broadcast_to(rows, possible.shape) for rows in clues_of(crowd))
        clues = np.column_stack([rows[possible].astype(np.float32) for rows in wide])
        return Pairs(possible, starts, truth, clues[:, 0].astype(np.float64), clues)

    def corrected(self, model: lgb.Booster | None) -> Pairs:
        """Return the same pairs with the scores that a model gives them."""
        if model is None:
            return self
        learned = model.predict(self.clues, raw_score=True, num_iteration=model.best_iteration)
        return replace(self, score=self.score + learned)

    @property
    def chances(self) -> Floats:
        """Everybody's chances, with a column for each value."""
        chances = np.zeros(self.possible.shape)
        chances[self.possible] = softmax(self.score, self.starts)
        return chances

    def of(self, is_kept: Bools) -> Pairs:
        """Return the pairs of some of the people."""
        part, starts = np.repeat(is_kept, np.diff(self.starts)), np.append(0, np.cumsum(np.diff(self.starts)[is_kept]))
        return Pairs(self.possible[is_kept], starts, self.truth[part], self.score[part], self.clues[part])

    def fit(self, score: Floats) -> Floats:
        """Return the log-likelihood of each person, given scores."""
        return np.log(np.maximum(softmax(score, self.starts)[self.truth], TINY))

    def data(self) -> lgb.Dataset:
        """Return the pairs for learning."""
        return lgb.Dataset(self.clues, self.truth.astype(float), init_score=self.score, params={**COMMON, **TREES})


def softmax(score: Floats, starts: Ints) -> Floats:
    """Return the chances of each person's values."""
    sizes = np.diff(starts)
    powers = np.exp(score - np.repeat(np.maximum.reduceat(score, starts[:-1]), sizes))
    return powers / np.repeat(np.add.reduceat(powers, starts[:-1]), sizes)


def learn(pairs: Pairs, ec: Ints) -> lgb.Booster | None:
    """Learn how clues correct scores; None if that does not help classes that were held out by more than chance."""
    cluster = ec if ec.max() > 2 * HELD else np.arange(len(ec))  # with few classes, people are held out
    is_held = cluster % HELD == 0
    own, held = pairs.of(~is_held), pairs.of(is_held)

    def slopes(score: Floats, _: lgb.Dataset) -> tuple[Floats, Floats]:
        chances = softmax(score, own.starts)
        return chances - own.truth, np.maximum(chances * (1 - chances), 1e-6)

    def fit(score: Floats, _: lgb.Dataset) -> tuple[str, float, bool]:
        return "fit", float(held.fit(score).mean()), True

    wanted, data, calls = {**COMMON, **TREES, "objective": slopes}, own.data(), [lgb.early_stopping(15, verbose=False)]
    model = lgb.train(wanted, data, 400, [held.data().set_reference(data)], feval=fit, callbacks=calls)
    gain = np.bincount(cluster[is_held], held.fit(held.corrected(model).score) - held.fit(held.score))
    return model if gain.sum() > np.sqrt((gain**2).sum()) else None


def guess(own: Crowd, other: Crowd, rng: np.random.Generator) -> list[Floats]:
    """Learn from one crowd, and return guesses (a), (b) and (c) of the values of another.

    How (b) combines shares and the population model is learned where places say nothing: from redrawn values.
    """
    worlds = own.redrawn(rng), own, other
    pairs = [Pairs.in_classes(crowd) for crowd in worlds]
    guesses = [other.shares[other.ec]]
    for step in range(2):
        model = learn(pairs[step], own.ec)
        pairs = [each.corrected(model) for each in pairs]
        guesses.append(other.matched(pairs[2].chances))
    return guesses


def compare(rounds: Sequence[tuple[Crowd, Crowd]], rng: np.random.Generator) -> Row:
    """Return how good the guesses of all rounds are, and what (c) adds to (b), with intervals by resampled classes."""
    logs, rights, above = [], [], []
    for own, other in rounds:
        everybody, guesses = np.arange(len(other.ec)), np.stack(guess(own, other, rng))
        logs.append(np.log(np.maximum(guesses[:, everybody, other.value], TINY)))
        rights.append(100.0 * (guesses.argmax(axis=2) == other.value))
        above.append(100.0 * (guesses > other.caps * (1 + 1e-9)).any(axis=2))
    offsets = np.cumsum([0] + [len(other.sizes) for _, other in rounds])
    ec = np.concatenate([other.ec + offset for (_, other), offset in zip(rounds, offsets, strict=False)])
    sizes = np.bincount(ec)
    row: Row = {"people": len(ec), "classes": len(sizes)}
    picks = rng.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), RESAMPLES)
    for name, each in (("leak", np.hstack(logs)), ("points", np.hstack(rights))):
        sums = np.bincount(ec, each[2] - each[1])
        low, high = np.quantile(picks @ sums / (picks @ sizes), [0.025, 0.975])
        row |= {name: sums.sum() / len(ec), f"{name}_low": low, f"{name}_high": high}
    for name, parts in (("fit", logs), ("success", rights), ("above", above)):
        row |= {f"{name}_{way}": of.mean() for way, of in zip("abc", np.hstack(parts), strict=True)}
    return row


def attack(original: Original, schemes: Sequence[str] = tuple(SCHEMES)) -> Iterator[Row]:
    """Publish two thirds of a table by each scheme, and yield what readers learn; each third is the target once."""
    rng = np.random.default_rng(SEED)
    values, positions = original.frame[original.sensitive].rank("dense").to_numpy() - 1, original.positions()
    order, n_values = np.lexsort((rng.random(len(values)), values)), int(values.max()) + 1
    parts = [rng.permutation(order[i::3]) for i in range(3)]  # each has the values of the table in the same shares
    models = [learn_population(positions[rows], values[rows], n_values) for rows in parts]
    for scheme in schemes:
        rng = np.random.default_rng([SEED, list(SCHEMES).index(scheme)])
        crowds, losses = [], []
        for number, rows in enumerate(parts):
            with tempfile.TemporaryDirectory(prefix="betalike-readers-") as folder:
                ec, loss = publish(original, rows, scheme, Path(folder))
            value, losses = values[rows].astype(np.int64), [*losses, loss]
            of_value = np.bincount(value, minlength=n_values)
            chances = [chances_of(models[number - back], positions[rows]) for back in (2, 1)]
            known = positions[rows], value, ec
            crowds.append([Crowd(*known, each, caps_of(of_value), kinds_of(of_value)) for each in chances])
        rounds = [(crowds[i - 1][1], crowds[i][0]) for i in range(3)]
        found = compare(rounds, rng)
        control = compare([(own.redrawn(rng), other.redrawn(rng)) for own, other in rounds], rng)
        row = {"table": original.name, "scheme": scheme, "loss": float(np.mean(losses)), **found}
        yield row | {f"control_{name}": control[name] for name in ("leak", "leak_low", "leak_high")}


def originals() -> list[Original]:
    """Return the tables to attack, from the folder that BETALIKE_DATA names."""
    data = Path(os.environ.get("BETALIKE_DATA", PROJECT.parent / "shared" / "data"))
    census = pl.read_csv(io.BytesIO(lzma.decompress((data / "census" / "census.csv.xz").read_bytes())))
    adult = pl.read_csv(data / "adult" / "adult.csv", separator=";")
    names = ["age", "sex", "education", "marital-status", "workclass"]
    trees = {name: _paths(data / "adult" / "hierarchies" / f"{name}.csv") for name in names[1:]}
    some, gender = census.sample(MOST_ROWS, seed=SEED), _paths(data / "census" / "hierarchies" / "gender.csv")
    return [
        Original("CENSUS", some, ["age", "gender", "education"], "salary_class", {"gender": gender}),
        Original("Adult, occupation", adult, names, "occupation", trees),
        Original("Adult, salary class", adult, names, "salary-class", trees),
    ]


def _paths(file: Path) -> list[list[str]]:
    return [line.split(";") for line in file.read_text(encoding="utf-8").splitlines() if line]


def main(arguments: Sequence[str] | None = None, tables: Sequence[Original] | None = None) -> None:
    """Attack every scheme on every table, or those that are named; all take about half an hour."""
    parser = argparse.ArgumentParser(prog="experiments.readers_who_know")
    parser.add_argument("--tables", help="their names, a;b (default: all)")
    parser.add_argument("--schemes", help="their names, a;b (default: all)")
    parser.add_argument("--out", type=Path, default=OUT, help="the CSV file; by default that of the documentation")
    given = parser.parse_args(arguments)
    schemes = given.schemes.split(";") if given.schemes else list(SCHEMES)
    tables = originals() if tables is None else tables
    wanted = given.tables.split(";") if given.tables else [table.name for table in tables]
    rows: list[Row] = []
    for table in [table for table in tables if table.name in wanted]:
        for row in attack(table, schemes):
            rows.append({name: f"{cell:.6g}" if isinstance(cell, float) else cell for name, cell in row.items()})
            print(rows[-1], f"{time.process_time():.0f} s", file=sys.stderr, flush=True)
    with given.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
