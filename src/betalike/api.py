"""The functions that users call: publish, audit, verify, query and more. The command line is a thin layer over them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from betalike.attacks.catalogue import ATTACKS, check_names, run_attacks
from betalike.attacks.open_target import open_target
from betalike.attacks.result import AttackReport
from betalike.comparison.compare import (
    DEFAULT_SCHEMES,
    MATCHED_SCHEMES,
    Comparison,
    Contest,
    Equal,
    compare_schemes,
    name_schemes,
    read_promise,
)
from betalike.engines.choice import EngineName, choose_engine, choose_format, open_engine, safe_format
from betalike.engines.engine import Format, Layout
from betalike.engines.local import LocalEngine
from betalike.engines.recipes import with_built
from betalike.errors import FileError, ParameterError, short_traceback
from betalike.io.arguments import check_one_sensitive, make_schema, missing_is_value
from betalike.io.description import Description, describe_frame, load_described
from betalike.io.frames import like, to_polars
from betalike.io.hierarchies import choose_hierarchies
from betalike.io.input_files import input_files
from betalike.io.sources import is_standard_input, takes_standard_input
from betalike.io.specification import takes_specification
from betalike.io.tables import Frame, is_path, read, read_text, text_in_batches
from betalike.promises import Model
from betalike.promises.parameters import choose, takes_parameters
from betalike.queries.answer import Answer
from betalike.queries.release import Release, folder_of, read_release_text
from betalike.queries.release import open_release as open_folder
from betalike.queries.workload import WorkloadResult, draw_queries, exact_index, run_workload
from betalike.release.audit import AuditReport, audit_frame, prior_from_certificate, prior_from_column, refuse_exact
from betalike.release.certificate import FILE_NAME, AnyCertificate, choose_certificate, read_if_certified
from betalike.release.folder import check_free, holds_release
from betalike.release.publish import Job
from betalike.release.publish import publish as publish_table
from betalike.release.signatures import load_signer
from betalike.release.verify_folder import VerifyReport, verify_folder
from betalike.runtime.notebook import shows_progress
from betalike.runtime.progress import SILENT, Progress, Stopwatch
from betalike.runtime.randomness import randomness
from betalike.schemes import DEFAULT_SCHEME, Scheme, choose_scheme, make_promise
from betalike.table.schema import Attribute, Kind, Role, Schema


@short_traceback
@takes_parameters
@takes_specification
@shows_progress
@takes_standard_input("table")
def publish(
    table: Frame = None,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    spec: str | Path | None = None,
    beta: float | None = None,
    out: str | Path | None = None,
    scheme: str | Scheme = DEFAULT_SCHEME,
    promise: str | Model | None = None,
    k: int = 1,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    weights: Mapping[str, float] | None = None,
    keep: Sequence[str] = (),
    missing: Sequence[str] = (),
    missing_sensitive: str = "error",
    format: str | None = None,
    layout: str = "labels",
    spreadsheet_safe: bool = False,
    force: bool = False,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    engine: str = "auto",
    memory: str | int | None = None,
    master: str | None = None,
    delimiter: str | None = None,
    sign: str | Path | None = None,
    progress: Progress = SILENT,
    **parameters: Any,
) -> Release:
    """Publish a table so that no sensitive value becomes more than 1 + beta times as likely, or under another promise.

    Args:
        table: a pandas, Polars or PyArrow frame, a DuckDB relation, or the path of a CSV, Parquet or Arrow IPC file.
        quasi_identifiers: columns that others may know; they are generalized (exact with "perturb" and "baseline").
        sensitive: the column to protect; published as it is (perturbed by "perturb", left out by "baseline"). Each
            column of a list is promised on its own; not on Spark.
        spec: a specification (release.toml) for everything that is not given here.
        beta: the largest gain: with 4, a value becomes at most 5 times as likely as its share of the table says.
        out: folder for published.csv and certificate.json; without it the release stays in memory.
        scheme: a scheme such as Seam(effort=4), or its name: "seam" (which loses least), "whole", "burel",
            "burel+split" and the rivals "lmondrian", "dmondrian", "tmondrian", "mondrian" and "sabre" generalize;
            "perturb" perturbs the sensitive column and "baseline" publishes only its distribution, both
            with exact quasi-identifiers.
        promise: a promise such as Closeness(t=0.2), or its name: "enhanced" (frequent values are protected too;
            Definition 3), "basic" (Definition 2), or with the scheme "mondrian" any other. By default what the scheme
            is for.
        k: least number of rows in a class.
        hierarchies: a folder with one `<column>.csv` each, or a mapping from column to Hierarchy, file, rows, or a
            recipe such as {"prefix": [3, 1]}.
        kinds: types of columns where the guess is wrong: "numeric", "integer", "decimal", "real", "date", "datetime" or
            "categorical".
        domains: least and greatest value of a numeric column, where the table does not show them.
        weights: how much the loss on each quasi-identifier counts; 1 by default.
        keep: further columns to publish unchanged and unprotected.
        missing: texts that stand for a missing value in a CSV file, as the empty one does.
        missing_sensitive: "error", or "value" to publish a missing sensitive value as a value of its own.
        format: "csv" (by default) or "parquet" (by default on Spark).
        layout: "labels" (`[30, 45]`) or "bounds" (columns `age_low` and `age_high`).
        spreadsheet_safe: write text cells that a spreadsheet would run as formulas with a leading "'"; CSV only.
        force: replace a release that is in the folder already.
        seed: repeatable choices, for experiments only: anyone who knows the seed can undo them.
        options: further options of the scheme, such as {"effort": 4} for "seam" and "whole".
        engine: "local" (this machine; reads tables that do not fit in memory in batches), "spark", or "auto".
        memory: how much memory may be used, such as "2GB"; by default most of what is at hand.
        master: of a Spark cluster, such as "spark://host:7077"; by default Spark runs on this machine.
        delimiter: of a CSV file, where it is not recognized.
        sign: the file of a private key, made with `betalike keys new`, to sign the certificate with; needs `out`.
        progress: a listener for the progress of the work; by default a bar in notebooks once it takes long.
        **parameters: the numbers of a promise that is named: t, delta, l, c, ground, negative_beta, groups, width,
            with_values, cap. See `betalike.promises.parameters`.
    """
    signer = None if sign is None else load_signer(sign, out)
    chosen = choose_scheme(scheme, seed, options or {})
    promised = make_promise(chosen.name, promise, k, {"beta": beta, **parameters})
    assert promised is not None  # every scheme has a promise
    if out is not None and str(out) == "":
        raise ParameterError("out is empty; name a folder for the release.")
    hierarchies = with_built(hierarchies, table, quasi_identifiers, sensitive, missing, delimiter)
    schema = make_schema(
        quasi_identifiers, sensitive, hierarchies, kinds, domains, weights, keep, missing_is_value(missing_sensitive)
    )
    choice = choose_engine(table, engine, memory, len(schema.names), master)
    form = Format.PARQUET if choice.name is EngineName.SPARK else Format.CSV
    if format is not None:
        form = choose_format(format)
    form = safe_format(form, schema) if spreadsheet_safe else form
    job = Job(chosen, promised, choose(Layout, layout, "layout"), form, tuple(keep))
    watch = Stopwatch(progress)
    folder = Path(out) if out is not None else None
    inputs = [*input_files(table, hierarchies), *(Path(named) for named in (sign, spec) if named is not None)]
    if folder is not None:
        check_free(folder, force, inputs)  # before the table is read, which may take long
    with contextlib.ExitStack() as stack:
        with watch.step("load"):
            carrier = stack.enter_context(
                open_engine(table, schema, missing, delimiter, choice, folder, master, progress)
            )
        published = publish_table(carrier, job, watch, folder, force, inputs, signer)
        labels = carrier.sensitive_labels
        path = None if folder is None else folder / f"published.{job.form.ending}"
        native = carrier.give_back(published.rows, path, job.form)
    if not is_path(table) and isinstance(native, pl.DataFrame):
        native = like(native, table)
    worst_value = labels[published.verified.verdict.worst_value]
    matrix = published.perturbing
    return Release(
        published.certificate,
        folder=folder,
        frame=native,
        transition=None if matrix is None else matrix.by_label(published.certificate.prior_counts),
        verified=published.verified,
        worst_value=worst_value,
        engine=choice,
    )


@short_traceback
@takes_parameters
@takes_standard_input("table", "original")
def audit(
    table: Frame,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    original: Frame | None = None,
    certificate: str | Path | Mapping[str, Any] | None = None,
    beta: float | None = None,
    promise: str | Model | None = None,
    k: int = 1,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    population: int | None = None,
    **parameters: Any,
) -> AuditReport:
    """Measure any published table, by betalike or not: rows with the same quasi-identifiers are a class.

    The table is a frame, a file, a release folder, or what `publish` returned. The prior comes from the original table,
    else from a certificate, else (with a warning) from the table itself. Every promise given is checked: one of those
    that `publish` makes, with the same parameters, or k alone. With the size of the population that the table is a
    sample of, risks are also those of a person who may not be in it.
    """
    check_one_sensitive(sensitive, "audited")
    promised = make_promise(None, promise, k, {"beta": beta, **parameters})
    known: AnyCertificate | None = certificate
    if isinstance(table, Release):
        refuse_exact(table.facts)
        if certificate is None and original is None:
            known = table.facts
        table = table.frame
    if is_path(table) and (Path(table) / FILE_NAME).is_file():
        refuse_exact(read_if_certified(Path(table)))
    elif is_path(table) and Path(table).is_dir() and not holds_release(Path(table)):
        raise FileError(f"'{table}' is a folder without a release; name a file, or a folder that holds one.")
    frame = read_release_text(table, known) if is_path(table) else None
    if frame is None:
        frame = read_text(table, None, (), delimiter)
    tree = choose_hierarchies(hierarchies, [sensitive]).get(sensitive)
    if original is not None:
        prior = prior_from_column(read_text(original, [sensitive], missing, delimiter)[sensitive])
    elif known is not None:
        prior = prior_from_certificate(choose_certificate(known), sensitive)
    else:
        prior = None
    attribute = Attribute(sensitive, Role.SENSITIVE, hierarchy=tree)
    return audit_frame(frame, list(quasi_identifiers), attribute, prior, promised, population)


@short_traceback
@takes_standard_input("original")
def verify(
    folder: str | Path | Release,
    *,
    original: Frame | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    signed_by: str | Path | None = None,
) -> VerifyReport:
    """Check a release folder: its files, promise and figures, counted from the files, and with the original its rows.

    The folder may be given by what `publish` returned for it; `signed_by` is the file of the signer's public key.
    """
    opened = None if original is None else lambda names: text_in_batches(original, names, missing, delimiter)
    return verify_folder(folder_of(folder), opened, signed_by)


@short_traceback
def open_release(folder: str | Path | Release, *, hierarchies: str | Path | Mapping[str, Any] | None = None) -> Release:
    """Open a release folder, to ask it for counts and to see its rows; only its published files are read."""
    return open_folder(
        folder_of(folder), lambda certificate: choose_hierarchies(hierarchies, certificate.table.quasi_identifiers)
    )


@short_traceback
def query(
    folder: str | Path | Release,
    predicate: str,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
) -> Answer:
    """Estimate, from a release alone, how many rows of its original table satisfy a predicate."""
    return open_release(folder, hierarchies=hierarchies).count(predicate, method=method, confidence=confidence)


@short_traceback
@takes_standard_input("original")
def workload(
    folder: str | Path | Release,
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
    release = open_release(folder, hierarchies=hierarchies).estimator
    chosen = release.choose_method(method)
    drawn = draw_queries(
        release.quasi_identifiers, release.sensitive, queries, predicates, selectivity, randomness(seed)
    )
    table = release.certificate.table
    kinds = {column.name: Kind(column.kind) for column in table.columns}
    attributes = tuple(Attribute(name, Role.QUASI_IDENTIFIER, kinds[name]) for name in table.quasi_identifiers)
    schema = Schema(attributes, Attribute(table.sensitive, Role.SENSITIVE), sensitive_missing_is_value=True)
    engine = LocalEngine(read(original, schema, missing, delimiter), schema)
    index = exact_index(release, engine.count_cells(), engine.sensitive_labels)
    return run_workload(release, index, drawn, chosen, predicates, selectivity)


@short_traceback
@takes_specification
@shows_progress
@takes_standard_input("table")
def compare(
    table: Frame = None,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: str | None = None,
    spec: str | Path | None = None,
    beta: float | Sequence[float] | None = None,
    schemes: Sequence[str | Scheme] | None = None,
    match: str | None = None,
    promise: str | Model | None = None,
    model: str = "enhanced",
    k: int = 1,
    t: float | None = None,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    weights: Mapping[str, float] | None = None,
    missing: Sequence[str] = (),
    missing_sensitive: str = "error",
    queries: int = 1000,
    predicates: int | None = None,
    selectivity: float = 0.1,
    delimiter: str | None = None,
    seed: int | None = None,
    progress: Progress = SILENT,
) -> Comparison:
    """Publish a table with several schemes, in memory, and measure each: loss, classes, what is reached, errors, time.

    Args:
        table: as for `publish`, and so are the other arguments that `publish` has.
        quasi_identifiers: columns that others may know.
        sensitive: the column to protect.
        beta: one, or several to try in turn; 4 by default.
        spec: a specification, as for `publish`.
        schemes: their names, or schemes such as Seam(effort=4); all but "mondrian" by default. The first is the
            reference.
        match: "t" or "loss": the other schemes get the parameter with which they come to the reference's t, or loss.
        promise: in place of beta, model, k and t: a Likeness, or a Closeness for the schemes that keep t-closeness; or
            the name "enhanced" or "basic".
        model: "enhanced" or "basic", for the schemes that keep likeness.
        k: least number of rows in a class.
        t: for "tmondrian" and "sabre"; by default what the reference reaches.
        hierarchies: a folder with one `<column>.csv` each, or a mapping from column to Hierarchy, file, rows, or a
            recipe such as {"prefix": [3, 1]}.
        kinds: types of columns where the guess is wrong.
        domains: least and greatest value of a numeric column, where the table does not show them.
        weights: how much the loss on each quasi-identifier counts; 1 by default.
        missing: texts that stand for a missing value in a CSV file, as the empty one does.
        missing_sensitive: "error", or "value".
        queries: how many random COUNT queries each release is asked; 0 for none.
        predicates: quasi-identifiers that each query names; by default 3, or all if there are fewer.
        selectivity: expected share of the rows that a query selects.
        delimiter: of a CSV file, where it is not recognized.
        seed: repeatable choices, for experiments only.
        progress: a listener for the progress of the work; by default a bar in notebooks once it takes long.
    """
    check_one_sensitive(sensitive, "compared")
    assert isinstance(sensitive, str)
    equal = None if match is None else choose(Equal, match, "match")
    default = DEFAULT_SCHEMES if equal is None else MATCHED_SCHEMES
    names, made = name_schemes(default if schemes is None else schemes)
    contest = Contest(
        schemes=names,
        **read_promise(promise, beta, model, k, t),
        equal=equal,
        n_queries=queries,
        n_predicates=min(3, len(quasi_identifiers)) if predicates is None else predicates,
        selectivity=selectivity,
        seed=seed,
        made=made,
    )
    is_value = missing_is_value(missing_sensitive)
    hierarchies = with_built(hierarchies, table, quasi_identifiers, sensitive or (), missing, delimiter)
    schema = make_schema(quasi_identifiers, sensitive, hierarchies, kinds, domains, weights, (), is_value)
    return compare_schemes(LocalEngine(read(table, schema, missing, delimiter), schema), contest, progress)


@short_traceback
@shows_progress
@takes_standard_input("original")
def attack(
    release: str | Path | Release,
    *,
    original: Frame,
    attacks: Sequence[str] | None = None,
    second: str | Path | Release | None = None,
    own: Frame | None = None,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    seed: int | None = None,
    progress: Progress = SILENT,
) -> AttackReport:
    """Attack a release with what an adversary could know, and measure how often that succeeds. Paper: Section 7.

    Args:
        release: a folder, or what `publish` returned.
        original: the original table; guesses are judged by it.
        attacks: their names; all by default.
        second: another release of the same table, for the attack "composition"; one is made up by default.
        own: a table of the same kind that the adversary has, for the attack "program"; by default a random half of the
            original, and the other half is published for the attack.
        hierarchies: as for `publish`; the sensitive column's one says which values are close to each other.
        missing: texts that stand for a missing value in the original.
        delimiter: of the original, where it is not recognized.
        seed: repeatable choices.
        progress: a listener for the progress of the work; by default a bar in notebooks once it takes long.
    """
    names = check_names(list(ATTACKS) if attacks is None else attacks)
    progress.start("load")
    reading: dict[str, Any] = {"original": original, "hierarchies": hierarchies, "missing": missing}
    target = open_target(release, **reading, delimiter=delimiter, own=own)
    other = None if second is None else open_target(second, **reading, delimiter=delimiter)
    return run_attacks(target, names, randomness(seed), other, progress)


@short_traceback
@takes_standard_input("table")
def describe(table: Frame, *, hierarchies: str | Path | None = None, delimiter: str | None = None) -> Description:
    """Guess types and roles of a table's columns; its `to_toml()` is a specification to edit."""
    frame = load_described(table, delimiter) if is_path(table) else to_polars(table)
    folder = Path(hierarchies) if hierarchies is not None else None
    is_file = is_path(table) and not is_standard_input(table)
    return describe_frame(frame, Path(table) if is_file else None, folder)
