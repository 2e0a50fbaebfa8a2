"""Spark for real: without Java on the path, on a master and two workers, and with one of the workers killed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from spark_cluster import Cluster, wait_for, without_java

import betalike
from betalike.datasets import census_like

pytestmark = pytest.mark.xdist_group("spark")
QIS, SENSITIVE = ["age", "gender", "education"], "salary_class"
TIMEOUT = 600


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table")
    for number in range(4):
        census_like(5000, seed=number).write_parquet(folder / f"part-{number}.parquet", compression="snappy")
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def command(table: Path, out: Path, *more: str) -> list[str]:
    words = ["publish", str(table), "--qi", ",".join(QIS), "--sensitive", SENSITIVE, "--beta", "4", "--seed", "1"]
    return [sys.executable, "-m", "betalike", *words, "--engine", "spark", "--out", str(out), *more]


def rows_of(folder: Path) -> Counter[tuple[object, ...]]:
    return Counter(pl.scan_parquet(folder / "published.parquet").collect().rows())


def in_memory(table: Path, **more: object) -> Counter[tuple[object, ...]]:
    release = betalike.publish(
        table, quasi_identifiers=QIS, sensitive=SENSITIVE, beta=4, engine="memory", seed=1, **more
    )
    return Counter(release.frame.rows())


def test_no_java_need_be_installed(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    done = subprocess.run(command(table, out), env=without_java(tmp_path), capture_output=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr.decode()
    assert betalike.verify(out, original=table).holds
    assert rows_of(out) == in_memory(table)


@pytest.mark.parametrize("scheme", ["seam", "perturb"])
def test_a_cluster_publishes_what_memory_does(cluster: Cluster, table: Path, tmp_path: Path, scheme: str) -> None:
    out = tmp_path / "release"
    words = command(table, out, "--master", cluster.master, "--scheme", scheme)
    done = subprocess.run(words, env=cluster.environment, capture_output=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr.decode()
    assert betalike.verify(out, original=table).holds
    assert rows_of(out) == in_memory(table, scheme=scheme)


def test_a_worker_that_is_killed_loses_and_repeats_no_row(cluster: Cluster, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    words = command(table, out, "--master", cluster.master, "--scheme", "perturb")
    with subprocess.Popen(words, env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as publishing:
        work = cluster.folder / "worker-0"
        before = set(work.glob("app-*/*"))
        wait_for(lambda: "yes" if set(work.glob("app-*/*")) - before else None, "executor")
        cluster.kill_worker()
        _, errors = publishing.communicate(timeout=TIMEOUT)
    assert publishing.returncode == 0, errors.decode()
    assert betalike.verify(out, original=table).holds
    assert rows_of(out) == in_memory(table, scheme="perturb")


def test_a_master_that_is_not_there_is_told(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    words = command(table, out, "--master", "spark://127.0.0.1:1")
    done = subprocess.run(words, env=without_java(tmp_path), capture_output=True, timeout=TIMEOUT)
    assert done.returncode == 2, done.stderr.decode()
    assert (
        "Spark cannot be started with the master 'spark://127.0.0.1:1'. Nothing answers there" in done.stderr.decode()
    )
    assert not out.exists()
