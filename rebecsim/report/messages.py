"""The steps of runs as tables, and what may happen next in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table
from rich.text import Text

from rebecsim.actors.values import change_texts, value_text
from rebecsim.simulation import Event, RunResult
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from rebecsim.exploration import RebecState
    from rebecsim.live import Alternative

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


def event_table(events: Sequence[Event]) -> MessageTable:
    """One row for each message served: when, by whom, from whom, and what it changed."""
    return MessageTable(["Time"], list(map(_row, events)))


def _row(event: Event) -> MessageRow:
    time = str(event.time)
    if event.finished > event.time:
        time += f"-{event.finished}"
    return MessageRow(
        (time,),
        event.sender,
        f"{event.rebec}: {event.call}",
        "" if event.deadline is None else str(event.deadline),
        event.drawn_text,
        change_texts(event.changed.items()),
    )


def run_summary(result: RunResult) -> Text:
    """Say how a run ended."""
    detail = f": {result.detail}" if result.detail else ""
    style = "bold red" if result.is_violation else "bold"
    served = f"{counted(result.steps, 'message')} served"
    last = f"the last one at time {result.time}" if result.steps else "none"
    return Text(f"{result.outcome}{detail} ({served}, {last})", style=style)


def busy_text(rebec: RebecState, time: int) -> str:
    """Say until when a rebec is not free; nothing if it is."""
    if rebec.suspended is not None:
        return f" (in {rebec.suspended.server}, delay until {time + rebec.busy})"
    return f" (busy until {time + rebec.busy})" if rebec.busy else ""


def variables_text(rebec: RebecState) -> str:
    """Write the variables of a rebec with their values."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in rebec.variables.items())


def bag_texts(rebec: RebecState, time: int, *, timed: bool) -> Iterator[str]:
    """Write the messages of a bag, in absolute time if there is time."""
    for message in rebec.bag:
        text = f"{message.call} from {message.sender}"
        if timed:
            text += f", arrival {time + message.arrival}"
        if message.deadline != float("inf"):
            text += f", deadline {time + int(message.deadline)}"
        yield text


def effect_text(alternative: Alternative, timed: bool) -> str:
    """Say what an alternative changes and sends, so that alternatives can be told apart."""
    if alternative.breach is not None:
        return alternative.breach.verdict
    step = alternative.step
    parts = [f"{name} = {value_text(value)}" for name, value in step.changed]
    if step.finished is not None and step.finished > step.time:
        parts.append(f"busy until {step.finished}")
    for receiver, message in alternative.sent:
        arrival = f" at {message.arrival}" if timed else ""
        parts.append(f"{receiver}.{message.call}{arrival}")
    return ", ".join(parts)
