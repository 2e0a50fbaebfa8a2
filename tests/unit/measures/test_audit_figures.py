"""The figures of `audit` as its document has them, computed again from the rows of a published file."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

import betalike
from shown_figures import TREE, approx, classes_of, read_rows, write_people

NAMES, BETA, POPULATION = ["age", "city"], 2, 5000


@pytest.mark.parametrize("sensitive", ["grade", "ill"])
def test_an_audit_is_counted_again_from_the_file(tmp_path: Path, sensitive: str) -> None:
    table, out = tmp_path / "people.csv", tmp_path / "out"
    write_people(table)
    columns = {"quasi_identifiers": NAMES, "sensitive": sensitive}
    trees = {"hierarchies": {"city": TREE}}
    betalike.publish(
        table, out=out, beta=BETA, missing_sensitive="value", scheme="lmondrian", seed=1, **columns, **trees
    )
    found = betalike.audit(out / "published.csv", original=table, beta=BETA, population=POPULATION, **columns).to_dict()
    before = read_rows(table)
    n = len(before)
    prior = {value: Fraction(k, n) for value, k in Counter(row[sensitive] for row in before).items()}
    classes = list(classes_of(read_rows(out / "published.csv"), NAMES, sensitive).values())
    sizes = [ec.total() for ec in classes]
    shares = [{value: Fraction(k, ec.total()) for value, k in ec.items()} for ec in classes]
    assert (found["rows"], found["classes"], found["k"]) == (n, len(classes), min(sizes))
    assert found["distinct_l"] == min(map(len, classes))
    tops = [max(of.values()) for of in shares]
    assert found["alpha"] == approx(float(max(tops)))
    assert found["l"] == approx(float(1 / max(tops)))
    assert found["average_l"] == approx(float(sum(1 / top for top in tops) / len(tops)))
    assert found["entropy_l"] == approx(math.exp(min(entropy(list(map(float, of.values()))) for of in shares)))
    ranked = [sorted(ec.values(), reverse=True) for ec in classes]
    assert found["recursive_c"] == approx(max(of[0] / sum(of[found["distinct_l"] - 1 :]) for of in ranked))
    gains = {(i, v): q / prior[v] - 1 for i, of in enumerate(shares) for v, q in of.items()}
    place, value = max(gains, key=lambda each: gains[each])
    assert found["basic_beta"] == approx(float(gains[place, value]))
    worst = found["worst"]
    assert (worst["p"], worst["q"]) == approx((float(prior[worst["value"]]), worst["p"] * (1 + found["basic_beta"])))
    away = [sum(abs(prior[v] - of.get(v, 0)) for v in prior) / 2 for of in shares]
    assert found["t_by_ground"]["equal"] == approx(float(max(away)))
    vectors = [([float(of.get(v, 0)) for v in prior], [float(p) for p in prior.values()]) for of in shares]
    assert found["jensen_shannon"] == pytest.approx(max(jensenshannon(q, p, base=2) ** 2 for q, p in vectors))
    caps = {v: float(p) * (1 + min(BETA, -math.log(p))) for v, p in prior.items()}
    used = [max(float(q) / caps[v] for v, q in of.items()) for of in shares]
    assert found["near_promise"] == sum(size for size, ratio in zip(sizes, used, strict=True) if ratio >= 0.9 - 1e-9)
    risk, average = found["risk"], Fraction(len(sizes), n)
    assert risk["prosecutor_maximum"] == approx(1 / min(sizes))
    assert risk["prosecutor_average"] == approx(float(average))
    assert risk["journalist_maximum"] == approx(n / POPULATION / min(sizes))
    assert risk["journalist_average"] == risk["marketer"] == approx(float(average) * n / POPULATION)
    assert risk["unique"] == approx(sizes.count(1) / n)
    for threshold, share in risk["above"].items():
        assert share == approx(sum(size for size in sizes if Fraction(1, size) > Fraction(threshold)) / n)
