"""The command that shows betalike at work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from betalike.cli.commands.publish import publish_and_show
from betalike.cli.options import Force, Json, Seed, option
from betalike.cli.outcome import run

DEMO_FOLDER = Path("betalike-demo")


def demo(
    out: Annotated[Path | None, option("Folder for the release (default: betalike-demo).")] = None,
    rows: Annotated[int, option("Number of rows of the built-in table.")] = 100_000,
    beta: Annotated[float, option("The promise.")] = 4.0,
    scheme: Annotated[str, option("One that takes a beta: whole, seam, burel, lmondrian, perturb.")] = "whole",
    force: Force = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Publish a built-in synthetic census table and show the result; no file needed."""

    def command() -> int:
        from betalike.runtime.randomness import SystemRandomness
        from betalike.schemes import compile_kernels, make_scheme

        compile_kernels(make_scheme(scheme, SystemRandomness()))  # before anything else is imported

        from betalike.datasets import census_like, census_like_hierarchies

        table = census_like(rows, seed=1)
        arguments: dict[str, Any] = {
            "table": table,
            "quasi_identifiers": ["age", "gender", "education"],
            "sensitive": "salary_class",
            "beta": beta,
            "scheme": scheme,
            "hierarchies": census_like_hierarchies(),
            "out": out or DEMO_FOLDER,
            "force": force or out is None,
            "seed": seed,
        }
        if not json:
            from betalike.report.summary import print_rows
            from betalike.report.terminal import show

            shown = table.select("age", "gender", "education", "salary_class").head(5).to_dict(as_series=False)
            show(print_rows, "The table: rows of a synthetic census", shown)
        return publish_and_show(arguments, json, shows_rows=True)

    run(command, json, done=f"the release is verified and in '{out or DEMO_FOLDER}'")
