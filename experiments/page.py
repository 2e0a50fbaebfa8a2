"""The results page: every figure with its settings, what the paper says, and what we see."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import betalike
from betalike.report.charts import save
from experiments.bench import Bench
from experiments.figure import FAILS, HOLDS, VERDICTS, Figure, Row
from experiments.settings import FULL, SEED

PAGE, FOLDER = "evaluation.md", "evaluation"
TEMPLATES = Path(__file__).parent
WIDTH = 120
SUMMARY = (
    "Of {all} claims {held} hold as they stand. *With the split* means: only with the step that the paper does not "
    "describe. *Against the narrowest rule* means: only against a Mondrian that cuts the attribute with the fewest "
    "values and tries no other. Against the usual Mondrian, which cuts the widest attribute, the claim does not hold."
)
QUICK = "**A quick run, on a small invented table: its verdicts say nothing about the paper.**"


def write(bench: Bench, figures: Sequence[Figure], out: Path) -> None:
    """Write the page; the files of its figures already exist."""
    introduction, settings = ((TEMPLATES / f"{name}.md").read_text("utf-8") for name in ("introduction", "settings"))
    parts = [
        introduction.format(version=betalike.__version__),
        *([f"{QUICK}\n"] if bench.settings is not FULL else []),
        *_summary(figures),
        settings.format(table=bench.table.name, rows=bench.frame.height, seed=SEED),
        *(part for figure in figures for part in _section(figure)),
    ]
    (out / PAGE).write_text("\n".join(parts), encoding="utf-8")


def write_files(figure: Figure, out: Path) -> None:
    """Write a figure's data, and its picture if it has one."""
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{figure.file}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(figure.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in figure.rows)
    if figure.picture is not None:
        save(figure.picture, folder / figure.file)


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _summary(figures: Sequence[Figure]) -> list[str]:
    """Write a short summary, then every claim under its verdict: those that hold first."""
    claims = [claim for figure in figures for claim in figure.claims]
    others = [claim.verdict for claim in claims if claim.verdict != FAILS]
    found = [verdict for verdict in dict.fromkeys((*VERDICTS, *others, FAILS)) if verdict in {*others, FAILS}]
    held = sum(claim.verdict == HOLDS for claim in claims)
    parts = [
        "## In short\n",
        *(_bullet(figure.short) for figure in figures if figure.short),
        "\n## Which of the paper's claims hold\n",
        _paragraph(SUMMARY.format(all=len(claims), held=held)),
    ]
    for verdict in found:
        parts += [
            f"### {verdict[0].upper()}{verdict[1:]}\n",
            "| claim | figures |",
            "|---|---|",
            *(f"| {claim.text} | {claim.evidence} |" for claim in claims if claim.verdict == verdict),
            "",
        ]
    return parts


def _section(figure: Figure) -> list[str]:
    path = f"{FOLDER}/{figure.file}"
    picture = [f"![{figure.title}]({path}.svg)\n"] if figure.picture is not None else []
    links = ([f"[picture]({path}.png)"] if figure.picture is not None else []) + [f"[data]({path}.csv)"]
    texts = (f"{figure.settings} ({', '.join(links)})", f"*The paper:* {figure.paper}", f"*We see:* {figure.seen}")
    table = _table(figure.table) if figure.table else []
    return [f"## {figure.title}\n", *picture, *map(_paragraph, texts), *table]


def _bullet(text: str) -> str:
    return textwrap.indent(_paragraph(text).rstrip(), "  ").replace("  ", "- ", 1)


def _paragraph(text: str) -> str:
    return textwrap.fill(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False) + "\n"


def _table(rows: Sequence[Row]) -> list[str]:
    head = [name.replace("_", " ") for name in rows[0]]
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(_short(value) for value in row.values())} |" for row in rows),
        "",
    ]


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
