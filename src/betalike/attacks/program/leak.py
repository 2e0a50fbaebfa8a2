"""The leak of a program: what its choices add to class shares and a population model, for one form of adversary."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from betalike.attacks.program.boosting import CandidatePairs, Learned, learn
from betalike.attacks.program.clues import plain_clues, program_clues
from betalike.attacks.program.crowd import FOLDS, Crowd
from betalike.attacks.program.population import PopulationModel, learn_population
from betalike.attacks.program.scene import Scene, Watch, known, unknown
from betalike.attacks.result import Rate, Z
from betalike.runtime.arrays import Bools, Floats, Ints
from betalike.runtime.progress import SILENT, Progress
from betalike.runtime.randomness import Randomness, uniform

# Who is in which class is known to the adversary, or not.
FORMS: dict[str, Watch] = {"known": known, "unknown": unknown}
HELD = 5  # one class (or point) in five decides how much is learned from the others
SCATTER = 2_654_435_761  # spreads the numbers of points, which lie in the order of the columns


@dataclass(frozen=True)
class GuessQuality:
    """How good a guess is: log-likelihood per person, people guessed right, and people with a value above its cap.

    Of those people, the value that is farthest above its cap is followed: `claimed` is its average chance, `capped`
    its average cap, and `seen` how many of them really have it, all as shares. A calibrated guess claims what is seen.
    """

    log_likelihood: float
    success: float
    above: float
    claimed: float
    capped: float
    seen: float


@dataclass(frozen=True)
class Leak:
    """What one form of adversary guesses from shares, with a population model, and with the program's choices.

    `leak` is the gain in log-likelihood per person of the last over the second, `points` that in the share of people
    who are guessed right, each with a 95 % interval.
    """

    people: int
    shares: GuessQuality
    population: GuessQuality
    program: GuessQuality
    leak: Rate
    points: Rate

    def to_dict(self) -> dict[str, Any]:
        """Return all figures."""
        return asdict(self)


@dataclass(frozen=True)
class ProgramLeak:
    """The leak of a program and that of a control with the same classes and redrawn values, for each form.

    The population models of both depend on the adversary's table and on the randomness, not on the program.
    """

    leaks: dict[str, Leak]
    controls: dict[str, Leak]
    models: tuple[PopulationModel, PopulationModel]


def find_leaks(
    own: Crowd,
    target: Crowd,
    randomness: Randomness,
    progress: Progress = SILENT,
    models: tuple[PopulationModel, PopulationModel] | None = None,
) -> ProgramLeak:
    """Learn from the adversary's own crowd, and guess the values of the people in the target.

    In the control, everybody has a value drawn from the population model, in the same classes. There the adversary
    also learns how to combine class shares and the model where choices say nothing, which is guess (b).
    """
    own = own.in_folds(randomness)
    population = learn_population(own, progress) if models is None else models[0]
    redrawn = redraw(own, population, randomness), redraw(target, population, randomness)
    chance_population = learn_population(redrawn[0], progress) if models is None else models[1]
    leaks, controls = {}, {}
    for form, watch in FORMS.items():
        scenes = [watch(crowd, chance_population, randomness) for crowd in redrawn]
        plain = _learn(scenes[0], plain_clues(scenes[0]), scenes[0].pairs(scenes[0].by_population), progress)
        controls[form] = _compare(scenes[0], scenes[1], plain, progress)
        leaks[form] = _compare(
            watch(own, population, randomness), watch(target, population, randomness), plain, progress
        )
    return ProgramLeak(leaks, controls, (population, chance_population))


def redraw(crowd: Crowd, population: PopulationModel, randomness: Randomness) -> Crowd:
    """Draw everybody's value from the population model; the classes stay."""
    point, number = np.unique(crowd.point, return_inverse=True)
    chances = population.chances(point, np.full(len(point), FOLDS))
    limits = np.cumsum(chances, axis=1)[number]
    drawn = (uniform(len(number), randomness)[:, None] * limits[:, -1:] > limits).sum(axis=1)
    return crowd.with_values(np.minimum(drawn, chances.shape[1] - 1))


def _learn(scene: Scene, clues: list[Floats], pairs: CandidatePairs, progress: Progress) -> Learned:
    cluster = scene.point * SCATTER >> 16 if scene.ec is None else scene.ec
    cluster = np.unique(cluster, return_inverse=True)[1]
    is_held: Bools = cluster % HELD == 0
    return learn(pairs, clues, is_held, cluster, progress)


def _compare(own: Scene, target: Scene, plain: Learned, progress: Progress) -> Leak:
    """Learn the program's choices from one scene, and return what they add to guesses about the other."""
    own_clues, clues = plain_clues(own), plain_clues(target)
    own_guess = plain.apply(own.pairs(own.by_population), own_clues)
    guess = plain.apply(target.pairs(target.by_population), clues)
    own_clues += program_clues(own)
    learned = _learn(own, own_clues, own_guess, progress)
    guesses = target.pairs(target.by_shares), target.settled(guess), guess
    if learned.trees:
        guesses = *guesses[:2], target.settled(learned.apply(guess, clues + program_clues(target)))
    else:
        guesses = *guesses[:2], guesses[1]
    fits, rights = zip(*(_judge(each) for each in guesses), strict=True)
    cluster = target.point if target.ec is None else target.ec
    caps = target.crowd.caps
    a, b, c = (_guess(each, fit, right, caps) for each, fit, right in zip(guesses, fits, rights, strict=True))
    leak, points = (gain_of(each[2] - each[1], target.sizes, cluster) for each in (fits, rights))
    return Leak(int(target.sizes.sum()), a, b, c, leak, points)


def _judge(pairs: CandidatePairs) -> tuple[Floats, Floats]:
    """Return the log-likelihood of each group, and how many of its people have its likeliest value."""
    chances = pairs.chances
    fit = np.add.reduceat(pairs.people * np.log(np.maximum(chances, 1e-12)), pairs.starts[:-1])
    return fit, pairs.people[_highest(pairs, chances)]


def _highest(pairs: CandidatePairs, number: Floats) -> Ints:
    """Return the pair of each group with the highest number."""
    group = np.repeat(np.arange(len(pairs.starts) - 1), np.diff(pairs.starts))
    return np.lexsort((-number, group))[pairs.starts[:-1]]


def _guess(pairs: CandidatePairs, fit: Floats, right: Floats, caps: Floats) -> GuessQuality:
    chances, n = pairs.chances, pairs.n_people
    cap = np.maximum(caps[pairs.value], 1e-12)
    worst = _highest(pairs, chances / cap)
    size = np.add.reduceat(pairs.people, pairs.starts[:-1])
    is_above = chances[worst] > cap[worst] * (1 + 1e-9)
    above = float(size[is_above].sum())
    of = max(above, 1.0)
    claimed, capped = (float((size * each[worst])[is_above].sum()) / of for each in (chances, cap))
    seen = float(pairs.people[worst][is_above].sum()) / of
    return GuessQuality(float(fit.sum()) / n, float(right.sum()) / n, above / n, claimed, capped, seen)


def gain_of(gain: Floats, sizes: Floats, cluster: Ints) -> Rate:
    """Return the average gain per person; people of one cluster are not independent of each other."""
    number = np.unique(cluster, return_inverse=True)[1]
    sums, people = np.bincount(number, gain), np.bincount(number, sizes)
    rate = float(sums.sum() / people.sum())
    n_clusters = len(people)
    spread = np.sqrt(((sums - rate * people) ** 2).sum() * n_clusters / max(n_clusters - 1, 1))
    reach = Z * float(spread / people.sum())
    return Rate(rate, rate - reach, rate + reach)
