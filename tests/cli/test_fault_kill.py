"""Kill -9 and signals at steps on the file system: a whole release, the older one, or none; and nothing leaks."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest
from fault_scenes import CASES, QUICK, Scene, count_steps, some, wrongs_after_kill, wrongs_after_stop
from forking_publisher import ForkingPublisher
from system_calls import can_intercept

pytestmark = pytest.mark.skipif(not can_intercept(), reason="this system does not hold calls for another process")
MOST_STEPS = 60  # some tables are written in 300 steps, which repeat themselves
SIGNALS = [(number, always) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) for always in (False, True)]


def build(folder: Path, name: str) -> Scene:
    """Set the scene of a case; every second one has an older release."""
    return Scene.build(folder / "scene", CASES[name], has_older=bool(list(CASES).index(name) % 2))


def wrongs_of_kills(scene: Scene, publisher: ForkingPublisher, steps: Iterable[int]) -> list[str]:
    """Kill a publish at each of these steps, publish again, and list what is wrong."""
    before, wrong = scene.state(), []
    for step in steps:
        here = scene.copy(scene.folder.parent / f"step-{step}")
        status, text = here.play(publisher, {"step": step, "signal": signal.SIGKILL})
        at = f"step {step}, {publisher.steps[-1:]}"
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
    return wrong


@pytest.mark.some(2)
@pytest.mark.parametrize("name", QUICK[::2])
def test_a_kill_at_some_steps(tmp_path: Path, publisher: ForkingPublisher, name: str) -> None:
    scene = build(tmp_path, name)
    n_steps = count_steps(scene, publisher)
    assert n_steps > 8
    assert wrongs_of_kills(scene, publisher, some(range(n_steps), 2)) == []


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_a_kill_at_every_step(tmp_path: Path, publisher: ForkingPublisher, name: str) -> None:
    scene = build(tmp_path, name)
    n_steps = count_steps(scene, publisher)
    assert wrongs_of_kills(scene, publisher, some(range(n_steps), MOST_STEPS)) == []


def wrongs_of_signal(
    scene: Scene, publisher: ForkingPublisher, step: int, number: signal.Signals, always: bool
) -> list[str]:
    """Send a publish a signal at a step, once or again and again, and list what is wrong."""
    before = scene.state()
    here = scene.copy(scene.folder.parent / f"step-{step}")
    status, text = here.play(publisher, {"step": step, "signal": number, "always": always})
    wrong = list(wrongs_after_stop(here, before, status, text))
    if status not in ((0, 130, -number) if always else (0, 130)):  # it may be through when the last one comes
        wrong.append(f"exit code {status} {text}")
    if status == 130 and "interrupted" not in text:
        wrong.append(f"no word of the interruption: {text}")
    shutil.rmtree(here.folder)
    kind = f"{number.name} {'again and again' if always else 'once'}"
    return [f"step {step}, {publisher.steps[step : step + 1]}, {kind}: {what}" for what in wrong]


@pytest.mark.some(2)
@pytest.mark.parametrize("name", QUICK[1::2])
def test_each_signal_at_some_step(tmp_path: Path, publisher: ForkingPublisher, name: str) -> None:
    """Every case meets half of the signals, each at another step; the next case meets the other half."""
    scene = build(tmp_path, name)
    n_steps = count_steps(scene, publisher)
    mine = SIGNALS[QUICK.index(name) // 2 % 2 :: 2]
    steps = [n_steps * (2 * place + 1) // 6 for place in range(3)]
    wrong: list[str] = []
    for step, kind in zip(steps, mine, strict=True):
        wrong += wrongs_of_signal(scene, publisher, step, *kind)
    assert wrong == []


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_signals_by_turns_at_every_step(tmp_path: Path, publisher: ForkingPublisher, name: str) -> None:
    scene = build(tmp_path, name)
    steps = some(range(count_steps(scene, publisher)), MOST_STEPS)
    wrong: list[str] = []
    for place, step in enumerate(steps):
        wrong += wrongs_of_signal(scene, publisher, step, *SIGNALS[place % len(SIGNALS)])
    assert wrong == []
