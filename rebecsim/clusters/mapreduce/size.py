"""How large a run of a MapReduce cluster is, before it is made."""

from __future__ import annotations

from math import ceil

from rebecsim.clusters.mapreduce.inputs import RunSetup
from rebecsim.clusters.mapreduce.tasks.phases import Rates
from rebecsim.clusters.mapreduce.workloads.arrivals import SECOND
from rebecsim.clusters.mapreduce.workloads.jobs import workload_jobs
from rebecsim.clusters.mapreduce.workloads.tables import JobsTable
from rebecsim.studies.size import RunSize

_SECONDS_A_TASK = 2.2e-4
_SECONDS_A_NODE = 2.7e-4
"""Measured with 3,000 maps, and with 600 nodes."""

_BYTES_A_TASK = 10_000

_SECONDS_A_SECOND, _BYTES_A_SECOND = 7e-6, 300
"""Of model time, measured with a job that is submitted after 100,000 s."""


def run_size(setup: RunSetup) -> RunSize:
    """Estimate a run. Raises WorkloadError and OSError for a trace that is wrong."""
    workload, nodes = setup.scenario.workload, setup.scenario.cluster.nodes
    jobs = sum(table.count for table in workload.jobs)
    tasks = sum(table.count * _tasks(table, workload.block) for table in workload.jobs)
    # Few others are drawn, and those of a trace are known by reading it only.
    others = workload.model_copy(update={"jobs": ()})
    rates = Rates.of(setup.scenario.cluster.hardware())
    last = 0
    for job in workload_jobs(others, setup.folder, setup.scenario.seed, 0, rates):
        jobs, tasks, last = jobs + 1, tasks + job.tasks, max(last, job.submit // SECOND)
    return RunSize(
        jobs,
        tasks,
        tasks * _SECONDS_A_TASK + nodes * _SECONDS_A_NODE + last * _SECONDS_A_SECOND,
        tasks * _BYTES_A_TASK + last * _BYTES_A_SECOND,
    )


def _tasks(table: JobsTable, block: int) -> int:
    maps = ceil((table.input or 0) / block) if table.maps is None else table.maps
    return maps + table.reduces
