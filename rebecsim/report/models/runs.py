"""One run of a model, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from rebecsim.actors.written import changes_text
from rebecsim.counted import counted
from rebecsim.report.models.message_table import MessageTable
from rebecsim.simulation import Event, RunResult


def event_table(events: Sequence[Event]) -> Table:
    """One row for each message served: when, by whom, from whom, and what it changed."""
    messages = [f"{event.rebec}: {event.call}" for event in events]
    table = MessageTable(["Time"], messages)
    for event, message in zip(events, messages, strict=True):
        time = str(event.time)
        if event.finished > event.time:
            time += f"-{event.finished}"
        cells = (
            time,
            event.sender,
            message,
            "" if event.deadline is None else str(event.deadline),
            event.drawn_text,
            changes_text(event.changed.items()),
        )
        table.add_row(*map(Text, cells))
    return table


def run_summary(result: RunResult) -> Text:
    """Say how a run ended."""
    detail = f": {result.detail}" if result.detail else ""
    style = "bold red" if result.is_violation else "bold"
    served = f"{counted(result.steps, 'message')} served"
    last = f"the last one at time {result.time}" if result.steps else "none"
    return Text(f"{result.outcome}{detail} ({served}, {last})", style=style)
