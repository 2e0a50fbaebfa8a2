"""Programs on Spark that cannot go on: no betalike on a worker, no worker, an interrupt."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from spark_cluster import Cluster

from betalike.datasets import census_like
from patience import PATIENCE, ask_until

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = tmp_path_factory.mktemp("table") / "table.parquet"
    census_like(100_000, seed=1).write_parquet(table, compression="snappy")
    return table


def command(table: Path, out: Path, *more: str) -> list[str]:
    words = [
        str(table),
        "--qi",
        "age,gender",
        "--sensitive",
        "salary_class",
        "--beta",
        "4",
        "--scheme",
        "perturb",
        "--seed",
        "1",
    ]
    return [sys.executable, "-m", "betalike", "publish", *words, "--out", str(out), *more]


@pytest.mark.long
def test_a_worker_without_betalike_is_told(table: Path, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')  # without what is installed
    python.chmod(0o755)
    words = command(table, tmp_path / "out", "--master", "local[1]")
    environment = {**os.environ, "PYSPARK_PYTHON": str(python)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2, done.stderr
    assert "Install the same betalike[spark] on every worker" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_workers_run_nothing_that_lies_beside_the_table(table: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    for module in ("numba", "numpy", "pyarrow", "polars", "betalike"):
        (tmp_path / f"{module}.py").write_text(f"open({str(notes)!r}, 'a').write('{module} ')\n")
    words = command(table, tmp_path / "out", "--master", "local[2]")
    words.insert(1, "-P")  # as the installed program, whose own path has no working folder
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert not notes.exists(), notes.read_text()


@pytest.mark.long
def test_a_cluster_without_workers_is_told(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    program = (
        "import sys\n"
        "from betalike.engines.spark import session\n"
        "session.WORKERS_PATIENCE = 2\n"
        "session.start_session(sys.argv[1])\n"
    )
    try:
        cluster.start_master()
        words = [sys.executable, "-c", program, cluster.master]
        done = subprocess.run(words, env=cluster.environment, capture_output=True, text=True, timeout=PATIENCE)
    finally:
        cluster.stop()
    assert done.returncode == 1
    assert "ParameterError: Spark cannot be started with the master" in done.stderr
    assert "No worker took up work within 2 seconds." in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(table: Path, tmp_path: Path, number: signal.Signals) -> None:
    words = command(table, tmp_path / "out", "--master", "local[2]")
    status = 0
    while status == 0:  # it is only seen to write by looking often, and may be through when it is looked at
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as publishing:
            ask_until(lambda: any(tmp_path.rglob("_temporary")) or publishing.poll() is not None)
            publishing.send_signal(number)
            _, errors = publishing.communicate(timeout=PATIENCE)
        status = publishing.returncode
        if status == 0:
            shutil.rmtree(tmp_path / "out")
    assert status == 130, errors
    assert "interrupted; no unfinished release was left behind." in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
