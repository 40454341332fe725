"""Charts of schedules: over time, their differences, and user-aware metrics.

After Toth and Klusacek (JSSPP 2014), figures 4, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.batch.measures import ScheduleDifference
from rebecsim.clusters.kit.measures import Lane, Timeline
from rebecsim.clusters.kit.report import (
    FREE,
    Colours,
    Course,
    Panel,
    colours_by_work,
    gantt_figure as draw_gantt,
    grid_across,
    over_time_figure as draw_over_time,
)
from rebecsim.metrics import count_over_time, window_edges
from rebecsim.metrics.users import OverdueMap, UserMetrics
from rebecsim.report.figures import (
    BLUE,
    DURATIONS,
    GREEN,
    GREY,
    ORANGE,
    line_styles,
    new_figure,
    plain_axes,
    time_axis,
    write_figure,
)
from rebecsim.workloads import Schedule
from rebecsim.workloads.logs import labels_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

_MOST_WINDOWS = 170
_SHOWN_USERS = 14
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def means_figure(
    policies: Sequence[str], means: Sequence[tuple[float, float, float]], heading: str = ""
) -> Figure:
    """Draw the mean wait, response (both in seconds) and slowdown of each policy, as bars.

    These are the means that know no users (Toth and Klusacek, JSSPP 2014, figure 5).
    """
    figure = new_figure(3.6 + 1.5 * max(len(policies), 3), 3.8, heading, wrap=80)
    unit, name = time_axis(max(response for _, response, _ in means))
    panels = (
        ("Mean wait", name, unit),
        ("Mean response", name, unit),
        ("Mean slowdown", "response / run time", 1),
    )
    places = np.arange(len(policies))
    styles = line_styles(tuple(policies))
    colours = [styles[policy].colour for policy in policies]
    for axes, column, (title, label, divisor) in zip(
        figure.subplots(1, 3), zip(*means, strict=True), panels, strict=True
    ):
        bars = axes.bar(places, [value / divisor for value in column], 0.7, color=colours)
        axes.bar_label(bars, [_short(value / divisor) for value in column], fontsize=8)
        plain_axes(axes, title, "", label[:1].upper() + label[1:])
        axes.set_xticks(places, policies, fontsize=7, rotation=35, ha="right", parse_math=False)
        axes.set_ylim(0, max(*column, 0.01 * divisor) / divisor * 1.1)
    return figure


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def over_time_figure(schedules: Sequence[Schedule], heading: str = "") -> Figure:
    """Draw utilisation and the length of the queue over time, all policies on the same axes.

    Each step is the mean of its window of time.
    """
    last = max(int(each.end.max()) for each in schedules)
    first = min(int(each.workload.submit.min()) for each in schedules)
    edges = window_edges(first, last, _MOST_WINDOWS)
    begin = (edges[:-1] - edges[0]) / 1.0
    used: dict[str, Course] = {}
    waiting: dict[str, Course] = {}
    for each in schedules:
        busy = timeline_of(each).in_use(edges) / each.workload.capacity
        used[each.policy] = Course(begin, 100 * busy)
        queue = count_over_time(each.workload.submit, each.start)
        waiting[each.policy] = Course(begin, queue.means(edges))
    panels = (
        Panel("Processors in use", "Utilisation (%)", used, is_percent=True),
        Panel("Jobs waiting", "Jobs in the queue", waiting),
    )
    return draw_over_time(panels, float(edges[-1] - edges[0]), heading)


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


def timeline_of(schedule: Schedule) -> Timeline:
    """Give who had processors of the machine when; owners are users, under their labels."""
    jobs = schedule.workload
    labels = labels_of(jobs, "user")
    count = len(schedule)
    return Timeline(
        (Lane("", jobs.capacity),),
        who=jobs.job,
        owner=np.array([labels[user] for user in jobs.user.tolist()], dtype=str),
        lane=np.zeros(count, dtype=np.int64),
        begin=schedule.start,
        end=schedule.end,
        size=jobs.processors,
        pale=np.zeros(count, dtype=bool),
    )


def gantt_figure(schedules: Sequence[Schedule], begin: int, end: int, heading: str = "") -> Figure:
    """Draw the Gantt charts of some schedules of a machine in one window, by user.

    Raises ValueError for a schedule that takes more processors than the machine has.
    """
    lines = {each.policy: timeline_of(each) for each in schedules}
    window = begin, end
    colours = Colours(colours_by_work(list(lines.values()), window), "users", prefix="user ")
    return draw_gantt(lines, colours, window, heading, noun="processor")


def difference_figure(differences: Sequence[ScheduleDifference], heading: str = "") -> Figure:
    """Draw what changes for jobs, by their submission, and for the users for whom most changes.

    Below zero is less waiting, or less tardiness, than in the first schedule.
    """
    figure = new_figure(11, 0.6 + 3.5 * len(differences), heading)
    grid = figure.subplots(len(differences), 2, width_ratios=(1.5, 1), squeeze=False)
    for (jobs, users), each in zip(grid, differences, strict=True):
        _jobs(jobs, each)
        _users(users, each)
    return figure


def _jobs(axes: Axes, each: ScheduleDifference) -> None:
    begin = int(each.submit.min())
    unit, name = time_axis(float(each.submit.max() - begin))
    same = len(each.job) - each.earlier - each.later
    for chosen, colour in ((each.change < 0, BLUE), (each.change > 0, ORANGE)):
        axes.scatter(
            (each.submit[chosen] - begin) / unit,
            each.change[chosen],
            s=7,
            color=colour,
            alpha=0.55,
            linewidths=0,
            rasterized=True,
        )
    title = (
        f"{each.second} instead of {each.first}\n{each.earlier:,} jobs wait less, "
        f"{each.later:,} longer, {same:,} as before"
    )
    plain_axes(axes, title, f"Submitted ({name})", "Change of the wait")
    axes.axhline(0, color=GREY, linewidth=0.8)
    _signed_durations(axes, float(np.abs(each.change).max(initial=0)))


def _signed_durations(axes: Axes, most: float) -> None:
    """Make the y axis one of durations forth and back, logarithmic beyond a minute."""
    axes.set_yscale("symlog", linthresh=_MINUTE, linscale=0.4)
    longest = max(most, _MINUTE)
    marks = {at: text for at, text in DURATIONS.items() if _MINUTE <= at <= longest}
    places = [*(-at for at in reversed(marks)), 0, *marks]
    names = [*(f"\u2212{text}" for text in reversed(marks.values())), "0"]
    names += [f"+{text}" for text in marks.values()]
    axes.set_yticks(places, names, fontsize=8)
    axes.minorticks_off()
    axes.set_ylim(-2 * longest, 2 * longest)


def _users(axes: Axes, each: ScheduleDifference) -> None:
    users = each.users
    tardy = users.weighted_tardiness is not None
    values = (
        users.weighted_tardiness if users.weighted_tardiness is not None else users.wait / _HOUR
    )
    shown = _most_changed(values)
    places = np.arange(len(shown))
    colours = [ORANGE if value > 0 else BLUE for value in values[shown]]
    bars = axes.barh(places, values[shown], 0.75, color=colours)
    axes.bar_label(bars, [_signed(value) for value in values[shown]], padding=3, fontsize=7)
    axes.margins(x=0.24)
    title = "Weighted tardiness of users" if tardy else "Mean wait of users"
    plain_axes(axes, title, f"Change ({'processor h' if tardy else 'h'})", "User")
    grid_across(axes)
    axes.axvline(0, color=GREY, linewidth=0.8)
    labels = [users.labels[place] for place in shown]
    axes.set_yticks(places, labels, fontsize=8, parse_math=False)
    axes.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter(_with_commas)


def _with_commas(value: float, _place: float) -> str:
    return f"{value:,.10g}".replace("-", "\u2212")


def _signed(value: float) -> str:
    text = f"{value:+,.0f}" if abs(value) >= 10 else f"{value:+.1f}"
    return text.replace("-", "\u2212")


def _most_changed(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Choose the users for whom most changes, in the order of the change."""
    largest: NDArray[np.int64] = np.argsort(-np.abs(values), kind="stable")[:_SHOWN_USERS]
    largest = largest[values[largest] != 0]
    ordered: NDArray[np.int64] = largest[np.argsort(values[largest], kind="stable")]
    return ordered


