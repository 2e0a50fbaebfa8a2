"""The invented people behind `census_like`: how each attribute depends on the ones drawn before it.

Ids in this file count from 0; `draw` turns them into ages and codes. The words behind the codes are in
`census_like_hierarchies`. Every number is made up.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from betalike.runtime.arrays import Floats, Ids, Ints

__all__ = ["QUASI_IDENTIFIERS", "SALARY_PER_MILLE", "Population"]


AGES = np.arange(16, 94)
EDUCATIONS = np.arange(1, 18)
AGE_BANDS = np.arange(8)  # tens of years since 16

QUASI_IDENTIFIERS = ("age", "gender", "education", "marital_status", "race", "work_class", "country")

# Conditional shares are rounded to this grid, so that a draw is one look-up instead of a search.
SLOTS = 1 << 13

# Per mille of the people in each salary class: low classes frequent, high classes rare, uneven like rounded incomes.
SALARY_PER_MILLE: Ints = np.ravel(
    [
        [21, 13, 17, 26, 31, 30, 38, 33, 42, 36],
        [49, 35, 45, 34, 40, 32, 44, 31, 37, 28],
        [33, 22, 26, 19, 22, 16, 19, 11, 16, 8],
        [14, 7, 12, 9, 15, 6, 8, 5, 10, 4],
        [13, 3, 7, 4, 9, 3, 5, 2, 4, 6],
    ]
).astype(np.int64)

# Spread of what the columns do not explain. It is set so that age, gender and education together help a guess of the
# salary class only moderately.
SALARY_NOISE = 0.85


class Population:
    """Look-up tables, built once, from which any number of people can be drawn."""

    def __init__(self) -> None:
        self.age = as_slots(age_shares())
        self.gender = as_slots(gender_shares())
        self.education = as_slots(education_shares())
        self.marital_status = as_slots(marital_shares())
        self.race = as_slots(race_shares())
        self.country = as_slots(country_shares())
        self.work_class = as_slots(work_shares())
        self.age_effect = salary_by_age_and_gender()
        self.education_effect = salary_by_education()
        self.status_effect = salary_by_marital_status_and_work()

    def draw(self, rng: np.random.Generator, rows: int) -> tuple[dict[str, Ids], Floats]:
        """Draw the columns of some people, and the score that ranks their salaries."""
        anyone = np.zeros(rows, dtype=np.int32)
        age = draw_from(self.age, anyone, rng)
        gender = draw_from(self.gender, age, rng)
        education = draw_from(self.education, age, rng)
        marital_status = draw_from(self.marital_status, age * 2 + gender, rng)
        race = draw_from(self.race, anyone, rng)
        work_class = draw_from(self.work_class, (age // 10 * 2 + gender) * len(EDUCATIONS) + education, rng)
        country = draw_from(self.country, race, rng)
        score = SALARY_NOISE * rng.standard_normal(rows)
        score += self.age_effect.take(age * 2 + gender)
        score += self.education_effect.take(education)
        score += self.status_effect.take(marital_status * 10 + work_class)
        codes = (gender, education, marital_status, race, work_class, country)
        return dict(zip(QUASI_IDENTIFIERS, [age + 16, *(code + 1 for code in codes)], strict=True)), score


def as_slots(weights: Floats) -> npt.NDArray[np.uint8]:
    """Return, for each context (row of weights), SLOTS equally likely values that follow the weights."""
    shares = weights / weights.sum(axis=1, keepdims=True)
    ends = np.rint(np.cumsum(shares, axis=1) * SLOTS).astype(np.int64)
    counts = np.diff(ends, axis=1, prepend=0)
    values = np.arange(weights.shape[1], dtype=np.uint8)
    return np.concatenate([np.repeat(values, row) for row in counts])


def draw_from(slots: npt.NDArray[np.uint8], contexts: Ids, rng: np.random.Generator) -> Ids:
    """Draw one value per person from the slots of the person's context."""
    picks = rng.integers(0, SLOTS, size=len(contexts), dtype=np.uint16)
    return slots.take(contexts * SLOTS + picks).astype(np.int32)


def age_shares() -> Floats:
    """Return a pyramid with a broad middle; 93 also stands for everyone older, so the top stays populated."""
    weights = np.interp(AGES, [16, 19, 27, 38, 51, 62, 70, 80, 92, 93], [6, 13, 20, 24, 22, 15, 9, 4, 0.8, 1.1])
    return weights[np.newaxis, :]


def gender_shares() -> Floats:
    """Make men slightly more frequent among the young, and women clearly more frequent among the old."""
    women = np.interp(AGES, [16, 40, 65, 93], [0.48, 0.46, 0.51, 0.66])
    return np.column_stack([1 - women, women])


