"""Sections of reports for queues: their figures, and their shares over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.clusters.kit.over_time import Course, Panel, over_time_figure
from rebecsim.clusters.kit.stored import values_of
from rebecsim.clusters.yarn.queue_tables import QUEUE_USAGE, QUEUES
from rebecsim.clusters.yarn.report.queue_figures import (
    FIGURES,
    SHOWN_FIGURES,
    QueueFigures,
    figure_text,
    queue_figures,
)
from rebecsim.clusters.yarn.report.stored import SECOND, StoredTables, last_end
from rebecsim.clusters.yarn.report.text import figures_table
from rebecsim.report.csv import text_of
from rebecsim.studies.sections import Picture, Section, TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_QUEUES = 12
_SHOWN = 0.05  # percent; what is less is not looked at


def queue_section(shown: Sequence[StoredTables], heading: str, notes: tuple[str, ...]) -> Section:
    """Show what queues got of the cluster."""
    figures = {each.scheduler: _figures_of(each) for each in shown}
    paths = tuple(dict.fromkeys(path for of_it in figures.values() for path in of_it))
    terminal = figures_table(figures)
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
    names = [name for name, _, _ in FIGURES]
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
