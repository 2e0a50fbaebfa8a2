"""The functions that users call: publish, audit, verify, query and more. The command line is a thin layer over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from betalike.certificate import FILE_NAME, Certificate, certificate_from_dict, read_certificate
from betalike.engines.memory import MemoryEngine
from betalike.errors import ParameterError, SchemaError, suggestion
from betalike.hierarchy import Hierarchy
from betalike.inspection import (
    Audited,
    Checked,
    audit_frame,
    check_release,
    prior_from_certificate,
    prior_from_column,
    refuse_exact,
)
from betalike.io.description import Description, describe_frame
from betalike.io.frames import like, to_polars
from betalike.io.hierarchies import read_hierarchies
from betalike.io.tables import load
from betalike.models import Form, Likeness, Transition, make_model
from betalike.progress import SILENT, Progress
from betalike.publication import Format, Job, Layout, Stopwatch, Verified, publish_in_memory, publish_to_folder
from betalike.queries.answer import Answer
from betalike.queries.opening import OpenRelease, open_folder, open_frame
from betalike.queries.workload import WorkloadResult, draw_queries, exact_index, run_workload
from betalike.randomness import randomness
from betalike.release_checks import is_exact
from betalike.schema import Attribute, Kind, Role, Schema
from betalike.schemes import DEFAULT_SCHEME, choose_promise, make_scheme

Frame = Any  # a pandas, Polars or PyArrow frame, a DuckDB relation, or the path of a file
Choice = TypeVar("Choice", Form, Format, Kind, Layout)


@dataclass(frozen=True)
class Release:
    """A verified release: `frame` is of the kind that came in, `certificate` is the content of certificate.json.

    `transition` is for the scheme perturb alone: the chance of each published value, given the original one.
    """

    frame: Any
    certificate: dict[str, Any]
    folder: Path | None
    verified: Verified
    worst_value: str
    transition: dict[str, dict[str, float]] | None = None

    def count(self, predicate: str, *, method: str | None = None, confidence: float = 0.95) -> Answer:
        """Estimate, from what is published alone, how many rows of the table satisfy a predicate."""
        return self._opened.count(predicate, method=method, confidence=confidence)

    @cached_property
    def _opened(self) -> OpenRelease:
        if self.folder is not None:
            return open_release(self.folder)
        matrix = None if self.transition is None else np.array([list(row.values()) for row in self.transition.values()])
        return open_frame(to_polars(self.frame), certificate_from_dict(self.certificate), {}, matrix)


def publish(
    table: Frame,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    beta: float | None = None,
    out: str | Path | None = None,
    scheme: str = DEFAULT_SCHEME,
    model: str | None = None,
    k: int = 1,
    t: float | None = None,
    delta: float | None = None,
    l: float | None = None,  # noqa: E741 - the name that everybody uses
    c: float | None = None,
    ground: str | None = None,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    weights: Mapping[str, float] | None = None,
    keep: Sequence[str] = (),
    missing: Sequence[str] = (),
    missing_sensitive: str = "error",
    format: str = "csv",
    layout: str = "labels",
    force: bool = False,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    delimiter: str | None = None,
    progress: Progress = SILENT,
) -> Release:
    """Publish a table so that no sensitive value becomes more than beta times likelier for anybody, or as promised.

    Args:
        table: a pandas, Polars or PyArrow frame, a DuckDB relation, or the path of a CSV, Parquet or Arrow IPC file.
        quasi_identifiers: columns that others may know; they are generalized (exact with "perturb" and "baseline").
        sensitive: the column to protect; published as it is (perturbed by "perturb", left out by "baseline").
        beta: by how much a value may at most become likelier, relative to its share of the table.
        out: folder for published.csv and certificate.json; without it the release stays in memory.
        scheme: "seam" (which loses least), "burel", "burel+split" and the rivals "lmondrian", "dmondrian", "tmondrian",
            "mondrian" and "sabre" generalize; "perturb" perturbs the sensitive column and "baseline" publishes only its
            distribution, both with exact quasi-identifiers.
        model: "enhanced" (frequent values are protected too; Definition 3) or "basic" (Definition 2). The scheme
            "mondrian" also keeps "delta-disclosure", "t-closeness", "distinct-l-diversity", "entropy-l-diversity",
            "recursive-l-diversity" and "k-anonymity". By default what the scheme is for.
        k: least number of rows in a class.
        t: of t-closeness: how far the distribution in a class may be from the table's, up to 1.
        delta: of delta-disclosure: how much the logarithm of a share may change; "dmondrian" takes a beta instead.
        l: of l-diversity: how many values a class has at least.
        c: of recursive l-diversity: how much of the rarer values the most frequent one may make.
        ground: of t-closeness: distances between values, "equal", "ordered" or "hierarchical"; else the natural ones.
        hierarchies: a folder with one `<column>.csv` each, or a mapping from column to Hierarchy or rows.
        kinds: types of columns where the guess is wrong: "numeric", "integer", "real", "date", "datetime" or
            "categorical".
        domains: least and greatest value of a numeric column, where the table does not show them.
        weights: how much the loss on each quasi-identifier counts; 1 by default.
        keep: columns to publish unchanged besides; they are not protected.
        missing: texts that stand for a missing value in a CSV file, besides the empty one.
        missing_sensitive: "error", or "value" to publish a missing sensitive value as a value of its own.
        format: "csv" or "parquet".
        layout: "labels" (`[30, 45]`) or "bounds" (columns `age_low` and `age_high`).
        force: replace a release that is in the folder already.
        seed: repeatable choices, for experiments only: whoever knows it can undo them.
        options: further options of the scheme, such as {"effort": 4} for SEAM.
        delimiter: of a CSV file, where it is not recognized.
        progress: something that shows how far the work is.
    """
    chosen = make_scheme(scheme, randomness(seed), **dict(options or {}))
    parameters = {"beta": beta, "t": t, "delta": delta, "l": l, "c": c, "ground": ground}
    promise = make_model(choose_promise(scheme, model), k, parameters)
    if out is not None and str(out) == "":
        raise ParameterError("out is empty; name a folder for the release.")
    schema = make_schema(
        quasi_identifiers, sensitive, hierarchies, kinds, domains, weights, keep, _missing_is_value(missing_sensitive)
    )
    job = Job(
        chosen,
        promise,
        _choose(Layout, layout, "layout"),
        _choose(Format, format, "format"),
        tuple(keep),
    )
    watch = Stopwatch(progress)
    with watch.step("load"):
        frame = _read(table, schema, missing, delimiter)
    engine = MemoryEngine(frame, schema)
    if out is None:
        published = publish_in_memory(engine, job, watch)
    else:
        published = publish_to_folder(engine, job, Path(out), force, watch)
    native = published.rows if _is_path(table) else like(published.rows, table)
    folder = Path(out) if out is not None else None
    worst_value = engine.sensitive_labels[published.verified.verdict.worst_value]
    transition = None if published.transition is None else _by_label(published.transition, engine.sensitive_labels)
    return Release(native, published.certificate.to_dict(), folder, published.verified, worst_value, transition)


def audit(
    table: Frame,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    original: Frame | None = None,
    certificate: str | Path | Mapping[str, Any] | None = None,
    beta: float | None = None,
    model: str = "enhanced",
    k: int = 1,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
) -> Audited:
    """Measure any published table, whoever made it: rows with the same quasi-identifiers are a class.

    The prior comes from the original table, else from a certificate, else (with a warning) from the table itself.
    """
    if _is_path(table) and (Path(table) / FILE_NAME).is_file():
        refuse_exact(Path(table))
    frame = _read_text(table, None, (), delimiter)
    tree = _hierarchies(hierarchies, [sensitive]).get(sensitive)
    if original is not None:
        prior = prior_from_column(_read_text(original, [sensitive], missing, delimiter)[sensitive])
    elif certificate is not None:
        prior = prior_from_certificate(_certificate(certificate), sensitive)
    else:
        prior = None
    likeness = None if beta is None else Likeness(beta, _choose(Form, model, "model"), k)
    return audit_frame(
        frame, list(quasi_identifiers), Attribute(sensitive, Role.SENSITIVE, hierarchy=tree), prior, likeness
    )


def verify(
    folder: str | Path, *, original: Frame | None = None, missing: Sequence[str] = (), delimiter: str | None = None
) -> Checked:
    """Check a release folder: the files' digests, and the promise, counted from the files, against the certificate."""
    folder = Path(folder)
    certificate = read_certificate(folder)
    frame = None
    if original is not None:
        names = [*(certificate.table.quasi_identifiers if is_exact(certificate) else []), certificate.table.sensitive]
        frame = _read_text(original, names, missing, delimiter)
    return check_release(folder, certificate, frame)


