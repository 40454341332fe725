"""Charts of stored runs: lateness, laxity, Gantt charts, and errors of estimates.

Times are seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rebecsim.clusters.kit.report import (
    RED,
    Colours,
    gantt_figure as draw_gantt,
    line_look,
    read_table,
    values_of,
)
from rebecsim.clusters.kit.timeline import Lane, Timeline
from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.estimates import EstimateErrors
from rebecsim.clusters.stages.job import SECOND
from rebecsim.clusters.stages.measures import JOBS, TABLES, TASKS
from rebecsim.report.figures import (
    BLUE,
    GREY,
    ORANGE,
    legend_below,
    line_colours,
    line_styles,
    new_figure,
    plain_axes,
    time_axis,
)
from rebecsim.studies.cells import REPLICATION
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.study import PlannedCell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Seconds = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StoredStages:
    """The outcome of jobs under a resource manager; arrays have an entry for each job.

    Attributes:
        manager: name of the manager.
        start: earliest start of each job.
        deadline: deadline of each job.
        end: end of each job.
        alone: run time on free resources.
        first: the tasks of the first replication.
    """

    manager: str
    start: Seconds
    deadline: Seconds
    end: Seconds
    alone: Seconds
    first: TaskColumns

    @property
    def lateness(self) -> Seconds:
        """End of each job less its deadline."""
        return self.end - self.deadline

    @property
    def turnarounds(self) -> Seconds:
        """From the start of each job to its end, a row for each run."""
        spans: Seconds = self.end - self.start
        return spans.reshape(-1, len(self.first.ended))

    @property
    def laxity(self) -> Seconds:
        """Time from each job's start to its deadline, less its run time alone."""
        return self.deadline - self.start - self.alone


@dataclass(frozen=True, eq=False)
class TaskColumns:
    """The tasks of a run.

    Attributes:
        job: number of the job.
        name: name of the task in the workflow.
        resource: resource that ran it.
        start: start of the task.
        end: end of the task.
        deadlines: deadline of each job, by its number.
        ended: end of each job, by its number.
    """

    job: NDArray[np.int64]
    name: NDArray[np.object_]
    resource: NDArray[np.int64]
    start: Seconds
    end: Seconds
    deadlines: Mapping[int, float]
    ended: Mapping[int, float]


def read_stages(plan: Plan, results: Results) -> list[StoredStages]:
    """Read the runs of each manager at the last load factor.

    Raises ResultsError for files that are missing or damaged.
    """
    cells = {cell.cell.policy: cell for cell in plan.cells}
    return [_read(results, cell) for cell in cells.values()]


def _read(results: Results, cell: PlannedCell) -> StoredStages:
    results.require(cell, {name: TABLES[name] for name in (JOBS, TASKS)})
    jobs = read_table(results, cell, JOBS)
    tasks = read_table(results, cell, TASKS, first=True)
    start, deadline, end, alone = (
        _seconds(jobs, name) for name in ("start", "deadline", "end", "alone")
    )
    mine = values_of(jobs, REPLICATION) == 0
    numbers = values_of(jobs, "job")[mine].tolist()
    first = TaskColumns(
        values_of(tasks, "job"),
        values_of(tasks, "name"),
        values_of(tasks, "resource"),
        _seconds(tasks, "start"),
        _seconds(tasks, "end"),
        dict(zip(numbers, deadline[mine].tolist(), strict=True)),
        dict(zip(numbers, end[mine].tolist(), strict=True)),
    )
    return StoredStages(cell.cell.policy, start, deadline, end, alone, first)


def _seconds(table: pa.Table, name: str) -> Seconds:
    return np.asarray(values_of(table, name) / SECOND, dtype=np.float64)


_MOST_DOTS = 4000
"""Most dots for jobs in time."""

_MANY = 500
"""With more jobs, dots are small and axes leave out extreme jobs."""

_CUT = 0.5
"""Percentage of jobs at either end that axes leave out, to keep the rest readable."""


def lateness_figure(shown: Sequence[StoredStages], heading: str = "") -> Figure:
    """Draw the cumulative distribution of lateness. Jobs left of the line at 0 were in time."""
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
            label=each.manager,
            **line_look(style, 1, 0),
        )
    axes.axvline(0, color=GREY, linewidth=0.9)
    plain_axes(axes, "", f"Lateness: end after the deadline ({name})", "Jobs (%)")
    axes.set_xlim(low / unit, max(high, 0.02 * (high - low)) / unit)
    axes.set_ylim(0, 101)
    legend_below(figure, axes)
    return figure


