"""Workloads: logs of batch machines, jobs of containers, and what schedules did to their users."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.errors import ArgumentError, UserError
from rebecsim.interface.shown import Shown, grouped_parts
from rebecsim.metrics.metric import BatchMetrics, batch_metrics, batch_metrics_by
from rebecsim.metrics.users import (
    EndRules,
    UserMetrics,
    expected_ends,
    overdue_map,
    shares_of,
    user_metrics,
    window_edges,
)
from rebecsim.wording import counted
from rebecsim.workloads import (
    AppsRule,
    CleaningRules,
    ContainerJob,
    Schedule,
    SwimRule,
    TraceModel,
    Workload,
    cut,
    generate,
    generate_containers,
    offered_load,
    read_log,
    read_schedule,
    read_sls_trace,
    read_swim,
    resample,
    scale_load,
    summarise,
    summarise_containers,
    with_load,
    write_sls,
    write_workload,
)
from rebecsim.workloads.cleaning import skipped_lines
from rebecsim.workloads.files import SWIM, holds_containers
from rebecsim.workloads.logs import labels_of, numbers_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rebecsim.workloads.workload import Integers

Group = Literal["user", "queue"]
"""By what figures are shown."""

_WINDOWS = 700


@dataclass(frozen=True)
class LoggedJobs(Shown):
    """The jobs of a log, or synthetic ones; it shows users, load and distributions.

    Users and queues have numbers, or names from the header of the log.

    >>> rs.draw_workload(jobs=50, processors=16).cut(first=20).with_load(0.5).save("jobs.swf")
    >>> len(rs.workload("jobs.swf").jobs)
    20
    """

    name: str
    jobs: Workload

    @property
    def load(self) -> float:
        """The offered load, as a share of the machine."""
        return offered_load(self.jobs)

    @property
    def skipped(self) -> tuple[str, ...]:
        """Which lines of the log were skipped, in sentences."""
        return tuple(skipped_lines(self.jobs.skipped))

    def cut(
        self,
        *,
        begin: int = 0,
        until: int | None = None,
        first: int | None = None,
        users: Iterable[str | int] = (),
        queues: Iterable[str | int] = (),
        without_users: Iterable[str | int] = (),
        without_queues: Iterable[str | int] = (),
    ) -> LoggedJobs:
        """Give the jobs submitted from `begin` on and before `until`, in seconds of the log.

        Of these, those of some users and queues, then the first ones. Raises WorkloadError if no
        job is left, and for unknown names.
        """
        jobs = self.jobs
        chosen = numbers_chosen(jobs, users, queues, without_users, without_queues)
        return LoggedJobs(self.name, cut(jobs, begin=begin, end=until, first=first, **chosen))

    def scaled(self, factor: float) -> LoggedJobs:
        """Give the jobs, submitted faster by a factor. Raises WorkloadError."""
        return LoggedJobs(self.name, scale_load(self.jobs, factor))

    def with_load(self, load: float) -> LoggedJobs:
        """Give the jobs, submitted so that they offer this load. Raises WorkloadError."""
        return LoggedJobs(self.name, with_load(self.jobs, load))

    def resampled(self, *, users: int | None = None, seed: int = 0) -> LoggedJobs:
        """Draw users, as many as there are unless given, each with all jobs. Needs SciPy."""
        return LoggedJobs(self.name, resample(self.jobs, seed=seed, users=users))

    def save(self, path: str | Path) -> None:
        """Write SWF, CSV or Parquet, as the name ends. Raises WorkloadError, OSError."""
        write_workload(self.jobs, Path(path))

    def save_chart(self, path: str | Path) -> None:
        """Draw distributions to a file, PNG or SVG. Raises UserError, OSError."""
        from rebecsim.clusters.batch.report.text import write_workload_chart

        path, heading = Path(path), self.jobs.header.get("Computer", Path(self.name).name)
        write_workload_chart(self.jobs, path, heading)

    def __rich__(self) -> RenderableType:
        """Give facts, and where run times, sizes and so on lie."""
        from rebecsim.clusters.batch.report.text import workload_view

        return workload_view(self.name, summarise(self.jobs))


def workload(
    log: str | Path,
    *,
    processors: int | None = None,
    size: Literal["requested", "allocated"] = "requested",
    sort: bool = False,
) -> LoggedJobs:
    """Read a log: SWF, CSV, of PBS or of sacct; also packed by gzip.

    `processors` are those of the machine, instead of the header's; `size` says which processors of
    a job count. Jobs that are out of order are skipped unless you `sort`. Raises WorkloadError,
    OSError, and UserError for jobs of containers.

    >>> rs.draw_workload(jobs=50, processors=16).save("jobs.swf")
    >>> f"{rs.workload('jobs.swf').load:.2f}"
    '0.84'
    """
    require_log(Path(log))
    rules = CleaningRules(size=size, sort=sort)
    return LoggedJobs(str(log), read_log(Path(log), processors=processors, rules=rules))


def require_log(path: Path) -> None:
    """Raise UserError for jobs of containers."""
    if holds_containers(path):
        raise UserError(
            f"{path}: holds jobs of containers; use `workload info`, `workload convert` or `yarn`"
        )


def draw_workload(
    *, jobs: int = 10_000, processors: int = 128, users: int = 1, seed: int = 0
) -> LoggedJobs:
    """Draw jobs by the model of Lublin and Feitelson. Needs SciPy.

    >>> made = rs.draw_workload(jobs=50, processors=16, seed=2)
    >>> len(made.jobs), made.jobs.capacity
    (50, 16)
    """
    return LoggedJobs("synthetic", generate(jobs, processors, seed=seed, users=users))


@dataclass(frozen=True)
class ContainerJobs(Shown):
    """Jobs of containers: a trace, or synthetic ones; it shows tasks, memory and distributions.

    `facts` are names and values that the form of the trace has beside.

    >>> rs.draw_containers(seed=1).save("trace.json")
    >>> len(rs.containers("trace.json").jobs)
    100
    """

    name: str
    jobs: Sequence[ContainerJob]
    facts: tuple[tuple[str, str], ...] = ()

    def save(self, path: str | Path, dialect: Literal["dss", "hadoop"] = "dss") -> None:
        """Write SLS (JSON), as DSS or as Hadoop reads it. Raises OSError."""
        write_sls(self.jobs, Path(path), dialect)

    def __rich__(self) -> RenderableType:
        """Give facts, and where tasks, durations, memory and so on lie."""
        from rebecsim.clusters.yarn.report.trace_text import trace_view

        return trace_view(self.name, summarise_containers(self.jobs), self.facts)


def containers(trace: str | Path, rule: SwimRule | AppsRule | None = None) -> ContainerJobs:
    """Read jobs of containers: SLS or applications of a ResourceManager (.json), SWIM (.tsv).

    `rule` says what tasks jobs have where the trace does not. Raises WorkloadError, OSError, and
    ArgumentError for a rule that is for another form.

    >>> rs.draw_containers(seed=1).save("trace.json")
    >>> sum(each.count for each in rs.containers("trace.json").jobs[0].classes)
    22
    """
    path, name = Path(trace), str(trace)
    if path.name.endswith(SWIM):
        if isinstance(rule, AppsRule):
            raise ArgumentError("rule", "a trace of SWIM needs a SwimRule")
        swim = read_swim(path, rule or SwimRule())
        moved = (("map input", swim.map_input), ("shuffle", swim.shuffle), ("output", swim.output))
        facts = tuple((each, f"{total / 2**30:,.1f} GB") for each, total in moved)
        return ContainerJobs(name, swim.jobs, facts)
    if isinstance(rule, SwimRule):
        raise ArgumentError("rule", "a SwimRule is for traces of SWIM (.tsv) only")
    sls = read_sls_trace(path, rule)
    if sls.notes:
        return ContainerJobs(name, sls.jobs, tuple(("left out", note) for note in sls.notes))
    nodes = sum(len(rack.nodes) for rack in sls.racks)
    of_racks = ("nodes", f"{nodes:,} in {counted(len(sls.racks), 'rack')}")
    return ContainerJobs(name, sls.jobs, (of_racks,) if nodes else ())


def draw_containers(
    model: TraceModel | None = None, *, seed: int = 0, like_dss: bool = False
) -> ContainerJobs:
    """Draw jobs of containers by a model; `like_dss` with the random numbers of DSS.

    >>> made = rs.draw_containers(seed=1)
    >>> len(made.jobs)
    100
    """
    jobs = generate_containers(model or TraceModel(), seed, like_dss=like_dss)
    return ContainerJobs("synthetic", jobs)


@dataclass(frozen=True)
class ExpectedShares:
    """What users may expect of a machine, from which the expected ends of their jobs follow.

    Attributes:
        share: processors of every user who is not named.
        by_user: of users, by name or number.
        memory: KB of every user; None if memory does not count.
        rules: how ends are computed.

    >>> rs.ExpectedShares(4, {"ann": 8}).title
    'Users who may expect 4 processors each, ann 8'
    """

    share: int | None = None
    by_user: Mapping[str, int] = field(default_factory=dict)
    memory: int | None = None
    rules: EndRules = field(default_factory=EndRules)

    def ends(self, schedule: Schedule) -> Integers:
        """Give the expected ends of jobs, in seconds. Raises UserError."""
        try:
            shares = shares_of(schedule.workload, self.share, self.by_user)
            return expected_ends(schedule, shares, self.memory, self.rules)
        except UserError as error:
            raise UserError(f"{schedule.policy}: {error}") from error

    @property
    def title(self) -> str:
        """Each user's expected share in words, for pictures."""
        given = [f"{name} {processors:,}" for name, processors in self.by_user.items()]
        if self.share is not None:
            given.insert(0, f"{self.share:,} processors each")
        return f"Users who may expect {', '.join(given)}"


