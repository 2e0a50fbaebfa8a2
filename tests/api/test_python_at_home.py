"""What a user of the Python interface meets: names, how results look, tracebacks, progress, specifications."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import polars as pl
import pytest

import betalike
from betalike.errors import BetalikeError, ParameterError, SchemaError
from betalike.runtime import notebook

AGES, ILLNESSES = "age <years>", ["flu", "cold", "gout", "ache"]
SECRETS = [*ILLNESSES, "47"]
TABLE = pl.DataFrame({AGES: [20 + i % 28 for i in range(160)], "illness": ILLNESSES * 40})
COLUMNS: dict[str, Any] = {"quasi_identifiers": [AGES], "sensitive": "illness"}
SPECIFICATION = """
table = "people.csv"
[promise]
beta = 2
k = 3
[release]
scheme = "seam"
options = {effort = 0}
[columns."age <years>"]
role = "quasi-identifier"
type = "integer"
weight = 2.0
[columns.illness]
role = "sensitive"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One of every kind of result."""
    out = tmp_path_factory.mktemp("api") / "release"
    release = betalike.publish(TABLE, **COLUMNS, beta=2, seed=1, out=out)
    compared = betalike.compare(TABLE, **COLUMNS, schemes=["seam", "sabre"], queries=0, seed=1)
    return {
        "Release": release,
        "AuditReport": betalike.audit(release.frame, **COLUMNS, original=TABLE, beta=2),
        "VerifyReport": betalike.verify(release),
        "Comparison": compared,
        "Answer": release.count("illness = 'flu'"),
        "WorkloadResult": betalike.workload(out, original=TABLE, queries=20, predicates=1, seed=1),
        "AttackReport": betalike.attack(release, original=TABLE, attacks=["skewness"], seed=1),
        "Description": betalike.describe(TABLE),
    }


def test_every_name_is_listed_and_there() -> None:
    assert dir(betalike) == sorted(betalike.__all__)
    for name in betalike.__all__:
        assert getattr(betalike, name) is not None
    assert isinstance(betalike.Hierarchy.from_rows([["a", "*"], ["b", "*"]]), betalike.Hierarchy)
    with pytest.raises(AttributeError, match="no attribute 'publisch'"):
        _ = betalike.publisch  # type: ignore[attr-defined]


def test_the_types_of_every_function_can_be_looked_up() -> None:
    functions = [found for name in dir(betalike) if inspect.isfunction(found := getattr(betalike, name))]
    assert len(functions) >= 9
    for function in functions:
        assert "return" in get_type_hints(function)


def test_every_scheme_and_every_promise_is_exported() -> None:
    from betalike import promises, schemes
    from betalike.promises.exports import __all__ as of_promises

    made = {type(make()).__name__ for make in schemes.SCHEMES.values()}
    models = [name for name in of_promises if isinstance(getattr(promises, name), type)]
    kinds = {name for name in models if issubclass(getattr(promises, name), promises.Model)} - {"Model"}
    assert made | kinds | {"DisclosureForLikeness"} <= set(betalike.__all__)


def test_importing_betalike_imports_nothing_that_takes_long() -> None:
    code = "import betalike, sys; dir(betalike); print([m for m in ('numpy', 'polars', 'numba') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name",
    ["Release", "AuditReport", "VerifyReport", "Comparison", "Answer", "WorkloadResult", "AttackReport", "Description"],
)
def test_results_show_a_short_summary_without_cells(results: dict[str, Any], name: str) -> None:
    result = results[name]
    assert type(result).__name__ == name
    line, page = repr(result), result._repr_html_()
    assert line.startswith(f"<betalike.{name}: ")
    assert name == "Description" or "\n" not in line  # a description is a table, with a line for each column
    assert len(line) < 600
    assert page.count("<table>") in (1, 2)
    assert "<years>" not in page, "names are escaped"
    for secret in SECRETS if name != "Answer" else SECRETS[:-1]:
        shown = re.compile(rf"(?<![\d.]){re.escape(secret)}(?![\d.])")  # a time of .0847 s shows no cell 47
        assert not shown.search(line)
        assert not shown.search(page)


def test_summaries_have_the_figures(results: dict[str, Any]) -> None:
    assert "rows 160" in repr(results["Release"])
    assert "promise enhanced-likeness with beta 2" in repr(results["Release"])
    assert "age &lt;years&gt;" in results["Release"]._repr_html_()
    assert "holds yes" in repr(results["AuditReport"])
    assert "<td>sabre</td>" in results["Comparison"]._repr_html_()
    assert "<td>skewness</td>" in results["AttackReport"]._repr_html_()
    assert "<td>quasi-identifier</td>" in results["Description"]._repr_html_()


def frames_of(error: BaseException) -> list[traceback.FrameSummary]:
    return list(traceback.extract_tb(error.__traceback__))


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: betalike.publish(TABLE, quasi_identifiers=["agee"], sensitive="illness", beta=2, seed=1), SchemaError),
        (lambda: betalike.publish(TABLE, **COLUMNS, beta=-2, seed=1), ParameterError),
        (lambda: betalike.verify("nowhere"), BetalikeError),
        (lambda: betalike.open_release("nowhere"), BetalikeError),
        (lambda: betalike.audit("nowhere.csv", **COLUMNS), BetalikeError),
        (lambda: betalike.compare(TABLE, **COLUMNS, schemes=["seem"], seed=1), ParameterError),
    ],
)
def test_an_error_shows_the_line_of_the_caller_and_no_more(
    call: Any, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BETALIKE_DEBUG", raising=False)
    with pytest.raises(kind) as short:
        call()
    frames = frames_of(short.value)
    assert len([frame for frame in frames if "betalike/src" in frame.filename or "src/betalike" in frame.filename]) == 1
    assert short.value.__cause__ is None
    assert short.value.__suppress_context__
    monkeypatch.setenv("BETALIKE_DEBUG", "1")
    with pytest.raises(kind) as full:
        call()
    assert len(frames_of(full.value)) > len(frames)
    assert str(full.value) == str(short.value)


@pytest.fixture
def specification(tmp_path: Path) -> Path:
    """A specification beside its table."""
    TABLE.write_csv(tmp_path / "people.csv")
    path = tmp_path / "release.toml"
    path.write_text(SPECIFICATION)
    return path


def test_a_specification_says_what_is_not_given(specification: Path) -> None:
    certificate = betalike.publish(spec=specification, seed=1).certificate
    assert (certificate["promise"]["beta"], certificate["promise"]["k"]) == (2, 3)
    assert certificate["table"]["columns"][0]["weight"] == 2
    given = betalike.publish(TABLE.head(120), spec=str(specification), beta=3, seed=1).certificate
    assert (given["promise"]["beta"], given["promise"]["k"], given["table"]["rows"]) == (3, 3, 120)
    promised = betalike.publish(
        spec=specification, promise=betalike.Likeness(1.5), scheme=betalike.Burel(), seed=1
    ).certificate
    assert (promised["promise"]["beta"], promised["promise"]["k"], promised["scheme"]["name"]) == (1.5, 1, "burel")
    other = betalike.publish(spec=specification, scheme="tmondrian", t=0.3, seed=1).certificate
    assert other["promise"]["model"] == "t-closeness"


def test_a_comparison_takes_a_specification(specification: Path) -> None:
    compared = betalike.compare(spec=specification, schemes=["burel"], queries=0, seed=1)
    assert [result.asked for result in compared.results] == [2]


def test_a_release_does_not_replace_its_specification(specification: Path) -> None:
    out = specification.parent / "out"
    betalike.publish(spec=specification, out=out, seed=1)
    moved = out / "certificate.json"
    moved.write_text(SPECIFICATION)
    TABLE.write_csv(out / "people.csv")
    with pytest.raises(BetalikeError):
        betalike.publish(spec=moved, out=out, force=True, seed=1)
    assert moved.read_text() == SPECIFICATION


@pytest.mark.parametrize("missing", ["table", "quasi_identifiers", "sensitive"])
def test_what_neither_the_call_nor_a_specification_says_is_missing(missing: str) -> None:
    given = {"table": TABLE, **COLUMNS, "beta": 2}
    del given[missing]
    for function in (betalike.publish, betalike.compare):
        with pytest.raises(ParameterError, match=f"{missing} is missing"):
            function(**given)


class Cell:
    """The output of a notebook's cell, as `IPython.display` fills it."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, content: str, display_id: bool) -> Cell:
        assert display_id
        self.update(content)
        return self

    def update(self, content: str) -> None:
        self.shown.append(content)


