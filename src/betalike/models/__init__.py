"""Privacy models: prior counts become caps, and the counts of each class, or a transition, become a verdict."""

from betalike.models.caps import Caps
from betalike.models.likeness import Form, Likeness, Verdict, posterior_cap
from betalike.models.transition import UNITS, Transition, judge_transition

__all__ = [
    "UNITS",
    "Caps",
    "Form",
    "Likeness",
    "Transition",
    "Verdict",
    "judge_transition",
    "posterior_cap",
]
