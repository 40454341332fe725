"""The kind `batch` as a study: schedules of a workload, their figures and their jobs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rebecsim.clusters.batch.machine import Machine, NodeGroup, Pool, machine_of
from rebecsim.clusters.batch.measures import (
    JOBS,
    NAMES,
    SCHEDULE_METRICS,
    columns_of_jobs,
    job_columns,
    judge,
    schedule_figures,
)
from rebecsim.clusters.batch.policies.orders import PolicySettings
from rebecsim.clusters.batch.run import Estimates, InflatedEstimates, run_schedule, size_of_jobs
from rebecsim.clusters.batch.scenario import BatchScenario, MachineTable, WorkloadSource
from rebecsim.clusters.batch.small import small_cluster
from rebecsim.clusters.kit.measures import Record, RecordedStudy, given
from rebecsim.errors import UserError
from rebecsim.files import RunSize
from rebecsim.metrics import EndRules, Metric, expected_ends
from rebecsim.metrics.users import shares_of
from rebecsim.processes import carried, version_of
from rebecsim.studies.cells import Cell, Section
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.scenario_files import FieldPath
from rebecsim.studies.study import Cut, How, PlannedCell, SmallCluster, seed_of, seed_sequence
from rebecsim.workloads import CleaningRules, Schedule, Workload, generate, read_log
from rebecsim.workloads.cleaning import skipped_lines
from rebecsim.workloads.logs import numbers_of
from rebecsim.workloads.workload import Integers, cut, scale_load, with_load

if TYPE_CHECKING:
    from rebecsim.studies.results import Results
    from rebecsim.studies.stored_runs import StoredRun

_LOG = ("workload", "log")


@dataclass(frozen=True)
class ScheduleSetup:
    """Under what a schedule is made.

    Attributes:
        scenario: which jobs, on what machine.
        folder: what paths in it start from.
        load_factor: how many times as fast jobs are submitted.
        estimates: what the policy believes: "requested", "exact", or "error 4".
    """

    scenario: BatchScenario
    folder: Path
    load_factor: float
    estimates: str

    @property
    def machine(self) -> Machine[Any] | None:
        """What jobs run on; None for the pool of processors that the workload says."""
        return _machine(self.scenario.machine)

    @property
    def believed(self) -> Estimates:
        """What the policy believes of run times."""
        match self.estimates:
            case "requested" | "exact" as named:
                return named
            case error:
                return InflatedEstimates(float(error.removeprefix("error ")))

    def workload(self, replication: int) -> Workload:
        """Give the jobs. Raises WorkloadError, UserError and OSError."""
        drawn = replication if self.scenario.workload.generate else 0
        jobs = load_workload(self.scenario, self.folder, drawn)
        return jobs if self.load_factor == 1 else scale_load(jobs, self.load_factor)

    def error_seed(self, replication: int) -> int:
        """Give the seed of the errors of estimates, the same under all policies and loads."""
        return seed_of(self.scenario.seed, "estimates", replication)


def _changes(first: StoredRun, second: StoredRun) -> Iterable[Any]:
    """Show what changes for jobs and users."""
    from rebecsim.clusters.batch.report.sections import schedule_changes

    return schedule_changes(first, second)


def _small(cell: PlannedCell, cut: Cut) -> SmallCluster:
    """Cut the machine and the jobs of a cell."""
    setup: ScheduleSetup = cell.setup
    settings = PolicySettings(**setup.scenario.settings.model_dump())
    return small_cluster(setup.workload(0), setup.machine, cell.cell.policy, settings, cut)


class BatchStudy(RecordedStudy):
    """Batch policies, compared on a workload."""

    kind: ClassVar[str] = "batch"
    question: ClassVar[str] = "Batch machines: who waits?"
    scenario: ClassVar[type[StudyScenario]] = BatchScenario
    separate: ClassVar[tuple[str, ...]] = ("load_factor", "estimates")
    counted: ClassVar[str] = "schedules"
    modules: ClassVar[tuple[str, ...]] = (__name__,)
    changes: ClassVar[tuple[Callable[[StoredRun, StoredRun], Iterable[Any]], ...]] = (_changes,)
    later_columns: ClassVar[frozenset[str]] = frozenset(NAMES)
    small = staticmethod(_small)

    def cells(self, scenario: BatchScenario, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells: policy x load factor x estimates. What is not random is run once."""
        columns = self.columns(scenario)
        for policy, load_factor in itertools.product(scenario.policies, scenario.load_factors):
            for estimates, is_random in _variants(scenario):
                believed = estimates.replace(" ", "")
                yield PlannedCell(
                    cell=Cell.of(policy, load_factor=load_factor, estimates=estimates),
                    name=f"{policy.lower()}_load{load_factor:g}_{believed}",
                    columns=columns,
                    setup=ScheduleSetup(scenario, folder, load_factor, estimates),
                    most=None if is_random else 1,
                    is_random=is_random,
                )

    def record(self, cell: PlannedCell, replication: int) -> Record:
        """Make a schedule. Raises what `load_workload` and `run_schedule` raise."""
        setup: ScheduleSetup = cell.setup
        schedule = run_schedule(
            setup.workload(replication),
            setup.machine,
            cell.cell.policy,
            estimates=setup.believed,
            settings=PolicySettings(**setup.scenario.settings.model_dump()),
            seed=setup.error_seed(replication),
            fair_starts=setup.scenario.fair_starts,
        )
        ends = _expected_ends(setup.scenario, schedule)
        return schedule_figures(judge(schedule, ends)), {JOBS: job_columns(schedule, ends)}

    def kept(self, scenario: BatchScenario) -> tuple[Metric, ...]:
        """Give all figures; those of users need the share that they may expect."""
        return given(SCHEDULE_METRICS, scenario.given)

    def tables(self, scenario: BatchScenario, trace: bool) -> Mapping[str, Mapping[str, str]]:
        """Keep the jobs of every schedule."""
        return {JOBS: columns_of_jobs(scenario.fair_starts)}

    def files(self, scenario: BatchScenario) -> Mapping[FieldPath, str]:
        """Name the log."""
        log = scenario.workload.log
        return {} if log is None else {_LOG: log}

    def size(self, cell: PlannedCell, replications: int) -> RunSize:
        """Estimate a schedule by its jobs."""
        setup: ScheduleSetup = cell.setup
        drawn = setup.scenario.workload.generate
        return size_of_jobs(len(setup.workload(0)) if drawn is None else drawn.jobs)

    def prepare(self, plan: Plan, how: How, tell: Callable[[str], None]) -> None:
        """Read the jobs once, see whether they can be run, and say what is skipped of the log.

        Of the jobs that ask for the same, one is tried on the empty machine.
        """
        jobs = load_workload(plan.scenario, plan.folder, 0)
        for line in skipped_lines(jobs.skipped):
            tell(f"{plan.folder / plan.scenario.workload.log}: {line}")
        requests = np.column_stack([jobs.processors, jobs.requested_memory])
        _, different = np.unique(requests, axis=0, return_index=True)
        run_schedule(jobs.select(np.sort(different)), _machine(plan.scenario.machine), "FCFS")
        try:
            _expected_ends(plan.scenario, Schedule(jobs, jobs.submit))
        except UserError as error:
            log = plan.scenario.workload.log or plan.scenario.name
            raise UserError(f"{plan.folder / log}: {error}") from error

    def sections(
        self, plan: Plan, results: Results, moments: Sequence[CellMoments]
    ) -> Sequence[Section]:
        """Show schedules, users, and what changes for jobs."""
        from rebecsim.clusters.batch.report.sections import batch_sections

        return batch_sections(plan, results)


