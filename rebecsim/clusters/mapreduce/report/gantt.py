"""Gantt charts of slots, with tasks coloured by queue.

A run says on which node an attempt was, not in which of its slots: for the picture each gets the
lowest slot of its kind that is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.clusters.kit.lowest_slots import slots_of
from rebecsim.clusters.mapreduce.figures.stored import SECOND, StoredRuns, values_of
from rebecsim.clusters.mapreduce.report.charts import queue_colours
from rebecsim.report.charts.figures import legend_below, new_figure, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_NODES = 10
_MANY = 2000
_REDUCE_ALPHA = 0.45
_ROW = 0.9


def gantt_figure(
    shown: Sequence[StoredRuns], slots_of_node: tuple[int, int], heading: str = ""
) -> Figure:
    """Draw the slots of the first nodes, those of maps above those of reduces, by queue."""
    nodes = min(max(int(values_of(each.attempts, "node").max()) for each in shown) + 1, _MOST_NODES)
    rows = nodes * sum(slots_of_node)
    figure = new_figure(11, 1.3 + len(shown) * (0.5 + 0.035 * max(rows, 30)), heading)
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    last = max(float(values_of(each.attempts, "end").max()) for each in shown) / SECOND
    unit, name = time_axis(last)
    colours = queue_colours(shown)
    for axes, each in zip(panels, shown, strict=True):
        _panel(axes, each, nodes, slots_of_node, colours, unit)
    panels[-1].set_xlim(0, last / unit)
    panels[-1].set_xlabel(f"Time ({name})")
    _legend(figure, colours)
    return figure


def _panel(
    axes: Axes,
    each: StoredRuns,
    nodes: int,
    slots_of_node: tuple[int, int],
    colours: dict[str, str],
    unit: int,
) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    columns = {name: values_of(each.attempts, name) for name in ("node", "start", "end")}
    kinds, queues = values_of(each.attempts, "kind").astype(str), each.queue_of_attempts()
    height = sum(slots_of_node)
    corners, faces = [], []
    for kind, first, alpha in (
        ("map", 0, 1.0),
        ("reduce", slots_of_node[0], _REDUCE_ALPHA),
    ):
        mine = np.flatnonzero((kinds == kind) & (columns["node"] < nodes))
        start, end, node = (columns[name][mine] for name in ("start", "end", "node"))
        slots = slots_of(start, end, node)
        tops = node * height + first + slots
        for place, top in enumerate(tops.tolist()):
            left, right = start[place] / SECOND / unit, end[place] / SECOND / unit
            corners.append([(left, top), (left, top + _ROW), (right, top + _ROW), (right, top)])
            faces.append(to_rgba(colours[str(queues[mine[place]])], alpha))
    many = len(corners) > _MANY
    axes.add_collection(
        PolyCollection(
            corners,
            facecolors=faces,
            edgecolors="white",
            linewidths=0.1 if many else 0.3,
            rasterized=many,
        )
    )
    total = int(values_of(each.attempts, "node").max()) + 1
    of = f", the first {nodes} of {total} nodes" if total > nodes else ""
    axes.set_title(f"{each.variant}{of}", fontsize=10, parse_math=False)
    axes.set_yticks(
        [(number + 0.5) * height for number in range(nodes)],
        [f"node {number}" for number in range(nodes)],
        fontsize=7,
    )
    for number in range(1, nodes):
        axes.axhline(number * height - (1 - _ROW) / 2, color="#b0b0b0", linewidth=0.4)
    axes.set_ylim(nodes * height, 0)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _legend(figure: Figure, colours: dict[str, str]) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=queue) for queue, colour in colours.items()]
    handles.append(Patch(color=to_rgba("#7f7f7f", _REDUCE_ALPHA), label="reduces: paler, below"))
    legend_below(figure, handles, columns=8, size=8)
