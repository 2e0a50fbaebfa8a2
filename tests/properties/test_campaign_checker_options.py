"""Planted faults in what options add to a release: persons, risks, formats, ranges, orders of dates, signatures."""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyreadstat
import pytest

from campaign import publishing
from campaign.checker import check_release
from campaign.extras import draw_job
from campaign.jobs import Column, Job, truth_of
from campaign.outcome import Outcome
from campaign.people import judge_people, settled
from campaign.promises import Promise

AGES = [20, 21, 22, 23, 30, 31, 32, 33, 40, 41, 42, 43]
DAYS = [datetime.date(2024, 1 + i, 2 + i) for i in range(8)]
TREE = [["flu", "lungs", "*"], ["gout", "joints", "*"], ["hiv", "blood", "*"]]
PATIENT = Column("patient", "text", [f"canary-{number % 18}" for number in range(24)])
Rows = list[list[str]]


def job_of(scheme: str = "seam", tree: list[list[str]] | None = None, **changes: Any) -> Job:
    """A small job whose release has several classes, and in which every row has a number."""
    secrets = changes.pop("secrets", [Column("secret", "text", ["flu", "gout", "hiv"] * 8, tree=tree)])
    columns = changes.pop("columns", [Column("age", "integer", AGES * 2, False)])
    kept, promise = [Column("row", "integer", list(range(24)))], changes.pop("promise", Promise("enhanced", 1.0))
    return Job(5, columns, secrets, kept, [], scheme, promise, truth_of(secrets, False), **changes)


def twice(share: float) -> float:
    """A cap by a function."""
    return min(1.0, 2 * share)


JOBS: dict[str, Callable[[], Job]] = {
    "people": lambda: job_of(person=PATIENT, promise=Promise("basic", 1.5, 2)),
    "capped": lambda: job_of(person=PATIENT, promise=Promise("capped", None, 1, {}, twice)),
    "grouped": lambda: job_of(tree=TREE, promise=Promise("enhanced", 1.0, 1, {"groups": ["lungs"]})),
    "whole": lambda: job_of("whole", options={"strict": True, "effort": 0}),
    "burel": lambda: job_of("burel"),
    "xlsx": lambda: job_of(form="xlsx"),
    "sav": lambda: job_of(form="sav"),
    "dta": lambda: job_of(form="dta"),
    "bins": lambda: job_of(secrets=[Column("pay", "integer", [*range(12)] * 2)], bins=4),
    "dates": lambda: job_of(columns=[Column("born", "date", DAYS * 3, False)], source="csv", dates="mdy"),
    "formulas": lambda: job_of(secrets=[Column("secret", "text", ["=1+1", "gout", "-5"] * 8)]),
    "signed": lambda: job_of(is_signed=True),
    "perturb": lambda: job_of("perturb"),
    "sets": lambda: job_of("perturb", options={"mechanism": "sets"}),
}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Job, Path]]:
    """A release of each job that is right, made when it is first needed."""
    made: dict[str, tuple[Job, Path]] = {}

    def find(name: str) -> tuple[Job, Path]:
        if name not in made:
            job = JOBS[name]()
            made[name] = job, publishing.publish(job, tmp_path_factory.mktemp(name))[0]
        return made[name]

    return find


@pytest.fixture
def copied(released: Callable[[str], tuple[Job, Path]], tmp_path: Path) -> Callable[[str], tuple[Job, Path]]:
    """A copy of a release, to spoil."""

    def copy(name: str) -> tuple[Job, Path]:
        job, folder = released(name)
        for path in folder.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        return job, tmp_path

    return copy


def kinds_of(job: Job, folder: Path) -> set[str]:
    outcome = Outcome(0, "release", "")
    check_release(job, folder, outcome)
    return {kind for kind, _ in outcome.failures}


def certificate_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    return content