class ZMQInteractiveShell:
    """What `get_ipython` returns in the kernel of a notebook."""


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    """A notebook around this process."""
    ipython, display, cell = ModuleType("IPython"), ModuleType("IPython.display"), Cell()
    ipython.get_ipython = ZMQInteractiveShell  # type: ignore[attr-defined]
    display.display, display.HTML = cell.display, str  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return cell


def publish_with(patience: float) -> Callable[..., betalike.Release]:
    """`publish`, which shows its progress after so many seconds, and without a pause."""
    return notebook.shows_progress(inspect.unwrap(betalike.publish), patience, pause=0.0)


def test_a_notebook_shows_progress_once_the_work_takes_long(cell: Cell) -> None:
    publish = publish_with(patience=0.0)
    publish(TABLE, **COLUMNS, beta=2, progress=betalike.SILENT, seed=1)
    assert cell.shown == []
    publish(TABLE, **COLUMNS, beta=2, seed=1)
    assert any("<progress" in shown and "plan" in shown for shown in cell.shown)
    assert cell.shown[-1] == "", "it is gone at the end"
    n_shown = len(cell.shown)
    with pytest.raises(SchemaError):
        publish(TABLE, quasi_identifiers=["agee"], sensitive="illness", beta=2, seed=1)
    assert len(cell.shown) == n_shown or cell.shown[-1] == ""


def test_short_work_and_other_shells_show_nothing(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_with(patience=3600.0)(TABLE, **COLUMNS, beta=2, seed=1)
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    publish_with(patience=0.0)(TABLE, **COLUMNS, beta=2, seed=1)
    assert cell.shown == []


def test_a_bar_follows_items_and_batches(cell: Cell) -> None:
    progress = notebook.notebook_progress(patience=0.0, pause=0.0)
    assert progress is not None
    assert list(progress.track(["a", "b"], "<step>")) == ["a", "b"]
    assert list(progress.flow([TABLE, TABLE], "rows", 320)) == [TABLE, TABLE]
    assert list(progress.flow([TABLE], "rows", None)) == [TABLE]
    assert [shown.count("value=") for shown in cell.shown] == [1, 1, 1, 1, 0]
    assert 'value="0.500"' in cell.shown[1]
    assert 'value="0.500"' in cell.shown[3]
    assert "&lt;step&gt;" in cell.shown[0]
