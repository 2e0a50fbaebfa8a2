"""Make the report on a release: one HTML file that needs no script and no network."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from betalike.errors import FileError, MissingDependencyError, ParameterError, short_traceback, suggestion
from betalike.io.foreign_tables import SourceOptions, takes_tables
from betalike.io.input_files import check_not_replaced, input_files
from betalike.io.tables import Frame
from betalike.measures.risk import THRESHOLDS
from betalike.queries.release import Release, folder_of
from betalike.release.certificate import protected_columns, read_certificate
from betalike.release.needed_original import columns_of_releases
from betalike.report.evidence import Evidence, Original, gather
from betalike.runtime.display import Row, Shown
from betalike.runtime.notebook import shows_progress
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import randomness

if TYPE_CHECKING:
    from betalike.attacks.result import AttackReport

AUDIENCES = ("officer", "analyst", "public")
QUICK = "Attacks were left out, because a quick report was asked for."
SEVERAL = "Attacks need a release with one sensitive column."
NO_ORIGINAL = "The original table was not given, so this report does not compare the release with it."
N_QUERIES = 2000
CONTENTS = {
    "promise": "The promise",
    "columns": "Columns",
    "risks": "Risks",
    "questions": "Singling out, linkability, inference",
    "classes": "Sizes of classes",
    "attacks": "Attacks",
    "checklist": "Checklist",
    "loss": "What the columns lost",
    "distributions": "Distributions",
    "relations": "Relations between columns",
    "counts": "How exact counts are",
    "use": "How to use the release",
    "withheld": "Figures that are left out",
    "limits": "What the promise does not cover",
    "verify": "How to verify",
}


@dataclass(frozen=True, repr=False)
class ReportPage(Shown):
    """A report: its HTML, for whom it is, and the file it was written to."""

    html: str
    audience: str
    path: Path | None = None

    def _summary(self) -> Row:
        return {
            "audience": self.audience,
            "path": "none: in memory" if self.path is None else self.path,
            "bytes": len(self.html.encode()),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `report --json`."""
        path = None if self.path is None else str(self.path)
        return {"report": path, "audience": self.audience, "bytes": len(self.html.encode())}


@short_traceback
@shows_progress
@takes_tables("original", needs=columns_of_releases)
def make_report(
    release: str | Path | Release,
    out: str | Path | None = None,
    *,
    original: Frame | None = None,
    audience: str = "officer",
    quick: bool = False,
    population: int | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    force: bool = False,
    seed: int | None = None,
    progress: Progress = SILENT,
    **source: Unpack[SourceOptions],
) -> ReportPage:
    """Verify a release and report on it in one HTML page, for one audience; totals only, and no script.

    Args:
        release: a folder, or what `publish` returned.
        out: the file to write; without it the page is only returned.
        original: the original table, for what can be said only with it: risks before, attacks, utility.
        audience: "officer" (risks, attacks, a checklist), "analyst" or "public" (loss, utility, how to use it).
        quick: leave out attacks and random queries, which take longest.
        population: how many people the table is a sample of, for the journalist risk.
        thresholds: the risks above which people are counted.
        hierarchies: as for `attack`: the sensitive column's one says which values are close to each other.
        missing: texts that stand for a missing value in the original.
        delimiter: of the original, where it is not recognized.
        force: replace an existing file.
        seed: repeatable attacks and queries, for experiments only.
        progress: a listener for the progress of the work; by default a bar in notebooks once it takes long.
    """
    if audience not in AUDIENCES:
        raise ParameterError(
            f"the audience is '{audience}'; it must be one of: {', '.join(AUDIENCES)}.{suggestion(audience, AUDIENCES)}"
        )
    load_templates()  # which may not be installed
    path = None if out is None else Path(out)
    if path is not None:
        check_report_writable(path, audience, force)
        check_not_replaced(path, input_files(original, hierarchies))
    opened = _open(release)
    table = None if original is None else Original(original, missing, delimiter)
    progress.start("verifying the release")
    evidence = gather(opened, table, population, thresholds)
    parts: dict[str, Any] = {}
    if audience == "officer":
        from betalike.report.officer_part import officer_part

        attacks, reason = None, QUICK
        if opened.facts.table.sensitive_columns:
            reason = SEVERAL
        elif table is not None and not quick:
            attacks = _attack(opened, table, hierarchies, seed, progress)
        parts = officer_part(evidence, attacks, reason)
    else:
        from betalike.report.analyst_part import analyst_part

        utilities = []
        if table is not None:
            reading: dict[str, Any] = {"missing": missing, "delimiter": delimiter, "seed": seed}
            queries = 0 if quick else N_QUERIES
            names = progress.track(protected_columns(opened.facts), "comparing with the original")
            utilities = [opened.of_column(name).utility(original, queries=queries, **reading) for name in names]
        parts = {**analyst_part(evidence, utilities), "no_utility": NO_ORIGINAL}
    progress.start("drawing")
    page = ReportPage(_render(evidence, audience, parts), audience, path)
    if path is not None:
        write_page(path, page.html, force)
    return page


