"""What is in a release: the named columns and nothing else, in the asked form; and what options change."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from workbench import CANARY, CITIES, LEAVES, NUMBER, Desk, files_under, people, run, to_csv

from betalike.schemes import GENERALIZING, promises_of

INSIDE = {"north": set(CITIES[:3]), "south": set(CITIES[3:]), "*": set(CITIES)} | {city: {city} for city in CITIES}
NUMBERS: dict[str, dict[str, float]] = {  # parameters of each promise
    "basic": {"beta": 2},
    "enhanced": {"beta": 2},
    "delta-disclosure": {"delta": 1.5},
    "t-closeness": {"t": 0.3},
    "distinct-l-diversity": {"l": 3},
    "entropy-l-diversity": {"l": 2.5},
    "recursive-l-diversity": {"l": 2, "c": 2},
    "k-anonymity": {},
}


def ends(label: str) -> tuple[float, float]:
    low, high = re.fullmatch(r"\[(.+), (.+)\]", label).groups() if label.startswith("[") else (label, label)
    return float(low), float(high)


def test_only_named_columns_are_published_and_nothing_of_the_others_is_anywhere(desk: Desk) -> None:
    rows = [[*row, NUMBER + i, f"{CANARY} said so"] for i, row in enumerate(people())]
    table = desk.write("t.csv", to_csv(rows, ["name", "age", "gender", "city", "disease", "ssn", "notes"]))
    desk.publish(table=table)
    assert list(desk.published()[0]) == ["age", "gender", "city", "disease"]
    everything = b"".join(content or b"" for content in files_under(desk.out).values()).decode()
    assert CANARY not in everything
    assert not any(str(NUMBER + i) in everything for i in range(len(rows)))
    assert "ssn" not in everything
    assert "notes" not in everything


def test_sensitive_values_are_conserved(desk: Desk) -> None:
    desk.publish()
    assert Counter(row["disease"] for row in desk.published()) == Counter(row[4] for row in people())


def test_rows_come_out_in_another_order(desk: Desk) -> None:
    desk.publish("--keep-identifiers", keep="name")
    order = [row["name"] for row in desk.published()]
    before = [row[0] for row in people()]
    assert order != before
    assert sorted(order) == sorted(before)


def test_two_releases_differ_in_order(desk: Desk) -> None:
    orders = []
    for _ in range(2):
        desk.publish("--keep-identifiers", "--force", keep="name", seed=None)
        orders.append([row["name"] for row in desk.published()])
    assert orders[0] != orders[1]  # of 120 rows: they are the same once in 120!


@pytest.mark.parametrize("options", [[], ["--numeric", "age"]])
def test_labels_contain_what_they_hide(desk: Desk, options: list[str]) -> None:
    desk.publish("--keep-identifiers", *options, keep="name", hierarchies=desk.hierarchies())
    original = {row[0]: row for row in people()}
    for row in desk.published():
        _, age, gender, city, disease = original[row["name"]]
        low, high = ends(row["age"])
        assert low <= float(age) <= high
        assert row["gender"] in (gender, "*")
        assert city in INSIDE[row["city"]]
        assert row["disease"] == disease


@pytest.mark.parametrize("options", [[], ["--numeric", "age"]])
def test_whole_numbers_stay_as_they_are(desk: Desk, options: list[str]) -> None:
    desk.publish(*options)
    assert all(re.fullmatch(r"\d+|\[\d+, \d+\]", row["age"]) for row in desk.published())


def test_parquet_holds_the_same_as_csv(desk: Desk) -> None:
    table = desk.table()
    frames = []
    for form, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        out = desk.folder / form
        assert desk.publish(table=table, format=form, seed=5, out=out).status == 0
        assert set(files_under(out)) == {f"published.{form}", "certificate.json"}
        frames.append(read(out / f"published.{form}"))
    assert frames[0].equals(frames[1])


def test_kept_columns_are_warned_of(desk: Desk) -> None:
    outcome = desk.publish("--keep-identifiers", keep="name")
    assert re.search(r"unprotected: name", outcome.text)
    assert desk.certificate()["table"]["kept"] == ["name"]
    assert "unprotected" not in desk.publish("--force").text


def test_the_certificate_tells_no_path_and_no_file_name(desk: Desk) -> None:
    desk.publish(table=desk.table(name="secretfile4711.csv"), hierarchies=desk.hierarchies())
    text = (desk.out / "certificate.json").read_text()
    for secret in ("secretfile4711", "hierarchies", str(desk.folder), desk.folder.name):
        assert secret not in text


def test_a_seeded_release_says_that_it_is_not_for_release(desk: Desk) -> None:
    outcome = desk.publish(seed=918273645)
    assert "not for release" in outcome.text
    assert "not for release" in desk.certificate()["randomness"]
    assert "918273645" not in (desk.out / "certificate.json").read_text()
    assert "not for release" not in desk.publish("--force", seed=None).text
    assert "not for release" not in (desk.out / "certificate.json").read_text()


def test_a_seed_repeats_the_release(desk: Desk) -> None:
    contents = []
    for seed in (1, 1, 2):
        desk.publish("--force", seed=seed)
        contents.append((desk.out / "published.csv").read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_exact_retrieval_is_not_the_same_as_hilbert(desk: Desk) -> None:
    rows = people(600)
    contents = []
    for retrieval in ("hilbert", "exact"):
        assert desk.publish("--force", table=desk.table(rows), seed=1, scheme="burel", retrieval=retrieval).status == 0
        contents.append((desk.out / "published.csv").read_bytes())
    assert contents[0] != contents[1]


@pytest.mark.some(5)
@pytest.mark.parametrize(("scheme", "model"), [(s, m) for s in GENERALIZING for m in promises_of(s)])
def test_schemes_models_and_k(desk: Desk, scheme: str, model: str) -> None:
    numbers = {"beta": None, **NUMBERS[model]}
    document = desk.publish("--json", scheme=scheme, promise=model, k=9, **numbers).document
    assert document["scheme"]["name"] == scheme
    promise = document["promise"]
    assert promise["model"] == (f"{model}-likeness" if promise["beta"] is not None else model)
    assert promise["k"] == 9 <= document["release"]["smallest_class"]
    told = {"beta": promise["beta"], **promise["parameters"]}
    for name, number in NUMBERS[model].items():
        assert told[name] == number


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", GENERALIZING)
def test_a_scheme_without_a_named_model_keeps_what_it_is_for(desk: Desk, scheme: str) -> None:
    model = {"tmondrian": "t-closeness", "sabre": "t-closeness", "dmondrian": "delta-disclosure"}.get(
        scheme, "enhanced"
    )
    promise = desk.publish("--json", scheme=scheme, **{"beta": None, **NUMBERS[model]}).document["promise"]
    assert promise["model"].removesuffix("-likeness") == model


def test_delta_is_chosen_for_a_beta(desk: Desk) -> None:
    promise = desk.publish("--json", scheme="dmondrian", beta=1).document["promise"]
    assert promise["beta"] is None
    most_frequent = max(Counter(row[4] for row in people()).values()) / len(people())
    assert promise["parameters"]["delta"] == pytest.approx(math.log(1 + min(1, -math.log(most_frequent))))


def test_weights_are_told(desk: Desk) -> None:
    document = desk.publish("--json", weights="age=2,gender=0.5").document
    assert [column["weight"] for column in document["table"]["columns"]] == [2, 0.5, 1]
    loss = document["release"]["loss"]
    expected = (2 * loss["age"] + 0.5 * loss["gender"] + loss["city"]) / 3.5
    assert document["release"]["average_loss"] == pytest.approx(expected)


def test_missing_texts_are_missing_values(desk: Desk) -> None:
    rows = people()
    for row in rows[::4]:
        row[1] = "NA"
        row[3] = "?"
    outcome = desk.publish(table=desk.table(rows), missing="NA,?")
    assert outcome.status == 0, outcome.text
    for row in desk.published():
        assert row["city"] in {*CITIES, "*", ""}
        assert re.fullmatch(r"|\*|\d+|\[\d+, \d+\]", row["age"])


def test_missing_sensitive_values_are_published_as_a_value_on_request(desk: Desk) -> None:
    rows = people()
    for row in rows[::5]:
        row[4] = ""
    outcome = desk.publish(table=desk.table(rows), missing_sensitive="value")
    assert outcome.status == 0
    assert sum(row["disease"] == "" for row in desk.published()) == 24
    assert desk.certificate()["prior_counts"][""] == 24
    assert run("verify", desk.out, "--original", desk.folder / "people.csv").status == 0


def test_codes_keep_their_leading_zeros(desk: Desk) -> None:
    table = desk.table([[*row[:3], f"0{CITIES.index(row[3])}", f"00{row[4]}"] for row in people()])
    desk.publish(table=table, categorical="city")
    assert {row["city"] for row in desk.published()} <= {f"0{i}" for i in range(6)} | {"*"}
    assert all(row["disease"].startswith("00") for row in desk.published())


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columnar_tables_are_read(desk: Desk, ending: str) -> None:
    frame = pl.read_csv(desk.table())
    path = desk.folder / f"people.{ending}"
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    assert desk.publish(table=path).status == 0
    assert run("verify", desk.out, "--original", path).status == 0


def test_an_older_release_is_replaced_only_by_force(desk: Desk) -> None:
    desk.publish(format="parquet")
    before = files_under(desk.out)
    assert desk.publish().status == 2
    assert files_under(desk.out) == before
    assert desk.publish("--force").status == 0
    assert set(files_under(desk.out)) == {"published.csv", "certificate.json"}


def test_other_files_in_the_folder_stay(desk: Desk) -> None:
    desk.out.mkdir()
    desk.write("out/README.md", "mine")
    assert desk.publish(format="parquet").status == 0
    assert desk.publish("--force").status == 0
    assert set(files_under(desk.out)) == {"published.csv", "certificate.json", "README.md"}
    assert run("verify", desk.out).status == 0


def test_a_link_to_a_folder_stays_a_link(desk: Desk) -> None:
    desk.table()
    real = desk.folder / "real"
    real.mkdir()
    desk.out.symlink_to(real)
    before = set(files_under(desk.folder))
    for _ in range(2):
        assert desk.publish("--force").status == 0
        assert desk.out.is_symlink()
        release = {"real/published.csv", "real/certificate.json"}
        assert {name for name in files_under(desk.folder) if not name.startswith("out/")} == before | release
    assert run("verify", real).status == 0


def test_the_current_folder_can_be_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    table = desk.table().absolute()
    desk.out.mkdir()
    monkeypatch.chdir(desk.out)
    assert desk.publish(table=table, out=".").status == 0
    assert set(files_under(Path())) == {"published.csv", "certificate.json"}  # not in a folder that was moved away


def test_hierarchy_labels_are_published(desk: Desk) -> None:
    desk.publish(qi="city", hierarchies=desk.hierarchies(), beta=0.3)
    assert {row["city"] for row in desk.published()} <= {*CITIES, *(region for _, region in LEAVES), "*"}
    assert "under" not in {row["city"] for row in desk.published()}
