"""Figure 8: errors of COUNT queries over generalized tables."""

from __future__ import annotations

from experiments.bench import Bench
from experiments.entrants import BUREL, KEEP_LIKENESS, MONDRIAN, NARROWEST
from experiments.figure import (
    AGAINST_NARROWEST,
    FAILS,
    HOLDS,
    SLACK,
    Claim,
    Figure,
    burel_beats,
    burel_follows,
    falls,
    listed,
    rises,
    series,
    verdicts,
)
from experiments.settings import BETA
from experiments.workloads import measured, of_panel, picture_of


def run(bench: Bench) -> Figure:
    """Ask every scheme that keeps beta-likeness as the paper does: uniformly within each class."""
    rows = measured(bench, {name: (name, "uniform") for name in KEEP_LIKENESS})
    by_panel = {panel: of_panel(rows, panel) for panel in "abcd"}
    better = {
        panel: burel_beats(by_panel[panel], "x", "error", f"8({panel}): BUREL's error is below that of {{}}")
        for panel in "abcd"
    }
    shown = ("whole", "seam", *BUREL, "lmondrian", "lmondrian, narrowest")
    return Figure(
        "8",
        "Figure 8: median relative error of COUNT queries over generalized tables",
        f"5 QI, beta 4, lambda 3, theta 0.1 unless varied; {bench.settings.n_queries:,} queries, without those that "
        "select nothing. Tuples count as uniform within a class, as in the paper. In (c) lambda is at most the number "
        "of quasi-identifiers. A median of 0 has no place on the axis.",
        rows,
        "The error does not depend monotonically on lambda. It falls with beta and theta, and rises with the "
        "quasi-identifiers (least for BUREL). BUREL's error is consistently the lowest.",
        f"For beta {listed(bench.settings.betas, 'd')}, panel (b), the median errors in percent are "
        + "; ".join(f"`{name}` {listed(series(by_panel['b'], name, 'x', 'error'), '.1f')}" for name in shown)
        + ". The claim that BUREL's error is the lowest: "
        + "; ".join(f"({panel}) {verdicts(claims)}" for panel, claims in better.items())
        + ".",
        [
            *(claim for claims in better.values() for claim in claims),
            _not_monotone(by_panel["a"]),
            _falls_with(by_panel["b"], "8(b): BUREL's error falls as beta grows"),
            _rises_for_all(by_panel["c"]),
            _most_modest(by_panel["c"]),
            _falls_with(by_panel["d"], "8(d): BUREL's error falls as theta grows"),
        ],
        picture_of(bench, rows),
        short=f"**Counts from generalized tables.** With beta {BETA} and five quasi-identifiers the median errors are "
        + ", ".join(f"`{name}` {series(by_panel['b'], name, 'x', 'error')[BETA]:.1f} %" for name in shown)
        + f". The claim that BUREL's error is the lowest for every beta {verdicts(better['b'])}.",
    )


def _not_monotone(rows: list[dict[str, float]]) -> Claim:
    text = "8(a): BUREL's error does not depend monotonically on lambda"
    return burel_follows(rows, "x", "error", text, lambda errors: not falls(errors) and not rises(errors))


def _falls_with(rows: list[dict[str, float]], text: str) -> Claim:
    return burel_follows(rows, "x", "error", text, lambda errors: falls(errors, SLACK))


def _rises_for_all(rows: list[dict[str, float]]) -> Claim:
    errors = {name: series(rows, name, "x", "error") for name in KEEP_LIKENESS}
    not_so = [f"`{name}` {listed(of, '.3g')}" for name, of in errors.items() if not rises(of, SLACK)]
    evidence = f"The error does not rise for: {'; '.join(not_so)}." if not_so else "It rises for all seven."
    return Claim("8(c): errors rise with the quasi-identifiers, for all methods", FAILS if not_so else HOLDS, evidence)


def _most_modest(rows: list[dict[str, float]]) -> Claim:
    """Return how many points the error rises from the fewest to the most quasi-identifiers."""
    increase = {}
    for name in (*BUREL, *MONDRIAN, *NARROWEST):
        errors = list(series(rows, name, "x", "error").values())
        increase[name] = errors[-1] - errors[0]
    least = min(increase[name] for name in BUREL)
    is_least = [all(least < increase[name] for name in rivals) for rivals in ((*MONDRIAN, *NARROWEST), NARROWEST)]
    verdict = HOLDS if is_least[0] else AGAINST_NARROWEST if is_least[1] else FAILS
    shown = ", ".join(f"`{name}` {points:.1f}" for name, points in increase.items())
    return Claim("8(c): BUREL's error rises least", verdict, f"Rise in percentage points: {shown}.")
