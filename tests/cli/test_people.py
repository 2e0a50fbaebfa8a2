"""Several rows per person on the command line: publish, verify, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from workbench import CANARY, CITIES, DISEASES, Desk, assert_not_kept, assert_refused, change, run, to_csv

HEADER = ["patient", "age", "gender", "city", "disease"]
# Every patient has one to six visits, at the same age, and mostly with the same disease.
VISITS = [
    [f"{CANARY}-{patient:03}", str(20 + 7 * patient % 60), "fm"[patient % 2], CITIES[5 * patient % 6], disease]
    for patient in range(90)
    for visit in range(1 + patient * patient % 6)
    for disease in [DISEASES[(patient + (visit if visit % 3 == 2 else 0)) % 5]]
]
PEOPLE: dict[str, Any] = {"person": "patient", "beta": 2, "k": 4}


def table(desk: Desk, rows: list[list[str]] = VISITS) -> Path:
    return desk.write("visits.csv", to_csv(rows, HEADER))


def publish(desk: Desk, *more: object, **changes: Any) -> None:
    outcome = desk.publish(*more, table=table(desk), **{**PEOPLE, **changes})
    assert outcome.status == 0, outcome.text
    assert CANARY not in outcome.text


@pytest.mark.some(2)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_release_keeps_its_promise_in_people(desk: Desk, form: str) -> None:
    publish(desk, format=form)
    people = desk.certificate()["people"]
    assert people["column"] == "patient"
    assert people["people"] == len({row[0] for row in VISITS})
    assert people["holds"] is True
    assert people["smallest_class"] >= 4
    assert people["worst_gain"] <= 2
    expected = {disease: len({row[0] for row in VISITS if row[4] == disease}) for disease in DISEASES}
    assert people["prior_counts"] == expected
    assert CANARY.encode() not in b"".join(path.read_bytes() for path in desk.out.iterdir())
    assert run("verify", desk.out).status == 0
    outcome = run("verify", desk.out, "--original", desk.folder / "visits.csv", "--json")
    assert outcome.document["checks"]["people"] is True
    assert outcome.document["not_checked"].count("people") == 0
    assert run("verify", desk.out, "--json").document["not_checked"].count("people") == 1


def test_counted_in_rows_alone_classes_of_few_people_pass_for_many(desk: Desk) -> None:
    """Every row keeps its patient here, so that people can be counted in the release."""
    publish(desk, "--keep-identifiers", person=None, keep="patient")
    rows = desk.published()
    in_class: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        in_class.setdefault((row["age"], row["gender"], row["city"]), set()).add(row["patient"])
    assert min(map(len, in_class.values())) < 4 <= desk.certificate()["release"]["smallest_class"]


def test_rows_of_a_table_read_in_batches(desk: Desk) -> None:
    publish(desk, keep="gender", qi="age,city", engine="batches")
    assert (
        "in batches"
        in run(*desk.words(table(desk), "--force", **{**PEOPLE, "qi": "age,city", "engine": "batches"})).text
    )
    assert run("verify", desk.out, "--original", desk.folder / "visits.csv").status == 0


def test_the_specification_has_a_role_for_persons(desk: Desk) -> None:
    columns = {"patient": "person", "age": "quasi-identifier", "gender": "quasi-identifier", "disease": "sensitive"}
    lines = [f'[columns.{name}]\nrole = "{role}"\n' for name, role in columns.items()]
    table(desk)
    spec = desk.write("release.toml", "table = 'visits.csv'\n[promise]\nbeta = 3\n" + "".join(lines))
    assert run("publish", "--spec", spec, "--out", desk.out).status == 0
    assert desk.certificate()["people"]["column"] == "patient"
    spec.write_text(spec.read_text() + '[columns.city]\nrole = "person"\n')
    assert_refused(run("publish", "--spec", spec, "--out", desk.out, "--force"), "2 columns with the role 'person'")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scheme": "perturb", "k": None}, "the scheme 'perturb' forms no classes"),
        ({"scheme": "baseline", "k": None}, "the scheme 'baseline' forms no classes"),
        ({"scheme": "tmondrian", "beta": None, "t": 0.3}, "t-closeness cannot be promised in people"),
        ({"k": 91}, "the table is about only 90 people"),
        ({"person": "patiant"}, "Did you mean 'patient'?"),
        ({"person": "age"}, "named twice, as quasi-identifier and as person"),
        ({"person": "patient", "keep": "patient"}, "named twice, as kept and as person"),
        ({"engine": "spark"}, "people are counted on one machine only"),
    ],
)
def test_what_cannot_be_kept_is_refused(desk: Desk, changes: dict[str, Any], words: str) -> None:
    assert_refused(desk.publish(table=table(desk), **{**PEOPLE, **changes}), words)
    assert not desk.out.exists()


def test_a_row_without_a_person_is_refused(desk: Desk) -> None:
    rows = [["", *row[1:]] if number in (3, 70) else row for number, row in enumerate(VISITS)]
    assert_refused(desk.publish(table=table(desk, rows), **PEOPLE), "'patient' has 2 missing values")


@pytest.mark.parametrize("forms", [("{}", " {}", "{} "), ("{}", "{}.0", "{}.00")])
def test_a_key_written_in_several_forms_is_one_person(desk: Desk, forms: tuple[str, ...]) -> None:
    persons = [int(row[0][-3:]) + 100 for row in VISITS]
    rows = [[forms[i % 3].format(persons[i]), *row[1:]] for i, row in enumerate(VISITS)]
    outcome = desk.publish(table=table(desk, rows), **PEOPLE)
    assert outcome.status == 0, outcome.text
    people = desk.certificate()["people"]
    assert people["people"] == len({*persons})
    assert people["smallest_class"] >= 4
    assert run("verify", desk.out, "--original", desk.folder / "visits.csv").status == 0


def test_a_blank_person_is_missing(desk: Desk) -> None:
    rows = [["  ", *row[1:]] if number in (3, 70) else row for number, row in enumerate(VISITS)]
    assert_refused(desk.publish(table=table(desk, rows), **PEOPLE), "'patient' has 2 missing values")


def figure(name: str, value: Any) -> Callable[[Any], object]:
    return lambda certificate: certificate["people"].update({name: value})


def risk(name: str, value: Any) -> Callable[[Any], object]:
    return lambda certificate: certificate["people"]["risk"].update({name: value})


IMPOSSIBLE = [
    figure("people", 10**6),
    figure("smallest_class", 1),
    figure("smallest_class", 10**5),
    figure("worst_gain", 2.5),
    figure("holds", False),
    figure("prior_counts", {"flu": 10}),
    figure("caps", {"1": "1/2"}),
    figure("column", "age"),
    *(risk(name, value) for name in ("surest_guess", "prosecutor_average", "unique") for value in (-0.1, 1.1)),
    risk("prosecutor_maximum", 0.01),
    risk("above", {"0.05": 0.0, "0.09": 0.0, "0.2": 0.0}),
    lambda certificate: certificate.update(people=None),
]
POSSIBLE = [
    figure("people", 89),
    figure("worst_gain", 0.25),
    risk("prosecutor_average", 0.15),
    risk("surest_guess", 0.9),
    lambda certificate: certificate["people"]["prior_counts"].update(
        flu=certificate["people"]["prior_counts"]["flu"] - 1
    ),
]


@pytest.mark.parametrize("edit", IMPOSSIBLE)
def test_impossible_figures_about_people_are_noticed_without_the_original(
    desk: Desk, edit: Callable[[Any], object]
) -> None:
    publish(desk)
    change(desk, edit)
    assert_not_kept(desk, "certificate")


@pytest.mark.parametrize("edit", POSSIBLE)
def test_wrong_figures_about_people_are_noticed_with_the_original(desk: Desk, edit: Callable[[Any], object]) -> None:
    publish(desk)
    change(desk, edit)
    assert run("verify", desk.out).status == 0
    outcome = run("verify", desk.out, "--original", desk.folder / "visits.csv")
    assert_refused(outcome, "FAILED", "people", status=1)


def test_an_original_with_other_persons_is_noticed(desk: Desk) -> None:
    """All visits of two ages become one person's, which the release cannot have kept its promise for."""
    publish(desk)
    other = [[f"{CANARY}-000", *row[1:]] if int(row[1]) < 40 else row for row in VISITS]
    desk.write("other.csv", to_csv(other, HEADER))
    outcome = run("verify", desk.out, "--original", desk.folder / "other.csv")
    assert_refused(outcome, "FAILED people", "breaks the promise in people", status=1)


