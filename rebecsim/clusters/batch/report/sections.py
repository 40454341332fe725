"""Sections of reports for batch clusters: schedules, users, changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

from rebecsim.clusters.batch.difference import ScheduleDifference, schedule_difference
from rebecsim.clusters.batch.measures import JudgedSchedule
from rebecsim.clusters.batch.report.by_group import answer_of_schedules
from rebecsim.clusters.batch.report.csv import changes_csv, schedules_csv, users_csv
from rebecsim.clusters.batch.report.schedule_charts import (
    busiest_time,
    difference_figure,
    gantt_figure,
    means_figure,
    over_time_figure,
)
from rebecsim.clusters.batch.report.tables import difference_summary
from rebecsim.clusters.batch.report.user_charts import overdue_figure, user_boxes_figure
from rebecsim.clusters.batch.schedules import read_schedules
from rebecsim.clusters.kit.report import by_group_section, first_cells
from rebecsim.metrics import UserMetrics, overdue_map, window_edges
from rebecsim.studies.cell import Condition
from rebecsim.studies.plan import Plan
from rebecsim.studies.sections import Picture, Section
from rebecsim.studies.storage.results import Results
from rebecsim.studies.study import PlannedCell
from rebecsim.workloads import Schedule
from rebecsim.workloads.logs import labels_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WINDOWS = 700


@dataclass(frozen=True)
class Schedules:
    """What is read of the schedules of a run.

    Attributes:
        users: figures of the users of each schedule, by cell and replication; none without shares.
        labels: what to call the users, by their numbers.
        shown: the schedules that are drawn, one for each policy: of the first load factor, the
            first estimates and the first replication.
        replications: how many schedules there are like the first of them.
        by_condition: the first schedules of all policies under each condition, see `first_cells`.
    """

    users: Mapping[tuple[PlannedCell, int], UserMetrics]
    labels: Mapping[int, str]
    shown: Mapping[str, JudgedSchedule]
    replications: int
    by_condition: Mapping[Condition, Mapping[str, Schedule]]


def read_shown(plan: Plan, results: Results) -> Schedules:
    """Read what sections need. Raises ResultsError for files that are missing or damaged."""
    users: dict[tuple[PlannedCell, int], UserMetrics] = {}
    labels: dict[int, str] = {}
    shown: dict[str, JudgedSchedule] = {}
    replications = 0
    firsts: dict[PlannedCell, Schedule] = {}
    compared = first_cells(plan)
    kept = {cell for cells in compared.values() for cell in cells.values()}
    for cell in plan.cells:
        for replication, judged in enumerate(read_schedules(results, cell)):
            replications += cell is plan.cells[0]
            if judged.users is not None:
                users[cell, replication] = judged.users
                labels |= labels_of(judged.schedule.workload, "user")
            shown.setdefault(cell.cell.policy, judged)
            if cell in kept:
                firsts.setdefault(cell, judged.schedule)
    by_condition = {
        condition: {policy: firsts[cell] for policy, cell in cells.items()}
        for condition, cells in compared.items()
    }
    return Schedules(users, labels, shown, replications, by_condition)


def batch_sections(plan: Plan, results: Results) -> tuple[Section, ...]:
    """Who waits longer, changes against the baseline, pictures of a schedule of each policy."""
    read = read_shown(plan, results)
    base = read.shown[plan.scenario.compared_with]
    others = [each for each in read.shown.values() if each is not base]
    differences = [schedule_difference(base, each) for each in others]
    of_first = _of_first(plan, read)
    notes = (f"Of the schedules with {of_first}.",) if of_first else ()
    changes = Section(
        name="baseline",
        title="Compared with the baseline",
        sentences=tuple(difference_summary(differences)),
        notes=notes,
        files=_files(plan, results, read, differences),
    )
    answers = {
        condition: answer_of_schedules(schedules, exact=not plan.has_chance)
        for condition, schedules in read.by_condition.items()
    }
    by_group = by_group_section(
        answers, leads=not plan.has_chance, notes=notes if plan.has_chance else ()
    )
    pictures = (_means(plan, results, read), *_pictures(plan, read, differences, of_first))
    return by_group, changes, Section("pictures", "Schedules", pictures=pictures, notes=notes)


def _files(
    plan: Plan, results: Results, read: Schedules, differences: Sequence[ScheduleDifference]
) -> dict[str, str]:
    names = [metric.name for metric in plan.metrics]
    figures = {
        (cell, replication): row
        for cell in plan.cells
        for replication, row in enumerate(_rows(results, cell, names))
    }
    files = {"schedules.csv": schedules_csv(names, figures)}
    if read.users:
        files["users.csv"] = users_csv(read.users, read.labels)
    if differences:
        files["changes.csv"] = changes_csv(differences)
    return files


def _rows(results: Results, cell: PlannedCell, names: Sequence[str]) -> list[tuple[Any, ...]]:
    table = pq.read_table(results.part(cell), columns=list(names))
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def _of_first(plan: Plan, read: Schedules) -> str:
    """Say which schedules are compared job by job and drawn, where there are others as well."""
    drawn = f"replication 0, the first of {read.replications}" if read.replications > 1 else ""
    if len(plan.cells) == len(read.shown):
        return drawn
    return ", ".join(filter(None, (str(plan.cells[0].cell.condition), drawn)))


def _means(plan: Plan, results: Results, read: Schedules) -> Picture:
    """The means that know no users, of the conditions of the other pictures."""
    cells: dict[str, PlannedCell] = {}
    for cell in plan.cells:
        cells.setdefault(cell.cell.policy, cell)
    means = []
    for cell in cells.values():
        rows = np.array(_rows(results, cell, ("mean_wait", "mean_response", "mean_slowdown")))
        wait, response, slowdown = rows.mean(axis=0).tolist()
        means.append((wait, response, slowdown))
    condition = str(plan.cells[0].cell.condition) if len(plan.cells) > len(cells) else ""
    drawn = f"means of {read.replications} replications" if read.replications > 1 else ""
    of = ", ".join(filter(None, (condition, drawn)))
    return Picture(
        "means",
        "How long do jobs wait and take?",
        "Means over all jobs, which say nothing of users.",
        partial(means_figure, tuple(cells), means, _heading(plan, of)),
    )


def _heading(plan: Plan, of: str) -> str:
    """Give the heading of a picture that is of some of the schedules."""
    heading = plan.scenario.heading
    return f"{heading} ({of})" if of else heading


def _pictures(
    plan: Plan, read: Schedules, differences: Sequence[ScheduleDifference], of_first: str
) -> Iterator[Picture]:
    """Say which pictures there are, in the order of the page."""
    heading, shown = _heading(plan, of_first), list(read.shown.values())
    schedules = [each.schedule for each in shown]
    users = [(each.schedule.policy, each.users) for each in shown if each.users is not None]
    if users:
        yield Picture(
            "users",
            "Whose jobs end later than expected?",
            "A box reaches from the lower to the upper quartile of the users, with the median in "
            "it; whiskers reach to the last user within one and a half times its height, dots are "
            "other users.",
            partial(user_boxes_figure, users, heading),
        )
        yield Picture(
            "overdue",
            "Whose jobs were overdue, and when?",
            "A job is overdue from the latest start that would have met its expected end until it "
            "starts. Below each map is what the machine was doing.",
            partial(_overdue, shown, heading),
        )
    yield Picture(
        "over_time",
        "How full was the machine, and how long the queue?",
        "Each step is the mean of its window of time.",
        partial(over_time_figure, schedules, heading),
    )
    given = plan.scenario.gantt
    base = read.shown[plan.scenario.compared_with].schedule
    begin, end = busiest_time(base) if given is None else (given.begin, given.end)
    yield Picture(
        "gantt",
        "Whose jobs ran where, and when?",
        "Schedules say how many processors a job had, not which: they are chosen for the picture. "
        "Large bars have the numbers of their jobs.",
        partial(gantt_figure, schedules, begin, end, heading),
    )
    if differences:
        yield Picture(
            "changes",
            "For which jobs and users does the wait change?",
            "On the left each dot is a job; below zero it waits for less time than under the "
            "baseline. On the right are the users for whom most changes.",
            partial(difference_figure, differences, heading),
        )


def _overdue(shown: Sequence[JudgedSchedule], heading: str) -> Figure:
    begin = min(int(each.schedule.workload.submit.min()) for each in shown)
    end = max(int(each.schedule.end.max()) for each in shown)
    edges = window_edges(begin, end, _WINDOWS)
    return overdue_figure(
        [
            overdue_map(each.schedule, each.expected_end, edges)
            for each in shown
            if each.expected_end is not None
        ],
        heading,
    )
