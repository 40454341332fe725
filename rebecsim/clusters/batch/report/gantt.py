"""Gantt charts: which job had which processors when, coloured by user.

Schedules say how many processors a job had and not which. For the picture each job gets the lowest
ones that are free side by side, or the lowest free ones where no gap is wide enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.metrics import count_over_time
from rebecsim.report.figures import BLUE, GREEN, ON_COLOUR, ORANGE, new_figure, time_axis
from rebecsim.workloads import Schedule
from rebecsim.workloads.logs import labels_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DAY = 86_400
# The palette without black, with its yellow, and a grey for the users who have no colour.
_COLOURS = (BLUE, ORANGE, GREEN, "#E69F00", "#56B4E9", "#CC79A7", "#F0E442")
_OTHERS = "#c4c4c4"
_DARK = (BLUE, ORANGE, GREEN)
_LABELLED_WIDTH, _LABELLED_HEIGHT = 0.05, 0.07
"""Share of the picture that a bar takes at least to have the number of its job on it."""
_MANY_BARS = 3000


def busiest_time(schedule: Schedule) -> tuple[int, int]:
    """Give the day on which the most jobs were waiting, on average, from when until when; seconds.

    Days are counted from the first submission. A schedule of less than two days is shown whole,
    and so is one in which no job waits if it is as short; otherwise its fullest day is taken.
    """
    submit, end = schedule.workload.submit, schedule.end
    first, last = int(submit.min()), int(end.max())
    if last - first < 2 * _DAY:
        return first, last
    edges = np.arange(first, last + _DAY, _DAY)
    waiting = count_over_time(submit, schedule.start).means(edges)
    if not waiting.any():
        waiting = count_over_time(schedule.start, end, schedule.workload.processors).means(edges)
    day = int(np.argmax(waiting))
    return int(edges[day]), int(edges[day + 1])


class Bars:
    """The rectangles of a Gantt chart; arrays of shape (bars,).

    A job has several where it is not on processors side by side.

    Attributes:
        job: index of the job in its schedule.
        lowest: the lowest of its processors, counted from 0.
        height: how many processors.
        begin, end: seconds.
    """

    def __init__(self, rows: Sequence[tuple[int, int, int]], schedule: Schedule) -> None:
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self.job, self.lowest, self.height = columns.T
        self.begin, self.end = schedule.start[self.job], schedule.end[self.job]


def gantt_bars(schedule: Schedule, begin: int, end: int) -> Bars:
    """Place the jobs that run at some time from `begin` until before `end`.

    Raises ValueError for a schedule that takes more processors than the machine has.
    """
    running = (schedule.start < end) & (schedule.end > begin)
    chosen = np.flatnonzero(running)
    chosen = chosen[np.argsort(schedule.start[chosen], kind="stable")]
    free_at = np.full(schedule.workload.capacity, np.iinfo(np.int64).min)
    rows: list[tuple[int, int, int]] = []
    for job in chosen.tolist():
        free = np.flatnonzero(free_at <= schedule.start[job])
        wanted = int(schedule.workload.processors[job])
        if len(free) < wanted:
            number = schedule.workload.job[job]
            raise ValueError(f"job {number} starts when fewer than {wanted} processors are free")
        taken = _side_by_side(free, wanted)
        free_at[taken] = schedule.end[job]
        rows += [(job, int(part[0]), len(part)) for part in _parts(taken)]
    return Bars(rows, schedule)


def _side_by_side(free: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """Choose from free processors, ascending: the first gap that is wide enough, or the lowest."""
    last = free[wanted - 1 :]
    fits = np.flatnonzero(last - free[: len(last)] == wanted - 1)
    first = int(fits[0]) if len(fits) else 0
    return free[first : first + wanted]


def _parts(taken: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return np.split(taken, np.flatnonzero(np.diff(taken) > 1) + 1)


def gantt_figure(schedules: Sequence[Schedule], begin: int, end: int, heading: str = "") -> Figure:
    """Draw the Gantt charts of some schedules of a machine, one below the other, in one window.

    The users with the most work in the window have colours, in all charts the same. Raises as
    `gantt_bars`.
    """
    bars = [gantt_bars(each, begin, end) for each in schedules]
    colours = _user_colours(list(zip(schedules, bars, strict=True)), begin, end)
    figure = new_figure(11, 1.2 + 2.3 * len(schedules), heading)
    panels = figure.subplots(len(schedules), 1, sharex=True, squeeze=False)[:, 0]
    unit, name = time_axis(end - begin)
    for axes, schedule, placed in zip(panels, schedules, bars, strict=True):
        _panel(axes, schedule, placed, colours, (begin, end), unit)
    panels[-1].set_xlim(0, (end - begin) / unit)
    since = f" from second {begin:,} on" if begin else ""
    panels[-1].set_xlabel(f"Time ({name}{since})")
    _legend(figure, colours, labels_of(schedules[0].workload, "user"))
    return figure


def _user_colours(placed: Sequence[tuple[Schedule, Bars]], begin: int, end: int) -> dict[int, str]:
    """Give the users with the most processor seconds in the window, the most first, a colour."""
    work: dict[int, float] = {}
    for schedule, bars in placed:
        seconds = np.minimum(bars.end, end) - np.maximum(bars.begin, begin)
        users, row = np.unique(schedule.workload.user[bars.job], return_inverse=True)
        sums = np.bincount(row, weights=seconds * bars.height, minlength=len(users))
        for user, amount in zip(users.tolist(), sums.tolist(), strict=True):
            work[user] = work.get(user, 0.0) + amount
    most = sorted(work, key=lambda user: (-work[user], user))
    colours = dict(zip(most, _COLOURS, strict=False))
    return colours | dict.fromkeys(most[len(_COLOURS) :], _OTHERS)


def _panel(
    axes: Axes,
    schedule: Schedule,
    bars: Bars,
    colours: dict[int, str],
    window: tuple[int, int],
    unit: int,
) -> None:
    from matplotlib.collections import PolyCollection

    left, right = (bars.begin - window[0]) / unit, (bars.end - window[0]) / unit
    low, high = bars.lowest.astype(float), (bars.lowest + bars.height).astype(float)
    corners = np.stack(
        [
            np.stack(each, axis=1)
            for each in ((left, low), (left, high), (right, high), (right, low))
        ],
        axis=1,
    )
    users = schedule.workload.user[bars.job].tolist()
    axes.add_collection(
        PolyCollection(
            list(corners),
            facecolors=[colours[user] for user in users],
            edgecolors="white",
            linewidths=0.15 if len(bars.job) > _MANY_BARS else 0.4,
            rasterized=len(bars.job) > _MANY_BARS,
        )
    )
    _number_large_bars(axes, schedule, bars, colours, window, unit)
    axes.set_title(schedule.policy, fontsize=10, parse_math=False)
    axes.set_ylabel("Processor")
    axes.set_ylim(0, schedule.workload.capacity)
    axes.set_facecolor("#f4f4f4")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _number_large_bars(
    axes: Axes,
    schedule: Schedule,
    bars: Bars,
    colours: dict[int, str],
    window: tuple[int, int],
    unit: int,
) -> None:
    """Write the numbers of jobs where there is room for them."""
    begin, end = window
    left, right = np.maximum(bars.begin, begin), np.minimum(bars.end, end)
    is_wide = right - left >= _LABELLED_WIDTH * (end - begin)
    is_high = bars.height >= _LABELLED_HEIGHT * schedule.workload.capacity
    for place in np.flatnonzero(is_wide & is_high).tolist():
        job = bars.job[place]
        colour = colours[int(schedule.workload.user[job])]
        axes.text(
            ((left[place] + right[place]) / 2 - begin) / unit,
            bars.lowest[place] + bars.height[place] / 2,
            str(schedule.workload.job[job]),
            fontsize=7,
            color="white" if colour in _DARK else "black",
            ha="center",
            va="center",
            gid=f"{ON_COLOUR}-{place}",
        )


def _legend(figure: Figure, colours: dict[int, str], labels: Mapping[int, str]) -> None:
    from matplotlib.patches import Patch

    named = {user: colour for user, colour in colours.items() if colour != _OTHERS}
    handles = [
        Patch(color=colour, label=f"user {labels.get(user, user)}")
        for user, colour in named.items()
    ]
    if others := len(colours) - len(named):
        handles.append(Patch(color=_OTHERS, label=f"{others} other users"))
    handles.append(Patch(color="#f4f4f4", label="idle"))
    legend = figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8, frameon=False
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
