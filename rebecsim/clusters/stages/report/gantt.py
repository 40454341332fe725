"""Gantt charts: which task ran where and when, and by when its job should have ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.gantt import Colours, gantt_figure as draw_gantt
from rebecsim.clusters.kit.timeline import Lane, Timeline
from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.job import SECOND
from rebecsim.clusters.stages.report.stored import StoredStages, TaskColumns
from rebecsim.report.figures import BLUE, ORANGE, line_colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_AROUND = 1.0
"""How much is drawn before and after the latest job, in spans of that job."""

_IN_TIME, _LATE = "of a job in time", "of a late job"
_DEADLINE = "#c81e1e"


def workflow_gantt(runs: Mapping[str, FinishedStages], name: str) -> Figure:
    """Draw a workflow under each manager, in colours of names of tasks, with its deadline."""
    columns = {manager: _tasks_of(run) for manager, run in runs.items()}
    names = list(dict.fromkeys(str(each) for one in columns.values() for each in one.name))
    colours = Colours(
        dict(zip(names, line_colours(len(names)), strict=True)), lines={_DEADLINE: "deadline"}
    )
    last = max(max(float(each.end.max()), *each.deadlines.values()) for each in columns.values())
    return draw_gantt(
        {manager: _timeline(tasks, tasks.name, tasks.name) for manager, tasks in columns.items()},
        colours,
        (0, round(1.02 * last * SECOND)),
        name,
        noun="resource",
        due={
            manager: [(due, _DEADLINE) for due in tasks.deadlines.values()]
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
    """Give when the latest job of all managers ran, and something before and after it (ms)."""
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
