"""What queues have of the cluster: figures, tables, and shares over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Column, Table

from rebecsim.clusters.kit.report import Course, Panel, over_time_figure, values_of
from rebecsim.clusters.yarn.measures import QUEUE_FIGURES
from rebecsim.clusters.yarn.report.stored import SECOND, StoredTables, last_end
from rebecsim.clusters.yarn.tables import QUEUE_JOBS, QUEUE_USAGE, QUEUES
from rebecsim.report.numbers import text_of
from rebecsim.studies.cells import Picture, Section, TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MOST_QUEUES = 12
_SHOWN = 0.05  # percent; what is less is not looked at


def queue_section(shown: Sequence[StoredTables], heading: str, notes: tuple[str, ...]) -> Section:
    """Show what queues got of the cluster."""
    figures = {each.scheduler: _figures_of(each) for each in shown}
    paths = tuple(dict.fromkeys(path for of_it in figures.values() for path in of_it))
    terminal = queue_figures_table(figures)
    terminal.title = " ".join(notes) or None
    return Section(
        name="queues",
        title="What queues have of the cluster",
        tables=tuple(_tables(paths, figures)),
        pictures=(
            Picture(
                "queue_shares",
                "How much of the cluster did each queue have?",
                "What each queue has of the memory of the cluster, as means over windows of time. "
                "Dashed: what it should have; dotted: the most that it may have.",
                partial(queue_shares_figure, shown, heading),
            ),
        ),
        notes=notes,
        files={"queues.csv": _csv(paths, figures)},
        terminal=terminal,
    )


def _figures_of(each: StoredTables) -> dict[str, QueueFigures]:
    tables = {name: table.to_pydict() for name, table in each.queues.items()}
    return queue_figures(tables, each.memory)


def _tables(
    paths: Sequence[str], figures: Mapping[str, Mapping[str, QueueFigures]]
) -> list[TextTable]:
    """Give a table for each figure that says something: queues by schedulers."""
    found = []
    for name, heading, decimals in SHOWN_FIGURES:
        rows = []
        for path in paths:
            of_queue = [of_it.get(path) for of_it in figures.values()]
            values = [None if each is None else getattr(each, name) for each in of_queue]
            rows.append((path, values))
        if any(value for _, values in rows for value in values):
            texts = tuple(
                (path, tuple(figure_text(value, decimals) for value in values))
                for path, values in rows
            )
            found.append(TextTable(heading, ("Queue", *figures), texts))
    return found


def _csv(paths: Sequence[str], figures: Mapping[str, Mapping[str, QueueFigures]]) -> str:
    names = [name for name, *_ in QUEUE_FIGURES]
    rows = [
        [policy, path, *(getattr(of_it[path], name) for name in names)]
        for policy, of_it in figures.items()
        for path in paths
        if path in of_it
    ]
    return text_of(["policy", "queue", *names], rows)


def queue_shares_figure(shown: Sequence[StoredTables], heading: str = "") -> Figure:
    """Draw what leaves have of the memory over time, beside what they should have, and may."""
    panels = [
        Panel(path, "Memory (%)", {each.scheduler: _course(each, path) for each in shown})
        for path in _drawn(shown)
    ]
    return over_time_figure(panels, last_end(shown), heading)


def _drawn(shown: Sequence[StoredTables]) -> list[str]:
    """Give the leaves with the most memory, in the order of their names."""
    used: dict[str, float] = {}
    for each in shown:
        usage = each.queues[QUEUE_USAGE]
        parents = values_of(each.queues[QUEUES], "queue")[
            ~values_of(each.queues[QUEUES], "leaf").astype(bool)
        ]
        for path in dict.fromkeys(usage.column("queue").to_pylist()):
            if path not in set(parents.tolist()):
                mine = values_of(usage, "memory")[values_of(usage, "queue") == path]
                used[path] = max(used.get(path, 0.0), float(mine.mean()))
    most = sorted(used, key=lambda path: (-used[path], path))[:_MOST_QUEUES]
    return sorted(most)


def _course(each: StoredTables, path: str) -> Course:
    usage, queues = each.queues[QUEUE_USAGE], each.queues[QUEUES]
    mine = values_of(usage, "queue") == path
    times = values_of(usage, "time")[mine] / SECOND
    share = 100 * values_of(usage, "memory")[mine].astype(float) / each.memory
    if not len(times):
        times, share = np.zeros(1), np.zeros(1)
    row = np.flatnonzero(values_of(queues, "queue") == path)[:1]
    levels = {
        name: 100 * float(amount) / each.memory
        for name in ("guaranteed", "maximum")
        for amount in values_of(queues, name)[row]
    }
    shown = {name: at for name, at in levels.items() if _SHOWN < at < 100 - _SHOWN}
    return Course(times, share, shown)


_SECOND = 1000
_GB_HOUR = 1024 * 3600 * _SECOND

Rows = Mapping[str, Sequence[Any]]
"""A table of a run, column by column."""


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """What a leaf queue got in a run.

    Attributes:
        jobs: that were let in.
        refused: that were not.
        wait: from submission until the AppMaster has a container, mean (s).
        duration: from submission to end, mean (s).
        share: of the memory of the cluster over the makespan (%).
        guaranteed: what it should have of it (%); None: nothing is said.
        killed: containers.
        wasted: their memory (GB h).
    """

    jobs: int
    refused: int
    wait: float | None
    duration: float | None
    share: float
    guaranteed: float | None
    killed: int
    wasted: float


SHOWN_FIGURES = tuple(
    (name, f"{title} ({unit})" if unit else title, decimals)
    for name, title, unit, decimals in QUEUE_FIGURES
    if name not in ("jobs", "wait", "duration")
)
"""Name, heading and decimals of those beside the answer by queue, which has the others."""


def queue_figures(tables: Mapping[str, Rows], memory: int) -> dict[str, QueueFigures]:
    """Give the figures of all leaves that have jobs or a capacity; `memory` is the cluster's MB."""
    jobs, queues = tables[QUEUE_JOBS], tables[QUEUES]
    guaranteed = {
        path: 100 * amount / memory
        for path, leaf, amount in zip(
            queues["queue"], queues["leaf"], queues["guaranteed"], strict=True
        )
        if leaf
    }
    used = _mean_use(tables[QUEUE_USAGE])
    rows: dict[str, list[dict[str, Any]]] = {path: [] for path in guaranteed}
    for values in zip(*jobs.values(), strict=True):
        row = dict(zip(jobs, values, strict=True))
        rows.setdefault(row["queue"], []).append(row)
    return {
        path: _figures(of_it, guaranteed.get(path), 100 * used.get(path, 0.0) / memory)
        for path, of_it in sorted(rows.items())
    }