_NAMED_USERS = 30
_KB_OF_GB = 1 << 20


def write_user_boxes(
    metrics: Sequence[tuple[str, UserMetrics]], path: Path, heading: str = ""
) -> None:
    """Write the box plots of some policies as PNG or SVG; see `figures.write_figure`."""
    write_figure(path, lambda: user_boxes_figure(metrics, heading))


def write_overdue_chart(maps: Sequence[OverdueMap], path: Path, heading: str = "") -> None:
    """Write the heat maps of some schedules as PNG or SVG; see `figures.write_figure`."""
    write_figure(path, lambda: overdue_figure(maps, heading))


def user_boxes_figure(metrics: Sequence[tuple[str, UserMetrics]], heading: str = "") -> Figure:
    """Draw VEET and weighted tardiness of users, a box for each policy.

    A box reaches from the lower to the upper quartile of the users, with the median in it; whiskers
    reach to the last user within one and a half times its height, the others are dots.
    """
    figure = new_figure(3.6 + 1.5 * max(len(metrics), 2), 4.8, heading, wrap=80)
    shares, tardiness = figure.subplots(1, 2)
    plain_axes(shares, "Jobs that ended later than expected", "", "VEET: jobs of a user (%)")
    _boxes(shares, [(name, each.veet) for name, each in metrics])
    shares.set_ylim(-2, 102)
    plain_axes(tardiness, "Weighted tardiness", "", "WT of a user (processor hours)")
    hours = [(name, each.weighted_tardiness / _HOUR) for name, each in metrics]
    _boxes(tardiness, hours)
    _logarithmic_from_zero(tardiness, [values for _, values in hours])
    return figure


