"""Running a workload scenario: schedules on worker processes, each on disk when complete."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from rebecsim.cluster import load_plugins
from rebecsim.cluster.batch import run_schedule
from rebecsim.experiments.worker_pool import start_worker, worker_pool
from rebecsim.experiments.workload_parts import schedule_table
from rebecsim.experiments.workload_plan import ScheduleCell, WorkloadPlan
from rebecsim.experiments.workload_results import WorkloadResults
from rebecsim.metrics import expected_ends

__all__ = ["require_fitting_jobs", "run_cell", "run_workload_plan"]

Progress = Callable[[int], None]
"""Told the number of schedules that have just been finished."""

Warn = Callable[[str], None]
"""Told, in a line of text, what a user should know and need not act on."""

_log = logging.getLogger(__name__)


def run_workload_plan(
    plan: WorkloadPlan,
    results: WorkloadResults,
    *,
    workers: int = 1,
    plugins: Sequence[Path] = (),
    progress: Progress = lambda schedules: None,
    warn: Warn = _log.warning,
) -> None:
    """Compute every schedule that `results` does not hold yet, or holds damaged.

    Results do not depend on `workers`. An exception, KeyboardInterrupt included, leaves the
    finished schedules, and so does the end of this process in any other way. `plugins` are the
    files that worker processes load as well; damaged parts are named to `warn`.

    Raises ResultsError when another process is writing into the directory, WorkloadError, UserError
    and OSError for a log that cannot be used or jobs that do not fit on the machine.
    """
    with results.writing():
        missing = _missing(plan, results, progress, warn)
        prepare = partial(_start_worker, tuple(map(str, plugins)))
        with worker_pool(min(workers, len(missing)), [__name__], prepare) as executor:
            for cell, table in _in_order(executor, plan, missing, workers):
                results.write(cell, table)
                progress(1)


def require_fitting_jobs(plan: WorkloadPlan) -> None:
    """Raise what `run_workload_plan` would raise for a log or a job that cannot be run.

    Of the jobs that ask for the same, one is tried on the empty machine.
    """
    jobs = plan.workload(1.0, 0)
    _, different = np.unique(
        np.column_stack([jobs.processors, jobs.requested_memory]), axis=0, return_index=True
    )
    run_schedule(jobs.select(np.sort(different)), plan.machine, "FCFS")


def run_cell(plan: WorkloadPlan, cell: ScheduleCell) -> pa.Table:
    """Compute a schedule: the rows of its part, as `workload_parts` describes them.

    Raises as `run_workload_plan`.
    """
    workload = plan.workload(cell.load_factor, cell.replication)
    schedule = run_schedule(
        workload,
        plan.machine,
        cell.policy,
        estimates=plan.estimates(cell),
        settings=plan.settings,
        seed=plan.error_seed(cell.replication),
    )
    share = plan.scenario.share
    if share is None:
        return schedule_table(schedule, None)
    return schedule_table(schedule, expected_ends(schedule, share, plan.scenario.memory_share))


def _start_worker(plugins: tuple[str, ...]) -> None:
    start_worker()
    load_plugins(map(Path, plugins))


def _missing(
    plan: WorkloadPlan, results: WorkloadResults, progress: Progress, warn: Warn
) -> list[ScheduleCell]:
    missing = []
    for cell in plan.cells:
        if results.is_complete(cell):
            progress(1)
            continue
        if damage := results.damage(cell):
            warn(f"{damage}; computing it again")
        missing.append(cell)
    # Those of the same jobs one after the other: a worker reads or draws them once.
    return sorted(missing, key=lambda cell: cell.replication)


def _in_order(
    executor: Executor | None, plan: WorkloadPlan, cells: Sequence[ScheduleCell], workers: int
) -> Iterator[tuple[ScheduleCell, pa.Table]]:
    """Compute schedules; give them in the order of the cells, few of them at a time."""
    if executor is None:
        for cell in cells:
            yield cell, run_cell(plan, cell)
        return

    def submit(cell: ScheduleCell) -> tuple[ScheduleCell, Future[pa.Table]]:
        return cell, executor.submit(run_cell, plan, cell)

    waiting = iter(cells)
    pending = deque(map(submit, islice(waiting, 2 * workers)))
    while pending:
        cell, future = pending.popleft()
        yield cell, future.result()
        pending.extend(map(submit, islice(waiting, 1)))
