"""`publish`, `verify` and `audit` with the schemes that publish rows exactly, and whoever changes such a release."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from workbench import CANARY, Desk, assert_refused, files_under, hidden_in, people, run, with_canaries

import betalike
from betalike.errors import GuaranteeError
from betalike.promises import UNITS, Transition
from betalike.runtime.progress import SILENT
from betalike.runtime.randomness import randomness
from betalike.schemes.perturbation import Perturbation
from listeners import Changing, Meanwhile, staged

COMPANION = {"perturb": "transition.csv", "baseline": "sensitive.csv"}
SCHEMES = pytest.mark.parametrize("scheme", COMPANION)
FORMS = pytest.mark.parametrize("form", ["csv", "parquet"])
QIS = ["age", "gender", "city"]


@pytest.fixture(scope="module", params=COMPANION)
def published(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A desk with a table and its release, made once for each scheme."""
    desk = Desk(tmp_path_factory.mktemp("published"))
    assert desk.publish(scheme=request.param).status == 0
    return desk.folder


@pytest.fixture
def release(published: Path, desk: Desk) -> Desk:
    """A copy of them, to be changed."""
    shutil.copytree(published, desk.folder, dirs_exist_ok=True)
    return desk


def scheme_of(desk: Desk) -> str:
    return desk.certificate()["scheme"]["name"]


def sign_again(desk: Desk) -> None:
    """Put the digests of the changed files into the certificate, as a clever attacker would."""
    told = desk.certificate()
    for name in told["files"]:
        told["files"][name]["sha256"] = hashlib.sha256((desk.out / name).read_bytes()).hexdigest()
    (desk.out / "certificate.json").write_text(json.dumps(told))


@SCHEMES
@FORMS
def test_publish_and_verify(desk: Desk, scheme: str, form: str) -> None:
    outcome = desk.publish(scheme=scheme, format=form)
    assert outcome.status == 0
    assert "no identity anonymity" in outcome.text
    assert set(files_under(desk.out)) == {f"published.{form}", COMPANION[scheme], "certificate.json"}
    for words in (["verify", desk.out], ["verify", desk.out, "--original", desk.folder / "people.csv"]):
        checked = run(*words)
        assert checked.status == 0, checked.text
        assert "FAILED" not in checked.text
    assert "ok quasi-identifiers" in checked.text


@SCHEMES
def test_rows_stay_exact_and_in_another_order(desk: Desk, scheme: str) -> None:
    assert desk.publish("--keep-identifiers", scheme=scheme, keep="name").status == 0
    original = {row[0]: row for row in people()}
    published = desk.published()
    assert [row["name"] for row in published] != list(original)
    for row in published:
        assert [row["name"], row["age"], row["gender"], row["city"]] == original[row["name"]][:4]
    assert ("disease" in published[0]) is (scheme == "perturb")


def test_values_are_replaced_and_no_other_is_made_up(desk: Desk) -> None:
    assert desk.publish("--keep-identifiers", scheme="perturb", keep="name").status == 0
    original = {row[0]: row[4] for row in people()}
    published = {row["name"]: row["disease"] for row in desk.published()}
    n_same = sum(original[name] == disease for name, disease in published.items())
    assert 0 < n_same < len(original)
    assert set(published.values()) <= set(original.values())


def test_the_distribution_of_the_baseline_is_the_tables(desk: Desk) -> None:
    assert desk.publish(scheme="baseline").status == 0
    with (desk.out / "sensitive.csv").open(newline="") as file:
        told = {row["value"]: int(row["count"]) for row in csv.DictReader(file)}
    assert told == Counter(row[4] for row in people())


