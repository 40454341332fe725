"""Jobs by their users, and by their place in their queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.clusters.mapreduce.figures.jobs import JobColumns, Seconds
from rebecsim.clusters.mapreduce.figures.stored import StoredRuns
from rebecsim.clusters.mapreduce.report.charts import queue_colours
from rebecsim.report.figures import BLUE, GREEN, ORANGE, legend_below, new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
