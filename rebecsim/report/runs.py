"""One run of a model for people to read."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from rebecsim.simulate import Event, RunResult

__all__ = ["event_table", "run_summary"]


def event_table(events: Sequence[Event]) -> Table:
    """One row for each message served: when, by whom, from whom, and what it changed."""
    table = Table(box=None, pad_edge=False)
    table.add_column("Time", justify="right")
    for name in ("From", "To: message", "Deadline", "Choices", "Changed"):
        table.add_column(name, justify="right" if name == "Deadline" else "left")
    for event in events:
        time = str(event.time)
        if event.finished > event.time:
            time += f"-{event.finished}"
        arguments = ", ".join(map(_value, event.arguments))
        cells = (
            time,
            event.sender,
            f"{event.rebec}: {event.server}({arguments})",
            "" if event.deadline is None else str(event.deadline),
            ", ".join(str(index + 1) for index in event.choices),
            ", ".join(f"{name} = {_value(value)}" for name, value in event.changed.items()),
        )
        table.add_row(*map(Text, cells))
    return table


def _value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case list():
            return f"[{', '.join(map(_value, value))}]"
    return str(value)


def run_summary(result: RunResult) -> Text:
    """Say how a run ended."""
    detail = f": {result.detail}" if result.detail else ""
    style = "bold red" if result.is_violation else "bold"
    served = f"{result.steps} message{'' if result.steps == 1 else 's'} served"
    last = f"the last one at time {result.time}" if result.steps else "none"
    return Text(f"{result.outcome}{detail} ({served}, {last})", style=style)
