"""The table that the pages speak of: `patients.csv`, 600 invented people, with hierarchies beside it."""

from __future__ import annotations

import csv
import datetime
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

CITIES = {"Ashford": "north", "Brixley": "north", "Corwen": "south", "Dunmore": "south", "Elmsted": "south"}
DIAGNOSES = {"flu": 26, "asthma": 20, "diabetes": 17, "fracture": 14, "migraine": 10, "anaemia": 7, "epilepsy": 4}
COLUMNS = ["patient_id", "age", "gender", "city", "visit", "ward", "diagnosis"]


def patients(n_rows: int = 600) -> Iterator[list[object]]:
    rng = random.Random(7)
    weights = list(DIAGNOSES.values())
    for number in range(n_rows):
        yield [
            f"P{number:04}",
            "" if number % 50 == 49 else min(90, max(18, round(rng.gauss(48, 16)))),
            rng.choice(["female", "male"]),
            rng.choice(list(CITIES)),
            datetime.date(2024, 1, 1) + datetime.timedelta(days=rng.randrange(366)),
            rng.choice(["A", "B", "C", "C", ""]),
            rng.choices(list(DIAGNOSES), weights)[0],
        ]


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    with (folder / "patients.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *patients()])
    (folder / "hierarchies").mkdir()
    lines = [f"{city};{region};*\n" for city, region in CITIES.items()]
    (folder / "hierarchies" / "city.csv").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def reader_folder(sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a reader of a page works: a fresh folder with the table, on a plain terminal of 80 columns."""
    folder = tmp_path / "reader"
    shutil.copytree(sample_folder, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "BETALIKE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    handler = signal.getsignal(signal.SIGTERM)
    yield folder
    signal.signal(signal.SIGTERM, handler)  # a command run in this process has replaced it