def open_release(folder: str | Path, *, hierarchies: str | Path | Mapping[str, Any] | None = None) -> OpenRelease:
    """Open a release folder to ask it for counts; only its published files are read."""
    folder = Path(folder)
    certificate = read_certificate(folder)
    trees = _hierarchies(hierarchies, certificate.table.quasi_identifiers)
    return open_folder(folder, certificate, trees)


def query(
    folder: str | Path,
    predicate: str,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
) -> Answer:
    """Estimate, from a release alone, how many rows of its original table satisfy a predicate."""
    return open_release(folder, hierarchies=hierarchies).count(predicate, method=method, confidence=confidence)


def workload(
    folder: str | Path,
    *,
    original: Frame,
    queries: int = 10_000,
    predicates: int = 3,
    selectivity: float = 0.1,
    method: str | None = None,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    seed: int | None = None,
) -> WorkloadResult:
    """Measure how far a release's answers to random queries are from the exact ones. Paper: 6.2."""
    release = open_release(folder, hierarchies=hierarchies)
    chosen = release.choose_method(method)
    drawn = draw_queries(
        release.quasi_identifiers, release.sensitive, queries, predicates, selectivity, randomness(seed)
    )
    table = release.certificate.table
    kinds = {column.name: Kind(column.kind) for column in table.columns}
    attributes = tuple(Attribute(name, Role.QUASI_IDENTIFIER, kinds[name]) for name in table.quasi_identifiers)
    schema = Schema(attributes, Attribute(table.sensitive, Role.SENSITIVE), sensitive_missing_is_value=True)
    engine = MemoryEngine(_read(original, schema, missing, delimiter), schema)
    index = exact_index(release, engine.count_cells(), engine.sensitive_labels)
    return run_workload(release, index, drawn, chosen, predicates, selectivity)


