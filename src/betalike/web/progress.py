"""How far a job is: its steps in words, the share that is done, and the time that is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from betalike.report.progress import STEPS
from betalike.web.jobs import PageJob, Step

WORDS = {
    **STEPS,
    "count": "counting",
    "describe": "guessing what the columns are",
    "risk": "measuring the risk, before and after",
    "utility": "comparing distributions, before and after",
}
# Usual shares of the time of each step, by task.
WEIGHTS = {
    "open": {"load": 0.05, "describe": 0.8, "count": 0.15},
    "publish": {
        "load": 0.1,
        "count": 0.15,
        "plan": 0.55,
        "assign": 0.05,
        "write": 0.03,
        "verify": 0.1,
        "publish": 0.02,
    },
    "measure": {"risk": 0.15, "utility": 0.85},
}
# The step that shows a task.
PAGES = {"open": "open", "count": "hierarchies", "tree": "hierarchies", "explore": "promise", "publish": "publish"}
PAGES |= {"measure": "look", "attack": "look", "report": "take-away"}
STARTING = "starting"  # before a process reports its first step
ENOUGH = 10.0  # seconds of work before the time left is worth showing
EARLIER = (1 / 2, 2 / 3, 5 / 6)  # of the work so far: estimates that were made then are compared with that of now
AGREEING = 0.2  # share of the last estimate by which they may differ


def progress_of(job: PageJob) -> dict[str, Any]:
    """Return what a page shows of a job."""
    outcome, lines = job.outcome, job.lines
    weights = WEIGHTS.get(job.order.task, {})
    is_running = outcome.state == "running"
    reached = list(dict.fromkeys(line.step for line in lines))
    listed = [
        {"words": WORDS.get(name, name), "state": _state(name, reached, outcome.state)}
        for name in (weights or dict.fromkeys(reached[-1:]))
    ]
    if is_running and not reached:
        listed = [{"words": STARTING, "state": "now"}, *listed]
    return {
        "number": job.number,
        "task": job.order.task,
        "page": PAGES[job.order.task],
        "state": outcome.state,
        "message": sentence(outcome.message),
        "kind": outcome.kind,
        "result": outcome.result,
        "seconds": outcome.seconds,
        "share": _share(lines, weights) if is_running else 1.0,
        "left": time_left(lines, weights, outcome.seconds) if is_running else None,
        "steps": listed,
        "part": lines[-1].part if lines else "",
    }


def time_left(lines: Sequence[Step], weights: Mapping[str, float], seconds: float) -> float | None:
    """Return the seconds that a job still takes; None until estimates that were made some time apart agree.

    The shares of steps are only usual ones. Where they do not fit, an estimate of the whole grows or shrinks on and on.
    """
    started = lines[0].at if lines else seconds
    passed = seconds - started
    if passed < ENOUGH:
        return None
    totals = []
    for past in (*(part * passed for part in EARLIER), passed):
        share = _share([line for line in lines if line.at <= started + past], weights)
        if not share:
            return None
        totals.append(past / share)
    is_steady = max(totals) - min(totals) <= AGREEING * totals[-1]
    return totals[-1] - passed if is_steady else None


def _share(lines: Sequence[Step], weights: Mapping[str, float]) -> float | None:
    """Return the share of a job that is done; None where that is unknown."""
    if not lines or lines[-1].step not in weights:
        return None
    names, last = list(weights), lines[-1]
    before = sum(weights[name] for name in names[: names.index(last.step)])
    within = min(last.done / last.total, 1.0) if last.total else 0.0
    return before + weights[last.step] * within


def _state(name: str, reached: list[str], state: str) -> str:
    if name not in reached:
        return "open"
    return "now" if name == reached[-1] and state == "running" else "done"


def sentence(message: str) -> str:
    """Return a message with a capital letter, unless it begins with a name, such as that of a file.

    >>> [sentence(text) for text in ("the table is empty.", "k is 0.", "people.csv is empty.")]
    ['The table is empty.', 'k is 0.', 'people.csv is empty.']
    """
    first = message.partition(" ")[0]
    is_word = len(first) > 1 and first.replace("-", "").rstrip(",:;").isalpha()
    return f"{message[:1].upper()}{message[1:]}" if is_word or first == "a" else message
