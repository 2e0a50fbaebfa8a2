"""Laws of bad or odd input: a release that keeps its promise, or an error of ours; never anything else."""

from __future__ import annotations

import datetime
import decimal
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import betalike
import twins
from betalike.errors import BetalikeError, GuaranteeError, InputError, InternalError, ParameterError, SchemaError
from betalike.schemes import Retrieval
from examples import examples
from random_tables import EVERY_SCHEME_OF_LIKENESS, Table, tables

SECRETS = ["flu", "hiv", "flu", "none", "none", "flu"] * 3
N_ROWS = len(SECRETS)


def publish(column: Any, **arguments: Any) -> betalike.Release:
    frame = pl.DataFrame([pl.Series("q", column) if not isinstance(column, pl.Series) else column.alias("q")])
    frame = frame.with_columns(secret=pl.Series(SECRETS))
    return betalike.publish(frame, **{"quasi_identifiers": ["q"], "sensitive": "secret", "beta": 2, **arguments})


def release_or_refusal(publishing: Callable[[], betalike.Release]) -> betalike.Release | None:
    """A release, or None for an error that tells what is wrong with the input; other errors go on their way."""
    try:
        return publishing()
    except (GuaranteeError, InternalError):
        raise
    except BetalikeError as error:
        refusal = str(error)
    assert len(refusal) > 20
    return None


# --- parameters ---

ANY_NUMBER = st.floats() | st.integers(-3, 10) | st.booleans()
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "beta": ANY_NUMBER | st.none() | st.just("4") | st.floats(0.1, 5).map(np.float64),
        "k": ANY_NUMBER | st.just("2"),
        "promise": st.sampled_from(["basic", "enhanced", "Enhanced", ""]),
        "seed": ANY_NUMBER | st.none(),
        "weights": st.dictionaries(st.sampled_from(["column 0", "column 9"]), st.floats(), max_size=2),
        "keep": st.lists(st.sampled_from(["row", "secret", "column 0", "nothing"]), max_size=2),
        "quasi_identifiers": st.lists(st.sampled_from(["column 0", "secret", "row", "nothing"]), max_size=2),
        "missing_sensitive": st.sampled_from(["value", "error", ""]),
        "options": st.dictionaries(
            st.sampled_from(["retrieval", "speed"]), st.sampled_from(["exact", "x"]), max_size=1
        ),
    },
)


@pytest.mark.some(3)
@examples(80)
@EVERY_SCHEME_OF_LIKENESS
@given(table=tables(max_rows=12), changes=PARAMETERS)
def test_any_parameters_give_a_true_promise_or_an_error_of_ours(
    scheme: dict[str, Any], table: Table, changes: dict[str, Any]
) -> None:
    release = release_or_refusal(lambda: table.publish(**{**scheme, **changes}))
    if release is None:
        return
    told = release.certificate["promise"]
    names = release.certificate["table"]["quasi_identifiers"]
    classes = twins.classes_of(release.frame.select(names).iter_rows(), release.frame["secret"])
    form = told["model"].removesuffix("-likeness")
    assert twins.broken_classes(classes.values(), table.prior, told["beta"], form, told["k"]) == []
    assert 0 <= release.certificate["release"]["average_loss"] <= 1 + 1e-9


@pytest.mark.parametrize("beta", [np.float64(1.7), np.float32(1.7), np.int64(2)])
def test_beta_may_be_a_number_of_numpy(beta: Any) -> None:
    """The promise is that of the number as it is: 1.7 in 32 bits is 1.7000000476837158."""
    release = publish(range(N_ROWS), beta=beta)
    assert release.certificate["promise"]["beta"] == float(beta)
    classes = twins.classes_of(zip(release.frame["q"], strict=True), release.frame["secret"])
    assert twins.broken_classes(classes.values(), Counter(SECRETS), float(beta), "enhanced") == []


@pytest.mark.parametrize("retrieval", list(Retrieval))
def test_options_may_be_given_by_name(retrieval: Retrieval) -> None:
    """`{"retrieval": "exact"}` is the example in publish()'s own description."""
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({c: rng.random(300) for c in "abcd"}).with_columns(secret=rng.integers(0, 6, 300))
    arguments = {"quasi_identifiers": list("abcd"), "sensitive": "secret", "beta": 2, "seed": 1, "scheme": "burel"}
    by_name = betalike.publish(frame, **arguments, options={"retrieval": str(retrieval)})
    other = next(form for form in Retrieval if form is not retrieval)
    assert by_name.frame.equals(betalike.publish(frame, **arguments, options={"retrieval": retrieval}).frame)
    assert not by_name.frame.equals(betalike.publish(frame, **arguments, options={"retrieval": other}).frame)


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ParameterError):
        publish(range(N_ROWS), scheme="burel", options={"retrieval": "nearest"})
    with pytest.raises(ParameterError):
        publish(range(N_ROWS), scheme="burel", options={"speed": "high"})


