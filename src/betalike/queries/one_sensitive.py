"""One sensitive column of a release that protects several: its own values, counts and chances of published labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from betalike.engines.sensitive import counts_of_part, texts_of
from betalike.errors import ParameterError, suggestion
from betalike.promises.sets import Columns
from betalike.release.certificate import Certificate, PromiseFacts, protected_columns

Transition = dict[str, dict[str, float]]


def certificate_of_column(certificate: Certificate, column: str) -> Certificate:
    """Return a certificate with one of its sensitive columns alone, to analyse the release; it proves nothing."""
    place = place_of(certificate, column)
    if not certificate.table.sensitive_columns:
        return certificate
    counts = counts_of_part(certificate.prior_counts, place)
    rows = sum(counts.values())
    table = msgspec.structs.replace(certificate.table, sensitive=column, sensitive_columns=[])
    prior = {value: count / rows for value, count in counts.items()}
    known: dict[str, Any] = {"table": table, "prior_counts": counts, "prior": prior}
    return msgspec.structs.replace(certificate, promise=_promise_of_one(certificate.promise), **known)


def _promise_of_one(promise: PromiseFacts) -> PromiseFacts:
    """Return what a promise for each of several columns says about one of them."""
    parameters = {name: given for name, given in promise.parameters.items() if name != "columns"}
    return msgspec.structs.replace(promise, model=promise.model.removesuffix(Columns.suffix), parameters=parameters)


def place_of(certificate: Certificate, column: str) -> int:
    """Return the place of a column among the sensitive ones; refuse any other column."""
    columns = protected_columns(certificate)
    if column not in columns:
        raise ParameterError(
            f"'{column}' is no sensitive column of this release. They are: {', '.join(columns)}."
            f"{suggestion(column, columns)}"
        )
    return columns.index(column)


def transition_of_column(transition: Transition, prior_counts: Mapping[str, int], place: int) -> Transition:
    """Return the chance of each published label of one column, given its value, on average over the other columns."""
    found: Transition = {}
    rows: dict[str, int] = {}
    for value, chances in transition.items():
        count, part = prior_counts[value], texts_of(value)[place]
        rows[part] = rows.get(part, 0) + count
        row = found.setdefault(part, {})
        for label, chance in chances.items():
            shown = texts_of(label)[place]
            row[shown] = row.get(shown, 0.0) + count * chance
    return {value: {label: sums / rows[value] for label, sums in row.items()} for value, row in found.items()}
