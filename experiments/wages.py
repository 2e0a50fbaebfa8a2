"""A simulated table like the Current Population Survey of the United States: earners with their hourly wages.

Every number is invented. The size of the effects is what textbooks report of such surveys: about 10 % more wage for a
year of schooling, less and less for a year of experience, 15 % for union members, 20 % less for women.
"""

from __future__ import annotations

import numpy as np
import polars as pl

EDUCATION = {9: 0.04, 10: 0.03, 11: 0.03, 12: 0.29, 13: 0.18, 14: 0.11, 16: 0.21, 18: 0.08, 20: 0.03}  # years: share
RACES = {"White": (0.66, 0.0), "Black": (0.11, -0.09), "Hispanic": (0.15, -0.07), "Asian": (0.06, 0.02)}
RACES["Other"] = (0.02, -0.05)
REGIONS = {"Northeast": (0.18, 0.06), "Midwest": (0.23, -0.02), "South": (0.36, -0.04), "West": (0.23, 0.05)}
LEAST_WAGE, MOST_WAGE = 6, 75  # dollars an hour; more is reported as the most


def cps_like(rows: int = 40_000, seed: int = 1) -> pl.DataFrame:
    """Draw earners: age, years of education, sex, race, region, union, weekly hours, a weight, the wage in dollars."""
    rng = np.random.default_rng(seed)

    def draw(shares: dict[str, tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
        chances = np.array([share for share, _ in shares.values()])
        place = rng.choice(len(shares), rows, p=chances / chances.sum())
        return np.array([*shares])[place], np.array([effect for _, effect in shares.values()])[place]

    education = rng.choice([*EDUCATION], rows, p=np.array([*EDUCATION.values()]) / sum(EDUCATION.values()))
    age = np.clip(np.round(rng.gamma(9, 4.6, rows)), 16, 80).astype(np.int64)
    age = np.maximum(age, education + 6)
    is_female = rng.random(rows) < 0.47
    (race, of_race), (region, of_region) = draw(RACES), draw(REGIONS)
    is_member = rng.random(rows) < 0.06 + 0.002 * np.clip(age - 20, 0, 30) + 0.05 * (region == "Northeast")
    is_whole = rng.random(rows) < np.where(is_female, 0.74, 0.87)
    hours = np.where(is_whole, 40 + 5 * rng.poisson(0.45, rows), 5 * rng.integers(2, 8, rows))
    experience = age - education - 6.0
    logarithm = (
        1.25 + 0.098 * education + 0.034 * experience - 0.00058 * experience**2 - 0.19 * is_female + of_race
        + of_region + 0.14 * is_member + 0.10 * is_whole + rng.normal(0, 0.43, rows)
    )  # fmt: skip
    wage = np.clip(np.round(np.exp(logarithm)), LEAST_WAGE, MOST_WAGE).astype(np.int64)
    weight = np.round(1500 * np.exp(rng.normal(0, 0.35, rows)) * np.where(race == "White", 1.1, 0.9), 1)
    return pl.DataFrame(
        {
            "age": age,
            "education": education,
            "sex": np.where(is_female, "female", "male"),
            "race": race,
            "region": region,
            "union": np.where(is_member, "yes", "no"),
            "hours": hours,
            "weight": weight,
            "wage": wage,
        }
    )
