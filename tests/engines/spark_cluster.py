"""A Spark cluster on this machine: a master and two workers on loopback, stopped by their process ids."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyspark

from betalike.engines.spark.session import bundled_java
from patience import ask_until

CLASSES = "org.apache.spark.deploy"
BRIEF = os.environ.get("SPARK_SUBMIT_OPTS", "")  # for programs that end after seconds


def without_java(folder: Path) -> dict[str, str]:
    """An environment in which there is no Java on the path: all programs of the usual folders but that one."""
    programs = folder / "programs"
    programs.mkdir()
    for home in ("/usr/bin", "/bin"):
        for program in Path(home).iterdir():
            link = programs / program.name
            if program.name != "java" and not os.path.lexists(link):
                link.symlink_to(program)
    kept = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_LOCAL_IP")}
    return {**kept, "PATH": str(programs), "PYSPARK_PYTHON": sys.executable}


class Cluster:
    """A master and two workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = folder / "settings"
        settings.mkdir()
        (settings / "spark-defaults.conf").write_text(f"spark.executor.extraJavaOptions {BRIEF}\n")
        java = {"JAVA_HOME": str(bundled_java()), "SPARK_CONF_DIR": str(settings), "SPARK_DAEMON_JAVA_OPTS": BRIEF}
        self.environment = {**without_java(folder), **java, "SPARK_LOCAL_IP": "127.0.0.1"}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        self.start_master()
        for name in ("worker-0", "worker-1"):
            self.start_worker(name)

    def start_master(self) -> None:
        self._run("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", name="master")
        self.master = self._told("master", r"Starting Spark master at (spark://\S+)")

    def start_worker(self, name: str) -> None:
        options = ("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0")
        self._run("worker.Worker", *options, "--work-dir", str(self.folder / name), self.master, name=name)
        self._told(name, r"(Successfully registered) with master")

    def _run(self, main: str, *words: str, name: str) -> None:
        program = Path(pyspark.__file__).parent / "bin" / "spark-class"
        command = [str(program), f"{CLASSES}.{main}", *words]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                command, stdout=log, stderr=log, env=self.environment, cwd=self.folder, start_new_session=True
            )

    def _told(self, name: str, pattern: str) -> str:
        """What a process says of itself, once it does."""

        def ask() -> str:
            has_ended = self.processes[name].poll() is not None  # first: what it says last is read as well
            match = re.search(pattern, (self.folder / f"{name}.log").read_text())
            assert match or not has_ended, f"{name} of the Spark cluster has ended"
            return match.group(1) if match else ""

        return ask_until(ask)

    def executors(self, worker: str = "worker-*") -> set[Path]:
        """The folders of the executors that a worker, or all, have started so far: worker-0/app-.../0."""
        return set(self.folder.glob(f"{worker}/app-*/*"))

    def kill(self, name: str) -> None:
        """Kill a process, and the executors that it started, without a warning."""
        if self.processes[name].poll() is None:
            os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes[name].wait()

    def stop(self) -> None:
        for name in self.processes:
            self.kill(name)
