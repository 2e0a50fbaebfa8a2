"""Opening releases: what the certificate says, perturbed and baseline folders, and folders that are not whole."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import betalike
from betalike.errors import CertificateError, InputError, ParameterError, QueryError
from betalike.table.hierarchy import Hierarchy

PATHS = [["Ulm", "north", "*"], ["Kiel", "north", "*"], ["Rom", "south", "*"], ["Bari", "south", "*"]]


def people(n_rows: int = 1200) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 60, n_rows)
    ill = np.where(rng.random(n_rows) < age / 100, "gout", np.where(rng.random(n_rows) < 0.5, "flu", "cough"))
    return pl.DataFrame({"age": age, "city": rng.choice([path[0] for path in PATHS], n_rows), "ill": ill})


PEOPLE = people()
NAMES = ["age", "city"]
ARGUMENTS = {"quasi_identifiers": NAMES, "sensitive": "ill", "hierarchies": {"city": PATHS}}


@pytest.fixture
def perturbed(tmp_path: Path) -> Path:
    betalike.publish(PEOPLE, **ARGUMENTS, beta=1, scheme="perturb", out=tmp_path / "perturbed", seed=2)
    return tmp_path / "perturbed"


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    betalike.publish(PEOPLE, **ARGUMENTS, beta=1, scheme="baseline", out=tmp_path / "baseline", seed=2)
    return tmp_path / "baseline"


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["seam", "perturb", "baseline"])
def test_a_release_is_the_same_whether_it_was_published_or_opened(tmp_path: Path, scheme: str) -> None:
    published = betalike.publish(PEOPLE, **ARGUMENTS, beta=1, scheme=scheme, out=tmp_path / "out", seed=2)
    opened = betalike.open_release(tmp_path / "out")
    assert type(opened) is type(published) is betalike.Release
    assert opened.certificate == published.certificate
    assert opened.frame.rows() == published.frame.cast(pl.String).rows()
    assert opened.transition == published.transition
    assert (opened.folder, opened.verified, opened.engine) == (tmp_path / "out", None, None)
    assert opened.count("age < 30") == published.count("age < 30")
    assert opened.count_all(["age < 30", "ill = 'flu'"])[1] == published.count("ill = 'flu'")
    assert betalike.verify(opened, original=PEOPLE).holds
    attacked = [betalike.attack(release, original=PEOPLE, seed=1).to_dict() for release in (opened, published)]
    assert attacked[0] == attacked[1]
    if scheme == "seam":
        audits = [betalike.audit(r, quasi_identifiers=NAMES, sensitive="ill").to_dict() for r in (opened, published)]
        assert audits[0] == audits[1]


def test_quasi_identifiers_of_perturbed_and_baseline_releases_are_counted_exactly(
    perturbed: Path, baseline: Path
) -> None:
    exact = PEOPLE.filter((pl.col("age") < 30) & pl.col("city").is_in(["Ulm", "Kiel"])).height
    for folder in (perturbed, baseline):
        release = betalike.open_release(folder)
        for method in release.methods:
            answer = release.count("age < 30 AND city = 'north'", method=method)
            assert answer.count == pytest.approx(exact)
            assert (answer.at_least, answer.at_most) == (exact, exact)
            assert answer.standard_error == pytest.approx(0, abs=1e-3)


def test_a_baseline_release_answers_from_the_prior(baseline: Path) -> None:
    n, gout = PEOPLE.filter(pl.col("age") < 30).height, PEOPLE.filter(pl.col("ill") == "gout").height
    answer = betalike.query(baseline, "age < 30 AND ill = 'gout'")
    assert (answer.count, answer.method) == (pytest.approx(n * gout / PEOPLE.height), "prior")


def test_a_perturbed_release_is_inverted(perturbed: Path) -> None:
    published = pl.read_csv(perturbed / "published.csv").filter(pl.col("age") < 30)
    values = sorted(PEOPLE["ill"].unique())
    observed = np.array([published.filter(pl.col("ill") == value).height for value in values])
    matrix = pl.read_csv(perturbed / "transition.csv").drop("original").to_numpy()
    expected = np.linalg.solve(matrix.T, observed)
    release = betalike.open_release(perturbed)
    for value, count in zip(values, expected, strict=True):
        answer = release.count(f"age < 30 AND ill = '{value}'", method="inversion")
        assert answer.count == pytest.approx(count)
        assert release.count(f"age < 30 AND ill = '{value}'").method == "shrinkage"
    assert release.count("ill = 'flu'").count == pytest.approx(PEOPLE.filter(pl.col("ill") == "flu").height, abs=1e-3)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "original,flu\nflu,1\n",
        "original,cough,flu,gout\ncough,1,0,0\nflu,0,1,0\ngout,0,0.5,0\n",
        "original,cough,flu,gout\ncough,1,0,x\nflu,0,1,0\ngout,0,0,1\n",
    ],
)
def test_a_transition_that_is_none_is_refused(perturbed: Path, content: str | None) -> None:
    if content is None:
        (perturbed / "transition.csv").unlink()
    else:
        (perturbed / "transition.csv").write_text(content)
    with pytest.raises(CertificateError, match=r"transition\.csv' is not the matrix"):
        betalike.open_release(perturbed)


def test_a_folder_without_a_whole_release_is_refused(perturbed: Path, tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match="no certificate"):
        betalike.open_release(tmp_path / "nowhere")
    (perturbed / "published.csv").write_text("age,city,ill\n30,Ulm,plague\n")
    with pytest.raises(InputError, match="sensitive values that are not in its certificate"):
        betalike.open_release(perturbed)
    (perturbed / "published.csv").write_text("age,city,ill\n30,Paris,flu\n")
    with pytest.raises(CertificateError, match="'city' of the release has a label"):
        betalike.open_release(perturbed)
    (perturbed / "published.csv").write_text("age,city,ill\nold,Ulm,flu\n")
    with pytest.raises(CertificateError, match="'age' of the release has a label"):
        betalike.open_release(perturbed)
    (perturbed / "published.csv").write_text("city,ill\nUlm,flu\n")
    with pytest.raises((CertificateError, InputError)):
        betalike.open_release(perturbed)
    (perturbed / "published.csv").unlink()
    with pytest.raises(CertificateError, match="betalike verify"):
        betalike.open_release(perturbed)


def test_methods_and_confidence_are_checked(perturbed: Path) -> None:
    release = betalike.open_release(perturbed)
    with pytest.raises(ParameterError, match=r"shrinkage, inversion, prior\. Did you mean 'inversion'"):
        release.count("age < 30", method="inverson")
    with pytest.raises(ParameterError, match="one of: shrinkage"):
        release.count("age < 30", method="density")
    for confidence in (0, 1, -1, 95):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            release.count("age < 30", confidence=confidence)
    with pytest.raises(ParameterError, match="list of texts"):
        release.count_all("age < 30")
    assert release.count_all([]) == []
    narrow, wide = (release.count("age < 30 AND ill = 'flu'", confidence=c) for c in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.count < narrow.high < wide.high


def publish(table: pl.DataFrame, **options: object) -> betalike.Release:
    return betalike.publish(table, quasi_identifiers=NAMES, sensitive="ill", beta=0.1, k=300, seed=1, **options)


def test_the_certificate_tells_a_declared_hierarchy() -> None:
    release = publish(PEOPLE, hierarchies={"city": PATHS})
    column = release.certificate["table"]["columns"][1]
    assert sorted(column["hierarchy"]) == sorted(PATHS)
    assert column["has_missing"] is False
    assert release.count("city = 'north'", method="uniform").count > 0


def test_a_hierarchy_that_was_not_declared_shows_no_value_that_is_not_published() -> None:
    release = publish(
        PEOPLE.with_columns(city=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("Bonn")).otherwise("city"))
    )
    shown = {label for label in release.frame["city"].unique() if label not in (None, "*")}
    column = release.certificate["table"]["columns"][1]
    assert {path[0] for path in column["hierarchy"]} == shown
    assert "Bonn" not in shown
    assert column["leaves"] == 5
    with pytest.raises(QueryError, match="values are not named in the release"):
        release.count("city = 'Bonn'")


def test_hierarchies_may_be_given(tmp_path: Path) -> None:
    publish(PEOPLE, out=tmp_path)
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "city.csv").write_text("".join(";".join(path) + "\n" for path in PATHS))
    for given in (tmp_path / "trees", {"city": PATHS}, {"city": Hierarchy.from_rows(PATHS)}):
        answer = betalike.query(tmp_path, "city = 'north'", hierarchies=given)
        assert answer.at_least <= PEOPLE.filter(pl.col("city").is_in(["Ulm", "Kiel"])).height <= answer.at_most


def test_missing_values_are_asked_for() -> None:
    table = PEOPLE.with_columns(age=pl.when(pl.int_range(pl.len()) % 10 > 0).then("age"))
    release = publish(table)
    assert release.certificate["table"]["columns"][0]["has_missing"] is True
    answer = release.count("age IS NULL")
    assert answer.at_least <= 120 <= answer.at_most
    rest = release.count("age IS NOT NULL")
    assert rest.count + answer.count == pytest.approx(table.height)
    assert release.count("age < 1000").count == pytest.approx(rest.count)


def test_a_missing_sensitive_value_is_one_of_the_values(tmp_path: Path) -> None:
    table = PEOPLE.with_columns(ill=pl.when(pl.col("ill") != "flu").then("ill"))
    published = betalike.publish(
        table, **ARGUMENTS, beta=1, scheme="perturb", missing_sensitive="value", out=tmp_path, seed=1
    )
    assert published.transition is not None
    release = betalike.open_release(tmp_path)
    assert release.count("ill IS NULL").count == pytest.approx(table["ill"].null_count(), abs=1e-3)
    parts = release.count_all(["age < 40 AND ill IS NULL", "age < 40 AND ill IS NOT NULL"])
    assert sum(part.count for part in parts) == pytest.approx(table.filter(pl.col("age") < 40).height)


@pytest.mark.some(2)
@pytest.mark.parametrize("form", ["csv", "parquet", None])
@pytest.mark.parametrize("scheme", ["perturb", "baseline"])
def test_exact_rows_of_every_type_are_counted(tmp_path: Path, scheme: str, form: str | None) -> None:
    """Also whole numbers and codes that came as reals, empty texts, dates, and reals."""
    rows = pl.int_range(pl.len())
    day = pl.lit(datetime.date(2024, 1, 1)) + pl.duration(days=rows % 7)
    table = PEOPLE.with_columns(
        whole=pl.when(rows % 5 > 0).then((rows % 4).cast(pl.Float64)),
        code=(rows % 3).cast(pl.Float64),
        real=(rows % 8) / 4 + 0.5,
        text=pl.when(rows % 6 > 0).then(pl.lit("x")).otherwise(pl.lit("")),
        day=day.cast(pl.Date),
        moment=day.cast(pl.Datetime("us")) + pl.duration(minutes=rows % 3),
        flag=rows % 2 == 0,
    )
    asked = {
        "whole >= 2": pl.col("whole") >= 2,
        "whole IS NULL": pl.col("whole").is_null(),
        "code = 'low'": pl.col("code") < 2,
        "code = 2": pl.col("code") == 2,
        "real BETWEEN 0.75 AND 1.5": pl.col("real").is_between(0.75, 1.5),
        "text IS NULL": pl.col("text") == "",
        "text = 'x'": pl.col("text") == "x",
        "day > '2024-01-03'": pl.col("day") > datetime.date(2024, 1, 3),
        "moment <= '2024-01-03 00:01:00'": pl.col("moment") <= datetime.datetime(2024, 1, 3, 0, 1),
        "flag = TRUE": pl.col("flag"),
    }
    release = betalike.publish(
        table,
        quasi_identifiers=["whole", "code", "real", "text", "day", "moment", "flag"],
        sensitive="ill",
        beta=1,
        kinds={"whole": "integer"},
        hierarchies={"code": [["0", "low", "*"], ["1", "low", "*"], ["2", "high", "*"]]},
        scheme=scheme,
        **({} if form is None else {"format": form, "out": tmp_path}),
        seed=1,
    )
    for predicate, rows_meant in asked.items():
        exact = table.filter(rows_meant).height
        answer = release.count(predicate)
        assert (answer.at_least, answer.at_most) == (exact, exact), predicate
        assert answer.count == pytest.approx(exact)
