"""Section 2's numbers: why diversity, closeness and divergences do not show what is learned about a rare value."""

from __future__ import annotations

import numpy as np

from betalike.measures.audit import Audit, measure
from betalike.promises.distances import Ground
from betalike.table.axis import HierarchyAxis
from betalike.table.cells import ClassCounts
from betalike.table.hierarchy import Hierarchy
from experiments.bench import Bench
from experiments.figure import FAILS, HOLDS, Claim, Figure

WHERE_EMD, WHERE_DIVERGENCE = "EMD, HIV and Flu", "divergences, HIV and Flu"
WHERE_ABSOLUTE = "(rho1, rho2)-privacy and Delta"


def run(bench: Bench) -> Figure:
    """Compute each number with the measures of this library; no table is needed."""
    first, second = compared((40, 60), (50, 50)), compared((1, 99), (11, 89))
    third = compared((1, 99), (3, 97))
    skewed = compared((1, *[111] * 9), (1, *[1] * 9))  # 0.1 % of 1,000 persons, then one of ten
    shown = [
        ("skewness attack", "times as likely that HIV becomes, from 0.1 % to 10 %", 100.0, 1 + gain(skewed)),
        ("skewness attack", "values in the class (diversity)", 10.0, skewed.distinct_l),
        (WHERE_EMD, "EMD of (.4, .6) and (.5, .5)", 0.1, first.t),
        (WHERE_EMD, "EMD of (.01, .99) and (.11, .89)", 0.1, second.t),
        (WHERE_EMD, "gain of HIV from 0.4 to 0.5, in percent", 25.0, 100 * gain(first)),
        (WHERE_EMD, "gain of HIV from 0.01 to 0.11, in percent", 1000.0, 100 * gain(second)),
        (WHERE_DIVERGENCE, "Kullback-Leibler of (.4, .6) and (.5, .5), in bits", 0.0290, first.kullback_leibler),
        (WHERE_DIVERGENCE, "Jensen-Shannon of (.4, .6) and (.5, .5), in bits", 0.0073, first.jensen_shannon),
        (WHERE_DIVERGENCE, "Kullback-Leibler of (.01, .99) and (.03, .97), in bits", 0.0133, third.kullback_leibler),
        (WHERE_DIVERGENCE, "Jensen-Shannon of (.01, .99) and (.03, .97), in bits", 0.0038, third.jensen_shannon),
        (WHERE_DIVERGENCE, "gain of HIV from 0.01 to 0.03, in percent", 200.0, 100 * gain(third)),
        (WHERE_ABSOLUTE, "gain from 60 % to 80 %, in percent", 33.0, 100 * gain(compared((60, 40), (80, 20)))),
        (WHERE_ABSOLUTE, "gain from 1 % to 21 %, in percent", 2000.0, 100 * gain(compared((1, 99), (21, 79)))),
    ]
    rows = [{"where": where, "what": what, "paper": paper, "here": here} for where, what, paper, here in shown]
    off = [row["what"] for row in rows if not is_printed_as(row["here"], row["paper"])]
    evidence = f"Not reproduced: {'; '.join(off)}." if off else f"All {len(rows)} numbers agree as printed."
    return Figure(
        "s2",
        "Section 2: worked numbers",
        "Counts in the paper's proportions, measured as `betalike audit` does.",
        rows,
        "Equal distances, or even lower ones, hide gains that are many times higher, because rare values do not "
        "get due attention.",
        f"{evidence} The distances agree, and so does the conclusion: by both divergences, (.01, .99) becoming "
        f"(.03, .97) is the nearer pair, and it gains {gain(third) / gain(first):.0f} times as much.",
        [Claim("Section 2: worked numbers", FAILS if off else HOLDS, evidence)],
        table=rows,
    )


def compared(table: tuple[int, ...], ec: tuple[int, ...]) -> Audit:
    """Audit one class against a table, both given as counts; all values are equally far apart."""
    values = np.arange(len(table))
    sensitive = HierarchyAxis("disease", Hierarchy.flat([str(value) for value in values]))
    classes = ClassCounts.of(np.zeros(len(ec), dtype=np.int64), values, np.array(ec), len(table))
    audit = measure(classes, np.array(table), sensitive)
    assert audit.t_ground == Ground.EQUAL
    return audit


def gain(audit: Audit) -> float:
    """Return how much likelier the worst value becomes, in relative terms. Paper: D(p, q)."""
    assert audit.basic_beta is not None
    return audit.basic_beta


def is_printed_as(figure: float, printed: float) -> bool:
    """Whether a figure, rounded to the digits that the paper prints, equals the printed figure."""
    digits = len(f"{printed:g}".partition(".")[2]) if printed < 1 else 0
    return round(figure, max(digits, 4 if printed < 0.1 else digits)) == printed