def _open(release: str | Path | Release) -> Release:
    if isinstance(release, Release):
        return release
    folder = folder_of(release)
    return Release(read_certificate(folder), folder=folder)


def _attack(
    release: Release, original: Original, hierarchies: Any, seed: int | None, progress: Progress
) -> AttackReport:
    """Run all attacks."""
    from betalike.attacks.catalogue import ATTACKS, run_attacks
    from betalike.attacks.open_target import open_target

    target = open_target(
        release,
        original=original.table,
        hierarchies=hierarchies,
        missing=original.missing,
        delimiter=original.delimiter,
    )
    return run_attacks(target, list(ATTACKS), randomness(seed), None, progress)


def load_templates() -> Any:
    """Return the templates of pages; raise an error if what they need is not installed."""
    try:
        import jinja2
        import markupsafe
    except ImportError as error:
        raise MissingDependencyError(
            "reports need Jinja2, Altair and vl-convert, which are not installed. Install them: "
            "pip install 'betalike[report]'."
        ) from error
    from betalike.measures import phrases

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("betalike.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {name: getattr(phrases, name) for name in ("at_most", "number", "people", "percent")}
    templates.filters["breakable"] = lambda name: markupsafe.escape(name).replace("_", markupsafe.Markup("_<wbr>"))
    return templates


def _render(evidence: Evidence, audience: str, parts: Mapping[str, Any]) -> str:
    from betalike.report.common_part import common_part

    templates = load_templates()
    style = templates.loader.get_source(templates, "style.css")[0]
    shown = {**common_part(evidence, audience), **parts}
    html = str(templates.get_template("report.html").render(**shown, style=style, contents=[]))
    contents = [{"name": name, "title": title} for name, title in CONTENTS.items() if f'<section id="{name}"' in html]
    return str(templates.get_template("report.html").render(**shown, style=style, contents=contents)).lstrip()


def check_writable(path: Path, force: bool) -> None:
    """Refuse a file that exists, unless it may be replaced, and one whose folder does not exist."""
    if path.is_dir():
        raise FileError(f"'{path}' is a folder. Name a file for the report, such as report.html.")
    if path.exists() and not force:
        raise FileError(f"'{path}' exists already. Name another file, or replace it with --force.")
    if not path.parent.is_dir():
        raise FileError(f"there is no folder '{path.parent}' for the report.")


def check_report_writable(path: Path, audience: str, force: bool) -> None:
    """Refuse also a file that is a report for somebody else: the public must not get the officer's under its name."""
    check_writable(path, force)
    if not path.exists():
        return
    from betalike.report.common_part import AUDIENCES as WORDS

    with contextlib.suppress(OSError):
        written = path.read_bytes()
        for other, words in WORDS.items():
            if other != audience and f'<p class="for">{words}</p>'.encode() in written:
                raise FileError(
                    f"'{path}' is the report for the audience: {other}. Name another file for the audience: {audience}."
                )


def write_page(path: Path, html: str, force: bool) -> None:
    """Write a page under another name and move it into place, so that it is complete or absent."""
    check_writable(path, force)
    try:
        number, staged = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(number, "w", encoding="utf-8", newline="\n") as file:
                file.write(html)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(staged, 0o644)
            os.replace(staged, path)
        except BaseException:
            os.unlink(staged)
            raise
    except OSError as error:
        raise FileError(f"'{path}' cannot be written: {error.strerror}.") from error
