"""How far a job is: its steps in words, the share that is done, and the time that is left."""

from __future__ import annotations

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
    "open": {"load": 0.3, "describe": 0.4, "count": 0.3},
    "publish": {
        "load": 0.15,
        "count": 0.1,
        "plan": 0.4,
        "assign": 0.1,
        "write": 0.1,
        "verify": 0.13,
        "publish": 0.02,
    },
    "measure": {"risk": 0.3, "utility": 0.7},
}
# The step that shows a task.
PAGES = {"open": "open", "count": "hierarchies", "tree": "hierarchies", "explore": "promise", "publish": "publish"}
PAGES |= {"measure": "look", "attack": "look", "report": "take-away"}
SURE = 0.15  # share from which on the time left is worth showing


def progress_of(job: PageJob) -> dict[str, Any]:
    """Return what a page shows of a job."""
    outcome, steps = job.outcome, job.steps
    weights = WEIGHTS.get(job.order.task, {})
    share = _share(steps, weights) if outcome.state == "running" else 1.0
    left = None
    if outcome.state == "running" and share is not None and share >= SURE and outcome.seconds > 2:
        left = outcome.seconds * (1 - share) / share
    reached = [step.step for step in steps]
    listed = [
        {"words": WORDS.get(name, name), "state": _state(name, reached, outcome.state)}
        for name in (weights or dict.fromkeys(reached[-1:]))
    ]
    return {
        "number": job.number,
        "task": job.order.task,
        "page": PAGES[job.order.task],
        "state": outcome.state,
        "message": sentence(outcome.message),
        "kind": outcome.kind,
        "result": outcome.result,
        "seconds": outcome.seconds,
        "share": share,
        "left": left,
        "steps": listed,
        "part": steps[-1].part if steps else "",
    }


def _share(steps: list[Step], weights: dict[str, float]) -> float | None:
    """Return the share of a job that is done; None where that is unknown."""
    if not weights or not steps:
        return None
    names, last = list(weights), steps[-1]
    if last.step not in weights:
        return None
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