@dataclass(frozen=True)
class MeasuredSchedules(Shown):
    """What schedules did: waits, slowdowns, utilisation, and what users could expect.

    Attributes:
        schedules: what was measured.
        views: which jobs of each count.
        by: also each user or queue.
        shares: what users may expect, if that was asked for.
        expected: when users may expect the jobs of each schedule to end.

    >>> from rebecsim.workloads import Schedule
    >>> jobs = rs.draw_workload(jobs=50, processors=16).jobs
    >>> found = rs.measure_schedules(Schedule(jobs, jobs.submit + 60, policy="LATE"))
    >>> [(name, figures.wait.mean) for name, figures in found.figures]
    [('LATE', 60.0)]
    """

    schedules: tuple[Schedule, ...]
    views: tuple[NDArray[np.bool_], ...]
    by: Group | None = None
    shares: ExpectedShares | None = None
    expected: tuple[Integers, ...] = ()

    @cached_property
    def figures(self) -> list[tuple[str, BatchMetrics]]:
        """Classical figures of each schedule, with its name."""
        pairs = zip(self.schedules, self.views, strict=True)
        return [(each.policy, batch_metrics(each, only=view)) for each, view in pairs]

    @cached_property
    def users(self) -> list[tuple[str, UserMetrics]]:
        """Figures over users, with the name of the schedule; none without `shares`."""
        found = []
        for each, ends, view in zip(self.schedules, self.expected, self.views, strict=False):
            jobs = each.workload
            figures = user_metrics(each.end, ends, jobs.user, jobs.processors, only=view)
            found.append((each.policy, figures))
        return found

    def parts(self) -> Iterator[str | RenderableType]:
        """Give what is printed, one after the other."""
        from rebecsim.clusters.batch.report.text import (
            batch_table,
            group_table,
            user_quartile_table,
            user_table,
        )

        yield batch_table(self.figures)
        if self.by is not None:
            for each, view in zip(self.schedules, self.views, strict=True):
                yield each.policy
                groups = batch_metrics_by(each, getattr(each.workload, self.by), only=view)
                labels = labels_of(each.workload, self.by)
                yield group_table(self.by.capitalize(), groups, labels)
        if not self.users:
            return
        yield user_quartile_table(self.users)
        if self.by == "user":
            for each, (policy, figures) in zip(self.schedules, self.users, strict=True):
                yield policy
                yield user_table(figures, labels_of(each.workload, "user"))

    def __rich__(self) -> RenderableType:
        """Give all tables."""
        return grouped_parts(self.parts())

    def save_boxes(self, path: str | Path) -> None:
        """Draw box plots over users, PNG or SVG. Raises UserError, OSError."""
        from rebecsim.clusters.batch.report.schedule_charts import write_user_boxes

        write_user_boxes(self.users, Path(path), self._title())

    def save_heatmap(self, path: str | Path) -> None:
        """Draw overdue jobs of users over time, PNG or SVG. Raises UserError, OSError."""
        from rebecsim.clusters.batch.report.schedule_charts import write_overdue_chart

        title = self._title()
        last = max(int(each.end.max()) for each in self.schedules)
        edges = window_edges(0, last, _WINDOWS)
        rows = zip(self.schedules, self.expected, self.views, strict=True)
        maps = [overdue_map(each, ends, edges, only=view) for each, ends, view in rows]
        write_overdue_chart(maps, Path(path), title)

    def _title(self) -> str:
        if self.shares is None:
            raise ArgumentError("shares", "the picture shows what users may expect; give shares")
        return self.shares.title


