"""Text encodings of CSV files: UTF-8, UTF-16 with a byte order mark, or else Windows-1252."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterable, Iterator

from betalike.errors import FileError

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
UTF_8, WESTERN = "utf-8", "cp1252"
SAME_NUMBER = "betalike-same-number"  # error handler for the bytes that Windows-1252 does not define


def marked_encoding(pieces: Iterable[bytes]) -> tuple[str | None, Iterator[bytes]]:
    """Return the encoding that a byte order mark names, or None, and the pieces without the mark."""
    rest = iter(pieces)
    first = b""
    while len(first) < 3 and (piece := next(rest, b"")):
        first += piece
    mark = next((mark for mark in MARKS if first.startswith(mark)), b"")
    return MARKS.get(mark), itertools.chain([first[len(mark) :]], rest)


def to_utf8(pieces: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """Yield text as UTF-8; refuse a character that is damaged or cut off."""
    decoder = codecs.getincrementaldecoder(encoding)(errors=SAME_NUMBER if encoding == WESTERN else "strict")
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError:  # its message contains the text
        raise FileError(f"{name} begins like {encoding[:6].upper()} text but is damaged or cut off.") from None


def decode_text(content: bytes, name: str) -> str:
    """Return the text of a small file, in the encoding that it is found to have."""
    encoding, pieces = marked_encoding([content])
    text = b"".join(pieces)
    if encoding is None:
        check = Utf8Check()
        check.read(text, is_last=True)
        encoding = UTF_8 if check.is_valid else WESTERN
    return b"".join(to_utf8([text], encoding, name)).decode()


class Utf8Check:
    """Finds out whether text that arrives in pieces is UTF-8."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder(UTF_8)()
        self.is_valid = True

    def read(self, piece: bytes, is_last: bool = False) -> None:
        """Check the next piece."""
        if self.is_valid:
            try:
                self._decoder.decode(piece, final=is_last)
            except UnicodeDecodeError:
                self.is_valid = False


def _same_number(error: UnicodeError) -> tuple[str, int]:
    """Replace a byte that Windows-1252 does not define with the control character of the same number."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(SAME_NUMBER, _same_number)