def _variants(scenario: BatchScenario) -> Iterator[tuple[str, bool]]:
    """Give the names of estimates, and whether anything is random with them."""
    generated = scenario.workload.generate is not None
    for name in scenario.estimates or (() if scenario.estimate_errors else ("requested",)):
        yield name, generated
    for factor in scenario.estimate_errors:
        yield f"error {factor:g}", True


def _expected_ends(scenario: BatchScenario, schedule: Schedule) -> Integers | None:
    """Give what users may expect, or None without shares. Raises UserError."""
    if "share" not in scenario.given:
        return None
    shares = shares_of(schedule.workload, scenario.share, scenario.user_shares)
    rules = EndRules(**scenario.expected_ends.model_dump())
    return expected_ends(schedule, shares, scenario.memory_share, rules)


def _machine(table: MachineTable) -> Machine[Any] | None:
    if table.nodes:
        groups = (
            NodeGroup(
                each.count,
                each.processors,
                {} if each.memory is None else {"memory": each.memory},
            )
            for each in table.nodes
        )
        return machine_of(*groups, placement=table.placement)
    return None if table.processors is None else Pool(table.processors)


def load_workload(scenario: BatchScenario, folder: Path, replication: int) -> Workload:
    """Read or generate the jobs of a scenario, before load factors.

    The policy is no coordinate of their seed, nor is the load: all see the same jobs (common random
    numbers).

    Raises WorkloadError for a log that cannot be used, OSError when it cannot be read.
    """
    source, machine, seed = scenario.workload, scenario.machine, scenario.seed
    if source.log is None:
        return _loaded(source, machine, seed, None, None, replication)
    path = carried(folder / source.log)
    return _loaded(source, machine, seed, path, version_of(path), replication)


@lru_cache(maxsize=8)  # the replications of a cell come one after the other, and then those of
def _loaded(  # the next
    source: WorkloadSource,
    table: MachineTable,
    seed: int,
    log: Path | None,
    _version: object,
    replication: int,
) -> Workload:
    machine = _machine(table)
    if source.generate is not None:
        wanted = source.generate
        drawn = seed_sequence(seed, "workload", replication, size=8)
        jobs = generate(wanted.jobs, wanted.processors, users=wanted.users, seed=drawn)
        jobs = jobs.with_columns(capacity=machine.processors if machine else jobs.capacity)
    else:
        assert log is not None
        jobs = _read(log, source, machine)
    if source.load is not None:
        jobs = with_load(jobs, source.load)
    return jobs


def _read(log: Path, source: WorkloadSource, machine: Machine[Any] | None) -> Workload:
    rules = CleaningRules(size=source.size, sort=source.sort)
    jobs = read_log(log, processors=machine.processors if machine else None, rules=rules)
    return cut(
        jobs,
        begin=source.begin,
        end=source.end,
        users=numbers_of(jobs, "user", source.users),
        queues=numbers_of(jobs, "queue", source.queues),
        without_users=numbers_of(jobs, "user", source.without_users),
        without_queues=numbers_of(jobs, "queue", source.without_queues),
        first=source.first,
    )


STUDY = BatchStudy()
