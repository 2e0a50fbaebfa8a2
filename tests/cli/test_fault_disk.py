"""Disks that fail or are full at every step: exit status 2 and a clear message, the older release, nothing left."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest
from fault_scenes import CASES, IS_LONG, Scene, some, wrongs_after_stop
from forking_publisher import ForkingPublisher
from system_calls import READS, TAKES_SPACE, can_intercept
from test_fault_kill import count_steps

pytestmark = pytest.mark.skipif(not can_intercept(), reason="this system does not hold calls for another process")
FAILURES: dict[str, dict[str, Any]] = {
    "full": {"error": errno.ENOSPC, "always": True, "only": sorted(TAKES_SPACE)},
    "full for a moment": {"error": errno.ENOSPC, "only": sorted(TAKES_SPACE)},
    "quota": {"error": errno.EDQUOT, "always": True, "only": sorted(TAKES_SPACE)},
    "broken": {"error": errno.EIO, "always": True, "only": sorted(TAKES_SPACE)},
    "read-only": {"error": errno.EROFS, "always": True},
    "unreadable": {"error": errno.EIO, "always": True, "only": sorted(READS), "with_reads": True},
}


@pytest.fixture(params=CASES)
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    return Scene.build(tmp_path / "scene", CASES[request.param], has_older=bool(list(CASES).index(request.param) % 2))


@pytest.mark.parametrize("failure", FAILURES)
def test_a_disk_that_fails_at_any_step(
    scene: Scene, publisher: ForkingPublisher, failure: str, request: pytest.FixtureRequest
) -> None:
    number = list(CASES.values()).index(scene.case) + list(FAILURES).index(failure)
    if not IS_LONG and number % 3:
        pytest.skip("a third of the cases; all with BETALIKE_TEST_LONG=1")
    fault = FAILURES[failure]
    kept = {name: fault[name] for name in ("only", "with_reads") if name in fault}
    n_steps = count_steps(scene, publisher, **kept)
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
