"""Sections of reports for batch clusters: schedules, users, changes; as tables, CSV and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from rebecsim.clusters.batch.measures import (
    JudgedSchedule,
    ScheduleDifference,
    read_schedules,
    schedule_difference,
)
from rebecsim.clusters.batch.report.schedule_charts import (
    busiest_time,
    difference_figure,
    gantt_figure,
    means_figure,
    over_time_figure,
    overdue_figure,
    user_boxes_figure,
)
from rebecsim.clusters.batch.report.text import answer_of_schedules, figures_table
from rebecsim.clusters.kit.report import asks_for_groups, by_group_section, first_cells
from rebecsim.errors import UserError
from rebecsim.metrics import UserMetrics, overdue_map, window_edges
from rebecsim.report.numbers import text_of
from rebecsim.report.tables import duration_text
from rebecsim.studies.cells import Condition, Picture, Section
from rebecsim.studies.parts import columns_from
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.stored_runs import StoredRun
from rebecsim.studies.study import PlannedCell
from rebecsim.workloads import Schedule
from rebecsim.workloads.logs import labels_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_CELL = ("policy", "load_factor", "estimates", "replication")


def schedules_csv(
    metrics: Sequence[str], values: Mapping[tuple[PlannedCell, int], tuple[float, ...]]
) -> str:
    """One line per schedule: its coordinates, then each metric under its name, in its unit."""
    header = [*_CELL, *metrics]
    return text_of(header, ([*_cell(*which), *row] for which, row in values.items()))


def users_csv(
    users: Mapping[tuple[PlannedCell, int], UserMetrics], labels: Mapping[int, str]
) -> str:
    """One line per schedule and user: `jobs`, `violated`, `veet` (%), `weighted_tardiness` (s).

    Users are called by their `labels`.
    """
    header = [*_CELL, "user", "jobs", "violated", "veet", "weighted_tardiness"]
    rows = (
        [*_cell(*which), labels[user], *row]
        for which, each in users.items()
        for user, *row in zip(
            *(getattr(each, name).tolist() for name in header[len(_CELL) :]), strict=True
        )
    )
    return text_of(header, rows)


def changes_csv(differences: Sequence[ScheduleDifference]) -> str:
    """One line per user and policy other than the baseline.

    Columns: `baseline`, `policy`, `user`, `jobs`, `earlier` and `later` (jobs that wait for less or
    more time), `wait` (change of the mean wait, s), `weighted_tardiness` (change, processor hours;
    empty without shares).
    """
    header = ["baseline", "policy", "user", "jobs", "earlier", "later", "wait"]
    header.append("weighted_tardiness")
    rows = (
        [each.first, each.second, *row]
        for each in differences
        for row in zip(*_changes(each), strict=True)
    )
    return text_of(header, rows)


def _changes(difference: ScheduleDifference) -> list[list[object]]:
    each = difference.users
    columns = [each.jobs, each.earlier, each.later, each.wait]
    tardiness = each.weighted_tardiness
    last = [""] * len(each.user) if tardiness is None else tardiness.tolist()
    return [list(each.labels), *(column.tolist() for column in columns), last]


def _cell(planned: PlannedCell, replication: int) -> list[object]:
    cell = planned.cell
    return [cell.policy, cell["load_factor"], cell["estimates"], replication]


_SHOWN_USERS = 12


def difference_table(difference: ScheduleDifference) -> Group:
    """How jobs and users fare in the second schedule, as seen from the first."""
    change, jobs = difference.change, len(difference.job)
    lines = [
        f"{difference.second} instead of {difference.first}: of {jobs:,} jobs "
        f"{difference.earlier:,} wait for less time, {difference.later:,} for more, "
        f"{jobs - difference.earlier - difference.later:,} for as long",
        f"change of the wait: mean {_signed(float(change.mean()))}, "
        f"from {_signed(float(change.min()))} to {_signed(float(change.max()))}",
    ]
    for name, count in (
        (difference.first, difference.only_first),
        (difference.second, difference.only_second),
    ):
        if count:
            lines.append(f"{count:,} jobs only in {name}")
    return Group(*map(Text, lines), _users(difference))


def _users(difference: ScheduleDifference) -> RenderableType:
    each = difference.users
    values = each.wait * each.jobs if each.weighted_tardiness is None else each.weighted_tardiness
    order = np.argsort(-np.abs(values), kind="stable")[:_SHOWN_USERS]
    order = order[values[order] != 0]
    if not len(order):
        return Text("Nothing changes for any user.")
    titles = ["User", "Jobs", "Wait less", "Wait more", "Mean wait"]
    columns = [
        [each.labels[row] for row in order],
        [f"{each.jobs[row]:,}" for row in order],
        [f"{each.earlier[row]:,}" for row in order],
        [f"{each.later[row]:,}" for row in order],
        [_signed(float(each.wait[row])) for row in order],
    ]
    if each.weighted_tardiness is not None:
        titles.append("WT (h)")
        columns.append([f"{each.weighted_tardiness[row]:+,.1f}" for row in order])
    table = figures_table(titles, zip(*columns, strict=True))
    hidden = len(each.user) - len(order)
    if hidden:
        return Group(table, Text(f"The other {hidden} users change less, or not at all."))
    return table


def _signed(seconds: float) -> str:
    if seconds == 0:
        return "0s"
    return ("+" if seconds > 0 else "\u2212") + duration_text(abs(seconds))


def difference_summary(differences: Sequence[ScheduleDifference]) -> list[str]:
    """One line for each policy other than the baseline."""
    return [
        f"{each.second} instead of {each.first}: {each.earlier:,} jobs wait for less time, "
        f"{each.later:,} for more, mean wait {_signed(float(each.change.mean()))}"
        for each in differences
    ]


def schedule_changes(first: StoredRun, second: StoredRun) -> Iterator[RenderableType]:
    """Show what changes for jobs and users in each schedule that both runs have.

    Raises UserError for schedules of different workloads, ResultsError for damaged files.
    """
    for cell, other in _comparable(first, second):
        pairs = zip(
            read_schedules(first.results, cell),
            read_schedules(second.results, other),
            strict=False,
        )
        for replication, (one, another) in enumerate(pairs):
            names = (
                f"{first.name}/{cell.name}, replication {replication}",
                f"{second.name}/{other.name}, replication {replication}",
            )
            try:
                difference = schedule_difference(one, another, names)
            except ValueError as error:
                raise UserError(f"{names[0]} and {names[1]}: {error}") from error
            yield difference_table(difference)


def _comparable(first: StoredRun, second: StoredRun) -> list[tuple[PlannedCell, PlannedCell]]:
    """Find the cells that stand for each other: of the same name, or the only ones."""
    others = {cell.name: cell for cell in second.cells}
    pairs = [(cell, others[cell.name]) for cell in first.cells if cell.name in others]
    if not pairs and len(first.cells) == len(second.cells) == 1:
        return [(first.cells[0], second.cells[0])]
    if not pairs:
        raise UserError(
            f"{first.name} and {second.name} have no schedule in common: no policy with the same "
            "load factor and estimates"
        )
    return pairs


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
        answers,
        leads=not plan.has_chance,
        notes=notes if plan.has_chance else (),
        terminal=asks_for_groups(plan, answers),
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
    table = columns_from(results.part(cell), names)
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