def _figures(
    rows: Sequence[Mapping[str, Any]], guaranteed: float | None, share: float
) -> QueueFigures:
    run = [row for row in rows if not row["refused"]]
    waits = [row["started"] - row["submitted"] for row in run]
    durations = [row["ended"] - row["submitted"] for row in run]
    return QueueFigures(
        jobs=len(run),
        refused=len(rows) - len(run),
        wait=fmean(waits) / _SECOND if run else None,
        duration=fmean(durations) / _SECOND if run else None,
        share=share,
        guaranteed=guaranteed,
        killed=sum(row["killed"] for row in rows),
        wasted=sum(row["wasted"] for row in rows) / _GB_HOUR,
    )


def _mean_use(usage: Rows) -> dict[str, float]:
    """Give what queues had on average (MB); windows are of equal length."""
    found: dict[str, list[float]] = {}
    for path, memory in zip(usage["queue"], usage["memory"], strict=True):
        found.setdefault(path, []).append(memory)
    return {path: fmean(values) for path, values in found.items()}


def figure_text(value: float | None, decimals: int) -> str:
    """Write a figure; a dash where there is none."""
    return "-" if value is None else f"{value:,.{decimals}f}"


def queue_figures_table(found: Mapping[str, Mapping[str, QueueFigures]]) -> Table:
    """Show figures of queues, by schedulers; what is nothing everywhere is left out."""
    table = Table("Queue", "", *(Column(name, justify="right") for name in found))
    for path in dict.fromkeys(path for figures in found.values() for path in figures):
        of_queue = [figures.get(path) for figures in found.values()]
        first = path
        for name, heading, decimals in SHOWN_FIGURES:
            values = [None if each is None else getattr(each, name) for each in of_queue]
            if name != "share" and not any(values):
                continue  # nothing is refused, or killed
            texts = [figure_text(value, decimals) for value in values]
            table.add_row(first, heading, *texts)
            first = ""
        table.add_section()
    return table
