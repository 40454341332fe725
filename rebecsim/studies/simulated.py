"""Replications of a generated model as rows, computed by worker processes.

It needs nothing of scenarios and kinds, so that workers start at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rebecsim.simulation import OUTCOMES
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
