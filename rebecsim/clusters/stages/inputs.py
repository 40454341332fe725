"""The inputs of a run, and how large a run is: jobs, resources and the cost of decisions.

A quantity that is drawn once for each run has few samples. So runs take quantiles that are spread
evenly from a random start: each quantile is uniform, and those of the first 2, 4, 8, ... runs are
equally far apart. This is a systematic sample (Cochran, Sampling Techniques, 3rd edition, Wiley
1977, chapter 8) in van der Corput order (Niederreiter, Random Number Generation and Quasi-Monte
Carlo Methods, SIAM 1992, chapter 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import inf
from pathlib import Path

import numpy as np

from rebecsim.clusters.kit.plugins import blaming
from rebecsim.clusters.kit.queued import rarely_collecting
from rebecsim.clusters.stages.cluster import FinishedStages, ManagerMaker, run_stages
from rebecsim.clusters.stages.estimates import EstimateErrors, with_estimates
from rebecsim.clusters.stages.hadoop import run_on_hadoop
from rebecsim.clusters.stages.job import StageJob, StageTask
from rebecsim.clusters.stages.managers.decisions import ChargedBy, DecisionCost, DecisionWork
from rebecsim.clusters.stages.managers.registry import (
    ERROR_HANDLING_PREFIX,
    can_search,
    stages_policies,
    stages_policy,
)
from rebecsim.clusters.stages.managers.searching import SearchingManager
from rebecsim.clusters.stages.managers.wfbb import WorkflowBudgets
from rebecsim.clusters.stages.measures import MeasuredStages
from rebecsim.clusters.stages.resources import StageResource, identical, identical_typed
from rebecsim.clusters.stages.scenario import (
    StagesScenario,
    StagesWorkload,
    SyntheticTable,
)
from rebecsim.clusters.stages.workflows import SIZES, WORKFLOWS, read_workflow
from rebecsim.clusters.stages.workloads import (
    CLOSED_WORKLOADS,
    FacebookMapReduce,
    JobDraws,
    SampleTime,
    Stream,
    SyntheticMapReduce,
    TaskDrawer,
    WordCount,
    stream_of,
)
from rebecsim.files import RunSize
from rebecsim.processes import carried, version_of
from rebecsim.studies.study import seed_sequence


def run_quantile(seed: int, replication: int) -> float:
    """Return the quantile of a replication, in [0, 1), for all scenarios with this seed."""
    start = np.random.default_rng(seed_sequence(seed, "places of runs", size=8)).random()
    return float((start + _reversed(replication)) % 1.0)


def _reversed(number: int) -> float:
    """Return a number's reversed binary digits as a fraction: 0, 1/2, 1/4, 3/4, 1/8, ..."""
    digits = f"{number:b}"
    return int(digits[::-1], 2) / (1 << len(digits))


@dataclass(frozen=True)
class StagesSetup:
    """The settings of a run.

    Attributes:
        scenario: the scenario.
        folder: folder that its paths start from.
        policy: name of the resource manager.
        load_factor: factor of the arrival rate.
    """

    scenario: StagesScenario
    folder: Path
    policy: str
    load_factor: float = 1.0

    def jobs(self, replication: int) -> tuple[StageJob, ...]:
        """Draw the jobs: the same under all managers, and except for times at all loads.

        Raises UserError and OSError for files of workflows.
        """
        scenario = self.scenario
        files = tuple(carried(self.folder / name) for name in scenario.workload.files)
        seed, versions = (scenario.seed, replication), tuple(map(version_of, files))
        return _drawn(
            _JobSource(scenario.workload, self.resources(), seed, self.load_factor, files, versions)
        )

    def resources(self) -> tuple[StageResource, ...]:
        """Give the resources."""
        table = self.scenario.resources
        if table.slots is not None:
            return identical(table.count, table.slots)
        return identical_typed(table.count, table.map_slots or 0, table.reduce_slots or 0)

    @property
    def cost(self) -> DecisionCost:
        """Cost of decisions: by rate if no times are recorded for the manager."""
        table, times = self.scenario.decisions, stages_policy(self.policy).times
        by = table.by
        if by is ChargedBy.RECORDED and times is None:
            by = ChargedBy.RATE
        return DecisionCost(by, table.constant, table.per_task, times)

    def maker(self, *, repeats: bool = False) -> ManagerMaker:
        """Return the maker of the resource manager, with its settings.

        With `repeats`, solvers ignore the wall clock and search to the end.
        """
        manager = stages_policy(self.policy).manager
        if issubclass(manager, SearchingManager):
            settings = self.scenario.solver
            if repeats:
                settings = settings.model_copy(update={"seconds": inf})
            return partial(manager, settings=settings)
        if issubclass(manager, WorkflowBudgets):
            return partial(manager, by_letter=self.scenario.budgets.by_letter)
        return manager

    def measured(self, replication: int) -> MeasuredStages:
        """Run the jobs. Raises what `run_stages` raises."""
        cost = self.cost
        with blaming(*stages_policies.suspects(self.policy.removeprefix(ERROR_HANDLING_PREFIX))):
            run = self._run(replication, cost)
        return MeasuredStages(run, self.scenario.warm_up)

    def _run(self, replication: int, cost: DecisionCost) -> FinishedStages:
        scenario, jobs = self.scenario, self.jobs(replication)
        if scenario.hadoop is None:
            return run_stages(jobs, self.resources(), self.maker(), cost)
        costs = scenario.hadoop, cost, scenario.solver
        manager, seed = stages_policy(self.policy).manager, (scenario.seed, replication)
        return run_on_hadoop(jobs, self.resources(), manager, *costs, seed)


