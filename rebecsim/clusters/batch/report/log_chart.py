"""Six charts that describe a workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.report.figures import (
    BLUE,
    GREY,
    ORANGE,
    duration_ticks,
    new_figure,
    plain_axes,
    time_axis,
    write_figure,
)
from rebecsim.workloads.summary import local_clock
from rebecsim.workloads.workload import Workload, offered_load

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WEEK, _DAY, _HOUR = 7 * 86_400, 86_400, 3600
_MOST_BARS = 80


def write_workload_chart(workload: Workload, path: Path, heading: str) -> None:
    """Write the picture as PNG or SVG; see `figures.write_figure`."""
    write_figure(path, lambda: workload_figure(workload, heading))


def workload_figure(workload: Workload, heading: str) -> Figure:
    """Draw distributions of run times, sizes, arrivals, load, users and estimates."""
    figure = new_figure(12.5, 7.2, heading)
    panels = figure.subplots(2, 3).flat
    _run_times(next(panels), workload)
    _sizes(next(panels), workload)
    _hours(next(panels), workload)
    _load(next(panels), workload)
    _users(next(panels), workload)
    _estimates(next(panels), workload)
    return figure


def _run_times(axes: Axes, workload: Workload) -> None:
    requested = workload.requested_time[workload.requested_time > 0]
    plain_axes(axes, "Run times", "", "Jobs at most as long (%)")
    _cumulative(axes, workload.run, "run time", BLUE, "-")
    if len(requested):
        _cumulative(axes, requested, "requested time", ORANGE, "--")
        axes.legend(frameon=False, fontsize=8, loc="lower right")
    duration_ticks(axes, float(max(workload.run.max(), requested.max(initial=1))))
    axes.set_ylim(0, 100)


def _cumulative(axes: Axes, values: NDArray[Any], label: str, colour: str, line: str) -> None:
    found, counts = np.unique(values, return_counts=True)
    places = np.concatenate((found[:1], found))
    shares = np.concatenate(([0.0], 100 * np.cumsum(counts) / len(values)))
    axes.step(places, shares, where="post", label=label, color=colour, linestyle=line)


def _sizes(axes: Axes, workload: Workload) -> None:
    # Classes 1, 2, 3 to 4, 5 to 8, ...: by the exponent of the next power of two.
    exponent = np.frexp(workload.processors - 0.5)[1]
    classes = np.arange(exponent.max() + 1)
    jobs = np.bincount(exponent, minlength=len(classes))
    work = np.bincount(exponent, weights=workload.area, minlength=len(classes))
    plain_axes(axes, "Sizes", "Processors", "Share (%)")
    for shift, values, label, colour in ((-0.2, jobs, "jobs", BLUE), (0.2, work, "work", ORANGE)):
        axes.bar(classes + shift, 100 * values / values.sum(), 0.4, label=label, color=colour)
    names = ["1", "2"] + [f"{2 ** (k - 1) + 1}-{2**k}" for k in range(2, len(classes))]
    names = names[: len(classes)]
    names[-1] = _last_class(len(classes) - 1, int(workload.processors.max()))
    axes.set_xticks(classes, names, fontsize=8)
    if len(names) > 7:
        axes.tick_params(axis="x", labelrotation=45)
    axes.margins(x=0.08, y=0.2)
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper right")


def _last_class(exponent: int, largest: int) -> str:
    first = 2 ** (exponent - 1) + 1 if exponent else 1
    return str(largest) if largest <= first else f"{first}-{largest}"


def _hours(axes: Axes, workload: Workload) -> None:
    clock, known = local_clock(workload)
    hours = np.bincount(clock % _DAY // _HOUR, minlength=24)
    x_label = "Hour of the day" if known else "Hour, from the log's beginning"
    plain_axes(axes, "Arrivals over the day", x_label, "Jobs (%)")
    axes.bar(np.arange(24) + 0.5, 100 * hours / hours.sum(), 0.9, color=BLUE)
    axes.set_xlim(0, 24)
    axes.set_xticks(range(0, 25, 3))


def _load(axes: Axes, workload: Workload) -> None:
    submit = workload.submit - workload.submit[0]
    span = int(submit[-1]) + 1
    count = _windows(span)
    work = np.bincount(submit * count // span, weights=workload.area, minlength=count)
    unit, unit_name = time_axis(span)
    mean = offered_load(workload)
    title = f"Offered load over time, mean {mean:.2f}" if np.isfinite(mean) else "Offered load"
    plain_axes(axes, title, f"Time ({unit_name})", "Load")
    edges = np.linspace(0, span, count + 1) / unit
    axes.stairs(work / (workload.capacity * span / count), edges, fill=True, color=BLUE)
    axes.axhline(1, color=GREY, linewidth=0.8)
    if np.isfinite(mean):
        axes.axhline(mean, color=ORANGE, linestyle="--")
    axes.set_xlim(0, edges[-1])


def _windows(span: int) -> int:
    """Into how many windows a time is cut: of about an hour, a day or a week; not too many."""
    for width in (_HOUR, _DAY, _WEEK):
        if span <= _MOST_BARS * width:
            return max(span // width, 1)
    return _MOST_BARS


def _users(axes: Axes, workload: Workload) -> None:
    plain_axes(axes, "Users", "Users, the most active first", "Share of all (%)")
    known = workload.user >= 0
    if not known.any():
        _say(axes, "the log does not name users")
        return
    _, owner = np.unique(workload.user[known], return_inverse=True)
    for weights, label, colour, line in (
        (np.ones(len(owner)), "jobs", BLUE, "-"),
        (workload.area[known], "work", ORANGE, "--"),
    ):
        shares = np.sort(np.bincount(owner, weights=weights))[::-1]
        total = 100 * np.cumsum(shares) / shares.sum()
        marker = "o" if len(shares) < 3 else None
        axes.plot(
            np.arange(1, len(shares) + 1),
            total,
            label=label,
            color=colour,
            linestyle=line,
            marker=marker,
        )
    axes.set_xlim(1, max(len(shares), 2))
    axes.set_ylim(0, 101)
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _estimates(axes: Axes, workload: Workload) -> None:
    known = workload.requested_time > 0
    plain_axes(axes, "Estimates", "Run time of requested time (%)", "Jobs (%)")
    if not known.any():
        _say(axes, "the log has no requested times")
        return
    used = 100 * workload.run[known] / workload.requested_time[known]
    counts, edges = np.histogram(np.minimum(used, 104.9), bins=np.arange(0, 106, 5))
    axes.bar(edges[:-1] + 2.5, 100 * counts / known.sum(), 4.5, color=BLUE)
    axes.set_xlim(0, 105)
    axes.set_xticks([0, 20, 40, 60, 80, 102.5], ["0", "20", "40", "60", "80", "\u2265100"])


def _say(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=axes.transAxes)
    axes.set_xticks([])
    axes.set_yticks([])