def test_the_matrix_is_square_in_the_order_of_the_prior(desk: Desk) -> None:
    assert desk.publish(scheme="perturb").status == 0
    with (desk.out / "transition.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    labels = list(desk.certificate()["prior_counts"])
    assert header == ["original", *labels]
    assert [line[0] for line in lines] == labels
    frame = pl.read_csv(desk.out / "transition.csv")
    assert frame.select(pl.sum_horizontal(labels)).to_series().to_list() == pytest.approx([1.0] * len(labels))


@pytest.mark.parametrize("model", ["enhanced", "basic"])
def test_the_summary_and_the_certificate_tell_the_rule(desk: Desk, model: str) -> None:
    rows = [[*row[:4], "flu" if i % 20 else "gout"] for i, row in enumerate(people(400))]
    table = desk.table(rows)
    outcome = desk.publish(table=table, scheme="perturb", promise=model, beta=1)
    assert "rule: best-retention" in outcome.text
    told = desk.certificate()
    assert told["promise"]["model"] == f"{model}-likeness"
    assert told["scheme"]["details"]["rule"] == "best-retention"
    assert 0 < told["scheme"]["details"]["least_retention"] <= told["scheme"]["details"]["kept_share"] <= 1


@SCHEMES
def test_the_seed_is_in_no_file_and_the_release_is_said_not_to_be_one(desk: Desk, scheme: str) -> None:
    contents = []
    for _ in range(2):
        outcome = desk.publish("--force", scheme=scheme, seed=918273645)
        assert "not for release" in outcome.text
        contents.append((desk.out / "published.csv").read_bytes())
        assert not any(b"918273645" in (content or b"") for content in files_under(desk.out).values())
    assert contents[0] == contents[1]
    assert any("not for release" in warning for warning in desk.certificate()["warnings"])
    assert "not for release" not in desk.publish("--force", scheme=scheme, seed=None).text


@SCHEMES
def test_classes_are_not_promised(desk: Desk, scheme: str) -> None:
    assert_refused(desk.publish(scheme=scheme, k=5), "k 5", "forms no classes")
    assert not desk.out.exists()


@SCHEMES
def test_options_of_others_are_refused(desk: Desk, scheme: str) -> None:
    assert_refused(desk.publish(scheme=scheme, retrieval="exact"), f"'{scheme}' has no option")


def test_nothing_useful_is_refused_with_what_would_work(desk: Desk) -> None:
    before = files_under(desk.folder)
    outcome = desk.publish(table=desk.table(with_canaries(people())), scheme="perturb", beta=0.001)
    assert_refused(outcome, "almost nothing", "larger beta", "baseline", status=1)
    assert not desk.out.exists()
    assert set(files_under(desk.folder)) == {*before, "people.csv"}


def test_a_single_value_is_refused(desk: Desk) -> None:
    table = desk.table([[*row[:4], "flu"] for row in people()])
    for scheme in COMPANION:
        assert_refused(desk.publish(table=table, scheme=scheme), "1 distinct value")


def test_missing_and_awkward_values(desk: Desk) -> None:
    values = ["", "original", "a, b", 'say "x"', "value"]
    rows = [[*row[:4], values[i % 5]] for i, row in enumerate(people(300))]
    rows[4][1] = rows[9][3] = ""
    table = desk.table(rows)
    for scheme in COMPANION:
        for form in ("csv", "parquet"):
            outcome = desk.publish("--force", table=table, scheme=scheme, missing_sensitive="value", format=form)
            assert outcome.status == 0, outcome.text
            assert run("verify", desk.out, "--original", table).status == 0


def test_audit_refuses_what_has_no_classes(release: Desk) -> None:
    words = ["--qi", "age", "--sensitive", "disease"]
    assert_refused(run("audit", release.out, *words), scheme_of(release), "betalike verify")
    table = release.table(name="other.csv")
    assert_refused(run("audit", table, *words, "--certificate", release.out), "betalike verify")
    (release.out / "certificate.json").write_text("{}")
    assert run("audit", release.out, *words).status == (0 if "disease" in release.published()[0] else 2)


@pytest.mark.parametrize("which", ["published.csv", "companion"])
@pytest.mark.parametrize("place", [0.1, 0.5, 0.99])
def test_a_byte_changed_in_any_file(release: Desk, which: str, place: float) -> None:
    path = release.out / (which if which != "companion" else COMPANION[scheme_of(release)])
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)
    assert_refused(run("verify", release.out), "FAILED", f"{path.name} digest", status=1)


