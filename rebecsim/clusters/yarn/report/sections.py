"""Sections of reports for YARN clusters, and their charts.

Pictures of runs of several schedulers, and of penalties.

Gantt charts have colours of jobs or, where several queues are compared, of queues.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.measures import Lane, Timeline
from rebecsim.clusters.kit.report import (
    Colours,
    Course,
    Panel,
    asks_for_groups,
    by_group_section,
    colours_by_work,
    gantt_figure as draw_gantt,
    line_look,
    over_time_figure,
    values_of,
)
from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.penalties import Penalty
from rebecsim.clusters.yarn.report.queues import queue_section
from rebecsim.clusters.yarn.report.stored import (
    SECOND,
    StoredTables,
    answers_of,
    last_end,
    read_shown,
)
from rebecsim.clusters.yarn.report.waits import waits_section
from rebecsim.clusters.yarn.tables import QUEUE_JOBS
from rebecsim.errors import UserError
from rebecsim.report.figures import (
    GREY,
    duration_ticks,
    legend_below,
    line_styles,
    new_figure,
    plain_axes,
)
from rebecsim.report.numbers import text_of
from rebecsim.studies.cells import Picture, Section
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results

if TYPE_CHECKING:
    import pyarrow as pa
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
            **line_look(style),
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
            **line_look(style),
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


_MOST_TASKS = 40  # of the median length, side by side in the window


def busiest_window(shown: Sequence[StoredTables]) -> tuple[int, int]:
    """Give the time to look at (ms), from when until when, in runs of which the first one decides.

    All of that run if it is not long against its tasks, and of the others what is not; otherwise as
    much of it as that, where the most memory is in use.
    """
    base = shown[0]
    end = int(values_of(base.jobs, "end").max())
    lengths = values_of(base.tasks, "finished") - values_of(base.tasks, "launched")
    width = int(np.median(lengths)) * _MOST_TASKS if len(lengths) else end
    if not 0 < width < end:
        latest = max(int(values_of(each.jobs, "end").max()) for each in shown)
        return 0, min(latest, max(end, width))
    time, memory = values_of(base.occupancy, "time"), values_of(base.occupancy, "memory")
    step = int(time[1] - time[0])
    windows = max(width // step, 1)
    sums = np.convolve(memory, np.ones(windows), "valid")
    begin = int(time[int(np.argmax(sums))])
    return begin, begin + max(width, step)


def timelines(shown: Sequence[StoredTables]) -> dict[str, Timeline]:
    """Give which containers nodes had, by scheduler; owners are queues if there are several."""
    by_queue = has_queues(shown)
    return {
        each.scheduler: _timeline(each.tasks, each.nodes, queues if by_queue else {})
        for each, queues in zip(shown, _queues(shown), strict=True)
    }


def _timeline(tasks: pa.Table, nodes: pa.Table, queues: Mapping[int, str]) -> Timeline:
    names = values_of(nodes, "node").tolist()
    place = {name: number for number, name in enumerate(names)}
    jobs = values_of(tasks, "job")
    numbers, row = np.unique(jobs, return_inverse=True)
    owners = [queues.get(job, f"job_{job}") for job in numbers.tolist()]
    return Timeline(
        list(map(Lane, names, values_of(nodes, "memory").tolist())),
        who=jobs,
        owner=np.array(owners, dtype=str)[row],
        lane=np.array([place[name] for name in values_of(tasks, "node").tolist()], dtype=np.int64),
        begin=values_of(tasks, "launched"),
        end=values_of(tasks, "finished"),
        size=values_of(tasks, "given"),
        pale=values_of(tasks, "elastic").astype(bool),
        per_second=SECOND,
    )


def gantt_figure(
    shown: Sequence[StoredTables], window: tuple[int, int], heading: str = ""
) -> Figure:
    """Draw the first nodes under some schedulers, one below the other, in one window (ms).

    The jobs, or the queues if there are several, that take the most memory in the window have
    colours, in all charts the same.
    """
    lines = timelines(shown)
    by_queue = has_queues(shown)
    colours = Colours(
        colours_by_work(list(lines.values()), window, by_name=by_queue),
        noun="queues" if by_queue else "jobs",
        pale="elastic" if any(each.pale.any() for each in lines.values()) else "",
    )
    return draw_gantt(lines, colours, window, heading, noun="node")


def has_queues(shown: Sequence[StoredTables]) -> bool:
    """Whether there are several queues to tell apart."""
    return len({queue for queues in _queues(shown) for queue in queues.values()}) > 1


def _queues(shown: Sequence[StoredTables]) -> list[dict[int, str]]:
    """Give the queue of each job in each run; no jobs where queues are not compared.

    A queue that one run knows by its name and the others by its path is one queue.
    """
    found = [_queues_of(each) for each in shown]
    names = {queue for queues in found for queue in queues.values()}
    paths: dict[str, list[str]] = {}
    for name in names:
        paths.setdefault(name.rpartition(".")[2], []).append(name)
    known = {last: max(same, key=len) for last, same in paths.items() if len(same) == 2}
    return [{job: known.get(queue, queue) for job, queue in queues.items()} for queues in found]


def _queues_of(each: StoredTables) -> dict[int, str]:
    if QUEUE_JOBS not in each.queues:
        return {}
    table = each.queues[QUEUE_JOBS]
    return dict(zip(*(table.column(name).to_pylist() for name in ("job", "queue")), strict=True))


_IDEAL, _DURATION = 10_000, 1_000_000
_PERCENTS = range(10, 101)


def penalty_figure(penalties: Sequence[Penalty]) -> Figure:
    """Draw the durations in a tenth of the ideal memory up to all of it, as factors."""
    figure = new_figure(8, 4.2)
    axes = figure.subplots()
    labels = [
        f"{each.name}, bump {each.bump:g}" if each.has_bump else each.name for each in penalties
    ]
    styles = line_styles(tuple(labels))
    for label, penalty in zip(labels, penalties, strict=True):
        style = styles[label]
        factors = [
            penalty.duration(_IDEAL, _IDEAL * percent // 100, _DURATION) / _DURATION
            for percent in _PERCENTS
        ]
        axes.plot(
            list(_PERCENTS),
            factors,
            label=label,
            **line_look(style, 0.5, 0.4),
        )
    plain_axes(axes, "", "Memory given (% of the ideal memory)", "Duration (times as long)")
    axes.set_xlim(10, 100)
    axes.set_ylim(0.9, 4)
    legend_below(figure, axes)
    return figure


_ALIKE = 0.005  # a job whose durations differ by less than this part is as fast as before


def yarn_sections(plan: Plan, results: Results) -> tuple[Section, ...]:
    """Who waits longer, or jobs against the baseline; pictures of one run of each scheduler."""
    shown = read_shown(plan, results)
    base = shown[plan.scenario.compared_with]
    others = [each for each in shown.values() if each is not base]
    of_first = _of_first(plan)
    heading = plan.scenario.heading
    speedups_of = {"speedups.csv": _speedups_csv(base, others)} if others else {}
    of_files = bool(plan.scenario.schedulers)
    answers = answers_of(plan, results)
    by_group = by_group_section(
        answers,
        leads=not plan.has_chance,
        notes=of_first if plan.has_chance else (),
        terminal=of_files or asks_for_groups(plan, answers),
    )
    runs = Section(
        name="pictures",
        title="Runs",
        pictures=tuple(_pictures(plan, list(shown.values()), base, others)),
        notes=of_first,
    )
    if of_files:
        return (
            replace(by_group, files={**by_group.files, **speedups_of}),
            queue_section(list(shown.values()), heading, of_first),
            waits_section(list(shown.values()), heading, of_first),
            runs,
            Section("idle", "Settings that have no effect", sentences=_idle(plan)),
        )
    sentences = tuple(_sentence(base, each) for each in others)
    title = "Compared with the baseline"
    baseline = Section("baseline", title, sentences=sentences, notes=of_first, files=speedups_of)
    return (by_group, baseline, runs) if others else (by_group, runs)


def _idle(plan: Plan) -> tuple[str, ...]:
    """Say what of files has no effect."""
    found: dict[str, None] = {}
    for cell in plan.cells:
        setup: RunSetup = cell.setup
        try:
            queues = setup.queues
        except (OSError, UserError):
            continue  # the file is gone, or is another now: results are shown without it
        if queues is not None:
            found |= dict.fromkeys(queues.idle)
    return tuple(found)


def _of_first(plan: Plan) -> tuple[str, ...]:
    """Say which runs are compared job by job and drawn, where there are others as well."""
    if plan.total == len({cell.cell.policy for cell in plan.cells}):
        return ()
    return (f"Of the runs with {plan.cells[0].cell.condition}, first replication.",)


def _sentence(base: StoredTables, other: StoredTables) -> str:
    factors = speedups(base, other)
    faster = int((factors > 1 + _ALIKE).sum())
    slower = int((factors < 1 - _ALIKE).sum())
    return (
        f"Under {other.scheduler} {faster:,} of {len(factors):,} jobs take less time than under "
        f"{base.scheduler}, {slower:,} take more; half of the jobs are at least "
        f"{float(np.median(factors)):.2f} times as fast."
    )


def _speedups_csv(base: StoredTables, others: Sequence[StoredTables]) -> str:
    """One line per job and scheduler other than the baseline; durations in seconds."""
    header = ["baseline", "policy", "job", "baseline_duration", "duration", "speedup"]
    rows = (
        [base.scheduler, each.scheduler, *row]
        for each in others
        for row in zip(
            each.jobs.column("job").to_pylist(),
            job_durations(base).tolist(),
            job_durations(each).tolist(),
            speedups(base, each).tolist(),
            strict=True,
        )
    )
    return text_of(header, rows)


def _pictures(
    plan: Plan, shown: Sequence[StoredTables], base: StoredTables, others: Sequence[StoredTables]
) -> Iterator[Picture]:
    """Say which pictures there are, in the order of the page."""
    heading = plan.scenario.heading
    if others:
        yield Picture(
            "speedup",
            "Which jobs are faster?",
            "Jobs in the order of their speed-up, each line in its own order; above one, a job is "
            f"faster than under {base.scheduler}.",
            partial(speedup_figure, base, others, heading),
        )
    yield Picture(
        "durations",
        "How long do jobs take?",
        "How many of the jobs took at most so long, from submission to end.",
        partial(durations_figure, shown, heading),
    )
    yield Picture(
        "occupancy",
        "How much memory was in use?",
        "Each step is the mean of its window of time. What is nothing throughout is left out.",
        partial(occupancy_figure, shown, heading),
    )
    yield Picture(
        "gantt",
        "Which jobs ran where, and when?",
        "A bar is a container, as high as its memory; elastic ones are paler. "
        + (
            "Its colour is that of its queue."
            if has_queues((base, *others))
            else "The jobs with the most memory have colours."
        ),
        partial(gantt_figure, shown, busiest_window((base, *others)), heading),
    )