def certify(folder: Path, certificate: dict[str, Any]) -> None:
    """Write a certificate, with the digests as they are."""
    for name, facts in certificate["files"].items():
        facts["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "certificate.json").write_text(json.dumps(certificate), encoding="utf-8")


def rewrite(folder: Path, change: Callable[[Rows], None], name: str = "published.csv") -> None:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    change(rows)
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    certify(folder, certificate_of(folder))


@pytest.mark.some(4)
@pytest.mark.parametrize("name", JOBS)
def test_a_right_release_has_no_fault(released, name):
    assert kinds_of(*released(name)) == set()


# --- figures ---

FIGURES = {
    "people": [
        *("people.people", "people.smallest_class", "people.worst_gain", "people.holds", "people.prior_counts.flu"),
        *("people.column", "risk.surest_guess", "risk.near_promise", "risk.prosecutor_maximum"),
        *("risk.prosecutor_average", "risk.above.0*05", "risk.above.0*09", "risk.above.0*2", "risk.unique"),
        *("people.risk.surest_guess", "people.risk.prosecutor_maximum", "people.risk.prosecutor_average"),
        *("people.risk.above.0*05", "people.risk.above.0*2", "people.risk.unique"),
        *("tool.name", "release.formed_classes"),
    ],
    "capped": ["promise.caps.8", "people.caps.6"],
    "grouped": ["promise.hierarchy.0.1"],
    "whole": ["scheme.details.strict"],
    "burel": ["scheme.details.buckets", "scheme.details.leaves"],
    "bins": ["table.binned.0.name", "table.binned.0.kind"],
    "dates": ["table.columns.0.dates"],
    "perturb": [f"scheme.details.{name}" for name in ("least_retention", "greatest_retention", "kept_share")],
    "sets": ["scheme.details.kept_share", "scheme.details.named_share", "risk.surest_guess"],
}
CASES = [(name, path) for name, paths in FIGURES.items() for path in paths]


def spoiled(figure: Any) -> Any:
    """Another figure of the same type; counts are far off, because some of them can only be bounded."""
    if isinstance(figure, bool):
        return not figure
    if isinstance(figure, str):
        return {"mdy": "dmy"}.get(figure, "1/97" if "/" in figure or figure == "1" else f"{figure}x")
    return figure + 1000 if isinstance(figure, int) else -1.0 if figure == 0 else figure + 1e-6


@pytest.mark.parametrize(("name", "path"), CASES)
def test_a_wrong_figure_is_caught(copied, name, path):
    job, folder = copied(name)
    certificate = certificate_of(folder)
    *steps, last = [step.replace("*", ".") for step in path.split(".")]
    place: Any = certificate
    for step in steps:
        place = place[int(step)] if isinstance(place, list) else place[step]
    key = int(last) if isinstance(place, list) else last
    place[key] = spoiled(place[key])
    certify(folder, certificate)
    assert "figure" in kinds_of(job, folder)


def add_a_field(certificate):
    certificate["note"] = "all is well"


def take_less_than_no_time(certificate):
    certificate["seconds"]["plan"] = -0.5


def add_a_risk(certificate):
    certificate["risk"]["journalist_maximum"] = 0.1


def leave_out_people(certificate):
    certificate["people"] = None


def leave_out_a_warning(certificate):
    certificate["warnings"] = [text for text in certificate["warnings"] if "people" not in text]


def add_a_warning(certificate):
    certificate["warnings"].append("columns with cells that a spreadsheet would run as formulas: secret")


def name_another_kept_column(certificate):
    certificate["warnings"] = [text.replace(": row", ": age") for text in certificate["warnings"]]


def leave_out_a_threshold(certificate):
    del certificate["risk"]["above"]["0.09"]


@pytest.mark.parametrize(
    "fault",
    [
        *(add_a_field, add_a_risk, leave_out_people, leave_out_a_warning, take_less_than_no_time),
        *(add_a_warning, name_another_kept_column, leave_out_a_threshold),
    ],
)
def test_a_false_statement_is_caught(copied, fault):
    job, folder = copied("people")
    certificate = certificate_of(folder)
    fault(certificate)
    certify(folder, certificate)
    assert "figure" in kinds_of(job, folder)


def test_a_missing_warning_of_formulas_is_caught(copied):
    job, folder = copied("formulas")
    certificate = certificate_of(folder)
    assert "spreadsheet" in certificate["warnings"].pop()
    certify(folder, certificate)
    assert "figure" in kinds_of(job, folder)


# --- persons ---


def test_a_class_of_one_person_is_caught(released):
    """The same release of a table whose rows are otherwise shared out: those of each age belong to one person."""
    job, folder = released("people")
    assert certificate_of(folder)["release"]["classes"] > 2
    cells = [f"canary-{age // 10}" for age in AGES * 2]
    assert kinds_of(replace(job, person=Column("patient", "text", cells)), folder) >= {"promise", "figure"}


def test_a_value_that_most_people_of_a_class_have_is_caught(released):
    """Two persons have all rows of a class, and all rows with one of its values elsewhere; in rows nothing changes."""
    job, folder = released("people")
    with (folder / "published.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    inside = {int(row["row"]) for row in rows if row["age"] == rows[0]["age"]}
    of_two = [i in inside or secret == rows[0]["secret"] for i, secret in enumerate(job.secrets[0].cells)]
    cells = [f"canary-{i % 2 if is_of_two else i + 2}" for i, is_of_two in enumerate(of_two)]
    assert "promise" in kinds_of(replace(job, person=Column("patient", "text", cells)), folder)


def test_a_published_person_is_caught(copied):
    job, folder = copied("people")
    certificate = certificate_of(folder)
    certificate["warnings"].append("ask canary-3")
    certify(folder, certificate)
    assert "file" in kinds_of(job, folder)
    job, folder = copied("people")
    rewrite(folder, lambda rows: [row.append("patient" if not i else "7") for i, row in enumerate(rows)].clear())
    assert "file" in kinds_of(job, folder)


PEOPLE = [40, 20]  # of 60: have the first value, the second
BORDERS = [
    # promise, people of a class with each value, how many it has, and one that it just does not allow
    (Promise("basic", 0.5), [10, 5], 10, [10, 6]),
    (Promise("basic", 0.2, 5), [4, 2], 5, [5, 2]),
    (Promise("basic", 1.0, 1, {"negative_beta": 0.5}), [4, 2], 12, [3, 2]),
    (Promise("delta-disclosure", None, 1, {"delta": 0.4}), [6, 4], 9, [6, 5]),
    (Promise("distinct-l-diversity", None, 1, {"l": 2}), [1, 1], 2, [2, 0]),
    (Promise("k-anonymity", None, 4), [4, 4], 4, None),
]


@pytest.mark.parametrize(("promise", "allowed", "size", "broken"), BORDERS)
def test_one_person_too_many_breaks_a_promise(promise, allowed, size, broken):
    sizes = np.array([size])
    assert judge_people(np.array([allowed]), sizes, PEOPLE, 60, promise)[1] == 0
    found, sizes = (allowed, sizes - 1) if broken is None else (broken, sizes)
    assert judge_people(np.array([found]), sizes, PEOPLE, 60, promise)[1] > 0


def test_rows_lead_to_their_class_where_only_one_is_possible():
    a, b = ("a", ()), ("b", ())
    assert settled([a, b], [[0], [0, 1]], {(0, a): 1, (1, b): 1, (0, b): 0}) == [0, 1]
    assert settled([a, a], [[0], [0, 1]], {(0, a): 1, (1, a): 1}) == [0, 1]
    assert settled([a, a], [[0, 1], [0, 1]], {(0, a): 1, (1, a): 1}) == [None, None]


# --- formats, ranges, spreadsheets, signatures ---


def spoil_a_sheet(path: Path, cell: Any, data_type: str | None = None) -> None:
    book = openpyxl.load_workbook(path)
    assert book.active is not None
    changed = book.active["B2"]
    changed.value = cell
    changed.data_type = data_type or changed.data_type
    book.save(path)


def test_a_changed_cell_and_a_formula_of_a_workbook_are_caught(copied):
    job, folder = copied("xlsx")
    spoil_a_sheet(folder / "published.xlsx", "typhus")
    certify(folder, certificate_of(folder))
    assert "rows" in kinds_of(job, folder)
    spoil_a_sheet(folder / "published.xlsx", "=1+1", "f")
    certify(folder, certificate_of(folder))
    assert "label" in kinds_of(job, folder)


@pytest.mark.parametrize("form", ["sav", "dta"])
def test_a_changed_cell_of_a_statistics_file_is_caught(copied, form):
    job, folder = copied(form)
    path = folder / f"published.{form}"
    frame, _ = getattr(pyreadstat, f"read_{form}")(path, output_format="polars")
    frame[0, "secret"] = "typhus"
    getattr(pyreadstat, f"write_{form}")(frame, path)
    certify(folder, certificate_of(folder))
    assert "rows" in kinds_of(job, folder)


def test_ranges_that_overlap_or_do_not_end_at_values_are_caught(copied):
    for old, new in (("[0, 2]", "[0, 3]"), ("[0, 2]", "[-1, 2]"), ("[0, 2]", "[0, 1]")):
        job, folder = copied("bins")
        certificate = certificate_of(folder)
        for field in ("prior", "prior_counts"):
            certificate[field] = {new if label == old else label: n for label, n in certificate[field].items()}
        certify(folder, certificate)
        assert "label" in kinds_of(job, folder)


def test_more_ranges_than_asked_for_and_too_wide_ones_are_caught(released):
    job, folder = released("bins")
    assert "label" in kinds_of(replace(job, bins=3), folder)
    assert "label" in kinds_of(replace(job, bins=24), folder)


def test_a_signature_of_another_certificate_is_caught(copied):
    job, folder = copied("signed")
    certify(folder, {**certificate_of(folder), "seconds": dict.fromkeys(certificate_of(folder)["seconds"], 1.0)})
    assert kinds_of(job, folder) == {"file"}
    (folder / "certificate.sig").unlink()
    assert "file" in kinds_of(job, folder)


def test_the_campaign_draws_every_source_format_and_option():
    jobs = [draw_job(seed) for seed in range(1500)]
    assert {job.source for job in jobs} == {
        *("csv", "gzip", "zstd", "stdin", "parquet", "arrow", "sqlite", "duckdb", "xlsx", "sav", "dta"),
        *("polars", "lazy", "pandas", "pyarrow"),
    }
    assert {job.form for job in jobs} == {"csv", "parquet", "xlsx", "sav", "dta"}
    assert {job.dates for job in jobs} == {None, "dmy", "mdy"}
    for option in ("person", "bins", "missing_code"):
        assert any(getattr(job, option) is not None for job in jobs), option
    for option in ("is_signed", "with_labels", "has_alike_texts"):
        assert any(getattr(job, option) for job in jobs), option
    persons = [job for job in jobs if job.person is not None]
    assert any(len({*job.person.cells}) < job.n_rows and job.kept == [] for job in persons)
