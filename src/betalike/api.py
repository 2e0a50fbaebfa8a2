"""The functions that users call: publish, audit, verify, query and more. The command line is a thin layer over them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from betalike.attacks.catalogue import ATTACKS, check_names, run_attacks
from betalike.attacks.open_target import open_second, open_target
from betalike.attacks.result import AttackReport
from betalike.engines.choice import EngineName, choose_engine, open_engine
from betalike.engines.formats import form_for
from betalike.engines.recipes import with_built
from betalike.errors import ParameterError, short_traceback
from betalike.io.arguments import check_one_sensitive, make_schema, missing_is_value
from betalike.io.description import Description, describe_frame, load_described, specified_table
from betalike.io.foreign_tables import SourceOptions, takes_tables
from betalike.io.frames import like, to_polars
from betalike.io.guesses.person_warning import warn_about_persons
from betalike.io.guesses.recognition import EXAMINED_ROWS, refuse_kept_identifiers
from betalike.io.hierarchies import choose_hierarchies, warn_about_names
from betalike.io.input_files import input_files
from betalike.io.needed_columns import published_columns
from betalike.io.specification import takes_specification, warn_about_replaced
from betalike.io.tables import Frame, check_column_names, is_path, read_text, text_in_batches
from betalike.measures.risk import THRESHOLDS
from betalike.promises import Model
from betalike.promises.parameters import takes_parameters
from betalike.queries.answer import Answer
from betalike.queries.audited_table import read_audited
from betalike.queries.original import count_original
from betalike.queries.release import Release, folder_of
from betalike.queries.release import open_release as open_folder
from betalike.queries.utility import ask_counts
from betalike.queries.workload import WorkloadResult
from betalike.release.audit import AuditReport, audit_frame, prior_from_certificate, prior_from_column
from betalike.release.audit_people import Persons
from betalike.release.binned_values import as_binned
from betalike.release.certificate import choose_certificate
from betalike.release.folder import check_free
from betalike.release.needed_original import audited_columns, columns_of_releases
from betalike.release.publish import Job
from betalike.release.publish import publish as publish_table
from betalike.release.signatures import load_signer
from betalike.release.verify_folder import VerifyReport, verify_folder
from betalike.runtime.notebook import shows_progress
from betalike.runtime.progress import SILENT, Progress, Stopwatch
from betalike.runtime.randomness import randomness
from betalike.schemes import (
    DEFAULT_SCHEME,
    Baseline,
    Perturbation,
    Scheme,
    choose_scheme,
    compile_kernels,
    make_promise,
)
from betalike.table.schema import Attribute, Role


@short_traceback
@takes_parameters
@takes_specification()
@shows_progress
@takes_tables("table", needs=published_columns)
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
    round: Mapping[str, Any] | None = None,
    bottom: Mapping[str, Any] | None = None,
    top: Mapping[str, Any] | None = None,
    keep: Sequence[str] = (),
    keep_identifiers: bool = False,
    person: str | None = None,
    missing: Sequence[str] = (),
    missing_sensitive: str = "error",
    dates: str | None = None,
    bins: Mapping[str, int] | None = None,
    format: str | None = None,
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
        table: a pandas, Polars or PyArrow frame, a DuckDB relation, the path of a CSV, Parquet, Arrow IPC, Excel, SPSS,
            Stata or SAS file, or a database: "postgresql://...", "sqlite:FILE" or "duckdb:FILE".
        quasi_identifiers: columns that others may know; they are generalized (exact with "perturb" and "baseline").
        sensitive: the column to protect; published as it is (perturbed by "perturb", left out by "baseline"). Each
            column of a list is promised on its own; not on Spark.
        spec: a specification (release.toml) for everything that is not given here.
        beta: the largest gain: with 4, a value becomes at most 5 times as likely as its share of the table says.
        out: folder for published.csv and certificate.json; without it the release stays in memory.
        scheme: a scheme such as Seam(effort=4), or its name: "whole", "seam", "burel", "burel+split" and the rivals
            "lmondrian", "dmondrian", "tmondrian", "mondrian" and "sabre" generalize; "perturb" perturbs the sensitive
            column and "baseline" publishes only its distribution, both with exact quasi-identifiers.
        promise: a promise such as Closeness(t=0.2), or its name: "enhanced" (Definition 3), "basic" (Definition 2), or
            with the scheme "mondrian" any other. By default what the scheme is for.
        k: least number of rows in a class.
        hierarchies: a folder with one `<column>.csv` each, or a mapping from column to Hierarchy, file, rows, or a
            recipe such as {"prefix": [3, 1]}; added to those of the specification, unless it is {}.
        kinds: types of columns where the guess is wrong, such as {"zip": "categorical"}.
        domains: least and greatest value of a numeric column, where the table does not show them.
        weights: how much the loss on each quasi-identifier counts; 1 by default.
        round: what the ends of ranges are rounded to, such as {"age": 5, "birth": "month"}.
        bottom: values up to here are published as one, such as {"age": 18} for the label `<= 18`.
        top: values from here on are published as one, such as {"age": 90} for the label `90+`.
        keep: further columns to publish unchanged and unprotected.
        keep_identifiers: keep columns that look like identifiers too, such as names; they are refused otherwise.
        person: the column that names the person of each row, if a person may have several: the promise is then kept in
            people as well as in rows, and k counts people. It is never published; not on Spark.
        missing: codes that stand for a missing value, such as ["NA", "-9"], as the empty text does.
        missing_sensitive: "error", or "value" to publish a missing sensitive value as a value of its own.
        dates: "dmy" or "mdy": what comes first in dates such as 03/04/1980, where the values do not show it.
        bins: how many ranges take the place of a sensitive column's numbers or dates, such as {"salary": 50}.
        format: "csv" (by default), "parquet" (by default on Spark), "xlsx", "sav" or "dta".
        force: replace a release that is in the folder already.
        seed: repeatable choices, for experiments only: anyone who knows the seed can undo them.
        options: further options of the scheme, such as {"effort": 4} for "whole" and "seam".
        engine: "local" (this machine; reads large tables in batches), "batches" (the same, and reads every file in
            batches), "spark", or "auto".
        memory: how much memory may be used, such as "2GB"; by default most of what is at hand.
        master: of a Spark cluster, such as "spark://host:7077"; by default Spark runs on this machine.
        delimiter: of a CSV file, where it is not recognized.
        sign: the file of a private key, made with `betalike keys new`, to sign the certificate with; needs `out`.
        progress: a listener for the progress of the work; by default a bar in notebooks once it takes long.
        sheet, labels, query, table_name: the sheet of a workbook; what codes mean in place of the codes (SPSS, Stata,
            SAS); the SELECT whose rows are the table, or the table itself, of a database.
        **parameters: the numbers of a promise that is named, such as t. See `betalike.promises.parameters`.
    """
    signer = None if sign is None else load_signer(sign, out)
    chosen = choose_scheme(scheme, seed, options or {})
    promised = make_promise(chosen.name, promise, k, {"beta": beta, **parameters})
    assert promised is not None  # every scheme has a promise
    if out is not None and str(out) == "":
        raise ParameterError("out is empty; name a folder for the release.")
    strange_names = check_column_names(table, delimiter)
    replaced = warn_about_replaced(spec, hierarchies, quasi_identifiers, sensitive)
    hierarchies = with_built(hierarchies, table, quasi_identifiers, sensitive, missing, delimiter, person, dates)
    is_value, ends = missing_is_value(missing_sensitive), {"round": round, "bottom": bottom, "top": top}
    schema = make_schema(
        quasi_identifiers, sensitive, hierarchies, kinds, domains, weights, keep, is_value, ends, person, dates, bins
    )
    choice = choose_engine(table, engine, memory, len(schema.names), master)
    form = form_for(schema.names, format, is_on_spark=choice.name is EngineName.SPARK)
    is_exact = isinstance(chosen, Perturbation | Baseline)
    schema = replace(schema, keeps_forms=is_exact and form.is_csv and out is not None)
    job = Job(chosen, promised, form, tuple(keep), schema.is_rounded)
    watch = Stopwatch(progress)
    folder = Path(out) if out is not None else None
    inputs = [*input_files(table, hierarchies), *(Path(named) for named in (sign, spec) if named is not None)]
    if folder is not None:
        check_free(folder, force, inputs)  # before the table is read, which may take long
    compile_kernels(chosen)  # while the table is read
    with contextlib.ExitStack() as stack:
        with watch.step("load"):
            carrier = stack.enter_context(
                open_engine(table, schema, missing, delimiter, choice, folder, master, progress, form)
            )
            if keep and not keep_identifiers:
                refuse_kept_identifiers(carrier.first_rows(EXAMINED_ROWS), keep)
        published = publish_table(carrier, job, watch, folder, force, inputs, signer)
        labels, types = carrier.sensitive_labels, carrier.types
        path = None if folder is None else folder / f"published.{job.form.ending}"
        make_frame = carrier.give_back(published.rows, path, job.form)
        native = None if is_path(table) else make_frame()
    if isinstance(native, pl.DataFrame):
        native = like(native, table)
    worst_value = labels[published.verified.verdict.worst_value]
    matrix = published.perturbing
    return Release(
        published.certificate,
        folder=folder,
        frame=native,
        make_frame=make_frame if is_path(table) else None,
        transition=None if matrix is None else matrix.by_label(published.certificate.prior_counts),
        verified=published.verified,
        worst_value=worst_value,
        engine=choice,
        types=types,
        warnings=(
            *strange_names,
            *replaced,
            *warn_about_names(hierarchies, [*schema.quasi_identifier_names, *schema.sensitive_columns]),
            *(() if person or choice.name is EngineName.SPARK else warn_about_persons(table, schema, delimiter)),
        ),
    )


