"""Runs of several resource managers in one picture: how late jobs are, and which ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.clusters.stages.report.stored import Seconds, StoredStages
from rebecsim.report.figures import (
    GREY,
    legend_below,
    line_styles,
    new_figure,
    plain_axes,
    time_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_DOTS = 4000
"""Of jobs in time."""

_MANY = 500
"""Jobs from which on dots are small, and those at either end left out."""

_CUT = 0.5
"""The percentage of jobs at either end that a picture leaves out, so that the rest can be seen."""


def lateness_figure(shown: Sequence[StoredStages], heading: str = "") -> Figure:
    """Draw how many of the jobs ended so long after their deadlines, or earlier.

    What is left of the line at 0 was in time.
    """
    figure = new_figure(9, 4.6, heading)
    axes = figure.subplots()
    styles = line_styles(tuple(each.manager for each in shown))
    low, high = _range([each.lateness for each in shown])
    unit, name = time_axis(high - low)
    for each in shown:
        style = styles[each.manager]
        ordered = np.sort(each.lateness) / unit
        axes.plot(
            ordered,
            100 * np.arange(1, len(ordered) + 1) / len(ordered),
            drawstyle="steps-post",
            color=style.colour,
            linestyle=style.line,
            linewidth=style.line_width,
            label=each.manager,
        )
    axes.axvline(0, color=GREY, linewidth=0.9)
    plain_axes(axes, "", f"Lateness: end after the deadline ({name})", "Jobs (%)")
    axes.set_xlim(low / unit, max(high, 0.02 * (high - low)) / unit)
    axes.set_ylim(0, 101)
    legend_below(figure, axes)
    return figure


def laxity_figure(shown: Sequence[StoredStages], heading: str = "") -> Figure:
    """Draw for each job how late it was over what its deadline had left it.

    A panel for each manager; on the slanted line are jobs that never waited. Of many jobs some that
    were in time are left out, late ones never.
    """
    figure = new_figure(9, 1.0 + 2.5 * len(shown), heading)
    panels = figure.subplots(len(shown), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    styles = line_styles(tuple(each.manager for each in shown))
    low, high = _range([each.lateness for each in shown])
    least, most = _range([each.laxity for each in shown])
    for each in shown:
        late = each.lateness > 0
        high = float(each.lateness[late].max(initial=high))
        least = float(each.laxity[late].min(initial=least))
        most = float(each.laxity[late].max(initial=most))
    unit, name = time_axis(max(high - low, most - least))
    for axes, each in zip(panels, shown, strict=True):
        _dots(axes, each, styles[each.manager].colour, unit)
        axes.plot([least / unit, most / unit], [-least / unit, -most / unit], color=GREY, lw=0.8)
        axes.axhline(0, color=GREY, linewidth=0.9)
        plain_axes(axes, _title(each), "", f"Lateness ({name})")
    wide, tall = 0.02 * (most - least), 0.05 * (high - low)  # room for whole dots
    panels[-1].set_xlim((min(least, 0.0) - wide) / unit, (most + wide) / unit)
    panels[-1].set_ylim((low - tall) / unit, (max(high, 0.0) + tall) / unit)
    panels[-1].set_xlabel(f"Laxity at the earliest start ({name})")
    return figure


def _dots(axes: Axes, each: StoredStages, colour: str, unit: int) -> None:
    in_time = np.flatnonzero(each.lateness <= 0)
    late = np.flatnonzero(each.lateness > 0)
    some = in_time[:: max(1, -(-len(in_time) // _MOST_DOTS))]
    shown = np.sort(np.concatenate([some, late]))
    many = len(each.laxity) > _MANY
    axes.scatter(
        each.laxity[shown] / unit,
        each.lateness[shown] / unit,
        s=7 if many else 24,
        color=colour,
        alpha=0.5,
        linewidths=0,
        rasterized=many,
    )


def _title(each: StoredStages) -> str:
    late = int((each.lateness > 0).sum())
    return f"{each.manager}: {late:,} of {len(each.lateness):,} late"


def _range(values: Sequence[Seconds]) -> tuple[float, float]:
    """Give between what nearly all values lie, or all if they are few."""
    joined = np.concatenate(values)
    cut = _CUT if len(joined) > _MANY else 0.0
    low, high = np.percentile(joined, [cut, 100 - cut]).tolist()
    return low, max(high, low + 1.0)
