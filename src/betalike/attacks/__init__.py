"""What a release reveals: attacks from the literature, each with a baseline and a control. Paper: Section 7.

target = betalike.attacks.open_target("release", original="table.csv")
print(betalike.attacks.naive_bayes(target).sentence)
"""

from betalike.attacks.composition import composition
from betalike.attacks.corruption import corruption
from betalike.attacks.definetti import definetti
from betalike.attacks.minimality import minimality
from betalike.attacks.naive_bayes import naive_bayes
from betalike.attacks.open_target import open_second, open_target
from betalike.attacks.result import AttackReport, AttackResult, Rate
from betalike.attacks.skewness import similarity, skewness
from betalike.attacks.target import Generalized, Perturbed, Target

__all__ = [
    "AttackReport",
    "AttackResult",
    "Generalized",
    "Perturbed",
    "Rate",
    "Target",
    "composition",
    "corruption",
    "definetti",
    "minimality",
    "naive_bayes",
    "open_second",
    "open_target",
    "similarity",
    "skewness",
]
