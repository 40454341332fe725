"""Gantt charts: which task ran where and when, and by when its job should have ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.lowest_slots import slots_of
from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.job import SECOND
from rebecsim.clusters.stages.report.stored import StoredStages, TaskColumns
from rebecsim.report.charts.figures import BLUE, ORANGE, legend_below, new_figure, time_axis
from rebecsim.report.charts.styles import line_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_RESOURCES = 12
"""That are drawn; the first ones."""

_ROW = 0.88
_MANY = 2000
_AROUND = 1.0
"""How much is drawn before and after the latest job, in spans of that job."""


@dataclass(frozen=True, eq=False)
class _Bars:
    """A panel: tasks, the colour of each, and lines where something should have ended."""

    title: str
    tasks: TaskColumns
    colours: NDArray[np.object_]
    deadlines: Sequence[tuple[float, str]]


def workflow_gantt(runs: Mapping[str, FinishedStages], name: str) -> Figure:
    """Draw a workflow under each manager, in colours of names of tasks, with its deadline."""
    columns = {manager: _tasks_of(run) for manager, run in runs.items()}
    names = list(dict.fromkeys(str(each) for one in columns.values() for each in one.name))
    colour_of = dict(zip(names, line_colours(len(names)), strict=True))
    panels = [
        _Bars(
            manager,
            tasks,
            np.array([colour_of[str(each)] for each in tasks.name], dtype=object),
            [(due, "#c81e1e") for due in tasks.deadlines.values()],
        )
        for manager, tasks in columns.items()
    ]
    last = max(max(float(each.end.max()), *each.deadlines.values()) for each in columns.values())
    figure = _figure(panels, (0.0, 1.02 * last), name)
    _legend(figure, [*colour_of.items(), ("deadline (line)", "#c81e1e")])
    return figure


def gantt_figure(shown: Sequence[StoredStages], heading: str = "") -> Figure:
    """Draw the tasks around the job that is latest under any manager, late jobs in orange."""
    window = _window(shown)
    figure = _figure([_late_or_not(each, window) for each in shown], window, heading)
    _legend(
        figure,
        [("of a job in time", BLUE), ("of a late job", ORANGE), ("its deadline (line)", ORANGE)],
    )
    return figure


def _tasks_of(run: FinishedStages) -> TaskColumns:
    rows = list(run.ran.values())
    jobs = {job.number: job for job in run.jobs}
    return TaskColumns(
        np.array([each.key.job for each in rows], dtype=np.int64),
        np.array([jobs[each.key.job].tasks[each.key.task].name for each in rows], dtype=object),
        np.array([each.resource for each in rows], dtype=np.int64),
        np.array([each.start for each in rows], dtype=np.float64) / SECOND,
        np.array([each.end for each in rows], dtype=np.float64) / SECOND,
        {number: job.deadline / SECOND for number, job in jobs.items()},
        {number: end / SECOND for number, end in run.completed.items()},
    )


def _window(shown: Sequence[StoredStages]) -> tuple[float, float]:
    """Give when the latest job of all managers ran, and something before and after it."""
    late = [
        (each.ended[job] - due, each, job)
        for each in _firsts(shown)
        for job, due in each.deadlines.items()
    ]
    _, tasks, job = max(late, key=lambda each: each[0])
    begin = float(tasks.start[tasks.job == job].min())
    end = max(tasks.ended[job], tasks.deadlines[job])
    around = _AROUND * (end - begin)
    return max(begin - around, 0.0), end + around


def _firsts(shown: Sequence[StoredStages]) -> list[TaskColumns]:
    return [each.first for each in shown]


def _late_or_not(each: StoredStages, window: tuple[float, float]) -> _Bars:
    tasks = each.first
    late = {job for job, due in tasks.deadlines.items() if tasks.ended[job] > due}
    seen = (tasks.end > window[0]) & (tasks.start < window[1])
    chosen = replace(
        tasks,
        **{
            name: getattr(tasks, name)[seen] for name in ("job", "name", "resource", "start", "end")
        },
    )
    colours = np.array([ORANGE if job in late else BLUE for job in chosen.job.tolist()], object)
    lines = [(tasks.deadlines[job], ORANGE) for job in sorted(late & set(chosen.job.tolist()))]
    return _Bars(each.manager, chosen, colours, lines)


def _figure(panels: Sequence[_Bars], window: tuple[float, float], heading: str) -> Figure:
    count = 1 + max((int(each.tasks.resource.max(initial=0)) for each in panels), default=0)
    drawn = min(count, MOST_RESOURCES)
    figure = new_figure(11, 1.3 + len(panels) * (0.5 + 0.17 * max(drawn, 6)), heading)
    axes_of = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    unit, name = time_axis(window[1] - window[0])
    for axes, each in zip(axes_of, panels, strict=True):
        _panel(axes, each, drawn, unit)
        of = f", the first {drawn} of {count} resources" if count > drawn else ""
        axes.set_title(f"{each.title}{of}", fontsize=10, parse_math=False)
    axes_of[-1].set_xlim(window[0] / unit, window[1] / unit)
    axes_of[-1].set_xlabel(f"Time ({name})")
    return figure


def _panel(axes: Axes, each: _Bars, drawn: int, unit: int) -> None:
    from matplotlib.collections import PolyCollection

    mine = np.flatnonzero(each.tasks.resource < drawn)
    resource = each.tasks.resource[mine]
    start, end = each.tasks.start[mine] / unit, each.tasks.end[mine] / unit
    slots = slots_of(
        np.rint(each.tasks.start[mine] * SECOND).astype(np.int64),
        np.rint(each.tasks.end[mine] * SECOND).astype(np.int64),
        resource,
    )
    height = 1 + int(slots.max(initial=0))
    tops = (resource * height + slots).tolist()
    corners = [
        [(left, top), (left, top + _ROW), (right, top + _ROW), (right, top)]
        for left, right, top in zip(start.tolist(), end.tolist(), tops, strict=True)
    ]
    many = len(corners) > _MANY
    axes.add_collection(
        PolyCollection(
            corners,
            facecolors=each.colours[mine].tolist(),
            edgecolors="white",
            linewidths=0.1 if many else 0.4,
            rasterized=many,
        )
    )
    for due, colour in each.deadlines:
        axes.axvline(due / unit, color=colour, linewidth=1.1, linestyle=(0, (4, 2)))
    for number in range(1, drawn):
        axes.axhline(number * height - (1 - _ROW) / 2, color="#b0b0b0", linewidth=0.4)
    axes.set_yticks(
        [(number + 0.5) * height for number in range(drawn)],
        [f"resource {number}" for number in range(drawn)],
        fontsize=7,
    )
    axes.set_ylim(drawn * height, 0)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _legend(figure: Figure, entries: Sequence[tuple[str, str]]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Line2D([], [], color=colour, linestyle=(0, (4, 2)), label=label.removesuffix(" (line)"))
        if label.endswith(" (line)")
        else Patch(color=colour, label=label)
        for label, colour in entries
    ]
    legend_below(figure, handles, size=8)
