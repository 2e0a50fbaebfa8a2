"""Verify a release folder: its files, its signature, its promise, and every figure of its certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from betalike.engines.value_binning import label_rows
from betalike.errors import CertificateError, InputError
from betalike.io.spreadsheet import formula_columns, is_formula
from betalike.promises import Model
from betalike.promises.verdict import wording
from betalike.release.binned_values import ranges_of
from betalike.release.certificate import (
    FILE_NAME,
    Certificate,
    PublishedFile,
    decode_certificate,
    protected_columns,
    published_name,
    read_content,
)
from betalike.release.certify import summary_of
from betalike.release.files import Check, Files, are_lines_even, check_files, check_surplus
from betalike.release.original_rows import Matched, Original, match_exact, match_generalized, original_columns
from betalike.release.people import count_people, read_shown
from betalike.release.person_rows import PersonColumns, PersonRows
from betalike.release.promise import promised_axis, promised_in_people, promised_model
from betalike.release.published_labels import check_column
from betalike.release.recompute import differing_fields, recompute
from betalike.release.recount import COMPANIONS, count_files, is_exact, scan_published
from betalike.release.signatures import NOT_SIGNED, check_signature
from betalike.release.verify import PeopleFigures
from betalike.runtime.display import Row, Shown

WRONG_FIGURES = "the certificate says what its files do not show"


@dataclass(frozen=True, repr=False)
class VerifyReport(Shown):
    """Every check of a release folder, whether it passed, and what was checked."""

    certificate: Certificate | None
    checks: dict[str, bool]
    explanations: tuple[str, ...]
    not_checked: tuple[str, ...] = ()
    signature: str = NOT_SIGNED
    people: PeopleFigures | None = None  # counted again, with the original

    @property
    def holds(self) -> bool:
        """Whether every check passed."""
        return all(self.checks.values())

    @property
    def verified(self) -> dict[str, Any]:
        """What the certificate promises: what was checked."""
        return {} if self.certificate is None else summary_of(self.certificate, self.signature)

    def _summary(self) -> Row:
        passed = f"{sum(self.checks.values())} of {len(self.checks)} checks"
        shown = {name: self.verified.get(name) for name in ("promise", "scheme", "rows", "classes", "signature")}
        return {"holds": self.holds, "passed": passed, **shown}

    def _parts(self) -> list[Row]:
        return [{"check": name, "passed": passed} for name, passed in self.checks.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `verify --json`."""
        return {
            "holds": self.holds,
            "checks": self.checks,
            "explanations": list(self.explanations),
            "verified": self.verified,
            "not_checked": list(self.not_checked),
        }


def verify_folder(
    folder: Path,
    open_original: Callable[[Sequence[str]], Iterator[pl.DataFrame]] | None,
    signed_by: str | Path | None,
) -> VerifyReport:
    """Check a release from its files alone, and against the original if it is given.

    The signature is that of the certificate's bytes as they were read.
    """
    if folder.is_file():
        raise CertificateError(f"'{folder}' is a file; name the folder of the release, which holds certificate.json.")
    content = read_content(folder)
    certificate = decode_certificate(content, folder / FILE_NAME, is_strict=True)
    signature = check_signature(folder, content, None if signed_by is None else Path(signed_by))
    original = None if open_original is None else partial(_read_original, open_original, certificate)
    checks: dict[str, bool] = {}
    explanations: list[str] = []

    def check(name: str, passed: bool, explanation: str) -> bool:
        checks[name] = checks.get(name, True) and passed
        if not passed:
            explanations.append(explanation)
        return passed

    model = promised_model(certificate)
    if signature.passed is not None:
        check("signature", signature.passed, signature.explanation)
    not_checked, people = list(signature.not_checked), None
    files = check_files(folder, certificate, COMPANIONS.get(certificate.scheme.name), check)
    has_prior = check("prior", bool(certificate.prior_counts), "the certificate has no prior.")
    are_columns = check("columns", _are_columns(certificate), "the certificate contradicts itself on its columns.")
    if files is not None:
        check_surplus(files.folder / files.published, check)
    if files is not None and has_prior and are_columns:
        further, people = _check_table(files, certificate, model, original, check)
        not_checked += further
    return VerifyReport(certificate, checks, tuple(explanations), tuple(not_checked), signature.words, people)


def _read_original(
    open_original: Callable[[Sequence[str]], Iterator[pl.DataFrame]], certificate: Certificate
) -> Iterator[pl.DataFrame]:
    """Yield the rows of the original, with ranges in the place of values that were binned."""
    ranges = ranges_of(certificate)
    for batch in open_original(original_columns(certificate)):
        yield label_rows(batch, ranges)


