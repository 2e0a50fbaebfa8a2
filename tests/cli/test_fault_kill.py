"""Kill -9 and signals at every step on the file system: a whole release, the older one, or none; and nothing leaks."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest
from fault_scenes import CASES, IS_LONG, Scene, some, wrongs_after_kill, wrongs_after_stop
from forking_publisher import ForkingPublisher
from system_calls import can_intercept

pytestmark = pytest.mark.skipif(not can_intercept(), reason="this system does not hold calls for another process")
COUNT = {"step": -1}


@pytest.fixture(params=["fresh", "older release"])
def has_older(request: pytest.FixtureRequest) -> bool:
    return request.param == "older release"


@pytest.fixture(params=CASES)
def scene(request: pytest.FixtureRequest, tmp_path: Path, has_older: bool) -> Scene:
    case = list(CASES).index(request.param)
    if not IS_LONG and has_older != bool(case % 2):
        pytest.skip("half of the cases; all with BETALIKE_TEST_LONG=1")
    return Scene.build(tmp_path / "scene", CASES[request.param], has_older)


def count_steps(scene: Scene, publisher: ForkingPublisher, **fault: object) -> int:
    """Count the steps of a publish without a fault, which must be whole and leave nothing."""
    copy = scene.copy(scene.folder.parent / "counting")
    before = copy.state()
    status, text = copy.play(publisher, {**COUNT, **fault})
    assert status == 0, text
    assert copy.is_new()
    assert copy.left_in(copy.state(), before) == []
    shutil.rmtree(copy.folder)
    return len(publisher.steps)


def test_a_kill_at_any_step(scene: Scene, publisher: ForkingPublisher) -> None:
    n_steps = count_steps(scene, publisher)
    assert n_steps > 8
    before, wrong = scene.state(), []
    for step in some(range(n_steps), 3):
        here = scene.copy(scene.folder.parent / f"step-{step}")
        status, text = here.play(publisher, {"step": step, "signal": signal.SIGKILL})
        at = f"step {step} of {n_steps}, {publisher.steps[-1:]}"
        is_through = status == 0 and len(publisher.steps) <= step and here.is_new()  # threads save a step at times
        if status != -signal.SIGKILL and not is_through:
            wrong.append(f"{at}: exit code {status} {text}")
        wrong += [f"{at}: {what}" for what in wrongs_after_kill(here, before)]
        if here.has_older or not here.out.exists():
            status, text = here.play(publisher)
            if status != 0 or not here.is_new():
                wrong.append(f"{at}: the next publish fails: {status} {text}")
            if left := here.left_in(here.state(), before):
                wrong.append(f"{at}: the next publish leaves {left}")
        shutil.rmtree(here.folder)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("always", [False, True], ids=["once", "again and again"])
def test_a_signal_at_any_step(scene: Scene, publisher: ForkingPublisher, number: signal.Signals, always: bool) -> None:
    n_steps = count_steps(scene, publisher)
    before, wrong = scene.state(), []
    for step in some(range(n_steps), 1, offset=n_steps // 2):
        here = scene.copy(scene.folder.parent / f"step-{step}")
        status, text = here.play(publisher, {"step": step, "signal": number, "always": always})
        at = f"step {step} of {n_steps}, {publisher.steps[step : step + 1]}"
        if status not in ((0, 130, -number) if always else (0, 130)):  # it may be through when the last one comes
            wrong.append(f"{at}: exit code {status} {text}")
        if status == 130 and "interrupted" not in text:
            wrong.append(f"{at}: no word of the interruption: {text}")
        wrong += [f"{at}: {what}" for what in wrongs_after_stop(here, before, status, text)]
        shutil.rmtree(here.folder)
    assert not wrong, "\n".join(wrong)
