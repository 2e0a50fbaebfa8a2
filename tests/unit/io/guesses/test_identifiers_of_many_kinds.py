"""Identifiers of many kinds and languages: none is proposed as a quasi-identifier."""

from __future__ import annotations

import random
from collections.abc import Callable

import polars as pl
import pytest

import betalike

N_ROWS = 300
rng = random.Random(11)
FIRST = ["Anna", "Björn", "Chloé", "Dimitri", "Elif", "François", "Giulia", "Håkon", "Inés", "Jürgen", "Kwame", "Li"]
LAST = ["Müller", "Öztürk", "García", "Kowalski", "Smith", "Jensen", "Rossi", "Dubois", "Ivanov", "Tanaka", "Costa"]


def degrees(low: float, high: float, places: int) -> float:
    return round(rng.uniform(low, high), places)


def digits(n: int) -> str:
    return "".join(rng.choices("0123456789", k=n))


def letters(n: int) -> str:
    return "".join(rng.choices("ABCDEFGHKLMN", k=n))


def plate() -> str:
    return f"{rng.choice(['B', 'M', 'HH'])}-{letters(2)} {rng.randrange(1, 9999)}"


MAKERS: dict[str, Callable[[], object]] = {
    "KVNR": lambda: letters(1) + digits(9),
    "élève": lambda: f"{rng.choice(FIRST)} {letters(1)}. {rng.choice(LAST)}",
    "Schüler": lambda: f"{rng.choice(FIRST)} {rng.choice(LAST)}",  # names of which many repeat
    "patients": lambda: f"{rng.choice(FIRST)} {rng.choice(LAST)}",
    "Schüler_Nachname": lambda: rng.choice(LAST),
    "prénom": lambda: rng.choice(FIRST),
    "nombre_alumno": lambda: f"{rng.choice(FIRST)} {rng.choice(LAST)}",
    "Hausarzt": lambda: f"Dr. {rng.choice(LAST)}",
    "referring_physician": lambda: f"Dr. {rng.choice(LAST)}",
    "matricule": lambda: "E" + digits(6),
    "iban": lambda: "DE" + digits(20),
    "card": lambda: " ".join(digits(4) for _ in range(4)),
    "steuer_id": lambda: int("1" + digits(10)),
    "tin": lambda: f"{digits(3)}-{digits(2)}-{digits(4)}",
    "codice_fiscale": lambda: f"{letters(6)}{digits(2)}A{digits(2)}H501Z",
    "nif": lambda: digits(8) + letters(1),
    "vat_number": lambda: "ATU" + digits(8),
    "telnr": lambda: "030" + digits(7),
    "mac": lambda: ":".join(f"{rng.randrange(256):02x}" for _ in range(6)),
    "ip_addr": lambda: f"10.{rng.randrange(9)}.{rng.randrange(255)}.{rng.randrange(255)}",
    "hostname": lambda: f"pc-{digits(5)}",
    "licence_plate": plate,
    "Kennzeichen": plate,
    "lat": lambda: degrees(47, 55, 6),
    "pickup_longitude": lambda: degrees(-74.1, -73.8, 5),
    "x_utm": lambda: degrees(300_000, 700_000, 2),
    "northing": lambda: rng.randrange(5_300_000, 6_000_000),
    "geohash": lambda: "u" + "".join(rng.choices("0123456789bcdefghjkmnp", k=8)),
    "where": lambda: f"{degrees(47, 55, 5)}, {degrees(6, 15, 5)}",
    "home": lambda: f"POINT ({degrees(6, 15, 5)} {degrees(47, 55, 5)})",
    "place": lambda: f"N{degrees(47, 55, 5)}° E{degrees(6, 15, 5)}°",
}


def described(**columns: Callable[[], object]) -> dict[str, str]:
    rng.seed(11)  # whatever tests ran before
    others = {"age": lambda: rng.randrange(18, 90), "diagnosis": lambda: rng.choice("ABCD")}
    frame = pl.DataFrame({name: [make() for _ in range(N_ROWS)] for name, make in {**columns, **others}.items()})
    return {column.name: str(column.role) for column in betalike.describe(frame).columns}


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_not_proposed_as_a_quasi_identifier(name: str) -> None:
    assert described(**{name: MAKERS[name]})[name] == "identifier"


def test_a_few_kinds_of_persons_are_not_names_of_people() -> None:
    assert described(patient=lambda: rng.choice(["in", "out", "day"]))["patient"] == "quasi-identifier"


def test_exact_coordinates_that_repeat_in_a_large_table_are_identifiers() -> None:
    assert described(lat=lambda: 52 + rng.randrange(60) / 10_000 + 0.00005)["lat"] == "identifier"


def test_coarse_coordinates_are_quasi_identifiers() -> None:
    roles = described(lat=lambda: degrees(47, 55, 1), longitude=lambda: float(rng.randrange(6, 15)))
    assert roles["lat"] == roles["longitude"] == "quasi-identifier"
