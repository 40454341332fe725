"""Runs of several schedulers in one picture: memory over time, durations, and speed-ups.

Axes of time are in seconds or in what is read more easily.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.over_time import Course, Panel, over_time_figure
from rebecsim.clusters.kit.stored import values_of
from rebecsim.clusters.yarn.report.stored import SECOND, StoredTables, last_end
from rebecsim.report.figures import (
    GREY,
    duration_ticks,
    legend_below,
    line_styles,
    new_figure,
    plain_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKED = 30
_FACTORS = (0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10, 20, 50, 100)
_OCCUPIED = (
    ("memory", "Memory of containers"),
    ("elastic_memory", "Of these, of elastic containers"),
    ("reserved_memory", "Free memory that is kept by reservations"),
)


def occupancy_figure(shown: Sequence[StoredTables], heading: str = "") -> Figure:
    """Draw what part of the memory is in use, elastic and reserved over time.

    Each step is the mean of a window of time. What is nothing under all schedulers is left out.
    """
    drawn = [
        row for row in _OCCUPIED if any(values_of(each.occupancy, row[0]).any() for each in shown)
    ]
    panels = [
        Panel(
            title,
            "Memory (%)",
            {each.scheduler: _course(each, column) for each in shown},
            is_percent=column == "memory",
        )
        for column, title in drawn or _OCCUPIED[:1]
    ]
    return over_time_figure(panels, last_end(shown), heading)


def _course(each: StoredTables, column: str) -> Course:
    share = 100 * values_of(each.occupancy, column) / each.memory
    return Course(values_of(each.occupancy, "time") / SECOND, share)


def durations_figure(shown: Sequence[StoredTables], heading: str = "") -> Figure:
    """Draw how many of the jobs took at most so long."""
    figure = new_figure(11, 4.4, heading)
    axes = figure.subplots()
    styles = line_styles(tuple(each.scheduler for each in shown))
    longest = 1.0
    for each in shown:
        durations = np.sort(job_durations(each))
        longest = max(longest, float(durations[-1]))
        style = styles[each.scheduler]
        axes.ecdf(
            durations,
            label=each.scheduler,
            color=style.colour,
            linestyle=style.line,
            linewidth=0.6 * style.line_width + 0.3,
        )
    plain_axes(axes, "", "From submission to end (time, logarithmic)", "Share of the jobs (%)")
    axes.set_yticks(np.linspace(0, 1, 6), [f"{each:.0f}" for each in np.linspace(0, 100, 6)])
    duration_ticks(axes, longest)
    legend_below(figure, axes)
    return figure


def speedup_figure(base: StoredTables, others: Sequence[StoredTables], heading: str = "") -> Figure:
    """Draw how many times as fast each job is as under the baseline, the slowest first."""
    figure = new_figure(11, 4.4, heading)
    axes = figure.subplots()
    styles = line_styles((base.scheduler, *(each.scheduler for each in others)))
    for each in others:
        factors = np.sort(speedups(base, each))
        style = styles[each.scheduler]
        axes.plot(
            100 * (np.arange(len(factors)) + 0.5) / len(factors),
            factors,
            label=each.scheduler,
            color=style.colour,
            linestyle=style.line,
            linewidth=0.6 * style.line_width + 0.3,
            marker=style.marker if len(factors) <= _MARKED else None,
            markersize=4,
        )
    plain_axes(
        axes,
        "",
        "Jobs, the least speed-up first (%)",
        f"Speed-up (times as fast as {base.scheduler})",
    )
    axes.axhline(1, color=GREY, linewidth=0.8)
    _factors(axes)
    axes.set_xlim(0, 100)
    legend_below(figure, axes)
    return figure


def _factors(axes: Axes) -> None:
    """Make the y axis one of factors, logarithmic, with marks that can be read."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    marks = [mark for mark in _FACTORS if low <= mark <= high]
    axes.set_yticks(marks, [f"{mark:g}" for mark in marks])
    axes.minorticks_off()


def job_durations(each: StoredTables) -> NDArray[np.float64]:
    """Give how long each job took (s), in the order of the trace; shape (jobs,)."""
    return np.asarray((values_of(each.jobs, "end") - values_of(each.jobs, "start")) / SECOND)


def speedups(base: StoredTables, other: StoredTables) -> NDArray[np.float64]:
    """Give the duration of each job under a baseline over that under another scheduler."""
    return np.asarray(job_durations(base) / np.maximum(job_durations(other), 1 / SECOND))
