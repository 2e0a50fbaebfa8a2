"""Regressions from counted rows, against statsmodels on every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

from betalike.measures.regression import RegressionKind, RegressionModel, compare_fits
from betalike.measures.sample import Column, Holders, Sample

CITIES = ("Ulm", "Rom", "Bari", "Kiel")


def table(seed: int, values: tuple[str, ...], n: int = 3000) -> tuple[Sample, dict[str, Any]]:
    """A table with a number, a level and a sensitive value that depends on both, folded and as rows."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n).astype(float)
    city = rng.choice(3, n, p=[0.5, 0.3, 0.2]).astype(float)
    score = (age - 40) / 10 + (city == 1) * 0.8 + rng.normal(0, 1, n)
    edges = np.quantile(score, np.linspace(0, 1, len(values) + 1)[1:-1])
    code = np.searchsorted(edges, score).astype(float)
    columns = [Column("age", is_whole=True), Column("city", CITIES), Column("ill", values)]
    return Sample.of(columns, [age, city, code]), {"age": age, "city": city, "code": code}


def design_of(rows: dict[str, Any]) -> Any:
    return np.column_stack([np.ones_like(rows["age"]), rows["age"], rows["city"] == 1, rows["city"] == 2])


def test_a_linear_fit_is_that_of_statsmodels() -> None:
    values = ("0", "1", "2.5", "7")
    sample, rows = table(1, values)
    model = RegressionModel.of(sample)
    assert model is not None
    assert model.kind is RegressionKind.LINEAR
    assert model.names == ["intercept", "age", "city = Rom", "city = Bari"]
    target = np.array([float(value) for value in values])[rows["code"].astype(int)]
    theirs = sm.OLS(target, design_of(rows)).fit()
    ours = model.fit(sample)
    assert ours.coefficients == pytest.approx(theirs.params, rel=1e-8)
    assert np.sqrt(ours.variances) == pytest.approx(theirs.bse, rel=1e-8)
    assert ours.covariance == pytest.approx(theirs.cov_params(), rel=1e-6)


@pytest.mark.parametrize("values", [("no", "yes"), ("flu", "gout", "cough")])
def test_a_logistic_fit_is_that_of_statsmodels(values: tuple[str, ...]) -> None:
    sample, rows = table(2, values)
    model = RegressionModel.of(sample)
    assert model is not None
    assert model.kind is RegressionKind.LOGISTIC
    counts = np.bincount(rows["code"].astype(int))
    chosen = int(np.argmin(counts) if len(values) == 2 else np.argmax(counts))
    assert model.target == f"ill = {values[chosen]}"
    theirs = sm.Logit((rows["code"] == chosen).astype(float), design_of(rows)).fit(disp=0, tol=1e-12)
    ours = model.fit(sample)
    assert ours.has_converged
    assert ours.coefficients == pytest.approx(theirs.params, rel=1e-6)
    assert np.sqrt(ours.variances) == pytest.approx(theirs.bse, rel=1e-6)


def test_rows_with_a_missing_number_are_left_out_and_a_missing_level_is_a_level() -> None:
    sample, rows = table(3, ("0", "1", "2"))
    age, city = rows["age"].copy(), rows["city"].copy()
    age[:500], city[400:900] = np.nan, np.nan
    missing = Sample.of(sample.columns, [age, city, rows["code"]])
    model = RegressionModel.of(missing)
    assert model is not None
    assert model.names == ["intercept", "age", "city = Rom", "city = Bari", "city = missing"]
    kept = ~np.isnan(age)
    design = np.column_stack([np.ones(kept.sum()), age[kept], *(city[kept] == i for i in (1, 2)), np.isnan(city[kept])])
    theirs = sm.OLS(rows["code"][kept], design).fit()
    assert model.fit(missing).coefficients == pytest.approx(theirs.params, rel=1e-8)


def test_a_fit_in_chunks_is_the_fit_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    sample, _ = table(4, ("no", "yes"))
    model = RegressionModel.of(sample)
    assert model is not None
    whole = model.fit(sample)
    monkeypatch.setattr("betalike.measures.regression.CHUNK", 7)
    assert model.fit(sample).coefficients == pytest.approx(whole.coefficients, rel=1e-9)


def test_a_value_that_a_number_determines_has_no_coefficients() -> None:
    age = np.repeat(np.arange(20.0, 60.0), 50)
    sample = Sample.of([Column("age", is_whole=True), Column("ill", ("no", "yes"))], [age, (age > 40).astype(float)])
    model = RegressionModel.of(sample)
    assert model is not None
    fit = model.fit(sample)
    assert np.isfinite(fit.coefficients).all()
    assert not fit.is_known.any()
    assert compare_fits(sample, [sample, sample]) is None