WORDS = ["--qi", "age,gender,city", "--sensitive", "disease", "--person", "patient"]


def test_an_audit_counts_the_people_of_a_release(desk: Desk) -> None:
    publish(desk)
    told = desk.certificate()["people"]
    words = ["audit", desk.out, *WORDS, "--original", desk.folder / "visits.csv"]
    outcome = run(*words, "--beta", 2, "--k", 4, "--json")
    assert outcome.status == 0, outcome.text
    found = outcome.document["people"]
    assert found.pop("risk") == told["risk"]
    assert found == {"people": 90, "k": told["smallest_class"], "basic_beta": told["worst_gain"], "holds": True}
    assert f"k is {told['smallest_class']} people" in run(*words).text
    assert run(*words, "--beta", 0.1).status == 1


def test_an_audit_counts_the_people_of_a_table_that_names_them(desk: Desk) -> None:
    """The table itself is published: every gain is that of the persons with the same age, gender and city."""
    path = table(desk)
    groups: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for person, *place, disease in VISITS:
        groups.setdefault(tuple(place), {}).setdefault(disease, set()).add(person)
    sizes = {place: len(set().union(*who.values())) for place, who in groups.items()}
    prior = {disease: len({row[0] for row in VISITS if row[4] == disease}) / 90 for disease in DISEASES}
    gains = [len(who) / sizes[p] / prior[d] - 1 for p, having in groups.items() for d, who in having.items()]
    for original in ([], ["--original", path]):
        found = run("audit", path, *WORDS, *original, "--k", 2, "--json").document["people"]
        assert (found["people"], found["k"]) == (90, min(sizes.values()))
        assert found["basic_beta"] == pytest.approx(max(gains))
        assert found["holds"] == (min(sizes.values()) >= 2)


