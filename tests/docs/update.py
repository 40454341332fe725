"""Write what commands print today into the documents: `python -m tests.docs.update FILE...`.

Read the difference before it is kept: this script does not know what is right. A line `...` goes on
standing for the rest of an output, and a line with `...` in it stays if it still fits.
"""

from __future__ import annotations

import sys
import tempfile
from difflib import SequenceMatcher
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
        self.changed.append((block, expected, updated(printed, expected)))


def updated(printed: str, expected: str) -> str:
    """Give the text that shows as much of an output as the old one did.

    What stood between two lines `...` is where the output is most like it.
    """
    lines, old = shown_lines(printed), shown_lines(expected)
    shown: list[str] = []
    start = 0
    pieces = _pieces(old)
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        if number == 0:
            place = 0
        elif last:
            place = max(len(lines) - len(piece), start)
        else:
            place = _most_alike(lines, piece, start)
        end = len(lines) if last and number == 0 else place + len(piece)
        shown += [*(["..."] if number else []), *_fitting(lines[place:end], piece)]
        start = end
    return "".join(f"{line}\n" for line in shown)


def _pieces(old: list[str]) -> list[list[str]]:
    """Cut an output at its lines `...`."""
    pieces: list[list[str]] = [[]]
    for line in old:
        if line == "...":
            pieces.append([])
        else:
            pieces[-1].append(line)
    return pieces


def _most_alike(lines: list[str], piece: list[str], start: int) -> int:
    """Give the place from `start` on whose lines are most like those of a piece."""
    text = "\n".join(piece)
    places = range(start, max(len(lines) - len(piece), start) + 1)
    return max(
        places,
        key=lambda place: (
            SequenceMatcher(None, text, "\n".join(lines[place : place + len(piece)])).ratio(),
            -place,
        ),
    )


def _fitting(lines: list[str], old: list[str]) -> list[str]:
    pairs = zip_longest(lines, old[: len(lines)], fillvalue="")
    return [was if "..." in was and matches(line, was) else line for line, was in pairs]


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
