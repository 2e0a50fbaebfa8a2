"""Every falsification of a release is noticed by whom the table says, and by nobody else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from false_certificates import FALSE_FIGURES, FALSE_FORMS, FALSE_PROMISES, FALSE_TABLES
from false_files import FALSE_FILES
from false_kept import FALSE_KEPT
from false_parts import FALSE_PARTS
from false_rows import FALSE_ORIGINALS, FALSE_ROWS
from forger import OPTIONS, Forger, people, publish

import betalike
from betalike.errors import CertificateError
from betalike.release.signatures import make_keys

GROUPS = [
    FALSE_PROMISES,
    FALSE_FIGURES,
    FALSE_TABLES,
    FALSE_FORMS,
    FALSE_FILES,
    FALSE_PARTS,
    FALSE_ROWS,
    FALSE_ORIGINALS,
    FALSE_KEPT,
]
FALSIFICATIONS = {name: falsification for group in GROUPS for name, falsification in group.items()}


def cases() -> Iterator[Any]:
    """Yield every falsification with every kind of release it is for.

    `make test` has one kind for each, by turns.
    """
    for number, (name, falsification) in enumerate(FALSIFICATIONS.items()):
        quick = falsification.kinds[number % len(falsification.kinds)]
        for kind in falsification.kinds:
            yield pytest.param(name, kind, marks=() if kind == quick else pytest.mark.long)


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A true signed release of each kind, made once, and the keys."""
    folder = tmp_path_factory.mktemp("true")
    make_keys(folder / "key")
    for kind in OPTIONS:
        publish(people(), folder / kind, kind, sign=folder / "key")
    return folder


@pytest.fixture
def copied(desk: Path, tmp_path: Path):
    def copy(kind: str) -> Forger:
        shutil.copytree(desk / kind, tmp_path / "out")
        return Forger(tmp_path / "out", kind, people())

    return copy


def is_noticed(folder: Path, **options: object) -> bool:
    """Whether verify finds a release at fault, or refuses its certificate."""
    try:
        checked = betalike.verify(folder, **options)
    except CertificateError:
        return True
    assert checked.holds is not bool(checked.explanations)
    return not checked.holds


def test_there_are_many_ways_to_falsify() -> None:
    assert len(FALSIFICATIONS) == sum(map(len, GROUPS)) >= 150


@pytest.mark.some(3)
@pytest.mark.parametrize("kind", OPTIONS)
def test_a_true_release_passes(desk: Path, kind: str) -> None:
    checked = betalike.verify(desk / kind, original=people(), signed_by=desk / "key.pub")
    assert checked.holds, checked.explanations
    assert betalike.verify(desk / kind).holds


@pytest.mark.parametrize(("name", "kind"), list(cases()))
def test_a_falsification(desk: Path, copied, name: str, kind: str) -> None:
    forger = copied(kind)
    falsification = FALSIFICATIONS[name]
    falsification.forge(forger)
    # what is not signed by the forger's own doing: the signature stays, or is left out
    (forger.folder / "certificate.sig").unlink(missing_ok=True)
    alone, original = is_noticed(forger.folder), is_noticed(forger.folder, original=people())
    assert falsification.alone in (alone, None)
    assert original is True if alone else falsification.original in (original, None)
    if (forger.folder / "certificate.json").read_bytes() != (desk / kind / "certificate.json").read_bytes():
        shutil.copy(desk / kind / "certificate.sig", forger.folder)
        assert is_noticed(forger.folder)
    assert is_noticed(forger.folder, signed_by=desk / "key.pub")
