"""Counts on CENSUS as in Sections 6.2 and 6.3: median relative errors of the paper's workloads, five quasi-identifiers.

The bounds are those that the project set itself; `python -m benchmarks queries` prints what is measured.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

import betalike

QI_5 = ["age", "gender", "education", "marital_status", "work_class"]
SENSITIVE = "salary_class"


class Releases:
    """Releases of CENSUS, each made once."""

    def __init__(self, census: pl.DataFrame, hierarchies: Path, folder: Path) -> None:
        self.census, self.hierarchies, self.folder = census, hierarchies, folder
        self._published = cache(self._publish)

    def publish(self, scheme: str, beta: float = 4.0) -> Path:
        """The folder of a release."""
        return self._published(scheme, beta)

    def _publish(self, scheme: str, beta: float) -> Path:
        folder = self.folder / f"{scheme}-{beta:g}"
        betalike.publish(
            self.census,
            quasi_identifiers=QI_5,
            sensitive=SENSITIVE,
            beta=beta,
            scheme=scheme,
            hierarchies=self.hierarchies,
            out=folder,
            seed=1,  # else a test would fail by chance now and then
        )
        return folder

    def median(self, folder: Path, method: str | None = None, queries: int = 10_000, **workload: float) -> float:
        result = betalike.workload(
            folder,
            original=self.census,
            queries=queries,
            method=method,
            seed=7,
            **workload,  # type: ignore[arg-type]
        )
        assert result.median_relative_error is not None
        return result.median_relative_error


@pytest.fixture(scope="module")
def releases(census: pl.DataFrame, census_hierarchies: Path, tmp_path_factory: pytest.TempPathFactory) -> Releases:
    return Releases(census.drop("row"), census_hierarchies, tmp_path_factory.mktemp("queries"))


@pytest.mark.xdist_group("census-queries")
@pytest.mark.parametrize(
    ("scheme", "most", "most_uniform"),
    [
        ("seam", 0.02, 0.02),
        ("burel+split", 0.17, 0.21),
    ],
)
@pytest.mark.long
def test_generalized_releases(releases: Releases, scheme: str, most: float, most_uniform: float) -> None:
    folder = releases.publish(scheme)
    default = releases.median(folder)
    assert default <= most
    assert default <= releases.median(folder, "uniform") <= most_uniform


@pytest.mark.long
@pytest.mark.xdist_group("census-queries")
def test_intervals_of_generalized_releases_hold_most_exact_counts(releases: Releases) -> None:
    for scheme in ("burel+split", "seam"):
        for method in ("density", "uniform"):
            result = betalike.workload(
                releases.publish(scheme), original=releases.census, queries=3000, method=method, seed=1
            )
            assert result.covered is not None
            assert result.covered >= 0.9


@pytest.mark.xdist_group("census-queries")
@pytest.mark.long
def test_perturbation_and_baseline(releases: Releases) -> None:
    perturbed = releases.median(releases.publish("perturb"))
    assert perturbed <= 0.029
    assert releases.median(releases.publish("baseline")) == pytest.approx(0.08, abs=0.01)


@pytest.mark.xdist_group("census-queries")
@pytest.mark.parametrize(
    ("beta", "predicates", "selectivity"),
    [
        (4.0, 5, 0.1),
        pytest.param(1.0, 3, 0.1, marks=pytest.mark.long),
        *(pytest.param(4.0, n, 0.1, marks=pytest.mark.long) for n in (1, 2, 3, 4)),  # Figure 9(a)
        *(pytest.param(beta, 3, 0.1, marks=pytest.mark.long) for beta in (2.0, 3.0, 5.0)),  # Figure 9(b)
        *(pytest.param(4.0, 3, theta, marks=pytest.mark.long) for theta in (0.05, 0.15, 0.2, 0.25)),  # Figure 9(d)
    ],
)
def test_the_default_is_never_worse_than_inversion_and_baseline(
    releases: Releases, beta: float, predicates: int, selectivity: float
) -> None:
    folder = releases.publish("perturb", beta)
    default, inversion, prior = (
        releases.median(folder, method, queries=2000, predicates=predicates, selectivity=selectivity)
        for method in ("shrinkage", "inversion", "prior")
    )
    assert default <= min(inversion, prior)
