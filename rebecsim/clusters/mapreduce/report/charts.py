"""Pictures of variants: slots of nodes, shares of queues, jobs, use of devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.clusters.kit.measures import Lane, Timeline
from rebecsim.clusters.kit.report import (
    Colours,
    Course,
    Panel,
    gantt_figure as draw_gantt,
    over_time_figure,
    values_of,
)
from rebecsim.clusters.mapreduce.columns import JobColumns, Seconds
from rebecsim.clusters.mapreduce.job import SECOND
from rebecsim.clusters.mapreduce.report.tables import StoredRuns
from rebecsim.clusters.mapreduce.tables import DEVICE_COLUMNS
from rebecsim.report.figures import (
    BLUE,
    GREEN,
    ORANGE,
    fill_colours,
    legend_below,
    line_styles,
    new_figure,
    plain_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_DEVICES = dict(
    zip(
        DEVICE_COLUMNS,
        ("Processors", "Disks", "Links of nodes", "Links of racks"),
        strict=True,
    )
)

_WAITING = "Waiting (s)"
_BOXED: Mapping[str, Callable[[JobColumns], Seconds]] = {
    "Response ratio": lambda jobs: np.asarray(jobs.elapsed / jobs.execution),
    "Duration (s)": lambda jobs: jobs.elapsed,
    _WAITING: lambda jobs: jobs.waiting,
    "Execution (s)": lambda jobs: jobs.execution,
}


def queue_colours(shown: Sequence[StoredRuns]) -> dict[str, str]:
    """Give each queue its colour, in all pictures the same."""
    queues = dict.fromkeys(name for each in shown for name in each.queue_names)
    return dict(zip(queues, fill_colours(len(queues)), strict=True))


def gantt_figure(
    shown: Sequence[StoredRuns], slots_of_node: tuple[int, int], heading: str = ""
) -> Figure:
    """Draw the slots of the first nodes, those of maps above those of reduces, by queue."""
    lines = {each.variant: _timeline(each, slots_of_node) for each in shown}
    last = max(int(each.end.max()) for each in lines.values())
    colours = Colours(queue_colours(shown), pale="reduces, below the maps")
    return draw_gantt(lines, colours, (0, last), heading, noun="node")


def _timeline(each: StoredRuns, slots_of_node: tuple[int, int]) -> Timeline:
    job, node, start, end = (
        values_of(each.attempts, name) for name in ("job", "node", "start", "end")
    )
    is_reduce = values_of(each.attempts, "kind").astype(str) == "reduce"
    return Timeline(
        [
            Lane(f"node {number}", slots)
            for number in range(int(node.max()) + 1)
            for slots in slots_of_node
        ],
        who=job,
        owner=each.queue_of_attempts(),
        lane=2 * node + is_reduce,
        begin=start,
        end=end,
        size=np.ones(len(job), dtype=np.int64),
        pale=is_reduce,
        per_second=SECOND,
    )


def shares_figure(shown: Sequence[StoredRuns], slots: tuple[int, int], heading: str = "") -> Figure:
    """Draw which queue holds what part of the slots over time, against its capacity.

    A column for maps and one for reduces, a row for each variant.
    """
    panels = [
        Panel(
            f"{each.variant}: {kind}",
            "Slots (%)" if kind == "maps" else "",
            dict(_shares(each, kind, most)),
            is_percent=True,
        )
        for each in shown
        for kind, most in zip(("maps", "reduces"), slots, strict=True)
    ]
    return over_time_figure(panels, _last(shown), heading, colours=queue_colours(shown), columns=2)


def _shares(each: StoredRuns, kind: str, most: int) -> Iterator[tuple[str, Course]]:
    queues = values_of(each.shares, "queue")
    capacities = each.queues.column("capacity").to_pylist()
    for queue, capacity in zip(each.queue_names, capacities, strict=True):
        mine = queues == queue
        share = 100 * values_of(each.shares, kind)[mine] / max(most, 1)
        levels = {} if capacity is None else {"capacity": capacity}
        yield queue, Course(values_of(each.shares, "time")[mine] / SECOND, share, levels)


def families_figure(
    shown: Sequence[StoredRuns], heading: str = "", queues: Sequence[str] = ("",)
) -> Figure:
    """Draw response ratio, duration, waiting and execution of the jobs of each family as boxes.

    A box is the middle half of the jobs of all runs, the line in it their median; the whiskers
    reach from the 5th to the 95th percentile. A column is a queue, or all of them.
    """
    figure = new_figure(max(11, 6 * len(queues)), 10.4, heading)
    panels = figure.subplots(len(_BOXED), len(queues), sharex="col", sharey="row", squeeze=False)
    styles = line_styles(tuple(each.variant for each in shown))
    for row, title in zip(panels, _BOXED, strict=True):
        for axes, queue in zip(row, queues, strict=True):
            families = _families_of(shown, queue)
            for place, each in enumerate(shown):
                style = styles[each.variant]
                jobs = each.all_jobs.of(queue=queue)
                _boxes(axes, jobs, title, families, (place, len(shown)), style.colour)
            plain_axes(axes, "", "", "")
            axes.set_xticks(range(len(families)), families, parse_math=False)
        row[0].set_ylabel(title)
        _logarithmic(row[0], from_zero=title == _WAITING)
    for axes, queue in zip(panels[0], queues, strict=True):
        axes.set_title(queue, fontsize=10, parse_math=False)
    _variant_legend(figure, {each.variant: styles[each.variant].colour for each in shown})
    return figure


def _logarithmic(axes: Axes, from_zero: bool) -> None:
    """Make the y axis a logarithmic one, with marks that can be read."""
    axes.set_yscale("symlog" if from_zero else "log")
    if from_zero:
        axes.set_ylim(bottom=0)
    low, high = axes.get_ylim()
    steps = [digit * 10**power for power in range(0 if from_zero else -1, 7) for digit in (1, 2, 5)]
    marks = [mark for mark in ([0] if from_zero else []) + steps if low <= mark <= high]
    axes.set_yticks(marks, [f"{mark:,g}" for mark in marks])
    axes.minorticks_off()


def _families_of(shown: Sequence[StoredRuns], queue: str) -> list[str]:
    return sorted({name for each in shown for name in each.all_jobs.of(queue=queue).family})


def _boxes(
    axes: Axes,
    of_queue: JobColumns,
    title: str,
    families: Sequence[str],
    place: tuple[int, int],
    colour: str,
) -> None:
    number, of = place
    width = 0.8 / of
    values, positions = [], []
    for at, family in enumerate(families):
        jobs = of_queue.of(family)
        if not len(jobs):
            continue
        values.append(_BOXED[title](jobs))
        positions.append(at - 0.4 + width * (number + 0.5))
    drawn = axes.boxplot(
        values,
        positions=positions,
        widths=0.85 * width,
        whis=(5, 95),
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        medianprops={"color": "black", "linewidth": 1.0},
    )
    for box in drawn["boxes"]:
        box.set(facecolor=colour, alpha=0.6, linewidth=0.6)
    for line in (*drawn["whiskers"], *drawn["caps"]):
        line.set(linewidth=0.7)


def _variant_legend(figure: Figure, colours: dict[str, str]) -> None:
    from matplotlib.patches import Patch

    entries = [Patch(color=colour, alpha=0.6, label=name) for name, colour in colours.items()]
    legend_below(figure, entries, size=8)


def devices_figure(shown: Sequence[StoredRuns], heading: str = "") -> Figure:
    """Draw how much of processors, disks and links is used over time.

    What is used nowhere is left out.
    """
    drawn = [
        name for name in _DEVICES if any(values_of(each.devices, name).any() for each in shown)
    ] or [DEVICE_COLUMNS[0]]
    panels = [
        Panel(
            _DEVICES[column],
            "Used (%)",
            {
                each.variant: Course(
                    values_of(each.devices, "time") / SECOND, values_of(each.devices, column)
                )
                for each in shown
            },
            is_percent=True,
        )
        for column in drawn
    ]
    return over_time_figure(panels, _last(shown), heading)


def _last(shown: Sequence[StoredRuns]) -> float:
    """Give when the last job ended (s)."""
    return max(float(values_of(each.jobs, "end").max()) for each in shown) / SECOND


MOST_BARS = 24
"""Users, each with a family, that a picture has room for."""

_BARS: Mapping[str, tuple[Callable[[JobColumns], Seconds], str]] = {
    "map": (lambda jobs: jobs.map_time, BLUE),
    "reduce": (lambda jobs: jobs.reduce_time, ORANGE),
    "waiting": (lambda jobs: jobs.waiting, GREEN),
}


def users_of(shown: Sequence[StoredRuns]) -> list[tuple[str, str]]:
    """Give each user with each family that they have jobs of, in the order of their names."""
    pairs = (
        zip(each.all_jobs.user.tolist(), each.all_jobs.family.tolist(), strict=True)
        for each in shown
    )
    return sorted({pair for of_variant in pairs for pair in of_variant})


def users_figure(shown: Sequence[StoredRuns], heading: str = "") -> Figure:
    """Draw the map, reduce and waiting time of the jobs of each user and family as bars.

    A bar is the mean over the jobs of all runs, the line on it reaches a standard deviation up and
    down, to 0 at least. A panel is a variant.
    """
    users = users_of(shown)
    figure = new_figure(max(8, 1.6 + 0.75 * len(users)), 1.2 + 2.3 * len(shown), heading)
    panels = figure.subplots(len(shown), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    places = np.arange(len(users))
    for axes, each in zip(panels, shown, strict=True):
        for number, (name, (figure_of, colour)) in enumerate(_BARS.items()):
            bars = [_mean_and_spread(figure_of, each.all_jobs, *user) for user in users]
            means = np.array([mean for mean, _ in bars])
            spreads = np.array([spread for _, spread in bars])
            axes.bar(
                places + 0.27 * (number - 1),
                means,
                width=0.25,
                color=colour,
                label=name,
                yerr=np.stack((np.minimum(spreads, means), spreads)),
                error_kw={"linewidth": 0.8, "capsize": 1.5},
            )
        plain_axes(axes, each.variant, "", "Seconds")
    labels = [f"{user}\n{family}" for user, family in users]
    panels[-1].set_xticks(places, labels, fontsize=8, parse_math=False)
    legend_below(figure, panels[0], size=8)
    return figure


def _mean_and_spread(
    figure_of: Callable[[JobColumns], Seconds], jobs: JobColumns, user: str, family: str
) -> tuple[float, float]:
    values = figure_of(jobs.only((jobs.user == user) & (jobs.family == family)))
    if not len(values):
        return 0.0, 0.0
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0


def waits_figure(shown: Sequence[StoredRuns], heading: str = "") -> Figure:
    """Draw how long jobs wait by their number: the place of a job among those of its queue.

    A point is the mean over the runs. A panel is a variant.
    """
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(9, 1.2 + 2.0 * len(shown), heading)
    panels = figure.subplots(len(shown), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    colours = queue_colours(shown)
    for axes, each in zip(panels, shown, strict=True):
        for queue, waits in waits_by_number(each):
            numbers = np.arange(1, len(waits) + 1)
            axes.plot(
                numbers,
                waits,
                label=queue,
                color=colours[queue],
                marker="o",
                markersize=2.5,
                linewidth=0.8,
            )
        plain_axes(axes, each.variant, "", "Waiting (s)")
    panels[-1].set_ylim(bottom=0)
    panels[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[-1].set_xlabel("Number of the job in its queue")
    legend_below(figure, panels[0], columns=8, size=8)
    return figure


def waits_by_number(each: StoredRuns) -> Iterator[tuple[str, Seconds]]:
    """Give for each queue how long its first job waits, its second, and so on: means (s)."""
    jobs, replications = each.all_jobs, each.replications
    for queue in each.queue_names:
        of_runs = []
        for run in np.unique(replications):
            mine = jobs.only((replications == run) & (jobs.queue == queue))
            of_runs.append(mine.waiting[np.argsort(mine.submit, kind="stable")])
        most = max(map(len, of_runs), default=0)
        padded = np.full((len(of_runs), most), np.nan)
        for row, waits in zip(padded, of_runs, strict=True):
            row[: len(waits)] = waits
        if most:
            yield queue, np.nanmean(padded, axis=0)
