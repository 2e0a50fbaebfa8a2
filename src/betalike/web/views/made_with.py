"""Which settings a release was made with, beside the present ones, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from betalike.errors import BetalikeError
from betalike.io.specification import ColumnSpec, Specification, read_specification
from betalike.schemes import DEFAULT_SCHEME
from betalike.web.pages import SHOWN
from betalike.web.project import Project
from betalike.web.views.hierarchies import recipe_words
from betalike.web.views.table import ROLES, TYPES

USUAL: dict[str, Any] = {"k": 1, "scheme": DEFAULT_SCHEME, "format": "csv"}  # what no value means
WORDS = {"promise": "kind of promise", "missing": "missing values", "bins": "ranges", "round": "rounding"}
WORDS |= {"bottom": "lowest value", "top": "highest value"}
SOURCE = ("table", "sheet", "query", "table_name", "labels")


@dataclass(frozen=True)
class Change:
    """A setting that a release was made with, and what it is now."""

    what: str
    then: str
    now: str


@dataclass(frozen=True)
class MadeWith:
    """The settings in which a release differs from the present ones."""

    number: int
    changes: tuple[Change, ...]


def made_with(project: Project, number: int) -> MadeWith | None:
    """Compare the settings of a release with the present ones; None if the release was deleted."""
    try:
        then = read_specification(project.folder / f"release-{number}.toml")
    except BetalikeError:
        return None
    then.release.keep_identifiers = project.spec.release.keep_identifiers  # no setting: each release asks for it
    return MadeWith(number, tuple(_changes(then, project.spec)))


def _changes(then: Specification, now: Specification) -> Iterator[Change]:
    for promised, asked in ((then.promise, now.promise), (then.release, now.release)):
        yield from _differing(msgspec.structs.asdict(promised), msgspec.structs.asdict(asked))
    for name in dict.fromkeys([*then.columns, *now.columns]):
        was, is_now = (spec.columns.get(name, ColumnSpec()) for spec in (then, now))
        yield from _column_changes(name, was, is_now)
    before, after = ({name: getattr(spec, name) for name in SOURCE} for spec in (then, now))
    yield from _differing(before, after)


def _column_changes(name: str, then: ColumnSpec, now: ColumnSpec) -> Iterator[Change]:
    """Yield the changes of a column; with another role, its other settings mean something else."""
    if then.role != now.role:
        yield Change(f"the role of {name}", f"“{ROLES[then.role]}”", f"“{ROLES[now.role]}”")
    elif then.role != "unused":
        yield from _differing(msgspec.structs.asdict(then), msgspec.structs.asdict(now), f" of {name}")


def _differing(then: Mapping[str, Any], now: Mapping[str, Any], of: str = "") -> Iterator[Change]:
    for name, value in then.items():
        before, after = (USUAL.get(name) if one is None else one for one in (value, now[name]))
        if before != after:
            yield Change(f"{WORDS.get(name, name.replace('_', ' '))}{of}", _words(name, before), _words(name, after))


def _words(name: str, value: Any) -> str:
    """Return the value of a setting in words."""
    if name == "type" and value in TYPES:
        return TYPES[value]
    if name == "hierarchy" and isinstance(value, dict):
        return recipe_words(value)
    if value in (None, [], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:g}" if isinstance(value, float) else ", ".join(map(str, value)) if isinstance(value, list) else ""
    return (text or str(value))[:SHOWN]
