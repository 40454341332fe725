"""Replications of a generated model as rows, computed by worker processes.

It needs nothing of scenarios and kinds, so that workers start at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from rebecsim.simulation import OUTCOMES, MessageOrder
from rebecsim.simulation.montecarlo import Batch, Task, run_task
from rebecsim.studies.cells import REPLICATION, Coded, Rows

OUTCOME = "outcome"
"""The column that says how a run ended."""

TRACES = "traces"
"""The table of messages served."""

TRACE_COLUMNS: Mapping[str, str] = {
    REPLICATION: "int64",
    "step": "int32",
    "time": "int64",
    "finished": "int64",
    "rebec": "string",
    "server": "string",
    "sender": "string",
    "arrival": "int64",
    "deadline": "int64?",
    "arguments": "string",
    "choices": "string",
    "changed": "string",
}
"""A row for each message served; see `rebecsim.simulation.Event`."""


def simulated_rows(task: Task, counters: Mapping[str, str]) -> Rows:
    """Run a task; `counters` says from which state variable each column is read."""
    batch = run_task(task)
    columns: dict[str, Any] = {name: batch.columns[read] for name, read in counters.items()}
    columns[OUTCOME] = Coded(batch.outcomes, tuple(OUTCOMES))
    tables = {TRACES: _traces(batch)} if task.runs.trace else {}
    return Rows(columns, tables, batch.engine)


def _traces(batch: Batch) -> dict[str, list[Any]]:
    rows = [
        event.row(batch.first + place)
        for place, events in enumerate(batch.events)
        for event in events
    ]
    return {name: [row[name] for row in rows] for name in TRACE_COLUMNS}


Order = Literal["random", "updates-first", "ticks-first", "fifo"]
"""How scenarios order messages of one time unit, in models in which a message server passes time.

In a distributed system nothing decides which of them is served first: results that depend on it say
something about the race and not about the policy. The orders other than `random` show how far it
matters, as each resolves every race between a tick and the rest in one way.
"""

ORDERS: tuple[Order, ...] = get_args(Order)


def message_order(order: Order, tick: str | None) -> MessageOrder:
    """Give an order by its name; `tick` is the message server that passes time.

    random: every order is equally likely. updates-first: a tick is served when nothing else is
    left at its time. ticks-first: a tick is served before everything else. fifo: in the order of
    sending.
    """
    match order:
        case "updates-first":
            return MessageOrder(last=tick or "")
        case "ticks-first":
            return MessageOrder(first=tick or "")
    return MessageOrder(is_fifo=order == "fifo")
