"""The table of messages that runs and counterexamples share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_MESSAGE = "To: message"
_WHOLE = 40  # characters of a message that are not broken; the changes beside it are, first
_OTHERS = 52  # characters of a line that the other columns need
_LEAST = 12
_UNBOUNDED = 1_000_000


class MessageTable(Table):
    """A table in which changes are broken before messages are, where there is no room for both."""

    def __init__(self, before: Sequence[str], messages: Sequence[str]) -> None:
        """Make a table without rows.

        `before` are the columns ahead of the sender, `messages` the texts that the column of
        messages will have.
        """
        super().__init__(box=None, pad_edge=False)
        for name in before:
            self.add_column(name, justify="right")
        self.add_column("From")
        self.add_column(_MESSAGE, overflow="fold")
        self.add_column("Deadline", justify="right")
        self.add_column("Choices")
        self.add_column("Changed", overflow="fold")
        self._message = self.columns[len(before) + 1]
        self._longest = max(map(len, [_MESSAGE, *messages]))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Fix the width of messages where something has to be broken; what is left is for others.

        With a least width instead, rich makes the table too wide and cuts off what does not fit.
        """
        wanted = console.measure(self, options=options.update(max_width=_UNBOUNDED)).maximum
        fits = wanted <= options.max_width
        most = min(_WHOLE, max(options.max_width - _OTHERS, _LEAST))
        self._message.width = None if fits else min(self._longest, most)
        return super().__rich_console__(console, options)
