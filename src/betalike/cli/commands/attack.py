"""The command that attacks a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import betalike
from betalike.cli.options import Delimiter, Folder, Hierarchies, Json, Missing, Seed, input_option
from betalike.cli.outcome import print_json, run, shown_progress


def attack(
    folder: Folder,
    original: Annotated[Path | None, input_option("--original", "The original table, to judge guesses.")] = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option(
            "--attacks",
            help="naive-bayes, definetti, skewness, similarity, minimality, corruption, composition (default: all).",
        ),
    ] = None,
    second: Annotated[
        Path | None, input_option("--second", "Another release of the table, for composition (default: made up).")
    ] = None,
    hierarchies: Hierarchies = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Attack a release as an adversary would, and show how much more it gives away than a blind guess."""

    def command() -> int:
        from betalike.cli.arguments import split_list
        from betalike.errors import ParameterError
        from betalike.report.attacks import print_attacks
        from betalike.report.figure_table import figure_console

        if original is None:
            raise ParameterError("name the original table, to judge guesses: --original TABLE.")
        with shown_progress() as progress:
            report = betalike.attack(
                folder,
                original=original,
                attacks=split_list(attacks) if attacks else None,
                second=second,
                hierarchies=hierarchies,
                missing=split_list(missing),
                delimiter=delimiter,
                seed=seed,
                progress=progress,
            )
        if json:
            print_json(report.to_dict())
        else:
            print_attacks(figure_console(), report)
        return 0

    run(command, json)
