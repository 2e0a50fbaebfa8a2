"""Privacy models: prior counts become demands on classes, and the counts of each class become a verdict."""

from betalike.models.anonymity import Anonymity
from betalike.models.caps import Caps
from betalike.models.catalogue import MODELS, fit, make_model, takes
from betalike.models.closeness import Closeness
from betalike.models.disclosure import Disclosure, DisclosureForLikeness
from betalike.models.diversity import Diversity, Variety
from betalike.models.likeness import Form, Likeness, likeness_of, posterior_cap
from betalike.models.rule import Rule
from betalike.models.transition import UNITS, Transition, judge_transition
from betalike.models.verdict import Model, Verdict

__all__ = [
    "MODELS",
    "UNITS",
    "Anonymity",
    "Caps",
    "Closeness",
    "Disclosure",
    "DisclosureForLikeness",
    "Diversity",
    "Form",
    "Likeness",
    "Model",
    "Rule",
    "Transition",
    "Variety",
    "Verdict",
    "fit",
    "judge_transition",
    "likeness_of",
    "make_model",
    "posterior_cap",
    "takes",
]
