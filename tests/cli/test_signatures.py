"""Keys, signed releases, and what `verify` says of them."""

from __future__ import annotations

import base64
import json
import os
import stat
import string
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from workbench import Desk, assert_refused, files_under, run

import betalike
from betalike.errors import MissingDependencyError


@pytest.fixture
def signed(desk: Desk) -> Desk:
    assert run("keys", "new", "owner").status == 0
    assert desk.publish(sign="owner").status == 0
    return desk


def test_keys_are_a_pair_that_only_the_owner_can_read(desk: Desk) -> None:
    os.umask(0o000)
    try:
        outcome = run("keys", "new", "owner")
    finally:
        os.umask(0o022)
    assert outcome.status == 0, outcome.text
    assert "SHA256:" in outcome.stdout
    if os.name == "posix":
        assert stat.S_IMODE(Path("owner").stat().st_mode) == 0o600
    private = serialization.load_pem_private_key(Path("owner").read_bytes(), password=None)
    public = serialization.load_pem_public_key(Path("owner.pub").read_bytes())
    assert isinstance(private, ed25519.Ed25519PrivateKey)
    assert isinstance(public, ed25519.Ed25519PublicKey)
    public.verify(private.sign(b"text"), b"text")


@pytest.mark.parametrize("taken", ["owner", "owner.pub"])
def test_keys_never_replace_a_file(desk: Desk, taken: str) -> None:
    desk.write(taken, "precious")
    assert_refused(run("keys", "new", "owner"), "already", taken)
    assert files_under(desk.folder) == {taken: b"precious"}


def test_keys_never_follow_a_link(desk: Desk) -> None:
    Path("owner").symlink_to("elsewhere")
    assert_refused(run("keys", "new", "owner"), "already")
    assert not Path("elsewhere").exists()


@pytest.mark.parametrize("words", [["old", "owner"], ["new", "no/such/folder/owner"], ["new", "owner\0"]])
def test_keys_that_cannot_be_made(desk: Desk, words: list[str]) -> None:
    assert_refused(run("keys", *words))
    assert files_under(desk.folder) == {}


def test_a_signed_release(signed: Desk) -> None:
    document = run("verify", signed.out, "--signed-by", "owner.pub", "--json").document
    assert document["holds"]
    assert document["checks"]["signature"]
    assert document["verified"]["signature"].startswith("signed by SHA256:")
    outcome = run("verify", signed.out)
    assert outcome.status == 0
    assert "signer not checked" in outcome.text
    public = serialization.load_pem_public_key(Path("owner.pub").read_bytes())
    assert isinstance(public, ed25519.Ed25519PublicKey)


def test_a_release_that_is_not_signed(desk: Desk) -> None:
    run("keys", "new", "owner")
    assert desk.publish().status == 0
    assert "not signed" in run("verify", desk.out).text
    assert_refused(run("verify", desk.out, "--signed-by", "owner.pub"), "signature", status=1)


def test_another_signer(signed: Desk) -> None:
    run("keys", "new", "other")
    assert_refused(run("verify", signed.out, "--signed-by", "other.pub"), "another key", status=1)


