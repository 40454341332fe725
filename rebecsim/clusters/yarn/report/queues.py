"""Sections of reports for queues: their figures, and their shares over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.yarn.queue_tables import QUEUE_USAGE, QUEUES
from rebecsim.clusters.yarn.report.queue_figures import (
    FIGURES,
    SHOWN_FIGURES,
    QueueFigures,
    figure_text,
    queue_figures,
)
from rebecsim.clusters.yarn.report.stored import StoredTables, values_of
from rebecsim.clusters.yarn.report.text import figures_table
from rebecsim.report.csv import text_of
from rebecsim.report.figures import (
    GREY,
    LineStyle,
    legend_below,
    line_styles,
    new_figure,
    plain_axes,
    time_axis,
)
from rebecsim.studies.sections import Picture, Section, TextTable

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SECOND = 1000
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
                "Queues over time",
                "What each queue has of the memory of the cluster, as means over windows of time. "
                "Dashed: what it should have; dotted: the most that it may have.",
                partial(queue_shares_figure, shown, heading),
            ),
        ),
        notes=notes,
        files={"queues.csv": _csv(paths, figures)},
        terminal=terminal,
    )


def _memory(each: StoredTables) -> int:
    return int(values_of(each.nodes, "memory").sum())


def _figures_of(each: StoredTables) -> dict[str, QueueFigures]:
    tables = {name: table.to_pydict() for name, table in each.queues.items()}
    return queue_figures(tables, _memory(each))


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
    from matplotlib.lines import Line2D

    paths = _drawn(shown)
    figure = new_figure(11, 1.2 + 1.9 * len(paths), heading)
    panels = figure.subplots(len(paths), 1, sharex=True, squeeze=False)[:, 0]
    last = max(float(values_of(each.jobs, "end").max()) for each in shown) / _SECOND
    unit, name = time_axis(last)
    styles = line_styles(tuple(each.scheduler for each in shown))
    for axes, path in zip(panels, paths, strict=True):
        for each in shown:
            _draw(axes, each, path, styles[each.scheduler], unit)
        plain_axes(axes, path, "", "Memory (%)")
        axes.set_ylim(0, None)
    panels[-1].set_xlabel(f"Time ({name})")
    panels[-1].set_xlim(0, last / unit)
    grey = [
        Line2D([], [], color=GREY, linestyle=dashes, linewidth=0.8, label=label)
        for label, dashes in (("guaranteed", (0, (4, 2))), ("maximum", (0, (1, 2))))
    ]
    legend_below(figure, [*panels[0].get_legend_handles_labels()[0], *grey])
    return figure


def _drawn(shown: Sequence[StoredTables]) -> list[str]:
    """Give the leaves with the most memory, in the order of their names."""
    used: dict[str, float] = {}
    for each in shown:
        usage = each.queues[QUEUE_USAGE]
        parents = _of(each.queues[QUEUES], "queue")[~_of(each.queues[QUEUES], "leaf").astype(bool)]
        for path in dict.fromkeys(usage.column("queue").to_pylist()):
            if path not in set(parents.tolist()):
                mine = _of(usage, "memory")[_of(usage, "queue") == path]
                used[path] = max(used.get(path, 0.0), float(mine.mean()))
    most = sorted(used, key=lambda path: (-used[path], path))[:_MOST_QUEUES]
    return sorted(most)


def _of(table: pa.Table, name: str) -> NDArray[np.object_]:
    return np.asarray(values_of(table, name))


def _draw(axes: Axes, each: StoredTables, path: str, style: LineStyle, unit: int) -> None:
    whole = _memory(each)
    usage, queues = each.queues[QUEUE_USAGE], each.queues[QUEUES]
    mine = _of(usage, "queue") == path
    times = _of(usage, "time")[mine] / _SECOND / unit
    share = 100 * _of(usage, "memory")[mine].astype(float) / whole
    if not len(times):
        times, share = np.array([0.0]), np.array([0.0])
    width = times[1] - times[0] if len(times) > 1 else 1.0
    edges = np.append(times, times[-1] + width)
    line = 0.5 * style.line_width + 0.3
    axes.stairs(
        share, edges, baseline=None, label=each.scheduler, color=style.colour, linewidth=line
    )
    row = np.flatnonzero(_of(queues, "queue") == path)
    for name, dashes in (("guaranteed", "--"), ("maximum", ":")):
        if len(row):
            level = 100 * float(_of(queues, name)[row[0]]) / whole
            if _SHOWN < level < 100 - _SHOWN:
                axes.axhline(level, color=style.colour, linestyle=dashes, linewidth=0.8)