@short_traceback
@takes_parameters
@takes_tables("table", "original", needs=audited_columns)
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
    thresholds: Sequence[float] = THRESHOLDS,
    person: str | None = None,
    **parameters: Any,
) -> AuditReport:
    """Measure any published table, by betalike or not: rows with the same quasi-identifiers are a class.

    The table is a frame, a file, a release folder, or what `publish` returned. The prior comes from the original table,
    else from a certificate, else (with a warning) from the table itself. Every promise given is checked: one of those
    that `publish` makes, with the same parameters, or k alone. With the size of the population that the table is a
    sample of, risks are also those of a person who may not be in it; people are counted whose risk is above each of the
    `thresholds`. With a person column, of the table or of the
    original, everything is judged in people too.
    """
    check_one_sensitive(sensitive, "audited")
    promised = make_promise(None, promise, k, {"beta": beta, **parameters})
    audited = read_audited(table, certificate, original is not None, delimiter)
    tree = choose_hierarchies(hierarchies, [sensitive]).get(sensitive)
    if original is not None:
        values = read_text(original, [sensitive], missing, delimiter)[sensitive]
        prior = prior_from_column(as_binned(values, audited.own))
    elif audited.known is not None:
        prior = prior_from_certificate(choose_certificate(audited.known), sensitive)
    else:
        prior = None
    attribute = Attribute(sensitive, Role.SENSITIVE, hierarchy=tree)
    persons = None
    if person is not None:
        read_original = None if original is None else lambda names: read_text(original, names, missing, delimiter)
        persons = Persons(person, read_original, audited.own)
    return audit_frame(
        audited.frame, list(quasi_identifiers), attribute, prior, promised, population, persons, thresholds
    )


