"""Numbers of a workbook with spaces around them, as some programs write them: the reader takes none."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

# A cell of a number: it has no type, or the type n.
SPACED = re.compile(rb'(<c(?:\s+(?:r="[A-Z]+\d+"|s="\d+"|t="n"))*\s*><v>)\s*([^<\s]+)\s*(</v>)')
SHEETS, LARGEST = "xl/worksheets/", 1 << 30


def with_plain_numbers(path: Path) -> bytes | None:
    """Return a workbook without spaces around its numbers; None where it is not of Excel's newer form, or too large."""
    written = io.BytesIO()
    try:
        with zipfile.ZipFile(path) as book, zipfile.ZipFile(written, "w") as plain:
            if sum(member.file_size for member in book.infolist()) > LARGEST:
                return None
            for member in book.infolist():
                content = book.read(member)
                is_sheet = member.filename.startswith(SHEETS)
                plain.writestr(member.filename, SPACED.sub(rb"\1\2\3", content) if is_sheet else content)
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError):  # the reader reports damage
        return None
    return written.getvalue()
