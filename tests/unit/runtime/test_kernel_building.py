"""Kernels that other processes compile ahead: found by the job, and compiled by the job if that fails."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from numba.core import event

from betalike.runtime import kernel_cache
from betalike.runtime.compilation import watched_compilation
from betalike.runtime.kernel_building import Build, Compiling, compile_ahead

SOURCE = """
from typing import Any

import numpy as np
from betalike.runtime.arrays import Ints
from betalike.runtime.compilation import kernel

@kernel
def one(x: int) -> int:
    return x + 1

@kernel
def large(values: Ints, x: int) -> int:
    {large}
    return x

@kernel
def open_for(keys: Any) -> int:
    return one(len(keys))

@kernel
def top(values: Ints) -> int:
    return one(1) * 100 + large(values, 0) + open_for(values)

@kernel
def other_top(values: Ints) -> int:
    return top(values) + large(values, 1)
"""
MANY_STEPS = "\n    ".join(f"x += values[{i}] % {i + 2}" for i in range(60))  # too many to be inlined
ONES = [1] * 60


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module with kernels of which none is stored, for this process and those that it starts."""
    (tmp_path / "steps_to_build.py").write_text(SOURCE.format(large=MANY_STEPS))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernel_cache.kernel_folder.cache_clear()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield _import()
    sys.modules.pop("steps_to_build")
    kernel_cache.kernel_folder.cache_clear()


def _import() -> ModuleType:
    sys.modules.pop("steps_to_build", None)
    importlib.invalidate_caches()
    return importlib.import_module("steps_to_build")


def _run(module: ModuleType) -> tuple[int, int]:
    """Return what a kernel answers, and how many kernels this process compiled for that."""
    import numpy as np

    with event.install_recorder("numba:compile") as compiled:
        answer = module.other_top(np.array(ONES))
    return answer, sum(item.is_start for _, item in compiled.buffer)


ANSWER = 200 + 60 + 61 + (60 + 1)


def test_what_other_processes_compiled_is_loaded(module: ModuleType) -> None:
    reports: list[Compiling | None] = []
    compile_ahead([module.top, module.other_top])
    with watched_compilation(reports.append):
        assert _run(module) == (ANSWER, 0)
    assert all(report is not None and 0 <= report.done <= report.total == 4 for report in reports)
    assert reports
    assert _run(_import()) == (ANSWER, 0)


def test_nothing_is_started_for_what_is_stored(module: ModuleType) -> None:
    assert _run(module)[0] == ANSWER
    assert not Build([_import().other_top]).tasks


def test_the_job_compiles_what_processes_that_die_do_not(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal = tmp_path / "python-that-dies"
    mortal.write_text("#!/bin/sh\nread kernel\n")
    mortal.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(mortal))
    compile_ahead([module.other_top])
    answer, n_compiled = _run(module)
    assert answer == ANSWER
    assert n_compiled == 5


@pytest.mark.some(2)
@pytest.mark.parametrize("program", ["", "/no/such/python", "/usr/bin/another-program"])
def test_the_job_compiles_all_where_no_process_can_be_started(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    compile_ahead([module.other_top])
    assert _run(module) == (ANSWER, 5)


def test_no_process_is_started_where_nothing_can_be_stored(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert not Build([module.other_top]).tasks
    monkeypatch.setattr(os, "geteuid", lambda: 12345)  # every folder belongs to another user
    kernel_cache.kernel_folder.cache_clear()
    assert kernel_cache.kernel_folder() is None
    assert not Build([module.other_top]).tasks
    assert _run(module) == (ANSWER, 5)


def test_a_large_kernel_whose_file_is_lost_is_compiled_again_with_its_callers(module: ModuleType) -> None:
    """Callers refer to its code by a name that the new code does not have."""
    assert _run(module) == (ANSWER, 5)
    folder = kernel_cache.kernel_folder()
    assert folder is not None
    (lost,) = folder.glob("large-*")
    size = max(path.stat().st_size for path in folder.glob("top-*"))
    assert lost.stat().st_size > size / 2
    lost.unlink()
    assert _run(_import())[0] == ANSWER
    assert _run(_import()) == (ANSWER, 0)


def test_progress_says_how_many_and_how_long() -> None:
    assert str(Compiling(12, 40, 14.2)) == "12 of 40 kernels compiled, about 14 s left"
    assert str(Compiling(0, 40, None)) == "0 of 40 kernels compiled"


def test_kernels_are_added_to_those_that_are_being_compiled(module: ModuleType) -> None:
    build = Build([module.large])
    build.add([module.other_top])
    assert build.wait_for(module.other_top)
    assert build.wait_for(module.large)
    assert not Build([_import().large, _import().other_top]).tasks
    assert _run(_import()) == (ANSWER, 0)


def test_what_the_job_waits_for_comes_first(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")  # no process can be started
    build = Build([module.other_top])
    assert not build.wait_for(module.one.within)  # no process is there
    taken = [build._take() for _ in range(2)]
    assert [task.kernel.__name__ for task in taken if task] == ["one", "large"]


def test_garbage_is_collected_as_before_after_compilation(module: ModuleType) -> None:
    seen: list[bool] = []

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            seen.append(gc.isenabled())

        def on_end(self, event: event.Event) -> None: ...

    assert gc.isenabled()
    with event.install_listener("numba:compile", Listener()):
        assert _run(module) == (ANSWER, 5)
    assert seen == [False] * 5
    assert gc.isenabled()
    gc.disable()
    try:
        assert _run(_import())[0] == ANSWER
        assert not gc.isenabled()
    finally:
        gc.enable()
