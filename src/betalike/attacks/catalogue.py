"""The attacks by name, and how to run several on one release with a shared control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from betalike.attacks.composition import composition
from betalike.attacks.control_release import control_of
from betalike.attacks.corruption import corruption
from betalike.attacks.definetti import definetti
from betalike.attacks.minimality import minimality
from betalike.attacks.naive_bayes import naive_bayes
from betalike.attacks.result import AttackReport, AttackResult
from betalike.attacks.skewness import similarity, skewness
from betalike.attacks.target import Target
from betalike.errors import InfeasibleError, InputError, ParameterError, suggestion
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness


class Round:
    """One round of attacks: the release, a source of randomness, and a control that is made when first needed."""

    def __init__(self, target: Target, randomness: Randomness, second: Target | None = None) -> None:
        self.target, self.randomness, self.second = target, randomness, second

    @cached_property
    def control(self) -> Target:
        """The shuffled table, published in the same way."""
        return control_of(self.target, self.randomness)


ATTACKS: dict[str, Callable[[Round], AttackResult]] = {
    "naive-bayes": lambda it: naive_bayes(it.target, it.randomness, it.control),
    "definetti": lambda it: definetti(it.target, it.randomness, it.control),
    "skewness": lambda it: skewness(it.target, it.randomness, it.control),
    "similarity": lambda it: similarity(it.target, it.randomness, it.control),
    "minimality": lambda it: minimality(it.target, it.randomness),
    "corruption": lambda it: corruption(it.target, it.randomness),
    "composition": lambda it: composition(it.target, it.second, it.randomness),
}


def check_names(names: Sequence[str]) -> list[str]:
    """Return the named attacks, each once; raise an error for an unknown name."""
    for name in names:
        if name not in ATTACKS:
            raise ParameterError(
                f"there is no attack '{name}'. There are: {', '.join(ATTACKS)}.{suggestion(name, ATTACKS)}"
            )
    if not names:
        raise ParameterError(f"name at least one attack of: {', '.join(ATTACKS)}.")
    return list(dict.fromkeys(names))


def run_attacks(
    target: Target,
    names: Sequence[str],
    randomness: Randomness,
    second: Target | None = None,
    progress: Progress = SILENT,
) -> AttackReport:
    """Run attacks; one that does not apply to this release says why, and the others go on."""
    it = Round(target, randomness, second)
    results = []
    for name in progress.track(check_names(names), "attacking"):
        progress.start(f"attack: {name}")
        try:
            results.append(ATTACKS[name](it))
        except (InputError, InfeasibleError) as error:
            results.append(AttackResult(name, refusal=str(error)))
    return AttackReport(target.scheme, target.n_rows, results)
