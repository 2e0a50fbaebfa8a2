"""Which columns of an original table are copied to check, ask or attack a release: those that its certificate names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from betalike.io.needed_columns import NeededColumns
from betalike.release.certificate import Certificate, read_if_certified
from betalike.release.original_rows import original_columns

RELEASES = ("self", "folder", "release", "second")  # arguments that are releases


def columns_of_releases(arguments: Mapping[str, Any]) -> NeededColumns | None:
    """Need the columns of the releases among the arguments; all, if one has no certificate, which is refused later."""
    given = [arguments[name] for name in RELEASES if arguments.get(name) is not None]
    certificates = [_certificate_of(release) for release in given]
    known = [certificate for certificate in certificates if certificate is not None]
    if len(known) < len(certificates):
        return None
    return NeededColumns(list(dict.fromkeys(name for each in known for name in original_columns(each))))


def audited_columns(arguments: Mapping[str, Any]) -> NeededColumns:
    """Need the columns that are audited, under the names that a published table or its original may have them."""
    columns = arguments["quasi_identifiers"]
    own = _certificate_of(arguments["table"])
    named = [arguments["sensitive"], arguments.get("person"), *columns, *([] if own is None else original_columns(own))]
    return NeededColumns([name for name in named if isinstance(name, str)], is_optional=True)


def _certificate_of(release: Any) -> Certificate | None:
    """Return the certificate of a release, which may be a folder or an object."""
    if isinstance(release, str | Path):
        return read_if_certified(Path(release))
    facts = getattr(release, "facts", None)
    return facts if isinstance(facts, Certificate) else None
