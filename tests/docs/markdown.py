"""Reading the project's Markdown: fenced blocks, links and headings.

A fence says after its language what a test does with it, as words and `key=value` pairs which no
code host shows. `python file=lamp.py` is a block of Python that is written to that file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), ROOT / "benchmarks/README.md"])

_FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<info>[^`]*)$")
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_IMAGE = re.compile("!" + _LINK.pattern)


@dataclass(frozen=True)
class Block:
    """A fenced block: where its first line of text stands, its language, options and text."""

    document: Path
    line: int
    language: str
    options: dict[str, str]
    text: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line} ({self.language})"


@dataclass(frozen=True)
class Document:
    """A Markdown file: its blocks, and its other lines by number."""

    path: Path
    blocks: tuple[Block, ...]
    prose: dict[int, str]

    @property
    def links(self) -> list[tuple[int, str]]:
        """Line and target of every link, pictures among them."""
        return self._targets(_LINK)

    @property
    def images(self) -> list[tuple[int, str]]:
        """Line and target of every picture."""
        return self._targets(_IMAGE)

    def _targets(self, pattern: re.Pattern[str]) -> list[tuple[int, str]]:
        return [
            (number, match["target"])
            for number, line in self.prose.items()
            for match in pattern.finditer(line)
        ]

    @property
    def anchors(self) -> set[str]:
        """What links to a heading of the document end with."""
        headings = (line.lstrip("#") for line in self.prose.values() if line.startswith("#"))
        return {_anchor(heading) for heading in headings}


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def read_document(path: Path) -> Document:
    """Read a Markdown file. Raises ValueError when a fence is not closed."""
    blocks: list[Block] = []
    prose: dict[int, str] = {}
    lines = enumerate(path.read_text("utf-8").splitlines(), start=1)
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            prose[number] = line
            continue
        text = []
        for _, inner in lines:
            if inner == fence["ticks"]:
                break
            text.append(inner)
        else:
            raise ValueError(f"{path}:{number}: the fence is not closed")
        language, options = _info(fence["info"])
        blocks.append(Block(path, number + 1, language, options, "\n".join(text) + "\n"))
    return Document(path, tuple(blocks), prose)


def _info(info: str) -> tuple[str, dict[str, str]]:
    language, *words = info.split() or [""]
    pairs = (word.partition("=") for word in words)
    return language, {key: value for key, _, value in pairs}
