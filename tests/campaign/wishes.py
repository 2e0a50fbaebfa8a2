"""Random schemes and promises that a table can keep."""

from __future__ import annotations

import math
import random
from typing import Any

from .bounds import greatest, is_entropy_at_least
from .promises import Promise, Secret

CUTS = [{}, {}, {"attribute": "narrowest"}, {"second_try": False}, {"attribute": "narrowest", "second_try": False}]
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "seam": [{}, *[{"effort": 0}] * 38, {"effort": 2}],  # passes of improvement take most of the time
    "whole": [{}, {"strict": True}, *[{"effort": 0}] * 18, *[{"effort": 0, "strict": True}] * 18, {"effort": 2}],
    "burel": [{}, {"retrieval": "exact"}, {"retrieval": "hilbert"}],
    "burel+split": [{}, {"retrieval": "exact"}, {"retrieval": "hilbert"}],
    "lmondrian": CUTS,
    "dmondrian": CUTS,
    "tmondrian": CUTS,
    "mondrian": CUTS,
    "sabre": [{}, {"redistribution": "counts"}, {"redistribution": "space"}],
    "perturb": [{}, {"mechanism": "matrix"}, {"mechanism": "sets"}, {"mechanism": "sets"}],
}
EXACT = ["perturb", "baseline"]
PLANNING = ["seam", "seam", "seam", *(scheme for scheme in OPTIONS if scheme not in EXACT)]
OTHERS = [
    "t-closeness",
    "delta-disclosure",
    "distinct-l-diversity",
    "entropy-l-diversity",
    "recursive-l-diversity",
    "k-anonymity",
]


def _board(share: float) -> float:
    return max(share, min(share + 0.05, 0.5))


def _root(share: float) -> float:
    return min(1.0, share**0.5)


def _thrice(share: float) -> float:
    return min(1.0, 3 * share)


def _share_itself(share: float) -> float:
    return share


CAPS = [_board, _root, _thrice, _share_itself]


def random_scheme(rng: random.Random, secret: Secret, is_planning: bool) -> tuple[str, dict[str, Any]]:
    """A scheme that keeps promises of these values, and options of it."""
    schemes = PLANNING if secret.codes is None else ["seam", "whole", "lmondrian", "mondrian"]
    scheme = rng.choice(schemes if is_planning else [*schemes, *EXACT])
    options = dict(rng.choice(OPTIONS.get(scheme, [{}])))
    return scheme, {} if secret.codes is not None and scheme in EXACT else options  # sets are of one column


def random_beta(rng: random.Random) -> float:
    """From almost nothing to almost everything; often a number that is no binary fraction."""
    return rng.choice(
        [0.1, 0.3, 0.5, 1, 1.0, 1.7, 2, 3.3, 4, 10, round(rng.uniform(0.01, 12), 3), rng.uniform(0.01, 9)]
    )


def random_promise(rng: random.Random, scheme: str, secret: Secret) -> Promise:
    """A promise that the scheme keeps and that the table as one class would keep."""
    n_rows = secret.n_rows
    k = 1 if scheme in EXACT else rng.choice([1, 1, 1, 2, 3, min(5, n_rows), rng.randint(1, n_rows)])
    k = min(k, n_rows)
    if scheme in ("tmondrian", "sabre") and secret.codes is None:
        return _closeness(rng, k, secret)
    if scheme == "dmondrian" and secret.codes is None:
        return _disclosure(rng, k)
    if scheme == "mondrian" and secret.codes is None and rng.random() < 0.75:
        return _other(rng, k, secret)
    return _likeness(rng, scheme, k, secret)


def _likeness(rng: random.Random, scheme: str, k: int, secret: Secret) -> Promise:
    is_wide = scheme not in ("burel", "burel+split") and rng.random() < 0.4
    parameters: dict[str, Any] = {}
    if is_wide:
        if rng.random() < 0.5:
            parameters["negative_beta"] = rng.choice(["symmetric", 0.5, 0.9, 0.3, 0.99])
        if secret.codes is None and rng.random() < 0.7:
            parameters |= _spans(rng, secret)
    if rng.random() < 0.12:
        return Promise("capped", None, k, parameters, rng.choice(CAPS))
    return Promise(rng.choice(["enhanced", "enhanced", "basic"]), random_beta(rng), k, parameters)


def _spans(rng: random.Random, secret: Secret) -> dict[str, Any]:
    """Groups along a hierarchy, or intervals of numbers, where the values have either."""
    with_values = rng.choice([{}, {"with_values": True}, {"with_values": False}])
    if secret.paths is not None:
        under: dict[str, int] = {}
        for path in secret.paths:
            for label in {*path[:-1]}:
                under[label] = under.get(label, 0) + 1
        nodes = sorted(label for label, n in under.items() if n < len(secret.counts) and label)
        return {"groups": rng.sample(nodes, min(len(nodes), rng.randint(1, 2))), **with_values} if nodes else {}
    if secret.numbers is not None and len(secret.numbers) > 2:
        reach = float(max(secret.numbers) - min(secret.numbers))
        width = float(f"{reach * rng.choice([0.05, 0.2, 0.5, 0.9]):.3g}")
        return {"width": width, **with_values} if 0 < width < reach else {}
    return {}


def _closeness(rng: random.Random, k: int, secret: Secret) -> Promise:
    grounds = ["equal"]
    grounds += ["ordered"] if secret.numbers is not None else []
    grounds += ["hierarchical"] if secret.paths is not None else []
    t = rng.choice([0.05, 0.1, 0.2, 0.3, 0.5, 1.0, round(rng.uniform(0.01, 1), 2)])
    return Promise("t-closeness", None, k, {"t": t, "ground": rng.choice(grounds)})


def _disclosure(rng: random.Random, k: int) -> Promise:
    if rng.random() < 0.5:
        return Promise("delta-disclosure", random_beta(rng), k)
    return Promise("delta-disclosure", None, k, {"delta": rng.choice([0.1, 0.5, 1.0, 1.5, 3.0])})


def _other(rng: random.Random, k: int, secret: Secret) -> Promise:
    model, counts = rng.choice(OTHERS), sorted(secret.counts[secret.counts > 0].tolist(), reverse=True)
    if model == "t-closeness":
        return _closeness(rng, k, secret)
    if model == "delta-disclosure":
        return _disclosure(rng, k)
    if model == "distinct-l-diversity":
        return Promise(model, None, k, {"l": rng.randint(1, min(len(counts), 6))})
    if model == "entropy-l-diversity":
        size = sum(counts)
        worth = math.exp(math.fsum(-n / size * math.log(n / size) for n in counts))
        wish = rng.choice([1.5, 2, 2.5, 3, round(worth * rng.uniform(0.5, 1), 4)])
        return Promise(model, None, k, {"l": wish if wish >= 1 and is_entropy_at_least(counts, greatest(wish)) else 1})
    if model == "recursive-l-diversity":
        rank = rng.randint(1, min(len(counts), 4))
        ratio = counts[0] / sum(counts[rank - 1 :])
        return Promise(model, None, k, {"l": rank, "c": float(f"{ratio * rng.choice([1.01, 1.5, 3]) + 0.001:.4g}")})
    return Promise(model, None, max(k, 2))