def measure_schedules(
    schedules: str | Path | Schedule | Iterable[str | Path | Schedule],
    *,
    by: Group | None = None,
    shares: ExpectedShares | None = None,
    users: Iterable[str | int] = (),
    queues: Iterable[str | int] = (),
    without_users: Iterable[str | int] = (),
    without_queues: Iterable[str | int] = (),
    processors: int | None = None,
) -> MeasuredSchedules:
    """Measure schedules: logs with waits, SWF, PBS or sacct, of the same jobs or not.

    Only the jobs of some users and queues count, if these are given. Raises WorkloadError, OSError,
    and UserError for users or shares that do not fit.

    >>> from rebecsim.workloads import Schedule
    >>> jobs = rs.draw_workload(jobs=50, processors=16).jobs
    >>> late = Schedule(jobs, jobs.submit + 60, policy="LATE")
    >>> len(rs.measure_schedules([late, late], shares=rs.ExpectedShares(4)).users)
    2
    """
    several = [schedules] if isinstance(schedules, str | Path | Schedule) else schedules
    read = [
        each if isinstance(each, Schedule) else schedule_of(Path(each), processors)
        for each in several
    ]
    chosen = [tuple(each) for each in (users, queues, without_users, without_queues)]
    views = tuple(_view(each, *chosen) for each in read)
    expected = () if shares is None else tuple(shares.ends(each) for each in read)
    return MeasuredSchedules(tuple(read), views, by, shares, expected)


