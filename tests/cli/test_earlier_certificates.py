"""Certificates of version 0.2 are read where they still mean the same, and refused where they do not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from workbench import Desk, assert_refused, run


@pytest.mark.parametrize(
    ("read", "refused", "words"),
    [
        ({"spreadsheet_safe": False}, {"spreadsheet_safe": True}, "changed cells"),
        ({"layout": "labels"}, {"layout": "bounds"}, "in two columns"),
        ({"layout": "labels", "spreadsheet_safe": False}, {"layout": None}, "in two columns"),
    ],
)
def test_certificates_of_version_0_2_are_read_where_they_mean_the_same(
    desk: Desk, read: dict[str, Any], refused: dict[str, Any], words: str
) -> None:
    assert desk.publish().status == 0
    certificate = desk.certificate()
    path, release = desk.out / "certificate.json", certificate["release"]
    path.write_text(json.dumps({**certificate, "release": {**release, **read}}))
    outcome = run("verify", desk.out)
    assert outcome.status == 0, outcome.text
    path.write_text(json.dumps({**certificate, "release": {**release, **refused}}))
    for command in (["verify", desk.out], ["query", desk.out, "age > 30"]):
        assert_refused(run(*command), words, "verify it with that version")
