"""A workflow, and what became of it, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.job import SECOND
from rebecsim.clusters.stages.measures import MeasuredStages
from rebecsim.clusters.stages.workloads.shape import WorkflowShape
from rebecsim.wording import counted


def shape_table(shape: WorkflowShape) -> Table:
    """Say how large a workflow is, how deep and wide, and how long it takes."""
    table = Table(show_header=False)
    table.add_column("", no_wrap=True)
    table.add_column("", justify="right")
    dummies = f", {shape.dummies:,} of which take no time" if shape.dummies else ""
    longest = max(task.duration for task in shape.tasks)
    rows = (
        ("Tasks", f"{len(shape.tasks):,}{dummies}"),
        ("Edges", f"{shape.edges:,}"),
        ("Depth", counted(shape.depth, "level")),
        ("Width", f"{shape.width:,} tasks"),
        ("Work", f"{_seconds(shape.work)} s"),
        ("Longest task", f"{_seconds(longest)} s"),
        ("Critical path", f"{_seconds(shape.shortest)} s"),
        ("Tasks at a time, on average", f"{shape.parallelism:.1f}"),
    )
    for row in rows:
        table.add_row(*row)
    return table


def groups_table(shape: WorkflowShape) -> Table:
    """Give a row for each name of tasks."""
    table = Table()
    table.add_column("Tasks called")
    for heading in ("Count", "Mean (s)", "Longest (s)", "Work (s)"):
        table.add_column(heading, justify="right")
    for name, group in shape.groups.items():
        times = (_seconds(each) for each in (group.mean, group.longest, group.work))
        table.add_row(name, f"{group.count:,}", *times)
    return table


def outcome_table(runs: Mapping[str, FinishedStages]) -> Table:
    """Give a row for each resource manager that ran a workflow: when it ended, and how late."""
    table = Table()
    table.add_column("Manager", no_wrap=True)
    for heading in ("Turnaround (s)", "To spare (s)", "Slots used (%)"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for name, run in runs.items():
        measured = MeasuredStages(run)
        spare = 0.0 - float(measured.lateness[0])
        table.add_row(
            name,
            f"{measured.turnarounds[0]:,.1f}",
            f"{spare:,.1f}",
            f"{measured.utilisation:.1f}",
            "late" if spare < 0 else "in time",
        )
    return table


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / SECOND:,.1f}"
