"""Spark for real: without Java on the path, on a master and two workers, and with one of the workers killed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from contract import MASTER
from spark_cluster import Cluster, without_java

import betalike
from betalike.datasets import census_like
from patience import PATIENCE, ask_until

pytestmark = pytest.mark.xdist_group("cluster")
QIS, SENSITIVE = ["age", "gender", "education"], "salary_class"
EVERY_CASE = ["-k", "spark", "-m", "long or not long"]
PROJECT = Path(__file__).parents[2]


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
        table, quasi_identifiers=QIS, sensitive=SENSITIVE, beta=4, engine="local", seed=1, **more
    )
    return Counter(release.frame.rows())


@pytest.mark.long
def test_no_java_need_be_installed(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    done = subprocess.run(command(table, out), env=without_java(tmp_path), capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr.decode()
    assert betalike.verify(out, original=table).holds
    assert rows_of(out) == in_memory(table)


@pytest.mark.long
def test_a_cluster_publishes_what_memory_does(cluster: Cluster, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    words = command(table, out, "--master", cluster.master)
    done = subprocess.run(words, env=cluster.environment, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr.decode()
    assert betalike.verify(out, original=table).holds
    assert rows_of(out) == in_memory(table)


@pytest.mark.long
def test_the_contract_holds_on_a_cluster(cluster: Cluster) -> None:
    files = sorted(Path(__file__).parent.glob("test_contract*.py"))
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *EVERY_CASE, *map(str, files)]
    environment = {**cluster.environment, MASTER: cluster.master}
    before = cluster.executors()
    done = subprocess.run(words, env=environment, cwd=PROJECT, capture_output=True, text=True, timeout=6 * PATIENCE)
    assert done.returncode == 0, done.stdout[-5000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[-1]) > 50
    assert len({path.parents[1].name for path in cluster.executors() - before}) == 2, "both workers took part"


def publish_with_a_killed_worker(cluster: Cluster, words: list[str], has_come: Callable[[str], bool]) -> str:
    """Kill a worker when its log says that the moment has come; return what it logged."""
    before = cluster.executors("worker-0")

    def log() -> str:
        logs = [executor / "stderr" for executor in cluster.executors("worker-0") - before]
        return "".join(log.read_text() for log in logs if log.exists())

    with subprocess.Popen(words, env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as publishing:
        ask_until(lambda: has_come(log()) or publishing.poll() is not None)
        cluster.kill("worker-0")
        try:
            _, errors = publishing.communicate(timeout=PATIENCE)
        finally:
            cluster.start_worker("worker-0")
    assert publishing.returncode == 0, errors.decode()
    return log()


@pytest.mark.long
@pytest.mark.parametrize("moment", ["counting", "writing"])
def test_a_worker_that_is_killed_loses_and_repeats_no_row(
    cluster: Cluster, table: Path, tmp_path: Path, moment: str
) -> None:
    out = tmp_path / "release"
    words = command(table, out, "--master", cluster.master, "--scheme", "perturb", "--force")

    def has_come(log: str) -> bool:
        return "Finished task" in log and (moment == "counting" or any(tmp_path.rglob("_temporary")))

    is_midway = False
    while not is_midway:  # the moment is only seen by looking often, and may be over when it is looked for
        is_midway = "commanded a shutdown" not in publish_with_a_killed_worker(cluster, words, has_come)
        assert betalike.verify(out, original=table).holds
        assert rows_of(out) == in_memory(table, scheme="perturb")


def test_a_master_that_is_not_there_is_told(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    words = command(table, out, "--master", "spark://127.0.0.1:1")
    done = subprocess.run(words, env=without_java(tmp_path), capture_output=True, timeout=PATIENCE)
    assert done.returncode == 2, done.stderr.decode()
    assert (
        "Spark cannot be started with the master 'spark://127.0.0.1:1'. Nothing answers there" in done.stderr.decode()
    )
    assert not out.exists()