def education_shares() -> Floats:
    """Let younger cohorts study longer; nobody holds a degree before the age it takes."""
    popularity = np.array([6, 1, 2, 3, 4, 8, 7, 8, 9, 34, 24, 6, 7, 26, 14, 9, 13])
    earliest_age = np.array([16, 16, 16, 16, 16, 16, 16, 16, 17, 17, 18, 20, 20, 21, 23, 24, 26])
    typical = np.interp(AGES, [16, 22, 32, 60, 93], [8.5, 11.0, 12.2, 11.2, 8.2])
    distance = (EDUCATIONS - typical[:, np.newaxis]) / 3.6
    return popularity * np.exp(-(distance**2) / 2) * (AGES[:, np.newaxis] >= earliest_age)


def marital_shares() -> Floats:
    """Let few marry before 20, divorce peak in the fifties, and widows outnumber widowers."""
    contexts = []
    for age in AGES:
        for marries_at, widowed_at in [(28.5, 88.0), (26.5, 79.0)]:
            single = 0.09 + 0.91 / (1 + np.exp((age - marries_at) / 3.2))
            widowed = (1 - single) / (1 + np.exp((widowed_at - age) / 6.0))
            divorced = (1 - single - widowed) * np.interp(age, [18, 35, 54, 93], [0.03, 0.15, 0.24, 0.10])
            wed = 1 - single - widowed - divorced
            contexts.append([wed * 0.93, wed * 0.03, wed * 0.04, divorced, widowed, single])
    return np.array(contexts)


def race_shares() -> Floats:
    """Return one large group, a few middling and some small ones."""
    return np.array([[740.0, 105, 12, 21, 7, 46, 38, 24, 7]])


def country_shares() -> Floats:
    """Let most people be born in country 1; some groups immigrated more recently."""
    born_here = np.array([0.94, 0.91, 0.97, 0.42, 0.55, 0.38, 0.66, 0.86, 0.80])
    abroad = np.arange(1, 83)
    contexts = []
    for race, share in enumerate(born_here):
        # Each group has its own favourite origins: the same long tail, begun at another country.
        tail = np.roll(1 / (abroad + 3.0), 9 * race)
        contexts.append(np.append(share, (1 - share) * tail / tail.sum()))
    return np.array(contexts)


def work_shares() -> Floats:
    """Return the shares of work classes by age band, gender and education, log-linear in each."""
    usual = np.log([0.010, 0.006, 0.075, 0.035, 0.640, 0.070, 0.065, 0.045, 0.035, 0.010])
    by_education = np.array([-1.2, -0.5, -0.1, 0.4, -0.3, 0.9, 0.8, 1.0, 0.8, 0.3])
    by_woman = np.array([0.2, 0.6, -0.4, -0.7, -0.1, 0.6, 0.4, 0.3, -0.1, -1.6])
    by_band = np.array([-0.25, -0.1, 0.3, 0.3, -0.05, 0.05, 0.1, 0.1, 0.1, -0.9])
    youth = np.array([2.2, 1.0, -0.8, -1.5, 0, 0, -0.2, 0, -0.8, 0.4])
    band, woman, education = (
        grid.reshape(-1, 1) for grid in np.meshgrid(AGE_BANDS, [0, 1], (EDUCATIONS - 10) / 7, indexing="ij")
    )
    logs: Floats = usual + by_education * education + by_woman * woman + by_band * (band - 2) + youth * (band == 0)
    return np.exp(logs)


def salary_by_age_and_gender() -> Floats:
    """Let pay rise until the fifties and fall later; the gap between the genders widens with age."""
    career = np.interp(AGES, [16, 20, 26, 36, 50, 60, 67, 93], [-1.5, -0.9, -0.2, 0.25, 0.45, 0.35, 0.0, -0.5])
    gap = np.interp(AGES, [16, 25, 45, 93], [0.05, 0.15, 0.45, 0.40])
    return np.column_stack([career, career - gap]).ravel()


def salary_by_education() -> Floats:
    """Pay a little more for each level, and markedly more for degrees (levels 14 to 17)."""
    return np.interp(EDUCATIONS, [1, 13, 14, 17], [-0.50, 0.17, 0.47, 1.00])


def salary_by_marital_status_and_work() -> Floats:
    """Pay settled people and employers more, and unpaid workers least."""
    marital_status = np.array([0.12, 0.0, -0.08, 0.02, -0.05, -0.10])
    work_class = np.array([-1.4, -1.1, -0.15, 0.45, 0.0, -0.12, 0.02, 0.08, 0.25, 0.05])
    effect: Floats = marital_status[:, np.newaxis] + work_class
    return effect.ravel()