# --- columns ---


ONE_VALUE = pytest.mark.parametrize(
    "column", [[3] * 6 + [None] * 12, [3.5] * 12 + [None] * 6], ids=["rarely", "mostly"]
)


@ONE_VALUE
def test_one_value_and_missing_ones_are_published_apart(column: list[Any]) -> None:
    """Each has the secrets of the whole table in their proportion, so that nothing need be hidden."""
    frame = pl.DataFrame({"q": column, "secret": SECRETS, "row": range(N_ROWS)})
    asked = {"quasi_identifiers": ["q"], "sensitive": "secret", "beta": 0.5, "seed": 1}
    release = betalike.publish(frame, **asked, keep=["row"], keep_identifiers=True)
    values = [None if column[row] is None else str(column[row]) for row in release.frame["row"]]
    assert [None if label is None else str(label) for label in release.frame.to_series(0)] == values


@ONE_VALUE
def test_one_value_and_missing_ones_in_a_class_are_a_star(column: list[Any]) -> None:
    assert set(publish(pl.Series("q", column), k=N_ROWS).frame["q"]) == {"*"}


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Date, pl.String, pl.Null])
def test_a_column_that_is_missing_altogether_stays_so(dtype: Any) -> None:
    release = publish(pl.Series([None] * N_ROWS, dtype=dtype))
    assert release.frame.to_series(0).null_count() == N_ROWS
    assert release.certificate["release"]["average_loss"] == 0