def schedule_of(path: Path, processors: int | None = None) -> Schedule:
    """Read the schedule that a log holds. Raises as `workload`."""
    require_log(path)
    return read_schedule(path, processors=processors)


def numbers_chosen(
    jobs: Workload,
    users: Iterable[str | int],
    queues: Iterable[str | int],
    without_users: Iterable[str | int],
    without_queues: Iterable[str | int],
) -> dict[str, list[int]]:
    """Give the numbers of users and queues, as `cut` takes them. Raises WorkloadError."""
    return {
        "users": numbers_of(jobs, "user", users),
        "queues": numbers_of(jobs, "queue", queues),
        "without_users": numbers_of(jobs, "user", without_users),
        "without_queues": numbers_of(jobs, "queue", without_queues),
    }


def _view(schedule: Schedule, *chosen: Sequence[str | int]) -> NDArray[np.bool_]:
    """Choose the jobs of some users and queues; all of them if none are named."""
    jobs = schedule.workload
    numbers = numbers_chosen(jobs, *chosen)
    found = np.ones(len(jobs), dtype=bool)
    for name, column in (("users", jobs.user), ("queues", jobs.queue)):
        if numbers[name]:
            found &= np.isin(column, numbers[name])
        found &= ~np.isin(column, numbers[f"without_{name}"])
    if not found.any():
        raise UserError(f"{schedule.policy}: no job is of these users and queues")
    return found
