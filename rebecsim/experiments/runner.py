"""Running a plan: cells on worker processes, results on disk as soon as a cell is complete."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from itertools import islice

from rebecsim.experiments.plan import Plan, PlannedCell
from rebecsim.experiments.results import Results
from rebecsim.experiments.worker_pool import worker_pool
from rebecsim.simulate import Batch, Engine
from rebecsim.simulate.task import Task, run_task

__all__ = ["available_workers", "run_plan"]

_REPLICATIONS_PER_TASK = 1_000
_TRACED_PER_TASK = 50  # a traced run is a table of its own
_WORTHWHILE = 400_000
"""Time units, all replications together, from which on `auto` thinks of compiled code: the Python
engine takes some ten seconds for so many, each worker half a second to load the compiler."""
_TASKS_AHEAD = 4  # of each worker: enough to keep it busy, few enough to bound the memory

Progress = Callable[[int], None]
"""Told the number of replications that have just been finished."""

Warn = Callable[[str], None]
"""Told, in a line of text, what a user should know and need not act on."""

_log = logging.getLogger(__name__)


def available_workers() -> int:
    """Give the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_plan(
    plan: Plan,
    results: Results,
    *,
    workers: int = 1,
    trace: bool = False,
    replications: int | None = None,
    progress: Progress = lambda replications: None,
    warn: Warn = _log.warning,
    engine: Engine = "auto",
) -> None:
    """Simulate every cell that `results` does not hold yet, or holds damaged.

    `replications` is how many each cell gets, the scenario's number unless given; then a cell that
    has fewer gets the missing ones, and one that has more is left as it is.

    Results do not depend on `workers` and `engine`: each replication has its own random streams,
    and batches are taken in order. An exception, KeyboardInterrupt included, leaves the finished
    cells, and so does the end of this process in any other way. Damaged parts are named to `warn`.

    Raises ResultsError when another process is writing into the directory, NotNativeError when the
    native engine is asked for and cannot run a model.
    """
    with results.writing():
        missing = _missing(plan, results, trace, replications, progress, warn)
        work = sum(len(some) for each in missing for some in each.ranges) * plan.scenario.ticks
        used: Engine = "python" if engine == "auto" and work < _WORTHWHILE else engine
        tasks = (
            task for each in missing for task in _tasks(plan, each.cell, each.ranges, trace, used)
        )
        pieces = sum(len(each.ranges) for each in missing)
        with worker_pool(min(workers, pieces), "rebecsim.simulate.task") as executor:
            batches = _in_order(executor, tasks, workers, progress)
            for each in missing:
                mine = _noting(islice(batches, len(each.ranges)), results)
                results.write(each.cell, mine, trace, keep=each.ranges[0].start > 0)


def _noting(batches: Iterator[Batch], results: Results) -> Iterator[Batch]:
    """Record which engines have run."""
    for batch in batches:
        results.note_engine(batch.engine)
        yield batch


@dataclass(frozen=True)
class _Missing:
    """A cell, and the replications it lacks, cut into those of its tasks."""

    cell: PlannedCell
    ranges: list[range]


def _missing(
    plan: Plan,
    results: Results,
    trace: bool,
    replications: int | None,
    progress: Progress,
    warn: Warn,
) -> list[_Missing]:
    """The cells to simulate; replications of the others are reported as finished."""
    missing = []
    size = _TRACED_PER_TASK if trace else _REPLICATIONS_PER_TASK
    total = replications or plan.scenario.replications
    exactly = None if replications else total
    for cell in plan.cells:
        have = 0
        if results.is_complete(cell, exactly, trace):
            have = results.replications(cell) if replications else total
        elif damage := results.damage(cell, exactly, trace):
            warn(f"{damage}; computing it again")
        if have:
            progress(min(have, total))
        ranges = [range(first, min(first + size, total)) for first in range(have, total, size)]
        if ranges:
            missing.append(_Missing(cell, ranges))
    return missing


def _tasks(
    plan: Plan, cell: PlannedCell, ranges: list[range], trace: bool, engine: Engine
) -> Iterator[Task]:
    source = cell.source()
    for replications in ranges:
        yield Task(
            cell=cell.name,
            source=source,
            observation=cell.observation,
            key=cell.key,
            replications=replications,
            until=plan.until,
            choice_law=plan.scenario.choice_law,
            order=plan.scenario.order,
            trace=trace,
            engine=engine,
        )


def _in_order(
    executor: Executor | None, tasks: Iterator[Task], workers: int, progress: Progress
) -> Iterator[Batch]:
    """Run tasks and give their results in the order of the tasks."""
    if executor is None:
        for task in tasks:
            batch = run_task(task)
            progress(len(batch.outcomes))
            yield batch
        return

    def submit(task: Task) -> Future[Batch]:
        future = executor.submit(run_task, task)
        future.add_done_callback(lambda done: _report(done, progress))
        return future

    pending = deque(map(submit, islice(tasks, workers * _TASKS_AHEAD)))
    while pending:
        yield pending.popleft().result()
        pending.extend(map(submit, islice(tasks, 1)))


def _report(done: Future[Batch], progress: Progress) -> None:
    if not done.cancelled() and done.exception() is None:
        progress(len(done.result().outcomes))
