"""Reports of workload scenarios: what they are made of, and their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.experiments.workload_diff import ScheduleDifference, schedule_difference
from rebecsim.experiments.workload_metrics import JudgedSchedule, schedule_metrics
from rebecsim.experiments.workload_plan import ScheduleCell
from rebecsim.experiments.workload_results import WorkloadResults
from rebecsim.experiments.workload_scenario import WorkloadScenario
from rebecsim.experiments.workload_summary import WorkloadSummary, summarise_schedules
from rebecsim.files import write_atomically
from rebecsim.metrics import UserMetrics, overdue_map, window_edges
from rebecsim.report.figures import render_figure
from rebecsim.report.gantt import busiest_time, gantt_figure
from rebecsim.report.schedule_charts import difference_figure, load_figure, over_time_figure
from rebecsim.report.user_charts import overdue_figure, user_boxes_figure
from rebecsim.report.workload_csv import changes_csv, schedules_csv, users_csv
from rebecsim.report.workload_page import Picture, render_workload_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "WorkloadReport",
    "WrittenWorkloadReport",
    "read_workload_report",
    "write_workload_report",
]

_WINDOWS = 700


@dataclass(frozen=True)
class WorkloadReport:
    """What there is to report of a workload scenario.

    Attributes:
        scenario: what was compared.
        record: what `run.json` says.
        summary: the figures.
        values: all figures of each schedule, one per metric of the summary.
        users: figures of the users of each schedule; empty without shares.
        shown: the schedules that are drawn, one for each policy: of the first load factor, the
            first estimates and the first replication.
    """

    scenario: WorkloadScenario
    record: Mapping[str, Any]
    summary: WorkloadSummary
    values: Mapping[ScheduleCell, tuple[float, ...]]
    users: Mapping[ScheduleCell, UserMetrics]
    shown: Mapping[str, JudgedSchedule]

    @property
    def differences(self) -> list[ScheduleDifference]:
        """Every other policy as seen from the baseline, in the schedules that are drawn."""
        base = self.shown[self.scenario.compared_with]
        return [schedule_difference(base, each) for each in self.shown.values() if each is not base]

    @property
    def gantt_window(self) -> tuple[int, int]:
        """Which time the Gantt charts show; seconds."""
        given = self.scenario.gantt
        if given is not None:
            return given.begin, given.end
        return busiest_time(self.shown[self.scenario.compared_with].schedule)


def read_workload_report(results: WorkloadResults) -> WorkloadReport:
    """Read what a report needs. Raises ResultsError for parts that are missing or damaged."""
    record = results.record()
    scenario = results.scenario(record)
    metrics = schedule_metrics(scenario.metric_names)
    values: dict[ScheduleCell, tuple[float, ...]] = {}
    users: dict[ScheduleCell, UserMetrics] = {}
    shown: dict[str, JudgedSchedule] = {}
    for cell in results.cells():
        judged = results.read(cell)
        values[cell] = tuple(metric.of(judged) for metric in metrics)
        if judged.users is not None:
            users[cell] = judged.users
        shown.setdefault(cell.policy, judged)
    summary = summarise_schedules(values, metrics, scenario.compared_with)
    return WorkloadReport(scenario, record, summary, values, users, shown)


@dataclass(frozen=True, slots=True)
class WrittenWorkloadReport:
    """Where the files of a report are.

    Attributes:
        html: the page.
        data: CSV files.
        charts: each picture as PNG and SVG.
    """

    html: Path
    data: tuple[Path, ...]
    charts: tuple[Path, ...]


def write_workload_report(report: WorkloadReport, out_dir: Path) -> WrittenWorkloadReport:
    """Write `report.html`, `schedules.csv`, `users.csv`, `changes.csv` and the pictures.

    Everything is rendered before the first file is written, and each file appears under its name
    only when it is complete. Files of an earlier report that there is nothing to say in are
    removed. Raises OSError when the directory cannot be made or written.
    """
    differences = report.differences
    drawn = [
        (picture, {form: render_figure(draw, form) for form in (".svg", ".png")})
        for picture, draw in _pictures(report, differences)
    ]
    page = render_workload_page(
        report.scenario,
        report.record,
        report.summary,
        differences,
        [(picture, forms[".svg"]) for picture, forms in drawn],
    )
    files = {
        "schedules.csv": schedules_csv(report.summary.metrics, report.values),
        "users.csv": users_csv(report.users) if report.users else None,
        "changes.csv": changes_csv(differences) if differences else None,
        "report.html": page,
    }
    charts = {
        out_dir / "charts" / f"{picture.name}{form}": content
        for picture, forms in drawn
        for form, content in forms.items()
    }
    (out_dir / "charts").mkdir(parents=True, exist_ok=True)
    for path, content in charts.items():
        write_atomically(path, content)
    for picture in _ALL:
        for path in (out_dir / "charts" / f"{picture.name}{form}" for form in (".svg", ".png")):
            if path not in charts:
                path.unlink(missing_ok=True)
    for name, text in files.items():
        if text is None:
            (out_dir / name).unlink(missing_ok=True)
        else:
            write_atomically(out_dir / name, text.encode())
    data = tuple(out_dir / name for name, text in files.items() if text and name.endswith(".csv"))
    return WrittenWorkloadReport(out_dir / "report.html", data, tuple(charts))


def _pictures(
    report: WorkloadReport, differences: Sequence[ScheduleDifference]
) -> list[tuple[Picture, Callable[[], Figure]]]:
    """Say which pictures there are, in the order of the page."""
    heading, summary = report.scenario.heading, report.summary
    shown = list(report.shown.values())
    schedules = [each.schedule for each in shown]
    begin, end = report.gantt_window
    found: list[tuple[Picture, Callable[[], Figure]]] = []
    users = [(each.schedule.policy, each.users) for each in shown if each.users is not None]
    if users:
        found.append((_USERS, lambda: user_boxes_figure(users, heading)))
        found.append((_OVERDUE, lambda: _overdue(shown, heading)))
    found.append((_OVER_TIME, lambda: over_time_figure(schedules, heading)))
    found.append((_GANTT, lambda: gantt_figure(schedules, begin, end, heading)))
    if differences:
        found.append((_DIFFERENCES, lambda: difference_figure(differences, heading)))
    if len(report.scenario.load_factors) > 1:
        found.append((_LOAD, lambda: load_figure(summary, summary.variants[0][1], heading)))
    return found


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


_USERS = Picture(
    "users",
    "Users",
    "A box reaches from the lower to the upper quartile of the users, with the median in it; "
    "whiskers reach to the last user within one and a half times its height, dots are other users.",
)
_OVERDUE = Picture(
    "overdue",
    "Overdue jobs",
    "A job is overdue from the latest start that would have met its expected end until it starts. "
    "Below each map is what the machine was doing.",
)
_OVER_TIME = Picture(
    "over_time", "Utilisation and queue over time", "Each step is the mean of its window of time."
)
_GANTT = Picture(
    "gantt",
    "Gantt charts",
    "Schedules say how many processors a job had, not which: they are chosen for the picture. "
    "Large bars have the numbers of their jobs.",
)
_DIFFERENCES = Picture(
    "changes",
    "Changes for jobs and users",
    "On the left each dot is a job; below zero it waits for less time than under the baseline. On "
    "the right are the users for whom most changes.",
)
_LOAD = Picture("load", "Figures by load", "Means over the replications, first kind of estimates.")
_ALL = (_USERS, _OVERDUE, _OVER_TIME, _GANTT, _DIFFERENCES, _LOAD)
