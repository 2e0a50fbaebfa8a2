"""Program: what a reader who knows the program, and has a table of the same kind, learns from the program's choices.

The adversary publishes their own table with the same program and learns how a member's value depends on what they see:
class shares, the member's place, labels, overlaps, values at their caps. Then they apply it to the release. By default
a random half of the original is theirs, and the other half is published for the attack.
"""

from __future__ import annotations

import numpy as np

from betalike.attacks.control_release import replan
from betalike.attacks.program.crowd import Crowd, Space
from betalike.attacks.program.leak import Leak, ProgramLeak, find_leaks
from betalike.attacks.result import AttackResult, Rate
from betalike.attacks.target import Generalized, Shadow, Target, part_of
from betalike.errors import InputError
from betalike.promises import Likeness
from betalike.runtime.arrays import Floats, Ints
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness, SystemRandomness, uniform
from betalike.schemes import Burel, make_scheme
from betalike.schemes.burel.buckets import fewest_buckets
from betalike.schemes.retrieval import number_buckets
from betalike.table.cells import Cells

NAME = "program"
FEWEST_ROWS = 200
WITHOUT_CLASSES = "the release has no classes, so the program did not choose who is published with whom."


def program(target: Target, randomness: Randomness | None = None, progress: Progress = SILENT) -> AttackResult:
    """Attack the program that made a release; success and baseline are for people whose class is known.

    The baseline is guess (b), class shares and a population model; success is guess (c), which adds the program's
    choices. The control adds to the baseline what (c) gains where values are redrawn in the same classes.
    """
    chance = randomness or SystemRandomness()
    if not isinstance(target, Generalized):
        return AttackResult(NAME, refusal=WITHOUT_CLASSES)
    shadow = target.own or Shadow(target.cells, halves(target.cells, chance))
    space, tables = Space.of(shadow.cells), shadow.tables
    fewest = min(cells.n_rows for cells, _ in tables)
    if fewest < FEWEST_ROWS:
        raise InputError(f"the attack '{NAME}' learns from tables of {FEWEST_ROWS} rows or more, and one has {fewest}.")
    progress.start("publishing both tables")
    crowds = [publish_crowd(target, space, *table, chance) for table in tables]
    return _result(target, find_leaks(crowds[0], crowds[1], chance, progress))


def halves(cells: Cells, randomness: Randomness) -> list[tuple[Cells, Ints]]:
    """Part the rows of a table at random: the adversary's half and the published one."""
    row = np.repeat(np.arange(len(cells.count)), cells.count)
    order = np.argsort(uniform(len(row), randomness), kind="stable")
    counts = np.bincount(row[order[: len(row) // 2]], minlength=len(cells.count)).astype(np.int64)
    return [part_of(cells, counts), part_of(cells, cells.count - counts)]


def publish_crowd(target: Target, space: Space, cells: Cells, point_of: Ints, randomness: Randomness) -> Crowd:
    """Publish a table as the target was published, and return who is in which class."""
    plan = replan(target, cells, randomness)
    return Crowd.of(space, point_of, plan, _caps(target, cells), _kinds(target, cells, randomness))


def _caps(target: Target, cells: Cells) -> Floats:
    """Return the largest share that the promise allows for each value, 1 if it is not a likeness."""
    if target.caps is None:
        return np.ones(cells.sensitive.size)
    assert isinstance(target.model, Likeness)
    return target.model.ceilings(cells.value_counts)


def _kinds(target: Target, cells: Cells, randomness: Randomness) -> Ints:
    """Number the values by what the program distinguishes when it chooses rows: BUREL's buckets, or each value."""
    if not isinstance(make_scheme(target.scheme, randomness, **dict(target.options)), Burel):
        return np.arange(cells.sensitive.size)
    assert isinstance(target.model, Likeness)
    return number_buckets(
        fewest_buckets(cells.value_counts, target.model.caps(cells.value_counts)), cells.sensitive.size
    )


def _result(target: Generalized, found: ProgramLeak) -> AttackResult:
    known, control = found.leaks["known"], found.controls["known"]
    n = known.people
    success, baseline = Rate.of(known.program.success * n, n), Rate.of(known.population.success * n, n)
    against = Rate.of(min(max(known.population.success + control.points.rate, 0.0), 1.0) * n, n)
    unknown = found.leaks["unknown"]
    sentence = (
        f"To an adversary who has the program and a table of the same kind, and knows who is in which class, the "
        f"choices of '{target.scheme}' add {_figures(known)}; without knowing the classes, {_figures(unknown)}; where "
        f"the choices do not depend on values, {_figures(control)}."
    )
    if target.caps is not None:
        sentence += (
            f" Some value is likelier than its cap for {100 * known.program.above:.3g} % of the rows whose class is "
            f"known, and for {100 * known.population.above:.3g} % with a population model alone."
        )
    details = {form: found.leaks[form].to_dict() | {"control": found.controls[form].to_dict()} for form in found.leaks}
    return AttackResult(NAME, n, success, baseline, against, sentence, details)


def _figures(leak: Leak) -> str:
    value, points = leak.leak, leak.points
    return (
        f"{value.rate:z.3f} ({value.low:z.3f} to {value.high:z.3f}) to the log-likelihood per row and "
        f"{100 * points.rate:+z.1f} points of success"
    )