def test_a_certificate_without_risks_is_of_version_0_1_and_refused(desk: Desk) -> None:
    publish(desk)
    change(desk, lambda certificate: certificate["people"].pop("risk"))
    outcome = run("verify", desk.out, "--original", desk.folder / "visits.csv")
    assert_refused(outcome, "not a certificate that this version of betalike reads", "risk")


def test_an_audit_that_cannot_find_persons_is_refused(desk: Desk) -> None:
    publish(desk)
    assert_refused(run("audit", desk.out, *WORDS), "has no column 'patient'", "along with the original")
    words = ["audit", desk.out, "--qi", "age", *WORDS[2:], "--original", desk.folder / "visits.csv"]
    assert_refused(run(*words), "all quasi-identifiers")


def test_a_column_that_looks_like_a_person_key_is_warned_about(desk: Desk) -> None:
    warned = desk.publish(table=table(desk))
    assert warned.status == 0
    assert "the column 'patient' looks like a key of persons with several rows" not in warned.text  # only a noun
    named = [["patient_id", *HEADER[1:]], *VISITS]
    path = desk.write("named.csv", to_csv(named[1:], named[0]))
    outcome = desk.publish("--force", table=path)
    assert "warning: the column 'patient_id' looks like a key of persons with several rows, 3." in outcome.stderr
    assert CANARY not in outcome.text
    assert "persons with several rows" not in desk.publish("--force", table=path, person="patient_id").text
    once = desk.write("once.csv", to_csv({row[0]: row for row in VISITS}.values(), named[0]))
    assert "persons with several rows" not in desk.publish("--force", table=once).text


def test_describe_gives_a_person_key_its_role(desk: Desk) -> None:
    path = desk.write("named.csv", to_csv(VISITS, ["patient_id", *HEADER[1:]]))
    assert run("describe", path, "-o", desk.folder / "release.toml").status == 0
    text = (desk.folder / "release.toml").read_text()
    assert 'role = "person"' in text
    assert run("publish", "--spec", desk.folder / "release.toml", "--beta", 3, "--out", desk.out).status == 0
    assert desk.certificate()["people"]["column"] == "patient_id"


def test_rounded_ranges_and_persons_go_together(desk: Desk) -> None:
    publish(desk, round="age=10")
    assert run("verify", desk.out, "--original", desk.folder / "visits.csv").status == 0


@pytest.mark.some(2)
@pytest.mark.parametrize("form", ["xlsx", "sav", "dta"])
def test_people_are_counted_in_what_was_written_in_any_format(desk: Desk, form: str) -> None:
    publish(desk, format=form, keep="gender", qi="age,city")
    outcome = run("verify", desk.out, "--original", desk.folder / "visits.csv", "--json")
    assert outcome.document["checks"]["people"] is True, outcome.document["explanations"]