def test_a_companion_gone(release: Desk) -> None:
    (release.out / COMPANION[scheme_of(release)]).unlink()
    assert_refused(run("verify", release.out), "FAILED", "is missing", status=1)


CHANGES: dict[str, Callable[[Any], object]] = {
    "beta lowered": lambda c: c["promise"].update(beta=0.01),
    "k raised": lambda c: c["promise"].update(k=2),
    "gain": lambda c: c["promise"].update(worst_gain=0.123),
    "ratio": lambda c: c["promise"].update(worst_ratio=0.5),
    "said not to hold": lambda c: c["promise"].update(holds=False),
    "classes": lambda c: c["release"].update(classes=3),
    "smallest class": lambda c: c["release"].update(smallest_class=99),
    "rows": lambda c: c["release"].update(rows=7),
    "rows of the table": lambda c: c["table"].update(rows=7),
    "rows of the file": lambda c: c["files"]["published.csv"].update(rows=7),
    "k": lambda c: c["also"].update(k=99),
    "l": lambda c: c["also"].update(l=99.0),
    "t": lambda c: c["also"].update(t=0.5),
    "delta": lambda c: c["also"].update(delta=9.0),
    "loss": lambda c: c["release"].update(average_loss=0.5),
    "prior": lambda c: c["prior"].update(flu=0.9),
    "prior counts": lambda c: c["prior_counts"].update(flu=1),
    "prior counts of nobody": lambda c: c.update(prior_counts=dict.fromkeys(c["prior_counts"], 0)),
    "prior counts exchanged": lambda c: c.update(
        prior_counts=dict(zip(c["prior_counts"], [*list(c["prior_counts"].values())[1:], 1], strict=True))
    ),
    "no prior counts": lambda c: c.update(prior_counts={}),
    "no files": lambda c: c.update(files={}),
    "fewer quasi-identifiers": lambda c: c["table"].update(quasi_identifiers=["age"]),
    "another scheme": lambda c: c["scheme"].update(name="burel"),
    "the other scheme": lambda c: c["scheme"].update(
        name="baseline" if c["scheme"]["name"] == "perturb" else "perturb"
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_certificate_that_does_not_tell_the_truth(release: Desk, case: str) -> None:
    told = release.certificate()
    CHANGES[case](told)
    (release.out / "certificate.json").write_text(json.dumps(told))
    if case == "beta lowered" and scheme_of(release) == "baseline":
        assert run("verify", release.out).status == 1  # its worst ratio is another, then
        return
    assert_refused(run("verify", release.out), "FAILED", status=1)
    document = run("verify", release.out, "--json").document
    assert document["holds"] is False


def test_details_of_the_retention_are_compared(desk: Desk) -> None:
    desk.publish(scheme="perturb")
    for name in ("least_retention", "greatest_retention", "kept_share"):
        told = desk.certificate()
        told["scheme"]["details"][name] += 0.01
        (desk.out / "certificate.json").write_text(json.dumps(told))
        assert_refused(run("verify", desk.out), "scheme.details", status=1)


def test_a_matrix_that_tells_more_is_refused_even_if_signed(desk: Desk) -> None:
    desk.publish(scheme="perturb", beta=0.5)
    labels = list(desk.certificate()["prior_counts"])
    units = Transition.of_retention(np.full(len(labels), 0.9)).texts()
    lines = [["original", *labels], *([label, *row] for label, row in zip(labels, units, strict=True))]
    (desk.out / "transition.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    sign_again(desk)
    assert_refused(run("verify", desk.out), "FAILED promise", status=1)


def test_values_that_the_matrix_cannot_have_drawn_are_refused(desk: Desk) -> None:
    table = desk.table(people(2000))
    desk.publish(table=table, scheme="perturb", beta=0.5)
    path = desk.out / "published.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *(line.rsplit(",", 1)[0] + ",flu" for line in lines[1:])]) + "\n")
    sign_again(desk)
    assert_refused(run("verify", desk.out), "FAILED draws", status=1)


def test_another_original_is_refused(release: Desk) -> None:
    rows = people()
    rows[0][1], rows[3][2] = "99", "x"
    other = release.table(rows, name="other.csv")
    assert_refused(run("verify", release.out, "--original", other), "FAILED quasi-identifiers", status=1)
    rows = people()
    rows[0][4] = "plague"
    other = release.table(rows, name="other.csv")
    assert_refused(run("verify", release.out, "--original", other), "FAILED original", status=1)


class Undrawn(Perturbation):
    """A scheme gone wrong: the matrix is published, and the values as they are."""

    def draw(self, *given: Any) -> Any:
        draw = super().draw(*given)
        return replace(draw, transition=Transition(np.diag(np.full(len(draw.transition.units), UNITS))))


FAULTS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "a cell changed": lambda rows: rows.with_columns(pl.lit(33).alias("age")),
    "a row lost": lambda rows: rows.head(-1),
    "sensitive column": lambda rows: rows.with_columns(pl.lit("flu").alias("disease")),
}


@pytest.mark.parametrize("case", ["not drawn", *FAULTS, "matrix"])
def test_a_fault_of_ours_is_refused(desk: Desk, case: str) -> None:
    scheme: Any = "baseline" if case == "sensitive column" else "perturb"
    listener: Any = SILENT
    if case in FAULTS:
        listener = Changing("rows written", FAULTS[case])
    elif case == "matrix":
        matrix = "original,a,b,c,d,e\n" + "".join(f"{value},0,1,0,0,0\n" for value in "abcde")
        listener = Meanwhile("verify", lambda: staged(desk.out, "transition.csv").write_text(matrix))
    else:
        scheme = Undrawn(randomness=randomness(1))
    table, asked = desk.table(people(2000)), {"quasi_identifiers": QIS, "sensitive": "disease", "beta": 2}
    seed = {"seed": 1} if isinstance(scheme, str) else {}
    before = files_under(desk.folder)
    with pytest.raises(GuaranteeError, match="Nothing was published"):
        betalike.publish(table, **asked, **seed, scheme=scheme, out=desk.out, progress=listener)
    assert files_under(desk.folder) == before


@pytest.mark.some(2)
@SCHEMES
@FORMS
def test_an_interruption_leaves_the_older_release(desk: Desk, scheme: str, form: str) -> None:
    table = desk.table()
    assert desk.publish(table=table, scheme="burel").status == 0
    before = files_under(desk.folder)

    def stop() -> None:
        raise KeyboardInterrupt

    asked: dict[str, Any] = {"quasi_identifiers": QIS, "sensitive": "disease", "beta": 2, "scheme": scheme, "seed": 1}
    for step in ("write", "verify", "publish"):
        with pytest.raises(KeyboardInterrupt):
            betalike.publish(table, **asked, format=form, out=desk.out, force=True, progress=Meanwhile(step, stop))
        assert files_under(desk.folder) == before
    assert desk.publish("--force", table=table, scheme=scheme, format=form).status == 0
    assert set(files_under(desk.out)) == {f"published.{form}", COMPANION[scheme], "certificate.json"}
    assert desk.publish("--force", table=table, scheme="burel").status == 0
    assert set(files_under(desk.out)) == {"published.csv", "certificate.json"}
    assert hidden_in(desk.folder) == []


@SCHEMES
def test_python_gives_the_same_as_the_command(desk: Desk, scheme: str) -> None:
    frame = pl.read_csv(desk.table(people(500)))
    release = betalike.publish(frame, quasi_identifiers=QIS, sensitive="disease", beta=2, scheme=scheme, seed=1)
    assert release.folder is None
    assert release.certificate["files"] == {}
    assert CANARY not in json.dumps(release.certificate)
    if scheme == "perturb":
        assert set(release.transition) == set(release.certificate["prior"])
        assert all(sum(row.values()) == pytest.approx(1) for row in release.transition.values())
    else:
        assert release.transition is None
        assert "disease" not in release.frame.columns
