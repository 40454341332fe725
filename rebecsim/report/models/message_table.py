"""The table of messages that runs and counterexamples share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_UNBOUNDED = 1_000_000
_LEAST = 12  # characters of a message column, however narrow the terminal is
_INDENT = "  "  # of changes below their message


class MessageRow(NamedTuple):
    """One message: what stands before its sender, whom it goes to, and what it changed."""

    before: tuple[str, ...]
    sender: str
    message: str
    deadline: str
    choices: str
    changed: tuple[str, ...]


class MessageTable:
    """A table without empty columns; changes stand below their messages if there is no room beside.

    `before` are the columns ahead of the sender. The last row is marked if it `ends_wrong`.
    """

    def __init__(
        self, before: Sequence[str], rows: Sequence[MessageRow], *, ends_wrong: bool = False
    ) -> None:
        self._before = tuple(before)
        self._rows = rows
        self._ends_wrong = ends_wrong

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the table with the changes beside messages, or below them if that is too wide."""
        beside = self._table([", ".join(row.changed) for row in self._rows], None)
        unbounded = options.update(max_width=_UNBOUNDED)
        if console.measure(beside, options=unbounded).maximum <= options.max_width:
            yield beside
            return
        others = console.measure(self._table([], 0), options=unbounded).maximum
        yield self._table([], max(options.max_width - others, _LEAST))

    def _table(self, changed: Sequence[str], width: int | None) -> Table:
        """Make a table; with a `width` of messages, changes stand below them."""
        table = Table(box=None, pad_edge=False)
        for name in self._before:
            table.add_column(name, justify="right")
        table.add_column("From")
        table.add_column("To: message", overflow="fold", width=width)
        columns: list[tuple[str, Sequence[str]]] = [
            ("Deadline", [row.deadline for row in self._rows]),
            ("Choices", [row.choices for row in self._rows]),
            ("Changed", changed),
        ]
        columns = [(name, cells) for name, cells in columns if any(cells)]
        for name, _ in columns:
            table.add_column(name, justify="right" if name == "Deadline" else "left")
        for place, row in enumerate(self._rows):
            message = row.message
            if width:
                message = "\n".join([message, *_below(row.changed, width)])
            cells = (*row.before, row.sender, message, *(cells[place] for _, cells in columns))
            is_wrong = self._ends_wrong and place == len(self._rows) - 1
            if is_wrong:
                cells = (f"> {cells[0]}", *cells[1:])
            table.add_row(*map(Text, cells), style="bold red" if is_wrong else None)
        return table


def _below(changed: Sequence[str], width: int) -> Iterator[str]:
    """Put changes into lines, without breaking one in two unless it is longer than a line."""
    line = ""
    for place, each in enumerate(changed):
        text = each if place == len(changed) - 1 else f"{each},"
        if line and len(_INDENT) + len(line) + 1 + len(text) > width:
            yield f"{_INDENT}{line}"
            line = ""
        line = f"{line} {text}" if line else text
    if line:
        yield f"{_INDENT}{line}"
