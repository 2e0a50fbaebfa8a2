"""The names that other rooms use; `betalike.promises` offers them."""

from betalike.promises.anonymity import Anonymity
from betalike.promises.caps import Caps
from betalike.promises.catalogue import fit, make_model, name_of, name_promise
from betalike.promises.closeness import Closeness
from betalike.promises.disclosure import Disclosure, DisclosureForLikeness
from betalike.promises.distances import Ground
from betalike.promises.diversity import Diversity, Variety
from betalike.promises.likeness import (
    Form,
    Likeness,
    likeness_of,
    of_each_column,
    plain_likeness_of,
    posterior_cap,
)
from betalike.promises.monotone import CertificateCap, MonotoneCap
from betalike.promises.rule import Rule
from betalike.promises.transition import UNITS, Transition, judge_transition, used_by_transition
from betalike.promises.verdict import Model, Verdict

# fmt: off
__all__ = [
    "UNITS", "Anonymity", "Caps", "CertificateCap", "Closeness", "Disclosure", "DisclosureForLikeness", "Diversity",
    "Form", "Ground", "Likeness", "Model", "MonotoneCap", "Rule", "Transition", "Variety", "Verdict", "fit",
    "judge_transition", "likeness_of", "make_model", "name_of", "name_promise", "of_each_column",
    "plain_likeness_of", "posterior_cap", "used_by_transition",
]
# fmt: on
