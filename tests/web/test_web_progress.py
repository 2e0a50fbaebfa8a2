"""What the page says of a job that runs: which step it is in, and how long it still takes, once that is known."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from serving import Served, open_people, text_of

from betalike.web.jobs import Step
from betalike.web.progress import WEIGHTS, time_left

pytestmark = pytest.mark.xdist_group("web-progress")
PUBLISH = WEIGHTS["publish"]


def steady(total: float, startup: float) -> Iterator[Step]:
    """Yield the lines of a job whose steps take their usual shares of the time, and report it ten times a second."""
    at = startup
    for step, weight in PUBLISH.items():
        n_lines = max(round(10 * total * weight), 1)
        for done in range(n_lines):
            yield Step(step, at + done * total * weight / n_lines, done, n_lines)
        at += total * weight


def said(lines: list[Step], ends: float) -> list[tuple[float, float]]:
    """Return each time at which the page says how long a job still takes, with what it says."""
    times = [number / 2 for number in range(int(2 * ends))]
    estimates = [(at, time_left([line for line in lines if line.at <= at], PUBLISH, at)) for at in times]
    return [(at, left) for at, left in estimates if left is not None]


def test_the_time_left_of_a_steady_job_is_said_and_true() -> None:
    total, startup = 60.0, 3.0
    found = said(list(steady(total, startup)), startup + total)
    assert found[0][0] <= 20
    for at, left in found:
        assert left == pytest.approx(startup + total - at, rel=0.2, abs=2)


def test_a_short_job_says_nothing() -> None:
    assert said(list(steady(9, 2)), 11) == []


@pytest.mark.parametrize("pace", [1.0, 1.4, 2.5])
def test_a_job_whose_steps_take_other_shares_than_usual_says_nothing_wild(pace: float) -> None:
    """As it was measured: a census of 500,000 rows, where the plan does not say how far it is."""
    begins = {"load": 6.3, "count": 7.1, "plan": 8.8, "assign": 11.4, "write": 11.6, "verify": 11.7, "publish": 12.3}
    ends = pace * 12.4
    found = said([Step(name, pace * at) for name, at in begins.items()], ends)
    assert all(left <= 2 * (ends - at) + 2 for at, left in found), found


def test_a_step_that_never_ends_says_nothing() -> None:
    assert said([Step("load", 2), Step("count", 4), Step("plan", 6)], 100) == []


def test_a_job_that_has_not_begun_says_so(served: Served) -> None:
    project = open_people(served)
    with served.gate():
        number = served.start_publishing(project)
        shown = served.get(f"/p/{project}/jobs/{number}").text
        assert re.findall(r'<li class="now">(.*?) ', shown) == ["starting"]
        assert "Working 0 s" not in text_of(shown)
    assert served.wait(project, number) == "done"
