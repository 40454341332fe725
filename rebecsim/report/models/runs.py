"""One run of a model, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from rebecsim.actors.values import change_texts
from rebecsim.counted import counted
from rebecsim.report.models.message_table import MessageRow, MessageTable
from rebecsim.simulation import Event, RunResult


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