@pytest.mark.parametrize("places", [10, pytest.param(150, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["certificate.json", "certificate.sig"])
def test_one_byte_changed(signed: Desk, name: str, places: int) -> None:
    path = signed.out / name
    content = path.read_bytes()
    for place in range(0, len(content), max(len(content) // places, 1)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert run("verify", signed.out, "--signed-by", "owner.pub").status in (1, 2)
        assert run("verify", signed.out).status in (1, 2)
    path.write_bytes(content + b" ")  # still the same JSON
    assert_refused(run("verify", signed.out), "signature", status=1)


def test_nothing_else_stands_in_a_signature(signed: Desk) -> None:
    path = signed.out / "certificate.sig"
    content = path.read_text()
    for changed in (
        content.replace("{", '{"note": "34, flu",', 1),
        content.replace('"signature": "', '"signature": "!!'),
    ):
        path.write_text(changed)
        assert_refused(run("verify", signed.out, "--signed-by", "owner.pub"), "signature", status=1)


@pytest.mark.parametrize("name", ["public_key", "signature"])
def test_no_other_text_stands_for_the_same_bytes(signed: Desk, name: str) -> None:
    """The last letter of Base64 has bits that a decoder passes over."""
    path = signed.out / "certificate.sig"
    stated = json.loads(path.read_text())
    text = stated[name].rstrip("=")
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    other = letters[letters.index(text[-1]) + 1]
    changed = stated[name].replace(text, text[:-1] + other)
    assert base64.b64decode(changed) == base64.b64decode(stated[name])
    path.write_text(path.read_text().replace(stated[name], changed))
    assert_refused(run("verify", signed.out), "signature", status=1)


def test_a_public_key_where_the_private_one_is_wanted(desk: Desk) -> None:
    run("keys", "new", "owner")
    outcome = desk.publish(sign="owner.pub")
    assert_refused(outcome, "public key", "'owner'")
    assert "chmod" not in outcome.text


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b"\xff", b'{"algorithm": "none", "public_key": "", "fingerprint": "", "signature": ""}'],
)
def test_what_is_no_signature(signed: Desk, content: bytes) -> None:
    (signed.out / "certificate.sig").write_bytes(content)
    assert_refused(run("verify", signed.out), "signature", status=1)
    assert_refused(run("verify", signed.out, "--signed-by", "owner.pub"), "signature", status=1)


def test_the_signature_of_another_release(signed: Desk) -> None:
    other = signed.folder / "other"
    assert signed.publish(out=other, sign="owner", beta="3").status == 0
    (signed.out / "certificate.sig").write_bytes((other / "certificate.sig").read_bytes())
    assert_refused(run("verify", signed.out, "--signed-by", "owner.pub"), "signature", status=1)


def test_a_signature_goes_with_its_release(signed: Desk) -> None:
    assert signed.publish("--force").status == 0
    assert not (signed.out / "certificate.sig").exists()
    assert run("verify", signed.out).status == 0


def encrypted(key: ed25519.Ed25519PrivateKey) -> bytes:
    protection = serialization.BestAvailableEncryption(b"secret")
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection)


def of_another_kind() -> bytes:
    key = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    protection = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection)


@pytest.mark.parametrize("case", ["passphrase", "rsa", "text", "empty", "absent", "folder", "public"])
def test_keys_that_cannot_sign(desk: Desk, case: str) -> None:
    run("keys", "new", "owner")
    key, word = desk.folder / "bad", ""
    if case == "passphrase":
        key.write_bytes(encrypted(ed25519.Ed25519PrivateKey.generate()))
        word = "passphrase"
    elif case == "rsa":
        key.write_bytes(of_another_kind())
        word = "Ed25519"
    elif case in ("text", "empty"):
        key.write_bytes(b"" if case == "empty" else b"my key")
    elif case == "folder":
        key.mkdir()
    elif case == "public":
        key = desk.folder / "owner.pub"
    if key.is_file():
        key.chmod(0o600)
    assert_refused(desk.publish(sign=key), word)
    assert not desk.out.exists()


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_private_key_that_others_can_read_is_refused(desk: Desk, mode: int) -> None:
    run("keys", "new", "owner")
    Path("owner").chmod(mode)
    assert_refused(desk.publish(sign="owner"), "read by others", "chmod 600")
    assert not desk.out.exists()


def test_a_private_key_where_the_public_one_is_wanted(signed: Desk) -> None:
    outcome = run("verify", signed.out, "--signed-by", "owner")
    assert_refused(outcome, "owner.pub")
    assert "BEGIN" not in outcome.text


@pytest.mark.parametrize("content", [b"", b"text", None])
def test_what_is_no_public_key(signed: Desk, content: bytes | None) -> None:
    if content is not None:
        signed.write("bad.pub", content)
    assert_refused(run("verify", signed.out, "--signed-by", "bad.pub"))


def test_signing_needs_a_folder(desk: Desk) -> None:
    run("keys", "new", "owner")
    with pytest.raises(betalike.errors.ParameterError, match="out"):
        betalike.publish(
            desk.table(), quasi_identifiers=["age"], sensitive="disease", beta=2, sign=desk.folder / "owner", seed=1
        )


def test_without_the_package(signed: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    for words in (["keys", "new", "more"], ["verify", signed.out, "--signed-by", "owner.pub"]):
        assert_refused(run(*words), "betalike[sign]")
    outcome = run("verify", signed.out)
    assert outcome.status == 0
    assert "not checked" in outcome.text
    assert isinstance(MissingDependencyError("x"), betalike.errors.BetalikeError)
