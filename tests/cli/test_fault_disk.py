"""Disks that fail or are full at some step: exit status 2 and a clear message, the older release, nothing left."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest
from fault_scenes import CASES, Scene, count_steps, some, wrongs_after_stop
from forking_publisher import ForkingPublisher
from system_calls import READS, TAKES_SPACE, can_intercept

pytestmark = pytest.mark.skipif(not can_intercept(), reason="this system does not hold calls for another process")
FAILURES: dict[str, dict[str, Any]] = {
    "full": {"error": errno.ENOSPC, "always": True, "only": sorted(TAKES_SPACE)},
    "full for a moment": {"error": errno.ENOSPC, "only": sorted(TAKES_SPACE)},
    "quota": {"error": errno.EDQUOT, "always": True, "only": sorted(TAKES_SPACE)},
    "broken": {"error": errno.EIO, "always": True, "only": sorted(TAKES_SPACE)},
    "read-only": {"error": errno.EROFS, "always": True},
    "unreadable": {"error": errno.EIO, "always": True, "only": sorted(READS), "with_reads": True},
}
# Each failure once, by turns held and in batches; `make test-long` has all failures of all cases.
QUICK = [
    ("csv", "full"),
    ("in batches, several files", "full for a moment"),
    ("perturb", "quota"),
    ("in batches, perturb parquet", "broken"),
    ("beside other files", "read-only"),
    ("in batches, compressed", "unreadable"),
]
EVERY = [
    pytest.param(name, failure, marks=() if (name, failure) in QUICK else pytest.mark.long)
    for name in CASES
    for failure in FAILURES
]


def test_each_failure_is_met_and_every_case_exists() -> None:
    assert {failure for _, failure in QUICK} == set(FAILURES)
    assert {name for name, _ in QUICK} < set(CASES)


@pytest.mark.some(2)
@pytest.mark.parametrize(("name", "failure"), EVERY)
def test_a_disk_that_fails_at_some_step(tmp_path: Path, publisher: ForkingPublisher, name: str, failure: str) -> None:
    scene = Scene.build(tmp_path / "scene", CASES[name], has_older=bool(list(CASES).index(name) % 2))
    fault = FAILURES[failure]
    n_steps = count_steps(scene, publisher, **{key: fault[key] for key in ("only", "with_reads") if key in fault})
    before, wrong = scene.state(), []
    for step in some(range(n_steps), 1, offset=n_steps // 3):
        here = scene.copy(scene.folder.parent / f"step-{step}")
        status, text = here.play(publisher, {"step": step, **fault})
        at = f"step {step} of {n_steps}, {publisher.steps[step : step + 1]}"
        statuses = (0, 1, 2) if failure in ("unreadable", "read-only") else (0, 2)
        if status not in statuses:
            wrong.append(f"{at}: exit code {status} {text}")
        if status == 2 and failure == "full" and "space" not in text:
            wrong.append(f"{at}: no word of the disk: {text}")
        faults = wrongs_after_stop(here, before, status, text, can_remove=failure != "read-only")
        wrong += [f"{at}: {what}" for what in faults]
        shutil.rmtree(here.folder)
    assert not wrong, "\n".join(wrong)
