"""Make promises by name, from the parameters that each takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from betalike.errors import ParameterError
from betalike.promises.anonymity import Anonymity
from betalike.promises.closeness import Closeness
from betalike.promises.disclosure import Disclosure, DisclosureForLikeness
from betalike.promises.diversity import Diversity, Variety
from betalike.promises.likeness import Form, Likeness, of_each_column
from betalike.promises.parameters import LIKENESS, PARAMETERS, PROMISES, needed_by, taken_by, takes, unknown
from betalike.promises.verdict import Model, check_table
from betalike.runtime.arrays import Ints
from betalike.table.axis import Axis
from betalike.table.joint import JointAxis

# Made with the parameters by their names.
_MAKERS: dict[str, Callable[..., Model]] = {
    **{str(form): partial(Likeness, form=form) for form in Form},
    "delta-disclosure": Disclosure,
    "t-closeness": Closeness,
    **{f"{variety}-l-diversity": partial(Diversity, variety=variety) for variety in Variety},
    "k-anonymity": Anonymity,
}


def make_model(name: str, k: int, parameters: Mapping[str, Any]) -> Model:
    """Return the promise of this name; refuse parameters that it does not take. Those that are None were not given.

    Delta-disclosure also takes a beta instead of a delta, and likeness a cap instead of a beta.
    """
    if name not in PROMISES:
        raise unknown("promise", name, PROMISES)
    given = {parameter: value for parameter, value in parameters.items() if value is not None}
    if name == "delta-disclosure" and set(given) == {"beta"}:
        return DisclosureForLikeness(given["beta"], k)
    taken = [parameter for parameter in taken_by(name) if takes(name, parameter, {"delta"})]
    for parameter in given:
        if parameter not in taken:
            listed = ", ".join(sorted(taken, key="k".__eq__))  # k last
            raise ParameterError(
                f"{parameter} is given, but the promise '{name}' does not take it; it takes: {listed}."
            )
    for parameter in needed_by(name):
        if parameter not in ("k", *given) and not (parameter == "beta" and "cap" in given):
            raise ParameterError(
                f"{parameter} is missing. The promise '{name}' needs it, a number such as "
                f"{PARAMETERS[parameter].example}."
            )
    return _MAKERS[name](k=k, **given)


def name_of(model: Model) -> str:
    """Return the name by which this kind of promise is made."""
    return str(model.form) if isinstance(model, Likeness) else model.name


def fit(model: Model, counts: Ints, sensitive: Axis) -> Model:
    """Return the promise for a table; refuse a table that cannot keep it."""
    check_table(counts, model.k)
    if isinstance(sensitive, JointAxis):
        model = of_each_column(model, sensitive.columns)
    settled = model.settle(counts, sensitive)
    settled.check_feasible(counts, sensitive)
    return settled


def name_promise(promise: str | None, k: int, parameters: Mapping[str, Any]) -> str | None:
    """Return the name of the promise that parameters belong to; None if there are none. None is not given.

    >>> name_promise(None, 5, {"beta": None, "t": 0.2}), name_promise(None, 5, {}), name_promise(None, 1, {})
    ('t-closeness', 'k-anonymity', None)
    """
    given = {parameter for parameter, value in parameters.items() if value is not None}
    if promise is not None:
        return promise
    for parameter, name in (("beta", "enhanced"), ("t", "t-closeness"), ("delta", "delta-disclosure")):
        if parameter in given:
            return name
    if "l" in given:
        return "recursive-l-diversity" if "c" in given else "distinct-l-diversity"
    if given & set(taken_by(LIKENESS[0])):
        return LIKENESS[0]  # which says that a beta is missing
    if given:
        raise ParameterError(f"{min(given)} is given without the promise that it belongs to. Name the promise.")
    return "k-anonymity" if k != 1 else None
