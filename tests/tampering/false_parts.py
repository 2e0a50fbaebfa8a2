"""The original hidden within the published file, where no reader shows it: in workbooks and in Parquet files."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from falsification import Falsification
from forger import Forger

HIDDEN = "34,50.5,Ulm,flu"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
TYPES, BOOK, RELATIONS = "[Content_Types].xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
SHEET, CORE = "xl/worksheets/sheet1.xml", "docProps/core.xml"
CELL = f'<c r="A1" t="inlineStr"><is><t>{HIDDEN}</t></is></c>'
Parts = dict[str, str]


def repacked(edit: Callable[[Parts], object]) -> Callable[[Forger], object]:
    """Change the parts of a workbook, and pack them as they were."""

    def forge(forger: Forger) -> None:
        path = forger.published
        with zipfile.ZipFile(path) as book:
            parts = {name: book.read(name).decode() for name in book.namelist()}
        edit(parts)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
            for name, part in parts.items():
                member = zipfile.ZipInfo(name, (1980, 1, 31, 0, 0, 0))
                member.compress_type = zipfile.ZIP_DEFLATED
                book.writestr(member, part)
        forger.rehash()

    return forge


def put(name: str, before: str, added: str) -> Callable[[Forger], object]:
    """Put a text into a part of a workbook, before the last place where another one is."""

    def edit(parts: Parts) -> None:
        beginning, _, end = parts[name].rpartition(before)
        assert beginning
        parts[name] = beginning + added + before + end

    return repacked(edit)


def add_part(parts: Parts, name: str, kind: str, content: str) -> None:
    """Add a part of the workbook, with all that belongs to it."""
    parts[name] = HEAD + content
    parts[TYPES] = parts[TYPES].replace(
        "</Types>", f'<Override PartName="/{name}" ContentType="{TYPE}.{kind}+xml"/></Types>'
    )
    relation = f'<Relationship Id="rId9" Type="{KIND}/{kind}" Target="{name.removeprefix("xl/")}"/>'
    parts[RELATIONS] = parts[RELATIONS].replace("</Relationships>", f"{relation}</Relationships>")


def with_sheet(state: str) -> Callable[[Forger], object]:
    def edit(parts: Parts) -> None:
        content = f'<worksheet {MAIN}><sheetData><row r="1">{CELL}</row></sheetData></worksheet>'
        add_part(parts, "xl/worksheets/sheet2.xml", "worksheet", content)
        sheet = f'<sheet name="original" sheetId="2"{state} r:id="rId9"/>'
        parts[BOOK] = parts[BOOK].replace("</sheets>", f"{sheet}</sheets>")

    return repacked(edit)


def with_comment(parts: Parts) -> None:
    text = f'<comments {MAIN}><authors><author/></authors><commentList><comment ref="A1" authorId="0"><text><t>'
    parts["xl/comments1.xml"] = f"{HEAD}{text}{HIDDEN}</t></text></comment></commentList></comments>"
    relation = f'<Relationship Id="rId1" Type="{KIND}/comments" Target="../comments1.xml"/>'
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    parts["xl/worksheets/_rels/sheet1.xml.rels"] = (
        f'{HEAD}<Relationships xmlns="{namespace}">{relation}</Relationships>'
    )


def with_shared_strings(parts: Parts) -> None:
    content = f'<sst {MAIN} count="0" uniqueCount="1"><si><t>{HIDDEN}</t></si></sst>'
    add_part(parts, "xl/sharedStrings.xml", "sharedStrings", content)


def with_cell_twice(parts: Parts) -> None:
    """A reader shows the second of two cells at one place."""
    assert '<c r="A2"' in parts[SHEET]
    parts[SHEET] = parts[SHEET].replace('<c r="A2"', CELL.replace("A1", "A2") + '<c r="A2"')


def with_bytes(change: Callable[[bytes], bytes]) -> Callable[[Forger], object]:
    """Change the bytes of the published file."""

    def forge(forger: Forger) -> None:
        path = forger.published
        changed = change(path.read_bytes())
        assert changed != path.read_bytes()
        path.write_bytes(changed)
        forger.rehash()

    return forge


def moved(content: bytes, at: int, added: bytes) -> bytes:
    """Put bytes into an archive, and move what the list of its members says about those behind them."""
    data = bytearray(content[:at] + added + content[at:])
    end = data.rindex(b"PK\5\6")
    (listed,) = struct.unpack_from("<I", data, end + 16)
    place = listed = listed + len(added)
    struct.pack_into("<I", data, end + 16, listed)
    while data[place : place + 4] == b"PK\1\2":
        (offset,) = struct.unpack_from("<I", data, place + 42)
        struct.pack_into("<I", data, place + 42, offset + (len(added) if offset >= at else 0))
        place += 46 + sum(struct.unpack_from("<HHH", data, place + 28))
    return bytes(data)


def with_archive_comment(forger: Forger) -> None:
    with zipfile.ZipFile(forger.published, "a") as book:
        book.comment = HIDDEN.encode()
    forger.rehash()


def with_member_comment(forger: Forger) -> None:
    with zipfile.ZipFile(forger.published, "a") as book:
        book.infolist()[0].comment = HIDDEN.encode()
        book.comment = b"."  # so that the list is written
        book.comment = b""
    assert HIDDEN.encode() in forger.published.read_bytes()
    forger.rehash()


def with_longer_member(content: bytes) -> bytes:
    """Put bytes behind the compressed data of the first member, which unpacks to the same."""
    size, n_name = struct.unpack_from("<I", content, 18)[0], struct.unpack_from("<H", content, 26)[0]
    data = bytearray(moved(content, 30 + n_name + size, HIDDEN.encode()))
    struct.pack_into("<I", data, 18, size + len(HIDDEN))
    (listed,) = struct.unpack_from("<I", data, data.rindex(b"PK\5\6") + 16)
    struct.pack_into("<I", data, listed + 20, size + len(HIDDEN))
    return bytes(data)


def rewritten(edit: Callable[[pa.Table], pa.Table], **options: object) -> Callable[[Forger], object]:
    """Write the published rows again, as they are, with something more."""

    def forge(forger: Forger) -> None:
        table = edit(pq.read_table(forger.published).replace_schema_metadata(None))
        pq.write_table(table, forger.published, **options)
        forger.rehash()

    return forge


def with_metadata(forger: Forger) -> None:
    pl.read_parquet(forger.published).write_parquet(forger.published, metadata={"original": HIDDEN})
    forger.rehash()


def with_field_metadata(table: pa.Table) -> pa.Table:
    fields = [field.with_metadata({"original": HIDDEN}) for field in table.schema]
    return table.cast(pa.schema(fields))


def with_unused_values(table: pa.Table) -> pa.Table:
    place = table.schema.get_field_index("note")
    column = table["note"].combine_chunks().cast(pa.string()).dictionary_encode()
    values = pa.concat_arrays([column.dictionary, pa.array([HIDDEN])])
    return table.set_column(place, "note", pa.DictionaryArray.from_arrays(column.indices, values))


def with_unused_categories(forger: Forger) -> None:
    rows = pl.read_parquet(forger.published)
    categories = pl.Enum([*rows["note"].unique(maintain_order=True), HIDDEN])
    rows.with_columns(pl.col("note").cast(categories)).write_parquet(forger.published)
    forger.rehash()


def before_footer(content: bytes) -> bytes:
    (size,) = struct.unpack_from("<i", content, len(content) - 8)
    return content[: -size - 8] + HIDDEN.encode() + content[-size - 8 :]


def with_other_statistics(content: bytes) -> bytes:
    """Put another text of the same length into the statistics of a column, at the end of the file."""
    (size,) = struct.unpack_from("<i", content, len(content) - 8)
    footer = content[-size - 8 :]
    return content[: -size - 8] + footer.replace(b"asthma", b"secret").replace(b"ulcer", b"flue?")


BOOKS, PARQUET = ("xlsx",), ("parquet",)
FALSE_PARTS: dict[str, Falsification] = {
    # a workbook
    "a second sheet": Falsification(with_sheet(""), BOOKS),
    "a hidden sheet": Falsification(with_sheet(' state="hidden"'), BOOKS),
    "a very hidden sheet": Falsification(with_sheet(' state="veryHidden"'), BOOKS),
    "a comment on a cell": Falsification(repacked(with_comment), BOOKS),
    "a property of the document": Falsification(
        put(CORE, "</cp:coreProperties>", f"<dc:description>{HIDDEN}</dc:description>"), BOOKS
    ),
    "a property of many times": Falsification(
        put(CORE, "</cp:coreProperties>", "<dc:title>3450-50-01T00:00:00Z6100-31-02T00:00:00Z</dc:title>"), BOOKS
    ),
    "a property of its own": Falsification(
        repacked(lambda parts: parts.update({"docProps/custom.xml": f"{HEAD}<Properties>{HIDDEN}</Properties>"})), BOOKS
    ),
    "a defined name": Falsification(
        put(BOOK, "<calcPr", f'<definedNames><definedName name="x">"{HIDDEN}"</definedName></definedNames>'), BOOKS
    ),
    "a foreign member": Falsification(repacked(lambda parts: parts.update({"original.csv": HIDDEN})), BOOKS),
    "shared strings that no cell has": Falsification(repacked(with_shared_strings), BOOKS),
    "a comment in the sheet": Falsification(put(SHEET, "</sheetData>", f"<!--{HIDDEN}-->"), BOOKS),
    "a comment before a row": Falsification(put(SHEET, '<row r="9">', f"<!--{HIDDEN}-->"), BOOKS),
    "rows after the rows": Falsification(put(SHEET, "<pageMargins", f'<row r="1">{CELL}</row>'), BOOKS),
    "a header for the printer": Falsification(
        put(SHEET, "</worksheet>", f"<headerFooter><oddHeader>{HIDDEN}</oddHeader></headerFooter>"), BOOKS
    ),
    "two cells at one place": Falsification(repacked(with_cell_twice), BOOKS),
    "bytes before the archive": Falsification(with_bytes(lambda content: HIDDEN.encode() + content), BOOKS),
    "bytes before the archive, places put right": Falsification(
        with_bytes(lambda content: moved(content, 0, HIDDEN.encode())), BOOKS
    ),
    "bytes after the archive": Falsification(with_bytes(lambda content: content + HIDDEN.encode()), BOOKS),
    "bytes between two members": Falsification(
        with_bytes(lambda content: moved(content, content.index(b"PK\3\4", 4), HIDDEN.encode())), BOOKS
    ),
    "bytes before the list of members": Falsification(
        with_bytes(lambda content: moved(content, content.index(b"PK\1\2"), HIDDEN.encode())), BOOKS
    ),
    "bytes within a member": Falsification(with_bytes(with_longer_member), BOOKS),
    "a comment of the archive": Falsification(with_archive_comment, BOOKS),
    "a comment of a member": Falsification(with_member_comment, BOOKS),
    # Parquet
    "metadata of the file": Falsification(
        rewritten(lambda table: table.replace_schema_metadata({"original": HIDDEN})), PARQUET
    ),
    "metadata of the file, by another writer": Falsification(with_metadata, PARQUET),
    "metadata of columns": Falsification(rewritten(with_field_metadata), PARQUET),
    "values of a dictionary that no row has": Falsification(rewritten(with_unused_values), PARQUET),
    "values of a dictionary that no row has, in a plain column": Falsification(
        rewritten(with_unused_values, store_schema=False), PARQUET
    ),
    "categories that no row has": Falsification(with_unused_categories, PARQUET),
    "statistics of other rows": Falsification(with_bytes(with_other_statistics), PARQUET),
    "bytes before the footer": Falsification(with_bytes(before_footer), PARQUET),
}
