"""Laws that every release keeps, whatever the scheme: each is checked by a twin that sees only what was published."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import betalike
import twins
from random_tables import EVERY_SCHEME, EVERY_SCHEME_OF_LIKENESS, Table, tables

SMALL = 1e-9
FEW = settings(max_examples=30)  # of each law for each scheme


@FEW
@EVERY_SCHEME_OF_LIKENESS
@given(table=tables())
def test_every_class_keeps_the_promise(scheme: dict[str, Any], table: Table) -> None:
    release = table.publish(**scheme)
    classes = table.published_classes(release.frame)
    asked = table.arguments
    assert twins.broken_classes(classes.values(), table.prior, asked["beta"], asked["model"], asked["k"]) == []
    assert release.certificate["promise"]["holds"] is True


@FEW
@EVERY_SCHEME
@given(table=tables())
def test_every_row_is_published_once_with_its_own_secret(scheme: dict[str, Any], table: Table) -> None:
    frame = table.publish(**scheme).frame
    assert sorted(frame["row"].to_list()) == list(range(table.n_rows))
    assert frame["secret"].to_list() == [table.sensitive[row] for row in frame["row"].to_list()]


@FEW
@EVERY_SCHEME
@given(table=tables())
def test_labels_contain_what_they_hide_and_not_more_than_they_must(scheme: dict[str, Any], table: Table) -> None:
    frame = table.publish(**scheme).frame
    hidden: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
    for labels, row in zip(table.published_labels(frame), frame["row"].to_list(), strict=True):
        hidden[labels].append(row)
    for i, (twin, column) in enumerate(zip(table.twin_columns(), table.columns.values(), strict=True)):
        texts = column.texts
        for labels, rows in hidden.items():
            values = {texts[row] for row in rows}
            assert all(twin.contains(labels[i], value) for value in values)
            assert twin.is_tightest(labels[i], values)


@FEW
@EVERY_SCHEME
@given(table=tables())
def test_the_loss_in_the_certificate_is_the_loss_of_the_labels(scheme: dict[str, Any], table: Table) -> None:
    release = table.publish(**scheme)
    classes = table.published_classes(release.frame)
    average, each = twins.average_loss(classes, table.twin_columns(), table.weights)
    facts = release.certificate["release"]
    assert facts["average_loss"] == pytest.approx(float(average), abs=SMALL)
    assert facts["loss"] == pytest.approx(dict(zip(table.columns, map(float, each), strict=True)), abs=SMALL)


@FEW
@EVERY_SCHEME_OF_LIKENESS
@given(table=tables())
def test_the_certificate_tells_how_near_the_worst_class_comes(scheme: dict[str, Any], table: Table) -> None:
    release = table.publish(**scheme)
    told = release.certificate["promise"]
    classes = table.published_classes(release.frame).values()
    prior = twins.priors_of(table.prior)
    asked, promise = table.arguments, twins.promised(table.beta)
    pairs = [(value, count, sum(ec.values())) for ec in classes for value, count in ec.items()]
    ratio = max(count / size / twins.cap(prior[value], promise, asked["model"]) for value, count, size in pairs)
    assert told["worst_ratio"] == pytest.approx(ratio, abs=SMALL)
    assert (told["model"], told["beta"]) == (f"{asked['model']}-likeness", table.beta)


@FEW
@EVERY_SCHEME
@given(table=tables())
def test_the_certificate_tells_what_was_published(scheme: dict[str, Any], table: Table) -> None:
    release = table.publish(**scheme)
    told = release.certificate
    classes = list(table.published_classes(release.frame).values())
    sizes = [sum(ec.values()) for ec in classes]
    prior = twins.priors_of(table.prior)
    gain = max(float(n / (sum(ec.values()) * prior[value])) - 1 for ec in classes for value, n in ec.items())
    assert told["promise"]["worst_gain"] == pytest.approx(gain, abs=SMALL)
    assert (told["release"]["classes"], told["release"]["smallest_class"]) == (len(classes), min(sizes))
    assert (told["table"]["rows"], told["release"]["rows"]) == (table.n_rows, table.n_rows)
    assert (told["also"]["k"], told["promise"]["k"]) == (min(sizes), table.arguments["k"])
    assert sorted(told["prior_counts"].values()) == sorted(table.prior.values())
    assert sum(told["prior"].values()) == pytest.approx(1)
    assert told["scheme"]["name"] == scheme["scheme"]


@FEW
@EVERY_SCHEME
@given(table=tables())
def test_a_seed_repeats_the_release_and_the_certificate_warns_of_it(scheme: dict[str, Any], table: Table) -> None:
    one, other = table.publish(**scheme), table.publish(**scheme)
    assert one.frame.equals(other.frame)
    for part in ("promise", "scheme", "table", "prior_counts"):
        assert one.certificate[part] == other.certificate[part]
    assert one.certificate["release"]["average_loss"] == pytest.approx(other.certificate["release"]["average_loss"])
    assert one.certificate["randomness"].startswith("seeded")
    assert "seed" not in one.certificate
    assert table.publish(**scheme, seed=None).certificate["randomness"] == "operating system"


@FEW
@EVERY_SCHEME_OF_LIKENESS
@given(table=tables(max_rows=25))
def test_what_is_written_keeps_every_law_as_well(scheme: dict[str, Any], table: Table) -> None:
    table = table.with_arguments(layout="labels")
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
    assert twins.broken_classes(classes.values(), prior, asked["beta"], asked["model"], asked["k"]) == []
    average, _ = twins.average_loss(classes, table.twin_columns(), table.weights)
    assert release.certificate["release"]["average_loss"] == pytest.approx(float(average), abs=SMALL)
    for label_tuple, row in zip(labels, published, strict=True):
        for label, column in zip(label_tuple, table.columns.values(), strict=True):
            assert column.twin.contains(label, column.texts[int(row["row"])])
