"""Tables that are printed row by row: messages as they are served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap

_HEADINGS = ("Time", "From", "To: message", "Deadline", "Choices", "Changed")
_TIME, _DEADLINE, _CHOICES = 9, 8, 7
_LEAST = 14
_GAPS = 10


class MessageLines:
    """Lays rows out in columns; with a `width`, what does not fit goes on in the next line."""

    def __init__(self, senders: Sequence[str], messages: Sequence[str], width: int | None) -> None:
        """Make a table for these rebecs and messages without arguments."""
        sender = max(map(len, [_HEADINGS[1], *senders]))
        message = max(map(len, [_HEADINGS[2], *messages])) + 8
        changed = None
        if width is not None:
            room = max(width - _TIME - _DEADLINE - _CHOICES - _GAPS - sender, 2 * _LEAST)
            message = min(message, max(room // 2, _LEAST))
            changed = room - message
        self._widths = (_TIME, sender, message, _DEADLINE, _CHOICES, changed)
        self._is_bounded = width is not None

    def heading(self) -> str:
        """Give the line of headings."""
        return self._line(_HEADINGS)

    def rows(self, cells: tuple[str, str, str, str, str, str]) -> Iterator[str]:
        """Give the line of a message, or lines if there is no room for one."""
        if not self._is_bounded:
            yield self._line(cells)
            return
        broken = [
            wrap(cell, width or len(cell) or 1)
            for cell, width in zip(cells, self._widths, strict=True)
        ]
        for parts in zip_longest(*broken, fillvalue=""):
            yield self._line(parts)

    def _line(self, cells: Sequence[str]) -> str:
        time, sender, message, deadline, choices, changed = cells
        _, from_width, message_width, *_ = self._widths
        return (
            f"{time:>{_TIME}}  {sender:<{from_width}}  {message:<{message_width}}  "
            f"{deadline:>{_DEADLINE}}  {choices:<{_CHOICES}}  {changed}"
        ).rstrip()