def describe(table: Frame, *, hierarchies: str | Path | None = None, delimiter: str | None = None) -> Description:
    """Guess types and roles of a table's columns; its `to_toml()` is a specification to edit."""
    frame = load(table, delimiter=delimiter) if _is_path(table) else to_polars(table)
    folder = Path(hierarchies) if hierarchies is not None else None
    return describe_frame(frame, Path(table) if _is_path(table) else None, folder)


def _by_label(transition: Transition, labels: Sequence[str]) -> dict[str, dict[str, float]]:
    rows = transition.probabilities.tolist()
    return {label: dict(zip(labels, row, strict=True)) for label, row in zip(labels, rows, strict=True)}


def make_schema(
    quasi_identifiers: Sequence[str],
    sensitive: str,
    hierarchies: str | Path | Mapping[str, Any] | None,
    kinds: Mapping[str, str] | None,
    domains: Mapping[str, tuple[Any, Any]] | None,
    weights: Mapping[str, float] | None,
    keep: Sequence[str],
    missing_is_value: bool,
) -> Schema:
    """Bring together what the user said about each column."""
    if isinstance(quasi_identifiers, str):
        raise ParameterError("quasi_identifiers must be a list of column names, not one text.")
    named = [*quasi_identifiers, sensitive]
    typed = {column: _choose(Kind, kind, f"type of '{column}'") for column, kind in (kinds or {}).items()}
    is_folder = isinstance(hierarchies, str | Path)  # it may hold hierarchies of columns that are numbers here
    ordered = {column for column, kind in typed.items() if kind.is_ordered and is_folder}
    trees = _hierarchies(hierarchies, [column for column in named if column not in ordered])
    for option, given in (("types", typed), ("domains", domains or {})):
        _check_named(option, given, named)
    _check_named("weights", weights or {}, quasi_identifiers)

    def attribute(column: str, role: Role) -> Attribute:
        domain = (domains or {}).get(column)
        return Attribute(
            column,
            role,
            typed.get(column),
            (domain[0], domain[1]) if domain is not None else None,
            trees.get(column),
            float((weights or {}).get(column, 1.0)),
        )

    return Schema(
        tuple(attribute(column, Role.QUASI_IDENTIFIER) for column in quasi_identifiers),
        attribute(sensitive, Role.SENSITIVE),
        tuple(Attribute(column, Role.KEPT) for column in keep),
        missing_is_value,
    )