def laxity_figure(shown: Sequence[StoredStages], heading: str = "") -> Figure:
    """Draw lateness over laxity, with a panel for each manager and a dot for each job.

    Jobs on the slanted line never waited. Of many jobs, some that were in time are left out, but
    never late ones.
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
    """Return the range of nearly all values, or of all if they are few."""
    joined = np.concatenate(values)
    cut = _CUT if len(joined) > _MANY else 0.0
    low, high = np.percentile(joined, [cut, 100 - cut]).tolist()
    return low, max(high, low + 1.0)


_AROUND = 1.0
"""Time drawn before and after the latest job, as a multiple of its duration."""

_IN_TIME, _LATE = "of a job in time", "of a late job"


def workflow_gantt(runs: Mapping[str, FinishedStages], name: str) -> Figure:
    """Draw a workflow under each manager, in colours of names of tasks, with its deadline."""
    columns = {manager: _tasks_of(run) for manager, run in runs.items()}
    names = list(dict.fromkeys(str(each) for one in columns.values() for each in one.name))
    colours = Colours(
        dict(zip(names, line_colours(len(names)), strict=True)), lines={RED: "deadline"}
    )
    last = max(max(float(each.end.max()), *each.deadlines.values()) for each in columns.values())
    return draw_gantt(
        {manager: _timeline(tasks, tasks.name, tasks.name) for manager, tasks in columns.items()},
        colours,
        (0, round(1.02 * last * SECOND)),
        name,
        noun="resource",
        due={
            manager: [(due, RED) for due in tasks.deadlines.values()]
            for manager, tasks in columns.items()
        },
    )


def gantt_figure(shown: Sequence[StoredStages], heading: str = "") -> Figure:
    """Draw the tasks around the job that is latest under any manager, late jobs in orange."""
    window = _window(shown)
    lines: dict[str, Timeline] = {}
    due: dict[str, list[tuple[float, str]]] = {}
    for each in shown:
        tasks = each.first
        late = {job for job, due in tasks.deadlines.items() if tasks.ended[job] > due}
        is_late = np.isin(tasks.job, list(late))
        lines[each.manager] = _timeline(tasks, tasks.job, np.where(is_late, _LATE, _IN_TIME))
        seen = set(lines[each.manager].within(*window).who.tolist())
        due[each.manager] = [(tasks.deadlines[job], ORANGE) for job in sorted(late & seen)]
    colours = Colours({_IN_TIME: BLUE, _LATE: ORANGE}, lines={ORANGE: "its deadline"})
    return draw_gantt(lines, colours, window, heading, noun="resource", due=due)


def _timeline(tasks: TaskColumns, who: NDArray[Any], owner: NDArray[Any]) -> Timeline:
    count = 1 + int(tasks.resource.max(initial=0))
    start, end = (np.rint(each * SECOND).astype(np.int64) for each in (tasks.start, tasks.end))
    return Timeline(
        [Lane(f"resource {number}") for number in range(count)],
        who=who,
        owner=owner.astype(str),
        lane=tasks.resource,
        begin=start,
        end=end,
        size=np.ones(len(start), dtype=np.int64),
        pale=np.zeros(len(start), dtype=bool),
        per_second=SECOND,
    )


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


def _window(shown: Sequence[StoredStages]) -> tuple[int, int]:
    """Return the time around the run of the latest job under any manager (ms)."""
    late = [
        (each.ended[job] - due, each, job)
        for each in (one.first for one in shown)
        for job, due in each.deadlines.items()
    ]
    _, tasks, job = max(late, key=lambda each: each[0])
    begin = float(tasks.start[tasks.job == job].min())
    end = max(tasks.ended[job], tasks.deadlines[job])
    around = _AROUND * (end - begin)
    return round(SECOND * max(begin - around, 0.0)), round(SECOND * (end + around))


_SEED, _JOBS = 2015, 20_000


def errors_figure(models: Mapping[str, tuple[EstimateErrors, float]]) -> Figure:
    """Draw the distribution of estimates of each error model, for tasks of a duration (s)."""
    figure = new_figure(8, 4.2)
    axes = figure.subplots()
    styles = line_styles(tuple(models))
    parts = 100 * (np.arange(_JOBS) + 1) / _JOBS
    for name, (model, duration) in models.items():
        draws = np.random.default_rng(_SEED)
        one = np.array([duration])
        factors = np.sort([model.factors(one, draws)[0] for _ in range(_JOBS)])
        style = styles[name]
        axes.step(
            [factors[0], *factors[::20], factors[-1]],
            [0, *parts[::20], 100],
            where="post",
            label=name,
            **line_look(style, 0.5, 0.4),
        )
    plain_axes(axes, "", "Estimate (times the duration)", "Tasks with at most this (%)")
    axes.set_xscale("log")
    ticks = [0.1, 0.5, 1, 2, 3, 10, 100]
    axes.set_xticks(ticks, [f"{each:g}" for each in ticks])
    axes.set_xlim(0.09, 110)
    axes.set_ylim(0, 102)
    legend_below(figure, axes)
    return figure
