"""Markdown pages as data: their fenced blocks with the comments above them, their headings, tables and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parent.parent.parent
DOCS = PROJECT / "docs"
README = PROJECT / "README.md"
PAGES = [README, PROJECT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A fenced block, or a `setup` comment. `note` is the HTML comment in the line above, such as `status: 1`."""

    language: str
    text: str
    line: int
    note: str
    follows: int  # lines between the block before and this one

    def noted(self, word: str) -> str | None:
        match = re.fullmatch(rf"{word}: *(.*)", self.note)
        return match.group(1) if match else None


def name_of(page: Path) -> str:
    return page.relative_to(PROJECT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    blocks: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    note, end, number = "", 0, 0
    while number < len(lines):
        line = lines[number]
        if line.startswith(("```", "<!--")):
            closing = "```" if line.startswith("```") else "-->"
            start = number
            if not (closing == "-->" and closing in line):
                number = next(n for n in range(start + 1, len(lines)) if lines[n].startswith(closing))
            inside = "\n".join(lines[start + 1 : number])
            if closing == "```":
                blocks.append(Block(line[3:].strip(), inside, start + 1, note, start - end))
                note, end = "", number + 1
            elif line.strip() == "<!-- setup":
                blocks.append(Block("setup", inside, start + 1, "", start - end))
            else:
                note = line.removeprefix("<!--").removesuffix("-->").strip()
        elif line.strip():
            note = ""
        number += 1
    return blocks


def section(page: Path, heading: str) -> str:
    """The text under a heading, up to the next heading of any level."""
    text = page.read_text(encoding="utf-8")
    match = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert match, f"{name_of(page)} has no section '{heading}'"
    return match.group(1)


def table_rows(text: str) -> list[list[str]]:
    """The rows of all Markdown tables in a text, without their heads."""
    rows, is_body = [], False
    for line in text.splitlines():
        if not line.startswith("|"):
            is_body = False
        elif re.fullmatch(r"[|:\- ]+", line):
            is_body = True
        elif is_body:
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def in_code(cell: str) -> list[str]:
    """The texts in backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def without_code(page: Path) -> str:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def links_of(page: Path) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", without_code(page))


def anchors_of(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
