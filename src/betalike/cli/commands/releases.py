"""The commands about a release: verify, audit, query, workload, attack. Each returns what prints its result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from betalike.cli import options
from betalike.cli.command import calls
from betalike.cli.options import Texts, input_argument, input_option, option
from betalike.cli.promise_options import takes_promise

NO_COLUMNS = "name the columns: --qi a,b,c --sensitive d."
NO_COUNTS = "name the original table, for the exact counts: --original TABLE."
NO_JUDGE = "name the original table, to judge guesses: --original TABLE."
KEY = "Public key of the signer; fails without a signature by this key."
ATTACKS = "naive-bayes, definetti, skewness, similarity, minimality, corruption, composition (default: all)."


@calls("verify")
def verify(
    folder: options.Folder,
    original: Annotated[str | None, input_option("The original table, to compare with.")] = None,
    missing: options.Missing = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableName = None,
    delimiter: options.Delimiter = None,
    signed_by: Annotated[Path | None, input_option(KEY)] = None,
    json: options.Json = False,
) -> Any:
    """Check a release against its certificate: its files, its promise and every figure, recounted."""
    from betalike.report.summary import print_checks

    return print_checks


@calls("audit", quasi_identifiers=NO_COLUMNS, sensitive=NO_COLUMNS)
@takes_promise(after="certificate")
def audit(
    published: Annotated[str, input_argument("A published table, of any kind that is read, or a release folder.")],
    quasi_identifiers: options.Qi = None,
    sensitive: options.Sensitive = None,
    original: Annotated[str | None, input_option("The original table, for its prior.")] = None,
    certificate: Annotated[Path | None, input_option("A certificate, for its prior.")] = None,
    hierarchies: options.Hierarchies = None,
    missing: options.Missing = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableName = None,
    delimiter: options.Delimiter = None,
    population: options.Population = None,
    thresholds: options.Thresholds = None,
    person: options.Person = None,
    json: options.Json = False,
    **promise: Any,
) -> Any:
    """Measure which promises any published table keeps: k, l, t, beta, delta, and its worst class."""
    from betalike.report.summary import print_audit

    return print_audit


@calls("query")
def query(
    folder: options.Folder,
    predicate: Annotated[str, typer.Argument(help="Such as: age BETWEEN 30 AND 40 AND salary_class IN (3, 4).")],
    method: options.Method = None,
    confidence: Annotated[float, option("Confidence of the interval.")] = 0.95,
    hierarchies: options.Hierarchies = None,
    json: options.Json = False,
) -> Any:
    """Estimate COUNT(*) of a predicate from a release alone, with its standard error and an interval."""
    from betalike.report.figures import print_answer

    return print_answer


@calls("workload", original=NO_COUNTS)
def workload(
    folder: options.Folder,
    original: Annotated[str | None, input_option("The original table, for exact counts.")] = None,
    queries: Annotated[int, option("Number of random queries.")] = 10_000,
    predicates: Annotated[int, option("Quasi-identifiers that each query names.")] = 3,
    selectivity: options.Selectivity = 0.1,
    method: options.Method = None,
    hierarchies: options.Hierarchies = None,
    missing: options.Missing = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableName = None,
    delimiter: options.Delimiter = None,
    seed: options.Seed = None,
    json: options.Json = False,
) -> Any:
    """Measure how far a release's answers to random queries are from the exact counts."""
    from betalike.report.figures import print_workload

    return print_workload


@calls("attack", original=NO_JUDGE)
def attack(
    folder: options.Folder,
    original: Annotated[str | None, input_option("The original table, to judge guesses.")] = None,
    attacks: Annotated[Texts, option(ATTACKS)] = None,
    second: Annotated[Path | None, input_option("Another release, for composition (default: made up).")] = None,
    hierarchies: options.Hierarchies = None,
    missing: options.Missing = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableName = None,
    delimiter: options.Delimiter = None,
    seed: options.Seed = None,
    json: options.Json = False,
) -> Any:
    """Attack a release as an adversary would, and show how much more it gives away than a blind guess."""
    from betalike.report.figures import print_attacks

    return print_attacks