def _boxes(axes: Axes, columns: Sequence[tuple[str, NDArray[np.float64]]]) -> None:
    parts = axes.boxplot(
        [values for _, values in columns],
        widths=0.55,
        patch_artist=True,
        medianprops={"color": ORANGE, "linewidth": 2},
        flierprops={"marker": "o", "markersize": 3.5, "markerfacecolor": "black", "alpha": 0.5},
    )
    for box in parts["boxes"]:
        box.set(facecolor="#cfe3f1", edgecolor=BLUE)
    names = [f"{name}\n({len(values)} users)" for name, values in columns]
    axes.set_xticks(range(1, len(columns) + 1), names, fontsize=8, parse_math=False)


def _logarithmic_from_zero(axes: Axes, columns: Sequence[NDArray[np.float64]]) -> None:
    """Make the y axis logarithmic, with a place for the users who have nothing."""
    values = np.concatenate(columns)
    positive = values[values > 0]
    if not len(positive):
        axes.set_ylim(-0.05, 1)
        return
    least = 10.0 ** np.floor(np.log10(positive.min()))
    most = 10.0 ** np.ceil(np.log10(positive.max()) + 0.02)
    axes.set_yscale("symlog", linthresh=least, linscale=0.6)
    axes.set_ylim(-least / 4, most)
    axes.minorticks_off()


def overdue_figure(maps: Sequence[OverdueMap], heading: str = "") -> Figure:
    """Draw heat maps one below the other, each with the usage of the machine under it.

    All have the same colours and the same axis of time, so that they can be compared by eye. Raises
    ValueError without a map, and for maps of different windows.
    """
    if not maps or any(not np.array_equal(each.edges, maps[0].edges) for each in maps):
        raise ValueError("heat maps need the same windows to be compared")
    rows = [min(max(len(each.user), 4), _NAMED_USERS) for each in maps]
    strips = [1 if each.memory is None else 2 for each in maps]
    heights = [h for r, s in zip(rows, strips, strict=True) for h in [0.17 * r + 0.6] + [0.62] * s]
    figure = new_figure(11, sum(heights) + 0.5 * len(maps) + 1.0, heading)
    grid = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)
    axes = iter(grid[:, 0])
    norm = _norm(maps)
    edges = maps[0].edges - maps[0].edges[0]
    unit, unit_name = time_axis(float(edges[-1]))
    for each in maps:
        _heat(next(axes), each, edges / unit, norm, figure)
        percent = 100 * each.processors / each.capacity
        _strip(next(axes), edges / unit, percent, "CPU\n(%)", BLUE, 100.0)
        if each.memory is not None:
            used = each.memory / _KB_OF_GB
            _strip(next(axes), edges / unit, used, "RAM\n(GB)", GREEN, float(used.max()))
    grid[-1, 0].set_xlabel(f"Time ({unit_name})")
    return figure


def _colours() -> Colormap:
    """From orange for few to black for many: the palest part would be lost on white."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    return ListedColormap(matplotlib.colormaps["inferno_r"](np.linspace(0.14, 1.0, 256)))


def _norm(maps: Sequence[OverdueMap]) -> Normalize:
    from matplotlib.colors import LogNorm

    most = max((float(each.overdue.max(initial=0)) for each in maps), default=0)
    return LogNorm(vmin=0.1 if most < 10 else 1, vmax=max(most, 1.0), clip=True)


def _heat(
    axes: Axes, each: OverdueMap, edges: NDArray[np.float64], norm: Normalize, figure: Figure
) -> None:
    mesh = axes.pcolormesh(
        edges,
        np.arange(len(each.user) + 1) - 0.5,
        np.ma.masked_less_equal(each.overdue, 0),
        cmap=_colours(),
        norm=norm,
        rasterized=True,  # one picture within the SVG: no pale seams between the cells
    )
    bar = figure.colorbar(mesh, ax=axes, pad=0.01, aspect=15)
    bar.set_label("Overdue jobs", fontsize=8)
    bar.outline.set_visible(False)
    axes.set_title(each.policy, fontsize=10, parse_math=False)
    axes.set_ylabel("User")
    step = -(-len(each.user) // _NAMED_USERS)
    places = np.arange(0, len(each.user), step)
    axes.set_yticks(places, each.labels[::step], fontsize=7, parse_math=False)
    axes.set_ylim(len(each.user) - 0.5, -0.5)
    axes.tick_params(length=0)
    axes.set_facecolor(FREE)
    axes.spines[:].set_visible(False)


def _strip(
    axes: Axes,
    edges: NDArray[np.float64],
    values: NDArray[np.float64],
    label: str,
    colour: str,
    most: float,
) -> None:
    axes.stairs(values, edges, fill=True, color=colour)
    axes.set_ylabel(label, fontsize=8, rotation=0, ha="right", va="center")
    axes.set_ylim(0, most or 1.0)
    axes.set_yticks([0, most or 1.0], ["0", f"{most:.3g}"], fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(edges[0], edges[-1])
