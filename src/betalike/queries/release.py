"""A release, as `publish` returns it and as `open_release` opens it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import polars as pl

import betalike
from betalike.engines.choice import EngineChoice
from betalike.engines.engine import Format
from betalike.engines.streams import scan_release
from betalike.errors import FileError, InputError, ParameterError, short_traceback
from betalike.io.column_types import TypeGuess, warn_about
from betalike.io.foreign_tables import SourceOptions, takes_tables
from betalike.io.frames import like, to_polars
from betalike.io.tables import is_path, text_in_batches
from betalike.measures.risk import THRESHOLDS, PeopleRisk
from betalike.queries.answer import Answer
from betalike.queries.columns import QueryColumn
from betalike.queries.draws import draw_frames
from betalike.queries.estimator import Estimator, open_folder, open_frame, read_matrix
from betalike.queries.one_sensitive import certificate_of_column, place_of, transition_of_column
from betalike.queries.original import count_with_people
from betalike.queries.risk import RiskReport, in_people, report_risk
from betalike.queries.utility import UtilityReport, check_draws, report_utility
from betalike.release.certificate import (
    FILE_NAME,
    TABLES,
    AnyCertificate,
    Certificate,
    choose_certificate,
    published_name,
    read_certificate,
    read_if_certified,
    written_form,
)
from betalike.release.certify import summary_of
from betalike.release.needed_original import columns_of_releases
from betalike.release.verify import Verified
from betalike.release.verify_folder import open_people
from betalike.runtime.display import Row, Shown
from betalike.runtime.randomness import randomness
from betalike.table.hierarchy import Hierarchy

OpenOriginal = Callable[[Sequence[str]], Iterator[pl.DataFrame]]  # batches of some columns, as text


class Release(Shown):
    """A release: what `publish` returns, and what `open_release` opens from a folder.

    `facts` is the certificate as it was built or read. `verified`, `worst_value`, `engine` and `types` (what each
    quasi-identifier was taken for, and why) are known to the publisher alone, and None for a release that was opened.
    """

    def __init__(
        self,
        facts: Certificate,
        *,
        folder: Path | None = None,
        frame: Any = None,
        make_frame: Callable[[], Any] | None = None,
        transition: dict[str, dict[str, float]] | None = None,
        verified: Verified | None = None,
        worst_value: str | None = None,
        engine: EngineChoice | None = None,
        types: Mapping[str, TypeGuess] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        warnings: Sequence[str] = (),
    ) -> None:
        self.facts, self.folder = facts, folder
        self.verified, self.worst_value, self.engine, self.types = verified, worst_value, engine, types
        self._frame, self._transition, self._hierarchies = frame, transition, hierarchies or {}
        self._make_frame, self._warnings = make_frame, warnings

    def _summary(self) -> Row:
        shown = ("rows", "classes", "promise", "scheme", "quasi_identifiers", "sensitive", "kept", "average_loss")
        facts = summary_of(self.facts, "")
        return {
            **{name.replace("_", " "): facts[name] for name in shown if facts[name] != []},
            "folder": "none: in memory" if self.folder is None else self.folder,
        }

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The content of certificate.json."""
        return self.facts.to_dict()

    @property
    def notes(self) -> list[str]:
        """Warnings for the publisher: types that may not be meant, hierarchies that are not used, keys of persons."""
        return [*warn_about(self.types or {}), *self._warnings]

    @cached_property
    def frame(self) -> Any:
        """The published rows, of the kind of frame that came in; of an opened release, read when they are needed."""
        if self._frame is not None:
            return self._frame
        if self._make_frame is not None:
            return self._make_frame()
        if self.folder is None:
            return None
        path = self.folder / (published_name(self.facts) or "published.csv")
        return read_published(path, written_form(self.facts, path))

    @cached_property
    def transition(self) -> dict[str, dict[str, float]] | None:
        """The chance of each published label, given the original value; None if the scheme is not "perturb"."""
        if self._transition is not None or self.folder is None:
            return self._transition
        return read_matrix(self.folder, self.facts)

    @property
    def methods(self) -> list[str]:
        """The methods that this release can be asked with; the first is the default."""
        return self.estimator.methods

    @property
    def columns(self) -> dict[str, QueryColumn]:
        """The columns that predicates may name."""
        return self.estimator.columns

    @short_traceback
    def count(self, predicate: str, *, method: str | None = None, confidence: float = 0.95) -> Answer:
        """Estimate, from what is published alone, how many rows of the table satisfy a predicate."""
        return self.estimator.count(predicate, method=method, confidence=confidence)

    @short_traceback
    def count_all(
        self, predicates: Sequence[str], *, method: str | None = None, confidence: float = 0.95
    ) -> list[Answer]:
        """Estimate many counts at once, which is much faster than one by one."""
        return self.estimator.count_all(predicates, method=method, confidence=confidence)

    @short_traceback
    def draws(self, n: int = 5, *, seed: int | None = None) -> list[Any]:
        """Return completed tables, in which each label is replaced by a value drawn within it, to analyse as usual.

        They are of the kind of `frame`. Combine the estimates of all of them with `betalike.combine`.
        """
        check_draws(n)
        frame = to_polars(self.frame)
        tables = draw_frames(frame, self.estimator, n, randomness(seed))
        return [table if self._frame is None else like(table, self.frame) for table in tables]

    @short_traceback
    def of_column(self, sensitive: str) -> Release:
        """Return this release with one of its sensitive columns alone, in memory, to count, draw and compare.

        For a release that protects several columns. Its certificate is for analysis; the folder's proves the promise.
        """
        facts = certificate_of_column(self.facts, sensitive)
        if facts is self.facts:
            return self
        place, transition = place_of(self.facts, sensitive), self.transition
        if transition is not None:
            transition = transition_of_column(transition, self.facts.prior_counts, place)
        return Release(facts, frame=self.frame, transition=transition, hierarchies=self._hierarchies)

    @short_traceback
    @takes_tables("original", needs=columns_of_releases)
    def risk(
        self,
        original: Any = None,
        *,
        population: int | None = None,
        thresholds: Sequence[float] = THRESHOLDS,
        missing: Sequence[str] = (),
        delimiter: str | None = None,
        **source: Unpack[SourceOptions],
    ) -> RiskReport:
        """Measure what the release risks, and with the original table what that risked before.

        Risks are counted in people if a column of the original names them; `in_rows` has those in rows.
        """
        counted = None if original is None else count_with_people(self.facts, original, missing, delimiter)
        rows = report_risk(self.estimator, counted, population=population, thresholds=thresholds)
        if self.facts.people is None:
            return rows
        open_original = None if original is None else lambda names: text_in_batches(original, names, missing, delimiter)
        return in_people(rows, self.facts, self._people_risk(open_original), counted, population, thresholds)

    def _people_risk(self, open_original: OpenOriginal | None) -> PeopleRisk | None:
        """Return the risks in people as they were counted; None if that needs the original, which is not given."""
        if self.verified is not None:
            return None if self.verified.people is None else self.verified.people.risk
        if open_original is None or self.folder is None or self.facts.people is None:
            return None
        found = open_people(self.folder, self.facts, open_original)
        if found is None:
            raise InputError("the rows of this table are not those of the release's original table.")
        return found.risk

    @short_traceback
    @takes_tables("original", needs=columns_of_releases)
    def utility(
        self,
        original: Any,
        *,
        draws: int = 3,
        queries: int = 1000,
        missing: Sequence[str] = (),
        delimiter: str | None = None,
        seed: int | None = None,
        **source: Unpack[SourceOptions],
    ) -> UtilityReport:
        """Compare the release with its original table: distributions, means, correlations, counts."""
        reading: dict[str, Any] = {"missing": missing, "delimiter": delimiter}
        return report_utility(self.estimator, original, randomness(seed), draws=draws, queries=queries, **reading)

    def report(self, out: str | Path | None = None, **options: Any) -> Any:
        """Report on this release in one HTML page; `options` are those of `betalike.make_report`."""
        return betalike.make_report(self, out, **options)

    @cached_property
    def estimator(self) -> Estimator:
        """What answers the counts; it is made when it is first needed."""
        return self.open_with(self._hierarchies)

    def open_with(self, hierarchies: Mapping[str, Hierarchy]) -> Estimator:
        """Return what answers counts, with hierarchies of columns for which the certificate has none."""
        if self.folder is not None:
            return open_folder(self.folder, self.facts, hierarchies)
        return open_frame(to_polars(self.frame), self.facts, hierarchies, self.transition)


