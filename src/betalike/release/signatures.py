"""Sign a certificate with Ed25519, so that nobody else can write another one in the signer's name.

A private key is a PEM file that only its owner may read. The public key beside it is for everybody.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from betalike.errors import FileError, MissingDependencyError, ParameterError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNATURE_FILE = "certificate.sig"
ALGORITHM = "ed25519"
PREFIX = b"betalike certificate, version 1\x00"  # a signature of a certificate fits nothing else
LONGEST = 10_000  # bytes of a key or signature file
NOT_SIGNED = "not signed"
Sign = Callable[[bytes], bytes]


class SignatureContent(msgspec.Struct, frozen=True):
    """The content of certificate.sig."""

    algorithm: str
    public_key: str
    fingerprint: str
    signature: str


@dataclass(frozen=True)
class Signed:
    """The result of checking a signature: whether it passed (None if there is none to check), and in words."""

    passed: bool | None = None
    words: str = NOT_SIGNED
    explanation: str = ""
    not_checked: tuple[str, ...] = ()


UNSIGNED = Signed()


def make_keys(path: Path) -> str:
    """Write a new private key, and its public key to a file with `.pub` added; return the public key's fingerprint.

    Neither file may exist already. Only the owner may read the private one, from the moment it is made.
    """
    ed25519, serialization = _package()
    public_path = path.with_name(f"{path.name}.pub")
    for taken in (path, public_path):
        if os.path.lexists(taken):
            raise FileError(f"'{taken}' exists already; a key is never overwritten. Name another file.")
    key = ed25519.Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    _write_new(path, private, 0o600)
    try:
        _write_new(public_path, public, 0o644)
    except FileError:
        path.unlink(missing_ok=True)
        raise
    return _fingerprint(key.public_key())


def load_signer(path: str | Path, out: object) -> Sign:
    """Return a function that signs with a private key; refuse a key that others can read."""
    path = Path(path)
    if out is None:
        raise ParameterError("sign is given without out; only a release in a folder is signed.")
    ed25519, serialization = _package()
    if b"PUBLIC KEY" in _read(path, "private key", is_private=False):
        raise ParameterError(
            f"'{path}' is a public key; sign with the private one, '{str(path).removesuffix('.pub')}'."
        )
    content = _read(path, "private key", is_private=True)
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except TypeError as error:
        raise ParameterError(
            f"the key '{path}' is protected by a passphrase, which betalike does not ask for. Make a key with: "
            "betalike keys new FILE."
        ) from error
    except Exception as error:  # the package raises several, some of them its own
        raise ParameterError(f"'{path}' is not a private key. Make one with: betalike keys new FILE.") from error
    return partial(_sign, _ed25519(key, ed25519.Ed25519PrivateKey, path))


def _sign(key: Ed25519PrivateKey, content: bytes) -> bytes:
    public = key.public_key()
    texts = (base64.b64encode(raw).decode("ascii") for raw in (public.public_bytes_raw(), key.sign(PREFIX + content)))
    public_key, signature = texts
    return _encoded(SignatureContent(ALGORITHM, public_key, _fingerprint(public), signature))


def _encoded(signed: SignatureContent) -> bytes:
    return msgspec.json.format(msgspec.json.encode(signed), indent=2) + b"\n"


def _decoded(text: str) -> bytes:
    """Return the bytes of a Base64 text; raise ValueError for any text but the one that they are written as."""
    raw = base64.b64decode(text, validate=True)
    if base64.b64encode(raw).decode("ascii") != text:  # the last letter has bits that the decoder passes over
        raise ValueError("not as it was written")
    return raw


def check_signature(folder: Path, content: bytes, signed_by: Path | None) -> Signed:
    """Check the signature of a certificate's bytes; without the signer's public key, only that the two fit."""
    path = folder / SIGNATURE_FILE
    wanted = None if signed_by is None else _load_public(signed_by)
    if not os.path.lexists(path):
        return UNSIGNED if wanted is None else Signed(False, NOT_SIGNED, f"there is no {SIGNATURE_FILE}: not signed.")
    try:
        found = _read(path, "signature", is_private=False)
        stated = msgspec.json.decode(found, type=SignatureContent)
        public, signature = (_decoded(text) for text in (stated.public_key, stated.signature))
        if found != _encoded(stated):  # it may hold nothing else
            raise ValueError("not as it was written")
    except (msgspec.DecodeError, ValueError, FileError, RecursionError):
        return Signed(False, "signature unreadable", f"{SIGNATURE_FILE} is not a signature that betalike reads.")
    try:
        ed25519, _ = _package()
    except MissingDependencyError:
        return Signed(None, "signed, not checked: betalike[sign] is not installed", not_checked=("signature",))
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(public)
        key.verify(signature, PREFIX + content)
        is_true = stated.algorithm == ALGORITHM and stated.fingerprint == _fingerprint(key)
    except Exception:  # InvalidSignature, or bytes that are no key
        is_true = False
    if not is_true:
        return Signed(False, "signature broken", f"{SIGNATURE_FILE} does not fit the certificate.")
    if wanted is None:
        return Signed(True, f"signed, signer not checked ({stated.fingerprint})", not_checked=("signer",))
    if wanted.public_bytes_raw() != public:
        return Signed(
            False, f"signed by another key ({stated.fingerprint})", "the certificate was signed by another key."
        )
    return Signed(True, f"signed by {stated.fingerprint}")


def _load_public(path: Path) -> Ed25519PublicKey:
    ed25519, serialization = _package()
    content = _read(path, "public key", is_private=False)
    if b"PRIVATE KEY" in content:
        raise ParameterError(f"'{path}' is a private key; give the public one, '{path}.pub'.")
    try:
        key = serialization.load_pem_public_key(content)
    except Exception as error:  # the package raises several, some of them its own
        raise ParameterError(f"'{path}' is not a public key, such as `betalike keys new` makes.") from error
    public: Ed25519PublicKey = _ed25519(key, ed25519.Ed25519PublicKey, path)
    return public


def _ed25519(key: Any, kind: type, path: Path) -> Any:
    if not isinstance(key, kind):
        raise ParameterError(f"'{path}' is not an Ed25519 key. Make one with: betalike keys new FILE.")
    return key


def _fingerprint(key: Ed25519PublicKey) -> str:
    """Return a short name of a public key that two people can compare."""
    return f"SHA256:{hashlib.sha256(key.public_bytes_raw()).hexdigest()}"


def _package() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingDependencyError(
            "signatures need the package cryptography. Install it with: pip install 'betalike[sign]'."
        ) from error
    return ed25519, serialization


def _write_new(path: Path, content: bytes, mode: int) -> None:
    with _named(path, "written"):
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            path.unlink(missing_ok=True)
            raise


def _read(path: Path, what: str, is_private: bool) -> bytes:
    with _named(path, "read"), open(path, "rb", opener=_open_at_once) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise FileError(f"the {what} '{path}' is not a regular file.")
        if is_private and os.name == "posix" and facts.st_mode & 0o077:
            raise FileError(
                f"the private key '{path}' can be read by others, so it may not be secret. If it is, close it with: "
                f"chmod 600 {path}"
            )
        return file.read(LONGEST)


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextlib.contextmanager
def _named(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise FileError(f"there is no file or folder '{path}'.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileError(f"'{path}' cannot be {done}: {reason}.") from error
