"""The command that attacks a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import betalike
from betalike.cli.options import Delimiter, Hierarchies, Json, Missing, Seed
from betalike.cli.outcome import COMPILING, print_json, run


def attack(
    folder: Annotated[Path, typer.Argument(help="The folder of a release.")],
    original: Annotated[
        Path | None, typer.Option("--original", readable=False, help="The original table, to judge guesses.")
    ] = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option(
            "--attacks",
            help="naive-bayes, definetti, skewness, similarity, minimality, corruption, composition (default: all).",
        ),
    ] = None,
    second: Annotated[
        Path | None,
        typer.Option(
            "--second", readable=False, help="Another release of the table, for composition (default: made up)."
        ),
    ] = None,
    hierarchies: Hierarchies = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Attack a release as an adversary would, and show how much more it gives away than a blind guess."""

    def command() -> int:
        from rich.console import Console

        from betalike.cli.arguments import split_list
        from betalike.errors import ParameterError
        from betalike.report.attacks import print_attacks
        from betalike.report.figure_table import figure_console
        from betalike.report.progress import TerminalProgress
        from betalike.runtime.compilation import announced_compilation

        if original is None:
            raise ParameterError("name the original table, to judge guesses: --original TABLE.")
        with (
            TerminalProgress(Console(stderr=True)) as progress,
            announced_compilation(lambda: progress.say(COMPILING)),
        ):
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
