"""Privacy models: prior counts become caps, and the counts of each class become a verdict."""

from betalike.models.caps import Caps
from betalike.models.likeness import Form, Likeness, Verdict, posterior_cap

__all__ = ["Caps", "Form", "Likeness", "Verdict", "posterior_cap"]