@short_traceback
@takes_tables("original", needs=columns_of_releases)
def verify(
    folder: str | Path | Release,
    *,
    original: Frame | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    signed_by: str | Path | None = None,
    **source: Unpack[SourceOptions],
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
@takes_tables("original", needs=columns_of_releases)
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
    **source: Unpack[SourceOptions],
) -> WorkloadResult:
    """Measure how far a release's answers to random queries are from the exact ones. Paper: 6.2."""
    release = open_release(folder, hierarchies=hierarchies).estimator
    cells, labels = count_original(release, original, missing, delimiter)
    return ask_counts(release, cells, labels, queries, randomness(seed), predicates, selectivity, method)


@short_traceback
@shows_progress
@takes_tables("original", needs=columns_of_releases)
def attack(
    release: str | Path | Release,
    *,
    original: Frame,
    attacks: Sequence[str] | None = None,
    second: str | Path | Release | None = None,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    seed: int | None = None,
    progress: Progress = SILENT,
    **source: Unpack[SourceOptions],
) -> AttackReport:
    """Attack a release with what an adversary could know, and measure how often that succeeds. Paper: Section 7.

    Args:
        release: a folder, or what `publish` returned.
        original: the original table; guesses are judged by it.
        attacks: their names; all by default.
        second: another release, of the same table or of another one such as last year's, for the attack "composition";
            one is made up by default.
        hierarchies: as for `publish`; the sensitive column's one says which values are close to each other.
        missing: codes that stand for a missing value in the original.
        delimiter: of the original, where it is not recognized.
        seed: repeatable choices.
        progress: a listener for the progress of the work; by default a bar in notebooks once it takes long.
    """
    names = check_names(list(ATTACKS) if attacks is None else attacks)
    progress.start("load")
    reading: dict[str, Any] = {"original": original, "hierarchies": hierarchies, "missing": missing}
    target = open_target(release, **reading, delimiter=delimiter)
    other = None if second is None else open_second(second, target, **reading, delimiter=delimiter)
    return run_attacks(target, names, randomness(seed), other, progress)


@short_traceback
@takes_tables("table")
def describe(
    table: Frame,
    *,
    hierarchies: str | Path | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    **source: Unpack[SourceOptions],
) -> Description:
    """Guess types and roles of a table's columns and measure which identify rows; `to_toml()` is a specification."""
    warnings = check_column_names(table, delimiter)
    frame = load_described(table, delimiter, missing) if is_path(table) else to_polars(table)
    return describe_frame(frame, specified_table(table), hierarchies, missing, warnings)
