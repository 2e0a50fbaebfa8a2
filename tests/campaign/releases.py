"""One seed of whole releases: make the job, publish it through files, check what was written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from betalike.errors import InfeasibleError, InputError

from . import publishing
from .checker import check_release
from .extras import draw_job, draw_spark_job
from .jobs import Job
from .outcome import Outcome, refusal

SHARED_MEMORY = Path("/dev/shm")
VERIFIED_EVERY = 3  # our own verifier takes as long as publishing, and the checks here do not need it


def scratch_home() -> Path | None:
    """Where files cost least: in memory, where the system has such a place."""
    return SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None


def check_seed(seed: int, is_plain: bool = False) -> Outcome:
    """Publish and check the job of a seed."""
    return _check(draw_job(seed, is_plain), Outcome(seed, "release", ""))


def check_spark_seed(seed: int) -> Outcome:
    """Publish the job of a seed with Spark, and check it."""
    return _check(draw_spark_job(seed), Outcome(seed, "spark", ""))


def _check(job: Job, outcome: Outcome) -> Outcome:
    about = f"{job.scheme} {job.promise.model} {job.source} {job.engine} {job.form}"
    outcome.about = about if job.is_seeded else f"{about} unseeded"
    with tempfile.TemporaryDirectory(prefix="campaign-", dir=scratch_home()) as place:
        try:
            out, table = publishing.publish(job, Path(place))
        except (InputError, InfeasibleError) as error:
            outcome.refused = refusal(error)
            _check_nothing_left(Path(place), outcome)
            return outcome
        _check_nothing_else(Path(place), outcome)
        check_release(job, out, outcome)
        # Only it follows each row to its person, and it must not take two texts for one.
        if outcome.seed % VERIFIED_EVERY == 0 or job.person is not None or job.has_alike_texts:
            for name, passed in publishing.verify(job, out, table).items():
                outcome.expect(passed, "verify", f"betalike's own check '{name}' fails")
    return outcome


def _check_nothing_left(place: Path, outcome: Outcome) -> None:
    """A refused job leaves neither a release nor scratch files."""
    left = [path for path in place.iterdir() if not path.name.startswith("table.")]
    outcome.expect(not left, "file", "something is left behind by a refused job")


def _check_nothing_else(place: Path, outcome: Outcome) -> None:
    """Beside the release there is nothing but the table."""
    others = [path for path in place.iterdir() if not path.name.startswith("table.") and path.name != "release"]
    outcome.expect(not others, "file", "scratch files are left beside a release")
