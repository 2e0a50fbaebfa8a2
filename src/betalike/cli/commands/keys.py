"""The command that makes keys for signing releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from betalike.cli.options import Json
from betalike.cli.outcome import print_json, run


def keys(
    action: Annotated[str, typer.Argument(help="new: make a pair of keys.")],
    file: Annotated[Path, typer.Argument(help="File for the private key; the public one goes to FILE.pub.")],
    json: Json = False,
) -> None:
    """Make a pair of keys: a private one to sign releases with, and a public one to check them with."""

    def command() -> int:
        from betalike.errors import ParameterError, suggestion
        from betalike.release.signatures import make_keys

        if action != "new":
            raise ParameterError(f"the action is '{action}'; it must be 'new'.{suggestion(action, ['new'])}")
        fingerprint = make_keys(file)
        if json:
            print_json({"private_key": str(file), "public_key": f"{file}.pub", "fingerprint": fingerprint})
        else:
            print(f"private key  {file}      keep it secret: anyone who has it can sign in your name")
            print(f"public key   {file}.pub  give it to everyone who checks your releases")
            print(f"fingerprint  {fingerprint}")
        return 0

    run(command, json, done=f"the keys are in '{file}' and '{file}.pub'")
