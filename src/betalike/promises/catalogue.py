"""Promises by their names, with the parameters that each takes."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import Any

from betalike.errors import ParameterError, suggestion
from betalike.promises.anonymity import Anonymity
from betalike.promises.closeness import Closeness
from betalike.promises.disclosure import Disclosure, DisclosureForLikeness
from betalike.promises.distances import Ground
from betalike.promises.diversity import Diversity, Variety
from betalike.promises.likeness import Form, Likeness
from betalike.promises.monotone import Cap
from betalike.promises.verdict import Model
from betalike.promises.wider import WiderLikeness, of_each_column, widen
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis
from betalike.table.joint import JointAxis

WIDER = ("negative_beta", "groups", "width", "with_values")
EXAMPLES = {"beta": "4", "t": "0.2", "delta": "1.5", "l": "3", "c": "2", "ground": "ordered", "k": "5"}
# What each promise needs, and what else it takes, besides k.
NEEDED: dict[str, tuple[str, ...]] = {
    "enhanced": ("beta",),
    "basic": ("beta",),
    "delta-disclosure": ("delta",),
    "t-closeness": ("t",),
    "distinct-l-diversity": ("l",),
    "entropy-l-diversity": ("l",),
    "recursive-l-diversity": ("l", "c"),
    "k-anonymity": ("k",),
}
OPTIONAL: dict[str, tuple[str, ...]] = {"t-closeness": ("ground",), "enhanced": WIDER, "basic": WIDER}
# Made with the parameters by their names, so l is named l.
_MAKERS: dict[str, Callable[..., Model]] = {
    "enhanced": lambda beta, k, **wider: widen(Likeness(beta, Form.ENHANCED, k), **wider),
    "basic": lambda beta, k, **wider: widen(Likeness(beta, Form.BASIC, k), **wider),
    "delta-disclosure": Disclosure,
    "t-closeness": lambda t, k, ground=None: Closeness(t, None if ground is None else _ground(ground), k),
    "distinct-l-diversity": lambda l, k: Diversity(l, Variety.DISTINCT, k=k),  # noqa: E741 - its name
    "entropy-l-diversity": lambda l, k: Diversity(l, Variety.ENTROPY, k=k),  # noqa: E741 - its name
    "recursive-l-diversity": lambda l, c, k: Diversity(l, Variety.RECURSIVE, c, k),  # noqa: E741 - its name
    "k-anonymity": Anonymity,
}
MODELS = tuple(NEEDED)


def takes(name: str, parameter: str, given: Container[str]) -> bool:
    """Whether the promise of this name takes a parameter besides those given; delta-disclosure a beta for a delta."""
    if name == "delta-disclosure" and parameter == "beta":
        return "delta" not in given
    return parameter in (*NEEDED.get(name, ()), *OPTIONAL.get(name, ()))


def make_model(name: str, k: int, parameters: Mapping[str, Any]) -> Model | DisclosureForLikeness:
    """The promise of this name; parameters that are None were not given, and those that it does not take are an error.

    Delta-disclosure also takes a beta instead of a delta.
    """
    if name not in MODELS:
        raise ParameterError(
            f"the model is '{name}'; it must be one of: {', '.join(MODELS)}.{suggestion(str(name), MODELS)}"
        )
    given = {parameter: value for parameter, value in parameters.items() if value is not None}
    if name == "delta-disclosure" and set(given) == {"beta"}:
        return DisclosureForLikeness(given["beta"], k)
    needed, taken = NEEDED[name], (*NEEDED[name], *OPTIONAL.get(name, ()))
    for parameter in given:
        if parameter not in taken:
            raise ParameterError(
                f"{parameter} is given, but the promise '{name}' does not take it; it takes: {', '.join(taken)}."
            )
    for parameter in needed:
        if parameter != "k" and parameter not in given:
            raise ParameterError(
                f"{parameter} is missing. The promise '{name}' needs it, a number such as {EXAMPLES[parameter]}."
            )
    return _MAKERS[name](k=k, **given)


def make_capped(beta: float | None, cap: Cap, k: int, parameters: Mapping[str, Any]) -> Model:
    """Likeness by a cap of its own, widened as the parameters say; those that are None were not given."""
    given = {parameter: value for parameter, value in parameters.items() if value is not None}
    for parameter in given:
        if parameter not in WIDER:
            raise ParameterError(f"{parameter} is given along with a cap, which does not take it.")
    return widen(Likeness(beta, k=k, cap=cap), **given)


def fit(model: Model | DisclosureForLikeness, counts: Ints, sensitive: Axis) -> Model:
    """The promise for a table, with all that was left to it decided; an error if the table cannot keep it."""
    if isinstance(model, DisclosureForLikeness):
        model = model.for_table(counts)
    if isinstance(sensitive, JointAxis):
        model = of_each_column(model, sensitive.columns)
    model.check_feasible(counts, sensitive)
    return replace(model, ground=model.ground_of(sensitive)) if isinstance(model, Closeness) else model


def for_audit(model: Model | DisclosureForLikeness, counts: Ints, sensitive: Axis) -> Model:
    """The promise as it is checked on any published table; one that the table cannot keep is not an error there."""
    if isinstance(model, DisclosureForLikeness):
        model = model.for_table(counts)
    if isinstance(model, WiderLikeness):
        model.check_span(sensitive)
    if isinstance(model, Closeness):
        model.check_ground(sensitive)
        return replace(model, ground=model.ground_of(sensitive))
    return model


def name_promise(model: str | None, k: int, parameters: Mapping[str, Any]) -> str | None:
    """Which promise is meant by parameters, of which those that are None were not given; None if there are none.

    >>> name_promise(None, 5, {"beta": None, "t": 0.2}), name_promise(None, 5, {}), name_promise(None, 1, {})
    ('t-closeness', 'k-anonymity', None)
    """
    given = {parameter for parameter, value in parameters.items() if value is not None}
    if model is not None:
        return model
    for parameter, name in (("beta", "enhanced"), ("t", "t-closeness"), ("delta", "delta-disclosure")):
        if parameter in given:
            return name
    if "l" in given:
        return "recursive-l-diversity" if "c" in given else "distinct-l-diversity"
    if given & set(WIDER):
        return "enhanced"  # which says that a beta is missing
    if given:
        raise ParameterError(f"{min(given)} is given without the promise that it belongs to. Name the model.")
    return "k-anonymity" if k != 1 else None


def _ground(given: str) -> Ground:
    if given not in list(Ground):
        raise ParameterError(
            f"the ground is '{given}'; it must be one of: {', '.join(Ground)}.{suggestion(str(given), list(Ground))}"
        )
    return Ground(given)
