"""The inputs of a run (its jobs, its scheduler and its cluster), and how large the run is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path

from rebecsim.clusters.mapreduce.attempts import Rates
from rebecsim.clusters.mapreduce.cluster import run_mapreduce
from rebecsim.clusters.mapreduce.configuration import MapReduceConfiguration
from rebecsim.clusters.mapreduce.job import MEBIBYTE, SECOND, JobCosts, MapReduceJob
from rebecsim.clusters.mapreduce.requirements import require_runnable
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario, VariantTable
from rebecsim.clusters.mapreduce.schedulers.registry import slot_scheduler
from rebecsim.clusters.mapreduce.schedulers.scheduler import SchedulerSetup
from rebecsim.clusters.mapreduce.tables import RecordedRun, built, recorded
from rebecsim.clusters.mapreduce.workload import workload_jobs
from rebecsim.clusters.mapreduce.workload_tables import JobsTable
from rebecsim.errors import UserError
from rebecsim.files import RunSize
from rebecsim.processes import carried
from rebecsim.studies.study import seed_of


@dataclass(frozen=True)
class RunSetup:
    """The settings of a run.

    Attributes:
        scenario: the scenario.
        folder: folder that its paths start from.
        name: name of the variant.
    """

    scenario: MapReduceScenario
    folder: Path
    name: str

    @property
    def variant(self) -> VariantTable:
        """The scheduler with its settings."""
        return self.scenario.variant(self.name)

    @cached_property
    def scheduler(self) -> SchedulerSetup:
        """The scheduler. Raises UserError and OSError for its file of settings."""
        variant = self.variant
        chosen = slot_scheduler(variant.scheduler).scheduler
        if variant.file is None:
            return chosen.with_parameters(variant.settings)
        path = self.folder / variant.file
        return chosen.from_file(carried(path), str(path))

    @property
    def configuration(self) -> MapReduceConfiguration:
        """The configuration of the cluster."""
        return self.scenario.configuration(self.variant)

    def jobs(self, replication: int) -> tuple[MapReduceJob, ...]:
        """Give the jobs: the same under all variants. Raises WorkloadError and OSError."""
        scenario = self.scenario
        rates = Rates.of(scenario.cluster)
        return workload_jobs(scenario.workload, self.folder, scenario.seed, replication, rates)

    def recorded(self, replication: int) -> RecordedRun:
        """Run the cluster. Blocks, heartbeats and jitter are the same under all variants."""
        return recorded(
            run_mapreduce(
                self.jobs(replication),
                self.configuration,
                self.scheduler.build,
                seed_of(self.scenario.seed, "cluster", replication),
            ),
            self.scheduler,
            self.scenario.warm_up,
        )

    def require_sense(self) -> Iterator[str]:
        """Check that the settings fit together; return those without effect. Raises UserError."""
        jobs, configuration = self.jobs(0), self.configuration
        self.scheduler.require_queues(dict.fromkeys(job.queue for job in jobs))
        require_runnable(jobs, configuration)
        made = built(self.scheduler, configuration)
        for change in sorted(configuration.changes, key=lambda each: each.time):
            # one that may come at any time is tried alone
            tried = made if change.when is None else built(self.scheduler, configuration)
            try:
                tried.change(change.settings, change.time)
            except UserError as error:
                raise UserError(f"{self.name}: changes: {error}") from error
        yield from self.scheduler.without_effect


_SECONDS_A_TASK = 3e-4
_SECONDS_A_NODE = 2.7e-4
_SECONDS_A_BUSY_SECOND = 5.2e-7
_SECONDS_A_SPILL = 2.5e-5
"""Measured with 200 to 6,000 tasks, with 600 nodes, and with maps whose output is up to a thousand
times as large as their input: TaskTrackers send heartbeats as long as tasks run.
"""

_BYTES_A_TASK = 10_000

_SECONDS_A_SECOND, _BYTES_A_SECOND = 7e-6, 300
"""Of model time, measured with a job that is submitted after 100,000 s."""


@dataclass(frozen=True)
class _Costs:
    """What determines how long tasks run, and how often they spill."""

    rates: Rates
    sort_buffer: int

    def seconds(self, costs: JobCosts, maps: int, taken: int, reduces: int) -> float:
        """Estimate the time for some maps of together so many bytes, and their reduces."""
        mapped = taken * costs.map_ratio
        spills = maps * ceil(mapped / max(maps, 1) / self.sort_buffer)
        busy = self._busy(costs, taken, mapped) / 1e6
        return (
            (maps + reduces) * _SECONDS_A_TASK
            + busy * _SECONDS_A_BUSY_SECOND
            + spills * _SECONDS_A_SPILL
        )

    def _busy(self, costs: JobCosts, taken: int, mapped: float) -> float:
        """Return how long slots are held if devices are unshared (microseconds)."""
        rates, shuffled = self.rates, mapped * costs.combine_ratio
        cycles = taken * costs.map + mapped * costs.sort + shuffled * costs.reduce
        written = shuffled * (2 + costs.reduce_ratio)
        return (
            cycles / rates.cycles
            + (taken + written * rates.written + shuffled) / rates.read
            + shuffled / rates.link
        )


def run_size(setup: RunSetup) -> RunSize:
    """Estimate a run. Raises WorkloadError and OSError for a trace that is wrong."""
    workload, table = setup.scenario.workload, setup.scenario.cluster
    rates = Rates.of(table)
    costs = _Costs(rates, table.sort_buffer * MEBIBYTE)
    jobs = tasks = 0
    seconds = table.nodes * _SECONDS_A_NODE
    for each in workload.jobs:
        maps, taken = _maps(each, workload.block * MEBIBYTE)
        of_one = costs.seconds(each.costs.costs(each.program), maps, taken, each.reduces)
        jobs += each.count
        tasks += each.count * (maps + each.reduces)
        seconds += each.count * of_one
    # Other sources draw few jobs; those of a trace are unknown before it is read.
    others = workload.model_copy(update={"jobs": ()})
    last = 0
    for job in workload_jobs(others, setup.folder, setup.scenario.seed, 0, rates):
        jobs, tasks, last = jobs + 1, tasks + job.tasks, max(last, job.submit // SECOND)
        seconds += costs.seconds(job.costs, job.maps, sum(job.splits), job.reduces)
    return RunSize(
        jobs,
        tasks,
        seconds + last * _SECONDS_A_SECOND,
        tasks * _BYTES_A_TASK + last * _BYTES_A_SECOND,
    )


def _maps(table: JobsTable, block: int) -> tuple[int, int]:
    """Give how many maps a job has, and how many bytes they take."""
    if table.maps is not None:
        return table.maps, table.maps * block
    taken = round((table.input or 0) * MEBIBYTE)
    return ceil(taken / block), taken
