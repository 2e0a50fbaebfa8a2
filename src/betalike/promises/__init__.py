"""Privacy models: prior counts become demands on classes, and the counts of each class become a verdict."""

from betalike.promises.anonymity import Anonymity
from betalike.promises.caps import Caps
from betalike.promises.catalogue import MODELS, fit, for_audit, make_capped, make_model, name_promise, takes
from betalike.promises.closeness import Closeness
from betalike.promises.disclosure import Disclosure, DisclosureForLikeness
from betalike.promises.diversity import Diversity, Variety
from betalike.promises.likeness import Form, Likeness, posterior_cap
from betalike.promises.monotone import MonotoneCap, ToldCap
from betalike.promises.rule import Rule
from betalike.promises.transition import UNITS, Transition, judge_transition, used_by_transition
from betalike.promises.verdict import Model, Verdict
from betalike.promises.wider import AnyLikeness, WiderLikeness, any_likeness_of, likeness_of, of_each_column, widen

__all__ = [
    "MODELS",
    "UNITS",
    "Anonymity",
    "AnyLikeness",
    "Caps",
    "Closeness",
    "Disclosure",
    "DisclosureForLikeness",
    "Diversity",
    "Form",
    "Likeness",
    "Model",
    "MonotoneCap",
    "Rule",
    "ToldCap",
    "Transition",
    "Variety",
    "Verdict",
    "WiderLikeness",
    "any_likeness_of",
    "fit",
    "for_audit",
    "judge_transition",
    "likeness_of",
    "make_capped",
    "make_model",
    "name_promise",
    "of_each_column",
    "posterior_cap",
    "takes",
    "used_by_transition",
    "widen",
]