def unrecorded(scenario: StagesScenario) -> list[str]:
    """Return the managers that should be charged as recorded but have no recorded times."""
    if scenario.decisions.by is not ChargedBy.RECORDED:
        return []
    return [each for each in scenario.policies if stages_policy(each).times is None]


@dataclass(frozen=True)
class _JobSource:
    """What jobs are drawn from; `seed` holds the scenario's seed and the replication."""

    workload: StagesWorkload
    resources: tuple[StageResource, ...]
    seed: tuple[int, int]
    load_factor: float
    files: tuple[Path, ...]
    versions: tuple[object, ...]


@lru_cache(maxsize=4)  # the managers of a load come one after the other
@rarely_collecting()
def _drawn(source: _JobSource) -> tuple[StageJob, ...]:
    workload, (seed, replication) = source.workload, source.seed
    errors = None if workload.estimates is None else workload.estimates.errors
    draws = JobDraws.of(seed_sequence(seed, "jobs of stages", replication, size=8))
    if workload.closed is not None:
        return CLOSED_WORKLOADS[workload.closed].jobs(draws, errors)
    assert workload.jobs is not None
    assert workload.rate is not None
    stream = Stream(
        workload.jobs,
        workload.rate * source.load_factor,
        workload.reserved,
        workload.reserved_ahead,
        workload.multiplier,
        sample=SampleTime(workload.alone),
        announced=workload.announced,
    )
    drawers = [
        (name, partial(_with_estimates, drawer, errors, draws.estimates))
        for name, drawer in _drawers(workload, source.files, run_quantile(seed, replication))
    ]
    return tuple(stream_of(stream, drawers, source.resources, draws))


def _with_estimates(
    drawer: TaskDrawer,
    errors: EstimateErrors | None,
    of_estimates: np.random.Generator,
    draws: np.random.Generator,
) -> tuple[StageTask, ...]:
    return with_estimates(drawer(draws), errors, of_estimates)


def _drawers(
    workload: StagesWorkload, files: tuple[Path, ...], place: float
) -> Iterator[tuple[str, TaskDrawer]]:
    for path in files:
        yield path.stem, partial(_fixed_tasks, read_workflow(path))
    if workload.map_reduce is not None:
        yield "map_reduce", map_reduce_jobs(workload.map_reduce).tasks
    for name in workload.workflows:
        family = WORKFLOWS[name](place)
        for size in workload.sizes:
            yield f"{name}_{size}", partial(family.tasks, size=SIZES[size])


def map_reduce_jobs(
    table: SyntheticTable,
) -> FacebookMapReduce | WordCount | SyntheticMapReduce:
    """Return the generator of a scenario's synthetic MapReduce jobs."""
    if table.like == "facebook":
        return FacebookMapReduce()
    if table.like == "word_count":
        return WordCount()
    return SyntheticMapReduce(table.maps, table.longest_map, table.reduce_extra)


def _fixed_tasks(tasks: tuple[StageTask, ...], _draws: object) -> tuple[StageTask, ...]:
    return tasks


_SECONDS_A_TASK = 4e-5
_SECONDS_A_PAIR = 3e-7
"""Measured with jobs of 5 to 1,000 maps: each task is looked at again as others of its job end."""

_BYTES_A_TASK = 2_000


def run_size(setup: StagesSetup) -> RunSize:
    """Estimate a run. Raises UserError and OSError for files that are wrong."""
    workload = setup.scenario.workload
    if workload.jobs is None or workload.files:
        jobs = setup.jobs(0)
        return _with_search(setup, size_of_tasks(len(jobs), sum(len(job.tasks) for job in jobs)))
    if workload.map_reduce is not None:
        tasks = map_reduce_jobs(workload.map_reduce).expected_tasks(workload.jobs)
    else:
        sizes = [SIZES[name] for name in workload.sizes]
        tasks = round(workload.jobs * sum(sizes) / len(sizes))
    return _with_search(setup, size_of_tasks(workload.jobs, tasks))


def _with_search(setup: StagesSetup, size: RunSize) -> RunSize:
    """Add the recorded lower bound of solver time.

    With `rules_first`, it is unknown beforehand which decisions need the solver.
    """
    policy, solver = stages_policy(setup.policy), setup.scenario.solver
    if policy.times is None or not can_search(setup.policy):
        return size
    tasks = size.tasks // max(size.jobs, 1)
    searched = 0.0 if solver.rules_first else solver.limit
    decision = policy.times.of(DecisionWork(tasks, tasks, searched)) / 1000
    return replace(size, seconds=size.seconds + size.jobs * decision, at_least=True)


def size_of_tasks(jobs: int, tasks: int) -> RunSize:
    """Estimate a run by its numbers of jobs and of tasks."""
    seconds = tasks * (_SECONDS_A_TASK + _SECONDS_A_PAIR * tasks / max(jobs, 1))
    return RunSize(jobs, tasks, seconds, tasks * _BYTES_A_TASK)
