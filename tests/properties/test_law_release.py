"""Laws that every release keeps, whatever the scheme: each is checked by a twin that sees only what was published."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import betalike
import twins
from examples import examples
from random_tables import EVERY_SCHEME, EVERY_SCHEME_OF_LIKENESS, OTHER_PROMISES, Table, tables

SMALL = 1e-9


@dataclass(frozen=True)
class Published:
    """A table, the scheme that it was published with, and the release that all laws look at."""

    scheme: dict[str, Any]
    table: Table
    release: betalike.Release

    @cached_property
    def classes(self) -> dict[tuple[str | None, ...], Counter]:
        return self.table.published_classes(self.release.frame)

    @property
    def told(self) -> dict[str, Any]:
        return self.release.certificate

    @property
    def keeps_likeness(self) -> bool:
        return self.scheme["scheme"] not in OTHER_PROMISES


def every_class_keeps_the_promise(published: Published) -> None:
    assert published.told["promise"]["holds"] is True
    if published.keeps_likeness:
        table, asked = published.table, published.table.arguments
        classes = published.classes.values()
        assert twins.broken_classes(classes, table.prior, asked["beta"], asked["promise"], asked["k"]) == []


def every_row_is_published_once_with_its_own_secret(published: Published) -> None:
    table, frame = published.table, published.release.frame
    assert sorted(frame["row"].to_list()) == list(range(table.n_rows))
    assert frame["secret"].to_list() == [table.sensitive[row] for row in frame["row"].to_list()]


def labels_contain_what_they_hide_and_not_more_than_they_must(published: Published) -> None:
    table, frame = published.table, published.release.frame
    hidden: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
    for labels, row in zip(table.published_labels(frame), frame["row"].to_list(), strict=True):
        hidden[labels].append(row)
    for i, (twin, column) in enumerate(zip(table.twin_columns(), table.columns.values(), strict=True)):
        texts = column.texts
        for labels, rows in hidden.items():
            values = {texts[row] for row in rows}
            assert all(twin.contains(labels[i], value) for value in values)
            assert twin.is_tightest(labels[i], values)


def the_loss_in_the_certificate_is_the_loss_of_the_labels(published: Published) -> None:
    table, facts = published.table, published.told["release"]
    average, each = twins.average_loss(published.classes, table.twin_columns(), table.weights)
    assert facts["average_loss"] == pytest.approx(float(average), abs=SMALL)
    assert facts["loss"] == pytest.approx(dict(zip(table.columns, map(float, each), strict=True)), abs=SMALL)


def the_certificate_says_how_near_the_worst_class_comes(published: Published) -> None:
    if not published.keeps_likeness:
        return
    table, told = published.table, published.told["promise"]
    prior, asked, promise = twins.priors_of(table.prior), table.arguments, twins.promised(table.beta)
    pairs = [(value, n, sum(ec.values())) for ec in published.classes.values() for value, n in ec.items()]
    ratio = max(count / size / twins.cap(prior[value], promise, asked["promise"]) for value, count, size in pairs)
    assert told["worst_ratio"] == pytest.approx(ratio, abs=SMALL)
    assert (told["model"], told["beta"]) == (f"{asked['promise']}-likeness", table.beta)


def the_certificate_says_what_was_published(published: Published) -> None:
    table, told = published.table, published.told
    classes = list(published.classes.values())
    sizes = [sum(ec.values()) for ec in classes]
    prior = twins.priors_of(table.prior)
    gain = max(float(n / (sum(ec.values()) * prior[value])) - 1 for ec in classes for value, n in ec.items())
    assert told["promise"]["worst_gain"] == pytest.approx(gain, abs=SMALL)
    assert (told["release"]["classes"], told["release"]["smallest_class"]) == (len(classes), min(sizes))
    assert (told["table"]["rows"], told["release"]["rows"]) == (table.n_rows, table.n_rows)
    assert (told["also"]["k"], told["promise"]["k"]) == (min(sizes), table.arguments["k"])
    assert sorted(told["prior_counts"].values()) == sorted(table.prior.values())
    assert sum(told["prior"].values()) == pytest.approx(1)
    assert told["scheme"]["name"] == published.scheme["scheme"]
    assert told["randomness"].startswith("seeded")
    assert "seed" not in told


LAWS = [
    every_class_keeps_the_promise,
    every_row_is_published_once_with_its_own_secret,
    labels_contain_what_they_hide_and_not_more_than_they_must,
    the_loss_in_the_certificate_is_the_loss_of_the_labels,
    the_certificate_says_how_near_the_worst_class_comes,
    the_certificate_says_what_was_published,
]


@pytest.mark.some(4)
@examples(40)
@EVERY_SCHEME
@given(table=tables())
def test_a_release_keeps_every_law(scheme: dict[str, Any], table: Table) -> None:
    published = Published(scheme, table, table.publish(**scheme))
    for law in LAWS:
        law(published)


@pytest.mark.some(4)
@examples(10)
@EVERY_SCHEME
@given(table=tables())
def test_a_seed_repeats_the_release(scheme: dict[str, Any], table: Table) -> None:
    one, other = table.publish(**scheme), table.publish(**scheme)
    assert one.frame.equals(other.frame)
    for part in ("promise", "scheme", "table", "prior_counts"):
        assert one.certificate[part] == other.certificate[part]
    assert one.certificate["release"]["average_loss"] == pytest.approx(other.certificate["release"]["average_loss"])
    assert table.publish(**scheme, seed=None).certificate["randomness"] == "operating system"


@pytest.mark.some(3)
@examples(15)
@EVERY_SCHEME_OF_LIKENESS
@given(table=tables(max_rows=25))
def test_what_is_written_keeps_every_law_as_well(scheme: dict[str, Any], table: Table) -> None:
    table = table
    with tempfile.TemporaryDirectory() as folder:
        release = table.publish(**scheme, out=Path(folder) / "release")
        with (Path(folder) / "release" / "published.csv").open(encoding="utf-8", newline="") as file:
            published = list(csv.DictReader(file))
        checked = betalike.verify(Path(folder) / "release", original=table.frame)
    assert checked.holds, checked.explanations
    labels = [tuple(row[name] or None for name in table.columns) for row in published]
    classes = twins.classes_of(labels, [row["secret"] for row in published])
    prior = Counter("" if value is None else str(value) for value in table.sensitive)
    assert Counter(row["secret"] for row in published) == prior
    asked = table.arguments
    assert twins.broken_classes(classes.values(), prior, asked["beta"], asked["promise"], asked["k"]) == []
    average, _ = twins.average_loss(classes, table.twin_columns(), table.weights)
    assert release.certificate["release"]["average_loss"] == pytest.approx(float(average), abs=SMALL)
    for label_tuple, row in zip(labels, published, strict=True):
        for label, column in zip(label_tuple, table.columns.values(), strict=True):
            assert column.twin.contains(label, column.texts[int(row["row"])])
