"""How large a run of jobs with stages and deadlines is, before it is made."""

from __future__ import annotations

from dataclasses import replace

from rebecsim.clusters.stages.decisions import DecisionWork
from rebecsim.clusters.stages.inputs import StagesSetup, map_reduce_jobs
from rebecsim.clusters.stages.managers.registry import can_search, stages_policy
from rebecsim.clusters.stages.workloads.scientific import SIZES
from rebecsim.studies.size import RunSize

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
    """Add what solvers take at least, by what was recorded of the resource manager.

    If rules go first, nobody knows before which decisions they leave to a solver.
    """
    policy, solver = stages_policy(setup.policy), setup.scenario.solver
    if policy.times is None or not can_search(setup.policy):
        return size
    tasks = size.tasks // max(size.jobs, 1)
    searched = 0.0 if solver.rules_first else solver.limit
    decision = policy.times.of(DecisionWork(tasks, tasks, searched)) / 1000
    return replace(size, seconds=size.seconds + size.jobs * decision, at_least=True)


def size_of_tasks(jobs: int, tasks: int) -> RunSize:
    """Estimate a run of so many jobs with so many tasks together."""
    seconds = tasks * (_SECONDS_A_TASK + _SECONDS_A_PAIR * tasks / max(jobs, 1))
    return RunSize(jobs, tasks, seconds, tasks * _BYTES_A_TASK)
