"""The experiments run, in their quick form, and what they write is whole; the page of the full run names its files."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from betalike.api import make_schema
from betalike.datasets import census_like, census_like_hierarchies
from betalike.engines.local import LocalEngine
from betalike.promises import Likeness
from betalike.runtime.randomness import SeededRandomness
from betalike.schemes import make_scheme
from betalike.table.cells import Plan
from experiments.__main__ import EXPERIMENTS, main
from experiments.entrants import KEEP_CLOSENESS, KEEP_LIKENESS
from experiments.figure import FAILS, HOLDS, UNKNOWN, VERDICTS, burel_beats_one, falls, rises
from experiments.naive_bayes import exact_plan, success_rate

PROJECT = Path(__file__).parents[2]
WITHOUT_PICTURE = {"section-2"}
FIGURES = {f"figure-{name}" for name in ("4a", "4b", "4c", "5", "6", "7", "8", "9")}
FIGURES |= {"section-2", "section-7", "naive-bayes"}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of the experiments, in their quick form."""
    folder = tmp_path_factory.mktemp("two-experiments")
    main(["--quick", "--only", "4b,s2", "--out", str(folder)])
    return folder


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them, in their quick form."""
    folder = tmp_path_factory.mktemp("experiments")
    main(["--quick", "--out", str(folder)])
    return folder


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.long
@pytest.mark.xdist_group("experiments")
def test_every_figure_has_its_files(quick: Path) -> None:
    assert len(FIGURES) == len(EXPERIMENTS)
    wanted = {f"{figure}.csv" for figure in FIGURES}
    wanted |= {f"{figure}.{form}" for figure in FIGURES - WITHOUT_PICTURE for form in ("svg", "png")}
    assert {path.name for path in (quick / "evaluation").iterdir()} == wanted
    for path in (quick / "evaluation").glob("*.svg"):
        assert len(re.findall("<text", path.read_text(encoding="utf-8"))) > 10


@pytest.mark.long
@pytest.mark.xdist_group("experiments")
def test_the_data_is_complete(quick: Path) -> None:
    for figure in FIGURES:
        rows = read(quick / "evaluation" / f"{figure}.csv")
        empty = {(row.get("scheme"), name) for row in rows for name, cell in row.items() if not cell}
        assert empty <= {("counting the table", "loss"), ("counting the table", "classes")}, figure
    for figure in ("figure-5", "figure-6", "figure-7", "figure-8"):
        assert {row["scheme"] for row in read(quick / "evaluation" / f"{figure}.csv")} >= set(KEEP_LIKENESS)
    for figure in ("figure-4a", "figure-4b", "figure-4c"):
        assert {row["scheme"] for row in read(quick / "evaluation" / f"{figure}.csv")} >= set(KEEP_CLOSENESS)
    names = {row["scheme"] for row in read(quick / "evaluation" / "figure-9.csv")}
    assert names == {"perturb", "perturb, inversion", "perturb, sets", "baseline"}


@pytest.mark.xdist_group("experiments")
def test_some_figures_have_their_files_and_a_page(two: Path) -> None:
    wanted = {"section-2.csv", *(f"figure-4b.{form}" for form in ("csv", "svg", "png"))}
    assert {path.name for path in (two / "evaluation").iterdir()} == wanted
    text = (two / "evaluation.md").read_text(encoding="utf-8")
    assert "quick run" in text
    assert text.count("*The paper:*") == text.count("*We see:*") == 2


@pytest.mark.xdist_group("experiments")
def test_what_promises_t_reaches_no_more(two: Path) -> None:
    for row in read(two / "evaluation" / "figure-4b.csv"):
        if row["scheme"] in KEEP_CLOSENESS:
            assert float(row["reached_t"]) <= float(row["t"]) + 1e-6


@pytest.mark.xdist_group("experiments")
def test_section_2_is_met(two: Path) -> None:
    rows = read(two / "evaluation" / "section-2.csv")
    assert len(rows) == 13
    for row in rows:
        assert float(row["here"]) == pytest.approx(float(row["paper"]), rel=0.013), row["what"]


def check_page(page: Path) -> None:
    """Every figure's files are linked, every link leads somewhere, and every claim has a verdict."""
    text = page.read_text(encoding="utf-8")
    links = set(re.findall(r"\]\(([^)\s]+)\)", text))
    assert {link for link in links if not (page.parent / link).is_file()} == set()
    there = {f"evaluation/{path.name}" for path in (page.parent / "evaluation").iterdir()}
    assert there <= links
    assert text.count("*The paper:*") == text.count("*We see:*") == len(EXPERIMENTS)
    summary = text[text.index("## Which of") : text.index("## Settings")]
    told = re.search(r"Of (\d+) claims (\d+) hold", summary)
    assert told is not None
    assert int(told[1]) == len(re.findall(r"^\| (?!claim)", summary, flags=re.MULTILINE)) > 30
    verdicts = re.findall("^### (.+)$", summary, flags=re.MULTILINE)
    assert all(verdict.lower().startswith((HOLDS, FAILS, UNKNOWN)) for verdict in verdicts)
    assert not re.search(r"\bnan\b|\{|\}|\d s\b", text)


