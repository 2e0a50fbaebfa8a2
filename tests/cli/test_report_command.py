"""The command `report`: what it writes and refuses, and pages in a real browser that show the certificate's figures."""

from __future__ import annotations

import itertools
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workbench import CANARY, Desk, assert_refused, change, people, run, to_csv

import betalike
from browser import PHONE, open_browser, visit
from report_pages import CUT, FAINT, FIGURES, check_page

pytestmark = pytest.mark.xdist_group("reports")  # one process makes what these tests share

AUDIENCES = ("officer", "analyst", "public")


def survey(n_rows: int = 400) -> list[list[str]]:
    """The usual people, some of whom did not answer; a value that two people have alone."""
    rows = people(n_rows)
    for number, row in enumerate(rows):
        row[1] = "" if number % 11 == 0 else row[1]
        row[3] = "" if number % 17 == 0 else row[3]
        row[4] = "rabies" if number in (50, 51) else row[4]
    return rows


RELEASES: dict[str, dict[str, Any]] = {
    "generalized": {},
    "missing": {"rows": survey()},
    "several": {"sensitive": "disease,city", "qi": "age,gender", "beta": "4"},
    "perturbed": {"scheme": "perturb"},
    "baseline": {"scheme": "baseline"},
    "long names": {"rows": [[*row[:3], row[3] + " on the river" * 3, row[4] + "-" + "x" * 40] for row in people()]},
    "closeness": {"scheme": "tmondrian", "beta": None, "t": "0.3"},
}
AXE = Path(__file__).parents[2] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each kind of release, with the table, the release and a report for each audience."""
    folders = {}
    for name, options in RELEASES.items():
        desk = Desk(tmp_path_factory.mktemp(name))
        given = dict(options)
        table = desk.table(given.pop("rows", None))
        assert desk.publish(table=table, **given).status == 0
        for audience in AUDIENCES:
            words = ["--original", table] if audience != "public" else []
            path = desk.folder / f"{audience}.html"
            outcome = run("report", desk.out, "--audience", audience, "-o", path, "--quick", *words)
            assert outcome.status == 0, outcome.text
        folders[name] = desk.folder
    return folders


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with open_browser() as browser:
        yield browser


EVERY = list(itertools.product(RELEASES, AUDIENCES))


@pytest.mark.some(5)
@pytest.mark.parametrize(("name", "audience"), EVERY)
def test_a_page_opens_by_itself_fits_every_width_and_shows_the_certificate(
    reports: dict[str, Path], chromium: Any, name: str, audience: str
) -> None:
    certificate = json.loads((reports[name] / "out" / "certificate.json").read_bytes())
    check_page(chromium, reports[name] / f"{audience}.html", certificate)


def test_faint_texts_and_cut_tables_would_be_seen(reports: dict[str, Path], chromium: Any) -> None:
    with visit(chromium, (reports["generalized"] / "analyst.html").as_uri(), PHONE, bypass_csp=True) as visited:
        visited.page.add_style_tag(content=":root { --after: #f0f0f0; } .note { color: #bbb; } table { width: 600px; }")
        faint = visited.page.evaluate(FAINT)
        assert {tag for tag, *_ in faint} == {"path", "P"}
        assert "Width of the labels" in " ".join(visited.page.evaluate(CUT))


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; `make test` installs it where npm is")
@pytest.mark.parametrize("audience", ["officer", "analyst"])
def test_axe_finds_nothing_that_keeps_people_out(reports: dict[str, Path], chromium: Any, audience: str) -> None:
    address = (reports["several"] / f"{audience}.html").as_uri()
    with visit(chromium, address, PHONE, bypass_csp=True) as visited:
        visited.page.add_script_tag(path=str(AXE))
        for scheme in ("light", "dark"):
            visited.page.emulate_media(color_scheme=scheme)
            asked = "levels => axe.run(document, {runOnly: {type: 'tag', values: levels}})"
            found = visited.page.evaluate(asked, LEVELS)["violations"]
            assert [(wrong["id"], [node["target"] for node in wrong["nodes"]]) for wrong in found] == []


def test_the_risks_are_those_of_an_audit(reports: dict[str, Path], chromium: Any) -> None:
    folder = reports["generalized"]
    words = ["--qi", "age,gender,city", "--sensitive", "disease", "--json"]
    audited = run("audit", folder / "out", "--original", folder / "people.csv", *words).document["risk"]
    with visit(chromium, (folder / "officer.html").as_uri()) as visited:
        cells = visited.page.evaluate(FIGURES)
    for name in ("prosecutor_maximum", "prosecutor_average", "marketer", "unique"):
        assert float(cells[f"risk.{name}"]) == audited[name]
    for threshold, share in audited["above"].items():
        assert float(cells[f"risk.above.{threshold}"]) == share


def test_thresholds_can_be_given(reports: dict[str, Path]) -> None:
    folder = reports["generalized"]
    path, given = folder / "thresholds.html", ["--thresholds", "0.09,0.123456789"]
    assert run("report", folder / "out", "-o", path, *given).status == 0
    html = path.read_text(encoding="utf-8")
    assert re.findall(r"Above ([\d.]+) <small>[a-z ]+ fewer than (\d+) ", html) == [
        ("0.09", "12"),
        ("0.123456789", "9"),
    ]
    words = ["--qi", "age,gender,city", "--sensitive", "disease", "--json"]
    above = run("audit", folder / "out", *words, *given).document["risk"]["above"]
    shown = re.findall(r'data-figure="risk.above.([\d.]+)" value="([^"]+)"', html)
    assert above == {threshold: float(share) for threshold, share in shown}
    assert_refused(run("audit", folder / "out", *words[:-1], "--thresholds", "high"), "--thresholds has 'high'")
    assert_refused(run("report", folder / "out", "-o", path, "--force", "--thresholds", "5"), "a threshold is 5.0")


@pytest.mark.parametrize(("name", "audience"), EVERY)
def test_a_page_has_no_row_no_path_and_no_small_count(reports: dict[str, Path], name: str, audience: str) -> None:
    html = (reports[name] / f"{audience}.html").read_text(encoding="utf-8")
    assert CANARY not in html  # names of people, which are not published
    assert str(reports[name]) not in html
    assert "people.csv" not in html
    assert "://" not in re.sub(r"http://www\.w3\.org/\S+", "", html)
    assert len(html) < 400_000
    if name == "missing":
        assert "rabies" not in html  # a value of two people


def test_only_the_officer_sees_confidential_figures(reports: dict[str, Path]) -> None:
    pages = {audience: (reports["generalized"] / f"{audience}.html").read_text() for audience in AUDIENCES}
    for word in ("Prosecutor", "Checklist", "nearest to the limit for"):
        assert word in pages["officer"]
        assert word not in pages["analyst"]
        assert word not in pages["public"]
    assert "Figures that are left out of this report" in pages["public"]
    assert "Figures that are left out of this report" not in pages["analyst"]


def test_the_officers_page_has_attacks_unless_it_is_quick(desk: Desk, chromium: Any) -> None:
    table = desk.table()
    assert desk.publish(table=table).status == 0
    outcome = run("report", desk.out, "--original", table, "--json", "--seed", 1)
    assert outcome.status == 0, outcome.text
    path = desk.folder / "out-report-officer.html"
    assert outcome.document == {"report": str(path), "audience": "officer", "bytes": path.stat().st_size}
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    html = path.read_text(encoding="utf-8")
    assert "naive-bayes" in html
    check_page(chromium, path, json.loads((desk.out / "certificate.json").read_bytes()))
    assert CANARY not in html


def test_publish_makes_the_officers_report(desk: Desk) -> None:
    outcome = desk.publish("--report")
    assert outcome.status == 0, outcome.text
    html = (desk.folder / "out-report-officer.html").read_text(encoding="utf-8")
    assert "Risks before and after" in html
    assert_refused(desk.publish("--report"), "exists already")
    assert desk.publish("--report", "--force").status == 0
    (desk.folder / "out-report-officer.html").unlink()
    assert_refused(run(*desk.words("-", "--report", "--force")), "standard input", "betalike report")
    spec = desk.folder / "release.toml"
    assert run("describe", desk.table(), "-o", spec).status == 0
    assert run("publish", "--spec", spec, "--beta", 2, "--out", desk.folder / "other", "--report").status == 0
    assert (desk.folder / "other-report-officer.html").is_file()


def test_an_analyst_sees_original_and_release_side_by_side(reports: dict[str, Path]) -> None:
    html = (reports["missing"] / "analyst.html").read_text(encoding="utf-8")
    for words in ("Distributions, original and release", "Relations between columns", "left out"):
        assert words in html
    for audience in ("analyst", "public"):
        for name in RELEASES:
            assert "tables = release.draws(5)" in (reports[name] / f"{audience}.html").read_text(encoding="utf-8")
    alone = (reports["missing"] / "public.html").read_text(encoding="utf-8")
    assert "The original table was not given" in alone


def test_an_analyst_sees_errors_of_counts(desk: Desk) -> None:
    table = desk.table()
    assert desk.publish(table=table).status == 0
    for words, is_asked in (([], True), (["--quick"], False)):
        outcome = run("report", desk.out, "--original", table, "--audience", "analyst", "--force", *words)
        assert outcome.status == 0, outcome.text
        html = (desk.folder / "out-report-analyst.html").read_text(encoding="utf-8")
        assert ("Half of the answers are off by at most" in html) is is_asked


def test_a_column_that_was_put_into_ranges_is_not_said_to_be_as_it_is(desk: Desk) -> None:
    table = desk.table()
    words = ["--qi", "gender,city", "--sensitive", "age", "--bins", "age=8", "--beta", 4, "--out", desk.out]
    assert run("publish", table, *words).status == 0
    assert run("report", desk.out).status == 0
    html = (desk.folder / "out-report-officer.html").read_text(encoding="utf-8")
    assert "in ranges, protected by the classes" in html
    assert "as it is, protected" not in html


def test_a_file_is_not_replaced_without_force(desk: Desk) -> None:
    assert desk.publish().status == 0
    path = desk.write("report.html", "mine")
    assert_refused(run("report", desk.out, "-o", path), "exists already", "--force")
    assert path.read_text() == "mine"
    assert run("report", desk.out, "-o", path, "--force").status == 0
    assert path.read_text().startswith("<!doctype html>")
    assert [name for name in os.listdir(desk.folder) if name.startswith(".report")] == []


def test_each_audience_has_a_file_of_its_own(desk: Desk) -> None:
    assert desk.publish().status == 0
    for audience in AUDIENCES:
        outcome = run("report", desk.out, "--audience", audience, "--quick")
        assert outcome.status == 0, outcome.text
        assert f"out-report-{audience}.html" in outcome.text
    assert len({(desk.folder / f"out-report-{audience}.html").read_text() for audience in AUDIENCES}) == len(AUDIENCES)


def test_a_report_never_replaces_one_for_another_audience(desk: Desk) -> None:
    assert desk.publish().status == 0
    path = desk.folder / "page.html"
    assert run("report", desk.out, "-o", path, "--audience", "public", "--quick").status == 0
    before = path.read_text()
    refused = run("report", desk.out, "-o", path, "--audience", "officer", "--quick", "--force")
    assert_refused(refused, "is the report for the audience: public")
    assert path.read_text() == before
    assert run("report", desk.out, "-o", path, "--audience", "public", "--quick", "--force").status == 0


def test_a_report_shows_itself_by_its_file_and_audience(desk: Desk) -> None:
    assert desk.publish().status == 0
    page = betalike.make_report(desk.out, desk.folder / "page.html", audience="public", quick=True)
    assert repr(page) == f"<betalike.ReportPage: audience public, path {page.path}, bytes {len(page.html.encode()):,}>"
    shown = page._repr_html_()
    assert str(page.path) in shown
    assert "doctype" not in shown
    assert "path none: in memory" in repr(betalike.make_report(desk.out, quick=True))


def test_what_cannot_be_reported_is_refused(desk: Desk) -> None:
    table = desk.table()
    assert desk.publish(table=table).status == 0
    assert_refused(run("report", desk.out, "--audience", "offcer"), "'offcer'", "officer, analyst, public")
    assert_refused(run("report", desk.out, "-o", desk.folder), "is a folder")
    assert_refused(run("report", desk.out, "-o", desk.folder / "none" / "a.html"), "there is no folder")
    assert_refused(run("report", desk.out, "--original", table, "-o", table, "--force"), "also read")
    assert_refused(run("report", desk.folder / "nothing"), "no certificate")
    assert_refused(run("report", desk.out, "--population", 3), "population")
    change(desk, lambda certificate: certificate["release"].update(average_loss=0.5))
    assert_refused(run("report", desk.out), "does not pass its verification", status=1)
    assert not (desk.folder / "out-report-officer.html").exists()


def test_names_and_values_cannot_bring_markup_into_a_page(desk: Desk, chromium: Any) -> None:
    rows = [[*row[:3], f"<b>{row[3]}</b>", f"<script>alert(1)</script>{row[4]}&amp;"] for row in people()]
    header = ["name", "age", "gender", "><img src=x>", "disease"]
    table = desk.write("people.csv", to_csv(rows, header))
    assert desk.publish(table=table, qi="age,gender,><img src=x>").status == 0
    for audience in AUDIENCES:
        outcome = run("report", desk.out, "--original", table, "--audience", audience, "--quick", "--force")
        assert outcome.status == 0, outcome.text
        with visit(chromium, (desk.folder / f"out-report-{audience}.html").as_uri()) as visited:
            assert visited.complaints == []
            assert visited.page.locator("script, img, b").count() == 0
            assert "<script>alert(1)" in visited.page.locator("body").text_content()