def _are_columns(certificate: Certificate) -> bool:
    """Whether a certificate describes each quasi-identifier in a form that can be read."""
    columns = certificate.table.columns
    try:
        for column in columns:
            check_column(column)
    except (ValueError, OverflowError, InputError):
        return False
    table, people = certificate.table, certificate.people
    named = {*table.quasi_identifiers, *protected_columns(certificate), *table.kept}
    if people is not None and people.column in named:
        return False
    return bool(columns) and [column.name for column in columns] == certificate.table.quasi_identifiers


def _check_table(
    files: Files, certificate: Certificate, model: Model, original: Original | None, check: Check
) -> tuple[list[str], PeopleFigures | None]:
    """Check the published table and every figure of the certificate.

    Return the fields that cannot be checked, and what was counted in people.
    """
    path = files.folder / files.published
    if path.suffix == ".csv" and not are_lines_even(path):
        check("readable", False, f"{path.name} has lines with more or fewer cells than its header.")
        return [], None
    found = count_files(path, certificate, model, check)
    if found is None:
        return [], None
    matched = people = None
    if original is not None:
        matched = _check_original(path, certificate, original, found.audit.rows, check)
        if certificate.people is not None and matched.n_unmatched == 0 and matched.values == certificate.prior_counts:
            people = _check_people(path, certificate, model, original, check)
    rows = files.rows(found.audit.rows, len(certificate.prior_counts))
    listed = {name: PublishedFile(digest, rows.get(name, -1)) for name, digest in files.digests.items()}
    originals = () if matched is None else matched.columns
    rebuilt, not_checked = recompute(certificate, found, model, listed, _formulas(path, certificate), originals, people)
    wrong = differing_fields(certificate, rebuilt)
    check("figures", not wrong, f"{WRONG_FIGURES}: {', '.join(wrong)}.")
    return not_checked, people


def _check_original(path: Path, certificate: Certificate, original: Original, n_rows: int, check: Check) -> Matched:
    """Check that published rows are those of the original, and the prior that of its sensitive column."""
    rows = partial(scan_published, path, certificate)
    if is_exact(certificate):
        matched = match_exact(rows, original, certificate, n_rows)
    else:
        matched = match_generalized(rows, original, certificate)
    check(
        "quasi-identifiers" if is_exact(certificate) else "rows",
        matched.n_unmatched == 0,
        f"the published rows are not those of this original table: {matched.n_unmatched} rows of the two have no "
        "partner whose quasi-identifiers, sensitive value and kept columns fit. If it was published with --missing or "
        "--labels, give the same here.",
    )
    is_prior = matched.values == certificate.prior_counts
    check("original", is_prior, "the certificate's prior is not the sensitive column of this original table.")
    return matched


def _check_people(
    path: Path, certificate: Certificate, model: Model, original: Original, check: Check
) -> PeopleFigures | None:
    """Check the promise in people, with the rows of the original that name them."""
    figures = people_again(scan_published(path, certificate), certificate, model, original)
    holds = figures is not None and figures.verdict.holds
    check("people", holds, f"a class breaks the promise in people: {wording(model)}.")
    return figures


def people_again(
    published: Iterator[pl.DataFrame], certificate: Certificate, model: Model, original: Original
) -> PeopleFigures | None:
    """Count the people of a release again; None if its rows are not those of the original table."""
    table, promise = certificate.table, promised_in_people(certificate, model)
    assert certificate.people is not None
    sensitive = protected_columns(certificate)
    columns = PersonColumns(table.quasi_identifiers, sensitive, table.kept, certificate.people.column)
    rows = PersonRows.read(original(), columns, list(certificate.prior_counts))
    shown = read_shown(published, table.quasi_identifiers, rows)
    axis = promised_axis(certificate, model)
    return None if shown is None else count_people(rows, shown, table.columns, promise, axis)


def open_people(
    folder: Path, certificate: Certificate, open_original: Callable[[Sequence[str]], Iterator[pl.DataFrame]]
) -> PeopleFigures | None:
    """Count the people of the release in a folder again; None if its rows are not those of the original table."""
    published = scan_published(folder / (published_name(certificate) or ""), certificate)
    original = partial(_read_original, open_original, certificate)
    return people_again(published, certificate, promised_model(certificate), original)


def _formulas(path: Path, certificate: Certificate) -> list[str]:
    """Return the columns with cells that a spreadsheet would run, from the file as it is."""
    is_csv = path.suffix == ".csv"
    found = set(formula_columns(pl.scan_csv(path, infer_schema=False, glob=False))) if is_csv else set()
    if is_exact(certificate) and any(map(is_formula, certificate.prior_counts)):
        found.add(certificate.table.sensitive)
    return sorted(found)