def open_release(folder: Path, choose_trees: Callable[[Certificate], Mapping[str, Hierarchy]]) -> Release:
    """Open the release in a folder; one that cannot be read is refused at once."""
    facts = read_certificate(folder)
    release = Release(facts, folder=folder, hierarchies=choose_trees(facts))
    if not facts.table.sensitive_columns:  # with several of them it answers no counts, but has rows and a certificate
        _ = release.estimator
    return release


def read_release_text(table: str | Path, certificate: AnyCertificate | None) -> pl.DataFrame | None:
    """Read a release whose certificate says how it was written; None for a table that is read like any other.

    The certificate is that in the folder, or the given one.
    """
    path = Path(table)
    facts = read_if_certified(path) if (path / FILE_NAME).is_file() else None
    if facts is not None:
        path = path / (published_name(facts) or "")
    if facts is None and certificate is not None:
        facts = choose_certificate(certificate)
    if facts is None or not path.is_file() or path.suffix.removeprefix(".") not in TABLES:
        return None
    form = written_form(facts, path)
    return read_published(path, form) if form.is_held else None


def read_published(path: Path, form: Format) -> pl.DataFrame:
    """Read the table of a release; what CSV cannot say is text."""
    try:
        return scan_release(path, form).collect()
    except (pl.exceptions.PolarsError, OSError) as error:  # its message may show cells of the table
        raise FileError(f"'{path}' cannot be read as the table of a release.") from error


def folder_of(release: Any) -> Path:
    """Return the folder of a release that is given by its path or as a Release."""
    if is_path(release):
        return Path(release)
    if not isinstance(release, Release):
        raise ParameterError(
            f"a release is given as {type(release).__name__}; name its folder, or pass what publish() returned."
        )
    if release.folder is None:
        raise ParameterError(
            "this release has no folder, for it was published without `out`: it stays in memory, where it was verified "
            "when it was made. Publish it with out=DIR, and pass the release or that folder."
        )
    return release.folder