def test_a_value_of_few_people_is_not_explained() -> None:
    columns = [Column("age", is_whole=True), Column("ill", ("no", "yes"))]
    age = np.arange(20.0, 220.0)
    for few, is_explained in ((1, False), (9, False), (10, True)):
        code = (age % 20 == 3).astype(float)
        code[np.flatnonzero(code)[few:]] = 0
        assert (RegressionModel.of(Sample.of(columns, [age, code])) is not None) is is_explained


def test_a_slope_that_one_or_two_people_make_is_not_shown() -> None:
    columns = [Column("age", is_whole=True), Column("wealth"), Column("smokes"), Column("ill", ("1", "2", "5"))]
    rng = np.random.default_rng(4)
    ill = rng.choice(3, 400).astype(float)
    for n_rich, n_smoke, expected in ((2, 9, ["age"]), (4, 10, ["age", "wealth", "smokes"])):
        wealth, smokes = rng.random(400), np.zeros(400)
        wealth[:n_rich], smokes[:n_smoke] = 1e9, 1
        model = RegressionModel.of(Sample.of(columns, [rng.integers(20, 60, 400).astype(float), wealth, smokes, ill]))
        assert model is not None
        assert [term.name for term in model.terms] == expected


def test_terms_need_ten_people_not_ten_rows() -> None:
    columns = [Column("age", is_whole=True), Column("city", ("Ulm", "Rom")), Column("ill", ("1", "2", "5"))]
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(40), 10)
    ill = rng.choice(3, 400).astype(float)
    for n_in_rome, expected in ((9, ["age"]), (10, ["age", "city = Rom"])):
        city = (who < n_in_rome).astype(float)
        values = [rng.integers(20, 60, 40)[who].astype(float), city, ill]
        model = RegressionModel.of(Sample.of(columns, values, None, Holders.of(np.arange(400), who)))
        assert model is not None
        assert [term.name for term in model.terms] == expected


def test_a_level_in_which_nearly_everybody_has_the_value_has_no_term() -> None:
    sample, rows = table(8, ("no", "yes"))
    city, code = rows["city"], rows["code"].copy()
    mine = np.flatnonzero(city == 2)
    for others, names in ((9, ["city = Rom"]), (10, ["city = Rom", "city = Bari"])):
        code[mine] = 1
        code[mine[:others]] = 0
        model = RegressionModel.of(Sample.of(sample.columns, [rows["age"], city, code]))
        assert model is not None
        assert model.names == ["intercept", "age", *names]


def test_a_level_whose_rows_nearly_all_miss_a_number_has_no_term() -> None:
    sample, rows = table(9, ("0", "1", "2"))
    age = np.where(rows["city"] == 2, np.nan, rows["age"])
    age[np.flatnonzero(rows["city"] == 2)[:9]] = 50
    model = RegressionModel.of(Sample.of(sample.columns, [age, rows["city"], rows["code"]]))
    assert model is not None
    assert model.names == ["intercept", "age", "city = Rom"]


@pytest.mark.parametrize(
    ("city", "code"), [([0.0] * 100, [0.0, 1.0] * 50), ([0.0, 1.0] * 50, [0.0] * 100)], ids=["columns", "values"]
)
def test_without_something_to_explain_or_to_explain_it_with_there_is_no_model(
    city: list[float], code: list[float]
) -> None:
    columns = [Column("city", CITIES), Column("ill", ("no", "yes"))]
    sample = Sample.of(columns, [np.array(city), np.array(code)])
    assert RegressionModel.of(sample) is None
    assert compare_fits(sample, [sample]) is None


def test_a_table_compared_with_itself_has_the_same_coefficients() -> None:
    sample, _ = table(5, ("0", "1", "2"))
    found = compare_fits(sample, [sample, sample, sample])
    assert found is not None
    assert found.covered == 1
    assert found.distance < 1e-9
    for coefficient in found.coefficients:
        assert coefficient.release_error == pytest.approx(coefficient.original_error)
    assert "100 % of the original's coefficients in a linear regression of 'ill'" in found.meaning


def test_a_level_that_completed_tables_lack_is_left_out() -> None:
    sample, rows = table(6, ("0", "1", "2"))
    city = np.where(rows["city"] == 2, 0.0, rows["city"])
    completed = Sample.of(sample.columns, [rows["age"], city, rows["code"]])
    found = compare_fits(sample, [completed])
    assert found is not None
    assert [c.name for c in found.coefficients] == ["intercept", "age", "city = Rom"]
