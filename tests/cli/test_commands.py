"""Every command on good input: its exit status, its files, its JSON and its words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from workbench import CITIES, DISEASES, Desk, files_under, people, run, run_process

CERTIFICATE_KEYS = {
    "tool": {"name", "version"},
    "promise": {"model", "beta", "holds", "worst_gain", "worst_ratio"},
    "scheme": {"name"},
    "table": {"rows", "quasi_identifiers", "sensitive"},
    "release": {"rows", "classes", "smallest_class", "average_loss", "loss"},
    "also": {"k", "l", "t", "delta"},
    "prior": set(DISEASES),
    "files": {"published.csv"},
    "seconds": {"load", "plan", "write", "verify"},
}
AUDIT_KEYS = {"rows", "classes", "k", "distinct_l", "l", "t", "basic_beta", "enhanced_beta", "delta", "holds", "worst"}
HUMAN_WORDS = ["beta 2", "kept", "worst class", "Loss", "average", "Classes", "published.csv", "certificate.json"]


def assert_certificate(document: dict[str, dict[str, object]]) -> None:
    for key, inner in CERTIFICATE_KEYS.items():
        assert inner <= set(document[key])


def test_publish_writes_a_release_and_tells_of_it(desk: Desk) -> None:
    outcome = desk.publish()
    assert outcome.status == 0
    for word in [*HUMAN_WORDS, "age", "gender", "city", str(desk.out)]:
        assert word in outcome.text
    assert set(files_under(desk.out)) == {"published.csv", "certificate.json"}


def test_publish_json_is_the_certificate(desk: Desk) -> None:
    document = desk.publish("--json").document
    assert_certificate(document)
    assert document == desk.certificate()
    assert document["promise"]["holds"] is True
    assert document["promise"]["worst_gain"] <= document["promise"]["beta"] == 2
    assert document["promise"]["worst_ratio"] <= 1
    assert document["files"]["published.csv"]["rows"] == document["table"]["rows"] == 120
    assert document["prior"] == pytest.approx(
        {name: sum(row[4] == name for row in people()) / 120 for name in DISEASES}
    )


def test_a_real_process_prints_nothing_but_the_document_and_no_progress(desk: Desk) -> None:
    outcome = run_process(*desk.words(desk.table(), "--json"))
    assert outcome.status == 0
    assert_certificate(outcome.document)
    told = [line for line in outcome.stderr.splitlines() if not line.startswith("Compiling")]
    assert told == []


def test_a_pipe_gets_no_control_characters(desk: Desk) -> None:
    outcome = run_process(*desk.words(desk.table()))
    assert outcome.status == 0
    assert "Promise" in outcome.stdout
    assert not set("\r\x1b") & set(outcome.stdout + outcome.stderr)


def test_demo_needs_no_file(desk: Desk) -> None:
    outcome = run("demo", "--rows", 2000)
    assert outcome.status == 0
    for word in ["beta 4", "worst class", "Loss", "salary_class", "education", "2,000 rows"]:
        assert word in outcome.text
    assert set(files_under(desk.folder)) == {
        "betalike-demo",
        "betalike-demo/published.csv",
        "betalike-demo/certificate.json",
    }
    assert run("verify", "betalike-demo").status == 0


def test_demo_may_be_run_again_but_a_named_folder_is_not_replaced_unasked(desk: Desk) -> None:
    for _ in range(2):
        assert run("demo", "--rows", 500, "--json").status == 0
    assert run("demo", "--rows", 500, "--out", desk.out, "--json").status == 0
    assert run("demo", "--rows", 500, "--out", desk.out).status == 2
    assert run("demo", "--rows", 500, "--out", desk.out, "--force").status == 0


def test_demo_json_is_one_document(desk: Desk) -> None:
    document = run("demo", "--rows", 1000, "--beta", 3, "--out", desk.out, "--scheme", "burel", "--json").document
    assert document["promise"]["beta"] == 3
    assert document["scheme"]["name"] == "burel"


def test_describe_shows_guesses_with_reasons_and_what_identifies(desk: Desk) -> None:
    outcome = run("describe", desk.table())
    assert outcome.status == 0
    for word in [
        "quasi-identifier",
        "could be sensitive",
        "identifier",
        "its name suggests",
        "separates %",
        "age, city",
    ]:
        assert word in outcome.text
    assert not any(city in outcome.text for city in CITIES)


def test_describe_as_json(desk: Desk) -> None:
    document = run("describe", desk.table(), "--missing", "NA", "--json").document
    columns = {column["name"]: column for column in document["columns"]}
    assert columns["disease"]["role"] == "sensitive"
    assert columns["age"]["unique"] <= columns["age"]["separation"] <= 1
    assert document["combinations"][-1]["columns"] == ["age", "gender", "city"]


def test_describe_prints_a_specification(desk: Desk) -> None:
    outcome = run("describe", desk.table(), "-o", "-")
    assert outcome.status == 0
    for word in ['role = "quasi-identifier"', 'role = "sensitive"', 'role = "identifier"', "beta ="]:
        assert word in outcome.stdout


def test_describe_writes_a_file_but_does_not_replace_one_unasked(desk: Desk) -> None:
    table, spec = desk.table(), desk.folder / "release.toml"
    assert run("describe", table, "-o", spec).status == 0
    spec.write_text("mine")
    assert run("describe", table, "-o", spec).status == 2
    assert spec.read_text() == "mine"
    assert run("describe", table, "-o", spec, "--force").status == 0
    assert "[promise]" in spec.read_text()


def test_what_describe_writes_can_be_published(desk: Desk) -> None:
    spec = desk.folder / "release.toml"
    assert run("describe", desk.table(), "-o", spec, "--hierarchies", desk.hierarchies()).status == 0
    outcome = run("publish", "--spec", spec, "--out", desk.out, "--json")
    assert outcome.status == 0, outcome.text
    assert outcome.document["table"]["quasi_identifiers"] == ["age", "gender", "city"]
    assert outcome.document["table"]["sensitive"] == "disease"
    assert {row["city"] for row in desk.published()} <= {*CITIES, "north", "south", "*"}


def test_describe_into_another_folder_still_names_the_table(desk: Desk) -> None:
    desk.table()
    (desk.folder / "sub").mkdir()
    assert run("describe", "people.csv", "-o", "sub/release.toml", "--hierarchies", desk.hierarchies()).status == 0
    assert run("publish", "--spec", "sub/release.toml", "--out", desk.out).status == 0


def test_audit_tells_what_a_release_keeps(desk: Desk) -> None:
    desk.publish()
    outcome = run("audit", desk.out, "--qi", "age,gender,city", "--sensitive", "disease")
    assert outcome.status == 0
    for word in ["rows 120", "k ", "distinct l", "basic beta", "enhanced beta", "delta", "worst", "Warning"]:
        assert word in outcome.text


def test_audit_json_agrees_with_the_certificate(desk: Desk) -> None:
    table = desk.table()
    desk.publish(table=table)
    promise, also = desk.certificate()["promise"], desk.certificate()["also"]
    audit = ["audit", desk.out / "published.csv", "--qi", "age,gender,city", "--sensitive", "disease", "--json"]
    for prior, source in ([], "published"), (["--original", table], "original"), (["--certificate", desk.out], None):
        document = run(*audit, *prior).document
        assert set(document) >= AUDIT_KEYS
        assert set(document["worst"]) >= {"size", "value", "p", "q"}
        assert document["prior"] == (source or "certificate")
        assert document["basic_beta"] == pytest.approx(promise["worst_gain"])
        assert {name: document[name] for name in also} == pytest.approx(also)


@pytest.mark.some(2)
@pytest.mark.parametrize(("factor", "status"), [(0.9, 1), (1.1, 0)])
@pytest.mark.parametrize("model", ["basic", "enhanced"])
def test_audit_answers_whether_a_promise_is_kept(desk: Desk, factor: float, status: int, model: str) -> None:
    desk.publish()
    audit = ["audit", desk.out, "--qi", "age,gender,city", "--sensitive", "disease", "--json"]
    reached = run(*audit).document[f"{model}_beta"]
    promise = ["--promise", model, "--beta", factor * reached]
    outcome = run(*audit, *promise)
    assert outcome.status == status
    assert outcome.document["holds"] is (status == 0)
    shown = run(*audit[:-1], *promise)
    assert shown.status == status
    assert ("NOT KEPT" in shown.stdout) is (status == 1)


def test_audit_checks_the_least_class_size(desk: Desk) -> None:
    desk.publish()
    k = desk.certificate()["also"]["k"]
    audit = ["audit", desk.out, "--qi", "age,gender,city", "--sensitive", "disease", "--beta", 2]
    assert run(*audit, "--k", k).status == 0
    assert run(*audit, "--k", k + 1).status == 1


@pytest.mark.parametrize("options", [[], ["--format", "parquet"]])
def test_verify_accepts_what_was_published(desk: Desk, options: list[str]) -> None:
    table = desk.table()
    desk.publish(*options, table=table)
    outcome = run("verify", desk.out)
    assert outcome.status == 0
    assert "FAILED" not in outcome.stdout
    document = run("verify", desk.out, "--original", table, "--json").document
    assert document["holds"] is True
    assert all(document["checks"].values())


def test_exit_statuses_reach_the_shell(desk: Desk) -> None:
    desk.publish()
    audit = ["audit", desk.out, "--qi", "age,gender,city", "--sensitive", "disease", "--beta", 0.001]
    assert run_process("verify", desk.out).status == 0
    assert run_process(*audit).status == 1
    assert run_process("verify", desk.folder).status == 2


def test_an_error_with_json_is_one_document_too(desk: Desk) -> None:
    outcome = desk.publish("--json", beta=-1)
    assert outcome.status == 2
    assert "beta" in json.dumps(outcome.document["error"])


def test_relative_folders_are_created_with_their_parents(desk: Desk) -> None:
    assert desk.publish(out=Path("a/b/c")).status == 0
    assert set(files_under(desk.folder / "a/b")) == {"c", "c/published.csv", "c/certificate.json"}
