"""The table of messages that runs and counterexamples share."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

_MESSAGE = "To: message"
_WHOLE = 40  # characters of a message that are not broken; the changes beside it are, first


def message_table(before: Sequence[str], messages: Sequence[str]) -> Table:
    """Make a table without rows; `before` are the columns ahead of the sender.

    `messages` are the texts that the column of messages will have.
    """
    table = Table(box=None, pad_edge=False)
    for name in before:
        table.add_column(name, justify="right")
    table.add_column("From")
    longest = max(map(len, [_MESSAGE, *messages]))
    table.add_column(_MESSAGE, min_width=min(longest, _WHOLE))
    table.add_column("Deadline", justify="right")
    table.add_column("Choices")
    table.add_column("Changed")
    return table