PUBLISHED_COLUMNS = [
    [2**63 - 1, -(2**63), 0] * (N_ROWS // 3),
    [2**62 + i % 5 for i in range(N_ROWS)],
    [5e-324, 0.0] * (N_ROWS // 2),
    [math.nan, 1.0, 2.0] * (N_ROWS // 3),
    pl.Series([None] * N_ROWS),
    pl.Series([None] * N_ROWS, dtype=pl.Date),
    pl.Series([decimal.Decimal("1.10"), decimal.Decimal("2.25")] * (N_ROWS // 2)),
    pl.Series([2**64 - 1, 0] * (N_ROWS // 2), dtype=pl.UInt64),
    pl.Series(["x", None, "y"] * (N_ROWS // 3), dtype=pl.Categorical),
    pl.Series([True, False] * (N_ROWS // 2)),
    pl.Series([datetime.time(i) for i in range(N_ROWS)]),
    pl.Series([datetime.datetime(2020, 1, 1 + i, tzinfo=datetime.UTC) for i in range(N_ROWS)]),
]
REFUSED_COLUMNS = [
    ([-1.7e308, 1.7e308, 0.0] * (N_ROWS // 3), "too far apart to be measured"),
    ([math.inf, 1.0] * (N_ROWS // 2), "9 infinite values"),
    (pl.Series([datetime.timedelta(i) for i in range(N_ROWS)]), "of type Duration"),
    (pl.Series([bytes([i]) for i in range(N_ROWS)]), "of type Binary"),
    (pl.Series([[i] for i in range(N_ROWS)]), "of type List"),
    (pl.Series([{"a": i} for i in range(N_ROWS)]), "of type Struct"),
]


@pytest.mark.parametrize(
    "column",
    PUBLISHED_COLUMNS,
    ids=lambda column: str(column.dtype if isinstance(column, pl.Series) else column[:2]),
)
def test_columns_of_any_type_with_an_order_or_a_text_are_published(column: Any) -> None:
    release = publish(column, beta=0.2)
    classes = twins.classes_of(zip(release.frame["q"], strict=True), release.frame["secret"])
    assert twins.broken_classes(classes.values(), Counter(SECRETS), 0.2, "enhanced") == []
    assert 0 <= release.certificate["release"]["average_loss"] <= 1


@pytest.mark.parametrize(
    ("column", "words"), REFUSED_COLUMNS, ids=lambda given: given if isinstance(given, str) else ""
)
def test_columns_that_cannot_be_published_are_refused(column: Any, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        publish(column, beta=0.2)


@pytest.mark.parametrize(
    "secrets",
    [
        [True, False, True] * (N_ROWS // 3),
        [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * (N_ROWS // 2),
        [decimal.Decimal("1.10"), decimal.Decimal("2.25")] * (N_ROWS // 2),
        [math.nan, 1.0, 2.0] * (N_ROWS // 3),
    ],
    ids=lambda secrets: str(secrets[0]),
)
def test_secrets_of_any_type_are_published_as_they_are(secrets: list[Any]) -> None:
    release = publish_secrets(secrets)
    expected = [None if isinstance(secret, float) and math.isnan(secret) else secret for secret in secrets]
    assert Counter(map(str, release.frame["secret"])) == Counter(map(str, expected))


@pytest.mark.parametrize(
    ("secrets", "words"),
    [
        ([[1], [2]] * (N_ROWS // 2), "of type List"),
        ([None] * N_ROWS, "1 distinct value"),
        (["only"] * N_ROWS, "1 distinct value"),
    ],
)
def test_secrets_that_cannot_be_protected_are_refused(secrets: list[Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        publish_secrets(secrets)


def publish_secrets(secrets: list[Any]) -> betalike.Release:
    frame = pl.DataFrame({"q": range(N_ROWS), "secret": secrets}, strict=False)
    return betalike.publish(
        frame, quasi_identifiers=["q"], sensitive="secret", beta=2, seed=1, missing_sensitive="value"
    )


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(pd.DataFrame({0: 1, "q": range(N_ROWS), "secret": SECRETS}), id="a name that is no text"),
        pytest.param(pd.DataFrame({"q": pd.Categorical(["x", None, "y"] * 6), "secret": SECRETS}), id="categories"),
        pytest.param(pd.DataFrame({"q": range(N_ROWS), "secret": SECRETS}, index=SECRETS), id="an index"),
        pytest.param(pd.DataFrame({"q": [1, "a"] * (N_ROWS // 2), "secret": SECRETS}), id="numbers and text"),
    ],
)
def test_odd_frames_of_pandas_are_published(frame: pd.DataFrame) -> None:
    release = betalike.publish(frame, quasi_identifiers=["q"], sensitive="secret", beta=2, seed=1)
    assert sorted(release.frame["secret"]) == sorted(SECRETS)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame({"q": [True, "a"] * (N_ROWS // 2), "secret": SECRETS}), "values of several types"),
        (pd.DataFrame({"q": [{}, []] * (N_ROWS // 2), "secret": SECRETS}), "values of several types"),
        (
            pd.DataFrame([[i, i, secret] for i, secret in enumerate(SECRETS)], columns=["q", "q", "secret"]),
            "two columns of the frame have the same name",
        ),
    ],
    ids=["truth values and text", "objects", "a name used twice"],
)
def test_frames_of_pandas_without_one_type_or_name_for_a_column_are_refused(frame: pd.DataFrame, words: str) -> None:
    with pytest.raises(InputError, match=words):
        betalike.publish(frame, quasi_identifiers=["q"], sensitive="secret", beta=2)


@pytest.mark.parametrize("domain", [(math.nan, 99), (-math.inf, math.inf), (99, 0), (5, 6), ("x", "y"), (None, 3)])
def test_a_domain_that_makes_no_sense_is_refused(domain: tuple[Any, Any]) -> None:
    with pytest.raises(InputError):
        publish(range(N_ROWS), domains={"q": domain})


def test_the_domain_of_dates_may_be_given_as_dates_or_as_text() -> None:
    days = [datetime.date(2020, 1, 1 + i) for i in range(N_ROWS)]
    ends = (datetime.date(2019, 1, 1), datetime.date(2021, 1, 1))
    texts = tuple(end.isoformat() for end in ends)
    losses = [
        publish(days, domains={"q": domain}, seed=1).certificate["release"]["average_loss"] for domain in (ends, texts)
    ]
    assert losses[0] == losses[1] < 0.03


@EVERY_SCHEME_OF_LIKENESS
@pytest.mark.parametrize("arguments", [{"beta": 1e-9}, {"beta": 50, "k": 12}], ids=["beta", "k"])
def test_a_whole_table_in_one_class_is_the_last_resort(scheme: dict[str, Any], arguments: dict[str, Any]) -> None:
    """With 5 and 7 of two values no smaller class has their proportion; still nobody is refused or left out."""
    frame = pl.DataFrame({"q": range(12), "secret": ["a"] * 5 + ["b"] * 7})
    asked = {"quasi_identifiers": ["q"], "sensitive": "secret", **scheme, **arguments}
    release = betalike.publish(frame, **asked)
    assert release.frame["q"].to_list() == ["[0, 11]"] * 12
    assert release.certificate["also"]["k"] == 12
    with pytest.raises(ParameterError):
        betalike.publish(frame, **{**asked, "k": 13})