@pytest.mark.long
@pytest.mark.xdist_group("experiments")
def test_the_page_of_a_quick_run_says_so(quick: Path) -> None:
    check_page(quick / "evaluation.md")
    assert "quick run" in (quick / "evaluation.md").read_text(encoding="utf-8")


def test_the_page_in_the_documentation_is_that_of_a_full_run() -> None:
    page = PROJECT / "docs" / "evaluation.md"
    check_page(page)
    text = page.read_text(encoding="utf-8")
    assert "quick run" not in text
    assert "500,000 rows" in text
    files = {path.stem for path in (page.parent / "evaluation").iterdir()}
    assert files == FIGURES


def test_an_unknown_experiment_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--quick", "--only", "4a,10"])
    assert "no experiment '10'" in capsys.readouterr().err


def plan_of(frame: pl.DataFrame, beta: float) -> Plan:
    schema = make_schema(["age", "work_class"], "salary_class", census_like_hierarchies(), None, None, None, (), False)
    cells = LocalEngine(frame.select(schema.names), schema).count_cells()
    return make_scheme("burel+split", SeededRandomness(1)).plan(cells, Likeness(beta))


def slow_success_rate(plan: Plan) -> float:
    """Eq. 15 and 17 as they are written, tuple by tuple: Pr[t_j | v] from the labels that cover t_j."""
    cells = plan.cells
    counts = plan.class_counts
    dense = np.zeros((plan.n_classes, counts.n_values))
    dense[counts.ec, counts.value] = counts.count
    covers = []
    for number, axis in enumerate(cells.axes):
        low, high = (side[:, number].astype(np.int64) for side in plan.boxes)
        spans = []
        for ec in range(plan.n_classes):
            codes = range(int(low[ec]), int(high[ec]) + 1)
            if hasattr(axis, "hierarchy") and len(codes) > 1:
                label = axis.labels(low[ec : ec + 1], high[ec : ec + 1])[0]
                node = axis.hierarchy.labels.index(label)
                codes = range(int(axis.hierarchy.first[node]), int(axis.hierarchy.last[node]) + 1)
            spans.append(set(codes))
        covers.append(spans)
    right = 0
    for point in range(len(cells.points)):
        chance = cells.value_counts / cells.n_rows
        for number in range(len(cells.axes)):
            code = int(cells.points[point, number])
            inside = [ec for ec in range(plan.n_classes) if code in covers[number][ec]]
            chance = chance * dense[inside].sum(axis=0) / cells.value_counts
        at_point = cells.point == point
        right += int(cells.count[at_point & (cells.value == int(np.argmax(chance)))].sum())
    return right / cells.n_rows


@pytest.mark.parametrize("beta", [1.0, 4.0])
def test_the_attack_is_that_of_equations_15_and_17(beta: float) -> None:
    plan = plan_of(census_like(3_000), beta)
    assert plan.n_classes > 1
    assert success_rate(plan) == pytest.approx(slow_success_rate(plan))


def test_a_single_class_tells_the_attack_nothing() -> None:
    cells = plan_of(census_like(500), 4.0).cells
    one = Plan(cells, np.arange(len(cells.count)), cells.count, np.zeros(len(cells.count), dtype=np.int32), 1)
    assert success_rate(one) == pytest.approx(cells.value_counts.max() / cells.n_rows)
    assert success_rate(exact_plan(cells)) > success_rate(one)


@pytest.mark.parametrize(
    ("burel", "split", "widest", "narrowest", "verdict"),
    [
        (1, 1, 2, 2, VERDICTS[0]),
        (3, 1, 2, 2, VERDICTS[1]),
        (3, 3, 2, 4, VERDICTS[2]),
        (5, 3, 2, 4, VERDICTS[3]),
        (5, 5, 2, 4, FAILS),
        (2, 2, 2, 4, VERDICTS[2]),
    ],
)
def test_verdicts(burel: float, split: float, widest: float, narrowest: float, verdict: str) -> None:
    figures = {"burel": burel, "burel+split": split, "lmondrian": widest, "lmondrian, narrowest": narrowest}
    rows = [{"scheme": name, "x": 1, "y": y} for name, y in figures.items()]
    claim = burel_beats_one(rows, "x", "y", "a claim", "lmondrian", "lmondrian, narrowest")
    assert claim.verdict == verdict
    assert VERDICTS[0] == HOLDS


def test_trends() -> None:
    assert falls({1: 3.0, 2: 2.0, 3: 1.0})
    assert not falls({1: 3.0, 2: 3.0})
    assert falls({1: 3.0, 2: 3.03}, slack=0.02)
    assert rises({1: 1.0, 2: 2.0})
    assert not rises({1: 1.0, 2: 0.9}, slack=0.02)
    assert rises({1: 0.0, 2: 0.0, 3: 1.0}, slack=0.02)
