"""ZIP archives, byte for byte: is there anything in a file but its members, as Python writes them?"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from betalike.io.sources import open_file
from betalike.io.surplus import SurplusError

LOCAL, LISTED, END = "<4sHHHHHIIIHH", "<4sHHHHHHIIIHHHHHII", "<4sHHHHIIH"
CHUNK = 1 << 20
LEAST_VERSION = 20  # the version that a program needs to unpack a member


def check_bytes(path: Path) -> list[str]:
    """Return the names of the members of an archive; refuse bytes that do not belong to a member or the list of them.

    A member needs a header, its compressed data, and a line in the list at the end, all without comments or extras.
    """
    with open_file(path) as file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        place = 0
        for member in members:
            if member.header_offset != place or member.compress_type != zipfile.ZIP_DEFLATED or member.flag_bits:
                raise SurplusError("bytes that belong to none of its parts")
            file.seek(place)
            if file.read(struct.calcsize(LOCAL) + len(member.filename)) != _header(LOCAL, member):
                raise SurplusError("bytes that belong to none of its parts")
            place = file.tell() + member.compress_size
        file.seek(place)
        listed = b"".join(_header(LISTED, member) for member in members)
        n = len(members)
        end = struct.pack(END, b"PK\5\6", 0, 0, n, n, len(listed), place, 0)
        if file.read(len(listed) + len(end) + 1) != listed + end:
            raise SurplusError("a comment or bytes that belong to none of its parts")
        return [member.filename for member in members]


def _header(form: str, member: zipfile.ZipInfo) -> bytes:
    """Return the header of a member, or its line in the list, if it has no comment and nothing extra."""
    name = member.filename.encode("ascii")
    year, month, day, hour, minute, second = member.date_time
    moment = (hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day)
    sizes = (member.CRC, member.compress_size, member.file_size, len(name), 0)
    common = (LEAST_VERSION, 0, member.compress_type, *moment, *sizes)
    if form == LOCAL:
        return struct.pack(LOCAL, b"PK\3\4", *common) + name
    attributes = (0, 0, 0, member.external_attr, member.header_offset)
    made = (member.create_system << 8) | member.create_version
    return struct.pack(LISTED, b"PK\1\2", made, *common, *attributes) + name


def unpacked(file: IO[bytes], member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield what a member unpacks to; its compressed data must end where the next member begins."""
    file.seek(member.header_offset + struct.calcsize(LOCAL) + len(member.filename))
    stream, left, data = zlib.decompressobj(-zlib.MAX_WBITS), member.compress_size, b""
    n_bytes = checksum = 0
    while not stream.eof:
        if not data:
            data = file.read(min(CHUNK, left))
            left -= len(data)
        piece = stream.decompress(data, CHUNK) if data else stream.flush()
        data = stream.unconsumed_tail
        n_bytes, checksum = n_bytes + len(piece), zlib.crc32(piece, checksum)
        if not piece and not data and not left and not stream.eof:
            break
        yield piece
    if not stream.eof or left or stream.unused_data or (n_bytes, checksum) != (member.file_size, member.CRC):
        raise SurplusError("bytes that belong to none of its parts")
