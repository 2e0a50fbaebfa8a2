"""Section 7's table: the closeness and diversity of BUREL's releases."""

from __future__ import annotations

from typing import Any

from betalike.report.charts import Quantity, line_chart, side_by_side
from experiments.bench import Bench
from experiments.entrants import BUREL
from experiments.figure import FAILS, HOLDS, WITH_SPLIT, Claim, Figure, listed, series
from experiments.settings import BETA_TITLE

PRINTED = {
    1: (0.02, 0.01, 19.0, 20.7),
    2: (0.09, 0.04, 11.0, 15.9),
    3: (0.13, 0.04, 8.7, 14.2),
    4: (0.16, 0.04, 7.2, 13.6),
    5: (0.17, 0.05, 6.6, 12.6),
}
COLUMNS = ("t", "average_t", "l", "average_l")
PAPER = "as printed"
NEAR = {"t": 0.02, "average_t": 0.01, "l": 0.9, "average_l": 0.4}  # l is that of one class among thousands
LEAST_L = 6


def run(bench: Bench) -> Figure:
    """Audit each release and compare with the paper."""
    betas = bench.settings.betas
    rows: list[dict[str, Any]] = [
        {"beta": beta, "scheme": PAPER, **dict(zip(COLUMNS, PRINTED[beta], strict=True))} for beta in betas
    ]
    for name in (*BUREL, "whole", "seam"):
        for beta in betas:
            audit = bench.outcome(name, beta).audit
            levels = (audit.t, audit.average_t, audit.l, audit.average_l)
            rows.append({"beta": beta, "scheme": name, **dict(zip(COLUMNS, levels, strict=True))})
    x = Quantity("beta", BETA_TITLE, ticks=betas)
    titles = {
        "t": "t (greatest distance of a class)",
        "average_t": "average t (distance)",
        "l": "l (1 / greatest share in a class)",
        "average_l": "average l (1 / greatest share)",
    }
    panels = [
        line_chart(rows, x, Quantity(column, title, starts_at_zero=True), f"({letter})")
        for letter, (column, title) in zip("abcd", titles.items(), strict=True)
    ]
    near = _near(rows)
    return Figure(
        "s7",
        "Section 7: closeness and diversity that beta-likeness reaches",
        "3 QI. t is the ordered earth mover's distance over the salary classes, and l is 1 / (greatest share of a "
        "value in a class).",
        rows,
        "A table of t, average t, l and average l of BUREL's releases. l is no less than 6 for reasonable values of "
        "beta, so the deFinetti attack's success rate is low.",
        f"For beta {listed(betas, 'd')}, `burel+split` reaches t "
        f"{listed(series(rows, 'burel+split', 'beta', 't'), '.3f')} and average l "
        f"{listed(series(rows, 'burel+split', 'beta', 'average_l'), '.1f')}; `burel` as published reaches "
        f"{listed(series(rows, 'burel', 'beta', 't'), '.3f')} and "
        f"{listed(series(rows, 'burel', 'beta', 'average_l'), '.1f')}. The claim that the printed table can be "
        f"reproduced {near.verdict}. `seam`, which is not in the paper, has l of "
        f"{listed(series(rows, 'seam', 'beta', 'l'), '.1f')}.",
        [near, _diverse(rows)],
        side_by_side(*panels),
        table=_table(rows),
        short=f"**Section 7.** The claim that its table of t and l can be reproduced {near.verdict}.",
    )


def _table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each beta: t, average t, l and average l, as printed and as reached."""
    shown: dict[int, dict[str, Any]] = {}
    for row in rows:
        levels = f"{row['t']:.3f}, {row['average_t']:.3f}, {row['l']:.1f}, {row['average_l']:.1f}"
        shown.setdefault(row["beta"], {"beta": row["beta"]})[row["scheme"]] = levels
    return list(shown.values())


def _near(rows: list[dict[str, Any]]) -> Claim:
    """Whether every printed figure is met as closely as the seed allows."""
    off = {}
    for name in BUREL:
        gaps = {
            column: max(
                abs(figure - series(rows, PAPER, "beta", column)[beta])
                for beta, figure in series(rows, name, "beta", column).items()
            )
            for column in COLUMNS
        }
        off[name] = gaps
    is_near = {name: all(gaps[column] <= NEAR[column] for column in COLUMNS) for name, gaps in off.items()}
    verdict = HOLDS if is_near["burel"] else WITH_SPLIT if is_near["burel+split"] else FAILS
    shown = "; ".join(
        f"`{name}` is off by at most "
        + ", ".join(f"{gap:.2g} ({column.replace('_', ' ')})" for column, gap in gaps.items())
        for name, gaps in off.items()
    )
    return Claim("Section 7's table of t and l", verdict, shown + ".")


def _diverse(rows: list[dict[str, Any]]) -> Claim:
    least = {name: min(series(rows, name, "beta", "l").values()) for name in BUREL}
    shown = ", ".join(f"`{name}` {diversity:.1f}" for name, diversity in least.items())
    verdict = HOLDS if min(least.values()) >= LEAST_L else FAILS
    return Claim("Section 7: l is never below 6", verdict, f"The least l: {shown}.")
