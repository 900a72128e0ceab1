"""Markdown as far as our documents use it: fenced blocks, headings, links, tables, and marked parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
DOCS: Final = ROOT / "docs"
#: Every document of the repository, README first.
DOCUMENTS: Final = (
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
)

_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE: Final = re.compile(r"`([\w./-]+\.(?:py|yaml|yml|har))`")
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_PART: Final = re.compile(r"(<!-- begin: ([\w ./-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a `document`, which is named from docs/ on.

    `line` is that of its first line; `file` is the name of a file that the text before it gives it.
    """

    document: str
    line: int
    language: str
    text: str
    file: str | None

    @property
    def place(self) -> str:
        """Where it is, as the id of its test."""
        return f"{self.document}:{self.line}"


def text_of(path: Path) -> str:
    """A document."""
    return path.read_text("utf-8")


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a document, in order."""
    text = text_of(path)
    document = path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else path.name
    found = []
    for match in _FENCE.finditer(text):
        before = text[: match.start()].rstrip().rpartition("\n\n")[2]
        names = _FILE.findall(before)
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(document, line, match[1], match[2], names[-1] if names else None))
    return found


def prose(path: Path) -> str:
    """A document without its fenced blocks."""
    return _FENCE.sub("", text_of(path))


def links(path: Path) -> list[str]:
    """The targets of its links."""
    return _LINK.findall(prose(path))


def anchors(path: Path) -> set[str]:
    """The anchors of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def parts(path: Path) -> list[str]:
    """The names of the generated parts of a document."""
    return [match[2] for match in _PART.finditer(text_of(path))]


def filled(text: str, render: Callable[[str], str]) -> str:
    """The text with every marked part rendered anew."""
    return _PART.sub(lambda match: f"{match[1]}\n{render(match[2]).strip()}\n\n{match[3]}", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar inside a cell is escaped."""
    return "\n".join(_lines(head, rows))


def _lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        assert len(row) == len(head), row
        cells = (cell.replace("|", "\\|").replace("\n", " ") for cell in row)
        yield f"| {' | '.join(cells)} |"


def code(text: object) -> str:
    """The text as code."""
    return f"`{text}`"
