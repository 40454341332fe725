"""How large a run of a MapReduce cluster is, before it is made."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from rebecsim.clusters.mapreduce.inputs import RunSetup
from rebecsim.clusters.mapreduce.job import MEBIBYTE, JobCosts
from rebecsim.clusters.mapreduce.tasks.phases import Rates
from rebecsim.clusters.mapreduce.workloads.arrivals import SECOND
from rebecsim.clusters.mapreduce.workloads.jobs import workload_jobs
from rebecsim.clusters.mapreduce.workloads.tables import JobsTable
from rebecsim.studies.size import RunSize

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
    """What determines how long tasks run, and how often their output is written meanwhile."""

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
        """Give for how long slots are taken if tasks have devices for themselves (microseconds)."""
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
    rates = Rates.of(table.hardware())
    costs = _Costs(rates, table.sort_buffer * MEBIBYTE)
    jobs = tasks = 0
    seconds = table.nodes * _SECONDS_A_NODE
    for each in workload.jobs:
        maps, taken = _maps(each, workload.block * MEBIBYTE)
        of_one = costs.seconds(each.costs.costs(each.program), maps, taken, each.reduces)
        jobs += each.count
        tasks += each.count * (maps + each.reduces)
        seconds += each.count * of_one
    # Few others are drawn, and those of a trace are known by reading it only.
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
