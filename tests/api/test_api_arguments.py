"""Promises and schemes as objects where names are taken, and what contradicts itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.errors import ParameterError
from betalike.promises import Anonymity, Closeness, Disclosure, DisclosureForLikeness, Diversity, Likeness
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import Baseline, Burel, Mondrian, Perturbation, Sabre, Seam

TABLE = pl.DataFrame({"age": [20 + i % 40 for i in range(160)], "illness": ["flu", "cold", "gout", "ache"] * 40})
COLUMNS: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": "illness"}

PAIRS = [
    ({"promise": Likeness(beta=2, k=3)}, {"beta": 2, "k": 3}),
    ({"promise": Likeness(2, "basic")}, {"beta": 2, "promise": "basic"}),
    ({"promise": Likeness(2, negative_beta=0.5)}, {"beta": 2, "negative_beta": 0.5}),
    ({"promise": Closeness(t=0.2), "scheme": Sabre()}, {"t": 0.2, "scheme": "sabre"}),
    ({"promise": Closeness(0.2, "equal"), "scheme": Mondrian()},
     {"t": 0.2, "ground": "equal", "promise": "t-closeness", "scheme": "mondrian"}),
    ({"promise": Diversity(l=3), "scheme": "mondrian"},
     {"promise": "distinct-l-diversity", "l": 3, "scheme": "mondrian"}),
    ({"promise": Disclosure(1.5), "scheme": "dmondrian"}, {"delta": 1.5, "scheme": "dmondrian"}),
    ({"promise": DisclosureForLikeness(4), "scheme": "dmondrian"}, {"beta": 4, "scheme": "dmondrian"}),
    ({"promise": Anonymity(k=5), "scheme": "mondrian"}, {"promise": "k-anonymity", "k": 5, "scheme": "mondrian"}),
    ({"beta": 2, "scheme": Seam(effort=0)}, {"beta": 2, "scheme": "seam", "options": {"effort": 0}}),
    ({"beta": 2, "scheme": Burel(split=True)}, {"beta": 2, "scheme": "burel+split"}),
    ({"beta": 2, "scheme": Perturbation()}, {"beta": 2, "scheme": "perturb"}),
    ({"beta": 2, "scheme": Baseline()}, {"beta": 2, "scheme": "baseline"}),
]  # fmt: skip


@pytest.mark.parametrize(("objects", "names"), PAIRS)
def test_objects_publish_what_their_names_publish(objects: dict[str, Any], names: dict[str, Any]) -> None:
    one = betalike.publish(TABLE, **COLUMNS, **objects, seed=1).certificate
    other = betalike.publish(TABLE, **COLUMNS, **names, seed=1).certificate
    assert one["promise"] == other["promise"]
    assert one["scheme"] == other["scheme"]
    assert one["randomness"] == other["randomness"]


@pytest.mark.parametrize("objects", [objects["promise"] for objects, _ in PAIRS[:3]])
def test_an_audit_takes_a_promise(objects: Likeness) -> None:
    release = betalike.publish(TABLE, **COLUMNS, promise=objects, seed=1)
    audited = betalike.audit(release.frame, **COLUMNS, original=TABLE, promise=objects)
    assert audited.holds
    assert betalike.audit(TABLE, **COLUMNS, promise=Anonymity(1000)).holds is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"promise": Closeness(0.2), "beta": 4}, ["promise is a Closeness", "beta is given", "Closeness(...)"]),
        ({"promise": Likeness(4), "k": 3, "beta": 4}, ["beta and k are given"]),
        ({"promise": 4}, ["promise is of the type int", "Likeness(beta=4)"]),
        ({"promise": Likeness}, ["promise is the class Likeness"]),
        ({"promise": "closeness"}, ["Did you mean 't-closeness'"]),
        ({"promise": Closeness(0.2)}, ["'whole' keeps the promise enhanced or basic, not t-closeness"]),
        ({"promise": Likeness(4, groups=["a"]), "scheme": "burel"}, ["'burel' cannot keep"]),
        ({"promise": Likeness(4, negative_beta=0.5), "scheme": Burel()}, ["'burel' cannot keep"]),
        ({"beta": 4, "scheme": Seam(), "options": {"effort": 2}}, ["scheme is a Seam", "options", "Seam(...)"]),
        ({"beta": 4, "scheme": Seam}, ["scheme is the class Seam", "Seam(effort=4)"]),
        ({"beta": 4, "scheme": Seam(SeededRandomness(1)), "seed": 2}, ["own randomness", "seed"]),
        ({"beta": 4, "promise": "enhanced", "cap": lambda p: 1.0}, ["cap is given"]),
        ({"beta": 4, "cap": lambda p: 1.0}, ["beta and cap are given"]),
    ],
)
def test_what_contradicts_itself_is_refused(arguments: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ParameterError) as refusal:
        betalike.publish(TABLE, **COLUMNS, **arguments)
    for word in words:
        assert word in str(refusal.value)


def test_a_comparison_takes_schemes_and_a_promise() -> None:
    by_object = betalike.compare(
        TABLE, **COLUMNS, schemes=[Seam(effort=0), "burel"], promise=Likeness(2, "basic", 3), queries=0, seed=1
    )
    by_name = betalike.compare(
        TABLE, **COLUMNS, schemes=["seam", "burel"], beta=2, promise="basic", k=3, queries=0, seed=1
    )
    assert [(each.scheme, each.asked) for each in by_object.results] == [("seam", 2), ("burel", 2)]
    assert by_object.results[1].loss == by_name.results[1].loss
    close = betalike.compare(TABLE, **COLUMNS, schemes=["sabre"], promise=Closeness(0.3), queries=0, seed=1)
    assert close.results[0].asked == 0.3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"promise": Likeness(2), "beta": 2}, ["promise is a Likeness"]),
        ({"promise": Likeness(2, width=3)}, ["schemes are compared under"]),
        ({"promise": Anonymity(5)}, ["schemes are compared under"]),
        ({"schemes": [Seam(), "seam"]}, ["two schemes have the name 'seam'"]),
        ({"schemes": [Seam]}, ["scheme is the class Seam"]),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ParameterError) as refusal:
        betalike.compare(TABLE, **COLUMNS, **arguments, seed=1)
    for word in words:
        assert word in str(refusal.value)


NUMBERS: dict[str, Any] = {
    "beta": 2.0, "k": 2, "seed": 1, "weights": {"age": 2.0}, "domains": {"age": (18, 70)}, "round": {"age": 5},
    "bottom": {"age": 22}, "top": {"age": 55}, "bins": {"pay": 4}, "options": {"effort": 1, "strict": False},
    "memory": 10**9, "force": True,
}  # fmt: skip


def of_numpy(given: Any) -> Any:
    """The same numbers as NumPy has them; small ones in few bits."""
    if isinstance(given, dict):
        return {np.str_(name): of_numpy(value) for name, value in given.items()}
    if isinstance(given, tuple):
        return tuple(map(of_numpy, given))
    if isinstance(given, bool):
        return np.bool_(given)
    return np.float32(given) if isinstance(given, float) else (np.int8 if given < 100 else np.int64)(given)


def test_numbers_of_numpy_publish_what_those_of_python_publish(tmp_path: Path) -> None:
    table = TABLE.with_columns(pay=pl.Series(range(160)) * 37 % 101)
    columns: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": "pay"}
    betalike.publish(table, **columns, **NUMBERS, out=tmp_path / "python")
    betalike.publish(table, **columns, **{name: of_numpy(given) for name, given in NUMBERS.items()}, out=tmp_path / "n")
    certificates = [betalike.open_release(tmp_path / name).certificate for name in ("python", "n")]
    assert [{**each, "seconds": {}} for each in certificates] == [{**certificates[0], "seconds": {}}] * 2


@pytest.mark.parametrize(
    "promise", [Likeness(np.float64(2), k=np.int64(2)), Likeness(np.int16(2), negative_beta=np.float32(0.5))]
)
def test_a_promise_takes_numbers_of_numpy(promise: Likeness, tmp_path: Path) -> None:
    betalike.publish(TABLE, **COLUMNS, promise=promise, out=tmp_path / "out", seed=np.int64(1))
    assert betalike.verify(tmp_path / "out", original=TABLE).holds


@pytest.mark.parametrize("number", [10**400, -(10**5000)], ids=["large", "larger"])
@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in ("force",)])
def test_a_number_without_end_is_refused(name: str, number: int) -> None:
    usual = NUMBERS[name]
    given = dict.fromkeys(usual, number) if isinstance(usual, dict) else number
    with pytest.raises(ParameterError, match=f"^{name} has a whole number of more than 308 digits"):
        betalike.publish(TABLE, **{**COLUMNS, "beta": 2, name: given})
    with pytest.raises(ParameterError, match="beta has a whole number"):
        Likeness(number)
