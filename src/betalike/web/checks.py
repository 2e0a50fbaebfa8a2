"""What is wrong with a specification, by the same functions that `publish` calls before it reads the table."""

from __future__ import annotations

from typing import Any

from betalike.engines.recipes import recipes_in
from betalike.errors import BetalikeError
from betalike.io.arguments import make_schema, missing_is_value
from betalike.io.specification import ENDS, Specification
from betalike.promises.parameters import NUMBERS
from betalike.schemes import DEFAULT_SCHEME, choose_scheme, make_promise
from betalike.table.rounding import make_rounding
from betalike.table.schema import Role
from betalike.web.project import Project


def problem_with_columns(project: Project) -> str | None:
    """Return why the roles and types cannot be published; None if they can."""
    try:
        check_columns(project.spec.arguments(project.folder))
    except BetalikeError as error:
        return str(error)
    return None


def problem_with_promise(project: Project, spec: Specification | None = None) -> str | None:
    """Return why the promise of the project, or of a specification that is tried, cannot be made; None if it can."""
    try:
        check_promise((spec or project.spec).arguments(project.folder))
    except BetalikeError as error:
        return str(error)
    return None


def problem_with_size(project: Project, spec: Specification | None = None) -> str | None:
    """Return why no class can be as large as k asks; None if the table has enough rows, and people."""
    spec, facts = spec or project.spec, project.facts
    k = spec.promise.k or 1  # type: ignore[attr-defined]  # made from the parameters
    if facts is None or k == 1:
        return None
    has = {"rows": facts.rows}
    for person in spec.with_role(Role.PERSON):
        counts = project.counts.get(person)
        has |= {} if counts is None else {"people": len(counts)}
    unit, most = min(has.items(), key=lambda one: one[1])
    return (
        None if k <= most else f"k is {k:,}, but the table has only {most:,} {unit}, and no class is larger than that."
    )


def problem_with_settings(project: Project) -> str | None:
    """Return why the project cannot be published as it is set; None if it can."""
    return problem_with_columns(project) or problem_with_promise(project) or problem_with_size(project)


def names_published(project: Project) -> list[str]:
    """Return the columns that identify people and are to be published as they are."""
    kept, facts = project.spec.with_role(Role.KEPT), project.facts
    return (
        [] if facts is None else [column.name for column in facts.columns if column.identifies and column.name in kept]
    )


def check_columns(arguments: dict[str, Any]) -> None:
    """Refuse columns that `publish` would refuse; recipes are built when they are used."""
    recipes = recipes_in(arguments["hierarchies"])
    trees = {name: tree for name, tree in arguments["hierarchies"].items() if name not in recipes}
    names = ("quasi_identifiers", "sensitive", "kinds", "domains", "weights", "keep")
    given = {name: arguments[name] for name in names}
    given |= {"ends": {end: arguments[end] for end in ENDS}, "person": arguments.get("person")}
    given |= {name: arguments[name] for name in ("dates", "bins")}
    is_value = missing_is_value(arguments["missing_sensitive"])
    schema = make_schema(**given, hierarchies=trees, is_missing_value=is_value)
    for column in schema.quasi_identifiers:
        if column.kind is not None:
            make_rounding(column.name, column.kind, column.round_ends)


def check_promise(arguments: dict[str, Any]) -> Any:
    """Return the promise that arguments ask for; refuse one that the scheme does not keep."""
    scheme = choose_scheme(arguments.get("scheme", DEFAULT_SCHEME), None, arguments["options"])
    parameters = {name: arguments[name] for name in NUMBERS if name in arguments}
    return make_promise(scheme.name, arguments.get("promise"), arguments.get("k", 1), parameters)
