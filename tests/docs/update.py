"""Write what commands print today into the documents: `python -m tests.docs.update FILE...`.

Read the difference before it is kept: this script does not know what is right. A line `...` keeps
standing for what it stood for, where it is the only one of its output; a line with `...` in it
stays if it still fits. Outputs with several such lines are named, and left to be edited by hand.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

from tests.docs.markdown import Block, read_document
from tests.docs.session import Session, matches, shown_lines


class Update(Session):
    """Does what a document says, and collects the outputs that differ, by their block."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.changed: list[tuple[Block, str, str]] = []
        self.left: list[str] = []

    def expect(self, block: Block, printed: str, expected: str) -> None:
        """Note what stands there now and what is to stand there."""
        if matches(printed, expected):
            return
        today = updated(printed, expected)
        if today is None:
            self.left.append(f"{block}: several `...`; it printed\n{printed}")
        else:
            self.changed.append((block, expected, today))


def updated(printed: str, expected: str) -> str | None:
    """Give the text that shows as much of an output as the old one did; None if that is open."""
    lines, old = shown_lines(printed), shown_lines(expected)
    if old.count("...") > 1:
        return None
    if "..." not in old:
        return _text(_fitting(lines, old))
    cut = old.index("...")
    after = len(old) - cut - 1
    head, tail = lines[:cut], lines[len(lines) - after :] if after else []
    return _text([*_fitting(head, old[:cut]), "...", *_fitting(tail, old[cut + 1 :])])


def _fitting(lines: list[str], old: list[str]) -> list[str]:
    pairs = zip_longest(lines, old[: len(lines)], fillvalue="")
    return [was if "..." in was and matches(line, was) else line for line, was in pairs]


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def update(path: Path) -> list[str]:
    """Write the outputs of one document anew. Gives what is left to be done by hand."""
    document = read_document(path)
    with tempfile.TemporaryDirectory() as directory:
        session = Update(Path(directory))
        for block in document.blocks:
            try:
                session.do(block)
            except AssertionError as error:
                session.left.append(str(error))
    lines = path.read_text("utf-8").splitlines(keepends=True)
    for block, old, new in reversed(session.changed):
        size = len(block.text.splitlines())
        place = slice(block.line - 1, block.line - 1 + size)
        lines[place] = "".join(lines[place]).replace(old, new, 1).splitlines(keepends=True)
    path.write_text("".join(lines), "utf-8")
    return session.left


if __name__ == "__main__":
    for file in sys.argv[1:]:
        for line in update(Path(file).resolve()):
            print(line)
