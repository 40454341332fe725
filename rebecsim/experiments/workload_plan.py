"""What a workload scenario comes to: one cell for each schedule, with seeds of its own."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from rebecsim.cluster.batch import (
    InflatedEstimates,
    Machine,
    NodeGroup,
    Nodes,
    PolicySettings,
    Pool,
)
from rebecsim.cluster.batch.estimates import Estimates
from rebecsim.errors import UserError
from rebecsim.experiments.checksums import digest_of
from rebecsim.experiments.workload_scenario import LoadedWorkloadScenario, WorkloadScenario
from rebecsim.workloads import CleaningRules, Workload, generate, read_swf, transform

__all__ = ["ScheduleCell", "WorkloadPlan", "load_workload", "plan_workload", "stored_cells"]


@dataclass(frozen=True, order=True)
class ScheduleCell:
    """The coordinates of one schedule.

    Attributes:
        policy: its name.
        load_factor: how many times as fast jobs are submitted.
        estimates: what the policy believes: "requested", "exact", or "error 4".
        replication: the number of the draw, from 0.
    """

    policy: str
    load_factor: float
    estimates: str
    replication: int

    @property
    def name(self) -> str:
        """The stem of the cell's files."""
        believed = self.estimates.replace(" ", "")
        return f"{self.policy.lower()}_load{self.load_factor:g}_{believed}_{self.replication}"

    @property
    def variant(self) -> tuple[float, str]:
        """What policies are compared under: load factor and estimates."""
        return self.load_factor, self.estimates


@dataclass(frozen=True)
class WorkloadPlan:
    """A workload scenario with its cells.

    Attributes:
        loaded: the scenario and where its files are.
        cells: in the order of the policies, load factors, estimates and replications.
    """

    loaded: LoadedWorkloadScenario
    cells: tuple[ScheduleCell, ...]

    @property
    def scenario(self) -> WorkloadScenario:
        """What is compared."""
        return self.loaded.scenario

    @property
    def machine(self) -> Machine | None:
        """What jobs run on; None for the pool of processors that the workload says."""
        table = self.scenario.machine
        if table.nodes:
            groups = (
                NodeGroup(
                    each.count,
                    each.processors,
                    {} if each.memory is None else {"memory": each.memory},
                )
                for each in table.nodes
            )
            return Nodes(*groups, placement=table.placement)
        return None if table.processors is None else Pool(table.processors)

    @property
    def settings(self) -> PolicySettings:
        """The numbers that policies go by."""
        return PolicySettings(**self.scenario.settings.model_dump())

    def log_digest(self) -> str | None:
        """Give the BLAKE2b digest of the log; None for generated jobs. Raises OSError."""
        return None if self.loaded.log is None else digest_of(self.loaded.log)

    def workload(self, load_factor: float, replication: int) -> Workload:
        """Give the jobs of some cells. Raises WorkloadError, UserError and OSError."""
        jobs = load_workload(self, replication if self.scenario.workload.generate else 0)
        return jobs if load_factor == 1 else transform.scale_load(jobs, load_factor)

    def estimates(self, cell: ScheduleCell) -> Estimates:
        """Give what the policy of a cell believes of run times."""
        match cell.estimates:
            case "requested" | "exact" as named:
                return named
            case error:
                return InflatedEstimates(float(error.removeprefix("error ")))

    def seed(self, purpose: str, replication: int) -> np.random.SeedSequence:
        """Give the seed of one kind of random numbers.

        The policy is no coordinate, nor is the load: all see the same jobs and the same errors
        (common random numbers).
        """
        digest = hashlib.blake2b(purpose.encode(), digest_size=8).digest()
        words = tuple(int(word) for word in np.frombuffer(digest, dtype="<u4"))
        return np.random.SeedSequence(self.scenario.seed, spawn_key=(*words, replication))

    def error_seed(self, replication: int) -> int:
        """Give the seed of the errors of estimates."""
        return int(self.seed("estimates", replication).generate_state(1, np.uint64)[0])


def plan_workload(loaded: LoadedWorkloadScenario) -> WorkloadPlan:
    """Lay out the cells of a scenario."""
    return WorkloadPlan(loaded, stored_cells(loaded.scenario))


def stored_cells(scenario: WorkloadScenario) -> tuple[ScheduleCell, ...]:
    """Give the cells of a scenario. What is not random is run once."""
    return tuple(
        ScheduleCell(policy, load_factor, estimates, replication)
        for policy, load_factor in itertools.product(scenario.policies, scenario.load_factors)
        for estimates, is_random in _variants(scenario)
        for replication in range(scenario.replications if is_random else 1)
    )


def _variants(scenario: WorkloadScenario) -> Iterator[tuple[str, bool]]:
    """Give the names of estimates, and whether anything is random with them."""
    generated = scenario.workload.generate is not None
    for name in scenario.estimates or (() if scenario.estimate_errors else ("requested",)):
        yield name, generated
    for factor in scenario.estimate_errors:
        yield f"error {factor:g}", True


@lru_cache(maxsize=1)
def load_workload(plan: WorkloadPlan, replication: int) -> Workload:
    """Read or generate the jobs of a scenario, before load factors.

    Raises WorkloadError for a log that cannot be used, UserError for one that does not name users
    where shares of users are asked for, OSError when it cannot be read.
    """
    source, machine = plan.scenario.workload, plan.machine
    if source.generate is not None:
        wanted = source.generate
        jobs = generate(
            wanted.jobs,
            wanted.processors,
            users=wanted.users,
            seed=plan.seed("workload", replication),
        )
        jobs = jobs.with_columns(capacity=machine.processors if machine else jobs.capacity)
    else:
        assert plan.loaded.log is not None
        jobs = _read(plan.loaded.log, plan.scenario, machine)
    if source.load is not None:
        jobs = transform.with_load(jobs, source.load)
    return jobs


def _read(log: Path, scenario: WorkloadScenario, machine: Machine | None) -> Workload:
    source = scenario.workload
    rules = CleaningRules(size=source.size, sort=source.sort)
    jobs = read_swf(log, processors=machine.processors if machine else None, rules=rules)
    if source.begin or source.end is not None:
        jobs = transform.window(jobs, source.begin, source.end)
    if source.users:
        jobs = transform.of_users(jobs, source.users)
    if source.queues:
        jobs = transform.of_queues(jobs, source.queues)
    if source.first is not None:
        jobs = transform.first_jobs(jobs, source.first)
    if scenario.share is not None and (jobs.user < 0).any():
        raise UserError(
            f"{log}: the users of some jobs are unknown, so that users cannot be given a share; "
            "remove share from the scenario, or choose users"
        )
    return jobs