def _check_named(option: str, given: Mapping[str, Any], named: Sequence[str]) -> None:
    for column in given:
        if column not in named:
            raise SchemaError(
                f"{option} has '{column}', which is not one of the columns named: {', '.join(named)}."
                f"{suggestion(column, named)}"
            )


def _hierarchies(given: str | Path | Mapping[str, Any] | None, columns: Sequence[str]) -> dict[str, Hierarchy]:
    if given is None:
        return {}
    if isinstance(given, str | Path):
        return read_hierarchies(given, columns)
    return {
        column: tree
        if isinstance(tree, Hierarchy)
        else Hierarchy.from_rows(tree, source=f"the hierarchy of '{column}'")
        for column, tree in given.items()
        if column in columns
    }


def _missing_is_value(choice: str) -> bool:
    if choice not in ("error", "value"):
        raise ParameterError(f"missing_sensitive is '{choice}'; it must be 'error' or 'value'.")
    return choice == "value"


def _choose(choices: type[Choice], given: str, what: str) -> Choice:
    try:
        return choices(given)
    except ValueError as error:
        known = [str(choice) for choice in choices]
        raise ParameterError(
            f"the {what} is '{given}'; it must be one of: {', '.join(known)}.{suggestion(str(given), known)}"
        ) from error


def _is_path(table: Frame) -> bool:
    return isinstance(table, str | Path)


def _read(table: Frame, schema: Schema, missing: Sequence[str], delimiter: str | None) -> pl.DataFrame:
    """The columns of the schema; what is published as it is, or coded by its text, is read as text."""
    if not _is_path(table):
        return to_polars(table, schema.names)
    is_text = {a.name for a in schema.quasi_identifiers if a.hierarchy is not None or a.kind is Kind.CATEGORICAL}
    as_text = {*is_text, schema.sensitive.name, *(attribute.name for attribute in schema.kept)}
    return load(table, schema.names, as_text, missing, delimiter)


def _read_text(
    table: Frame, columns: Sequence[str] | None, missing: Sequence[str], delimiter: str | None
) -> pl.DataFrame:
    """A published table, or one column of the original, with all its cells as text."""
    if not _is_path(table):
        return to_polars(table, columns)
    path = Path(table)
    if path.is_dir():
        path = next((path / name for name in ("published.csv", "published.parquet") if (path / name).is_file()), path)
    return load(path, columns, None, missing, delimiter)


def _certificate(given: str | Path | Mapping[str, Any]) -> Certificate:
    if isinstance(given, str | Path):
        return read_certificate(Path(given))
    return certificate_from_dict(given)
