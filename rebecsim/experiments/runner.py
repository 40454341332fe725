"""Running a plan: cells on worker processes, results on disk as soon as a cell is complete."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice

from rebecsim.experiments.plan import Plan, PlannedCell
from rebecsim.experiments.results import Results
from rebecsim.experiments.worker_pool import WorkerPool, simulation_modules, worker_pool
from rebecsim.native.engines import Engine
from rebecsim.simulate.batch import Batch, Runs
from rebecsim.simulate.task import Task, run_tasks

__all__ = ["PlannedRun", "run_plan", "run_plans"]

_REPLICATIONS_PER_TASK = 1_000
_TRACED_PER_TASK = 50  # a traced run is a table of its own
_WORTHWHILE = 40_000
"""Time units, all replications together, from which on `auto` thinks of compiled code: the Python
engine takes a second for so many, and loading the compiler and the code half a second."""
_AHEAD = 4  # tasks for each worker: enough to keep it busy, few enough to bound the memory

Progress = Callable[[int], None]
"""Told the number of replications that have just been finished."""

Warn = Callable[[str], None]
"""Told, in a line of text, what a user should know and need not act on."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PlannedRun:
    """A plan, and where its results go.

    Attributes:
        plan: what to simulate.
        results: the directory; cells that it holds already, undamaged, are not simulated.
        trace: whether to keep every message served.
        replications: how many each cell gets, the scenario's number unless given; then a cell
            that has fewer gets the missing ones, and one that has more is left as it is.
    """

    plan: Plan
    results: Results
    trace: bool = False
    replications: int | None = None


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
    """Simulate every cell that `results` does not hold yet, on worker processes of its own.

    See `PlannedRun` for `trace` and `replications`, `run_plans` for the rest.
    """
    most = min(workers, _most_tasks(plan, replications, trace))
    with worker_pool(most, simulation_modules(engine) if most > 1 else ()) as pool:
        run = PlannedRun(plan, results, trace, replications)
        run_plans([run], pool, progress=progress, warn=warn, engine=engine)


def run_plans(
    runs: Sequence[PlannedRun],
    pool: WorkerPool | None = None,
    *,
    progress: Progress = lambda replications: None,
    warn: Warn = _log.warning,
    engine: Engine = "auto",
) -> None:
    """Simulate every cell that the results do not hold yet, or hold damaged.

    What several plans have in common, as comparisons in different message orders do, is simulated
    together, so that its model is read once. Without a pool this process does the work.

    Results do not depend on `pool` and `engine`: each replication has its own random streams,
    and batches are taken in order. An exception, KeyboardInterrupt included, leaves the finished
    cells, and so does the end of this process in any other way. Damaged parts are named to `warn`.

    Raises ResultsError when another process is writing into a directory, NotNativeError when the
    native engine is asked for and cannot run a model.
    """
    with ExitStack() as stack:
        for run in runs:
            stack.enter_context(run.results.writing())
        found = chain.from_iterable(_missing(run, progress, warn) for run in runs)
        # The same models one after the other.
        places = {cell.name: place for run in runs for place, cell in enumerate(run.plan.cells)}
        missing = sorted(found, key=lambda each: places[each.cell.name])
        work = sum(
            len(some) * each.run.plan.scenario.ticks for each in missing for some in each.ranges
        )
        used: Engine = "python" if engine == "auto" and work < _WORTHWHILE else engine
        tasks = _packed(task for each in missing for task in _tasks(each, used))
        batches = _in_order(pool, tasks, progress)
        for each in missing:
            mine = _noting(islice(batches, len(each.ranges)), each.run.results)
            each.run.results.write(each.cell, mine, each.run.trace, keep=each.ranges[0].start > 0)


def _noting(batches: Iterator[Batch], results: Results) -> Iterator[Batch]:
    """Record which engines have run."""
    for batch in batches:
        results.note_engine(batch.engine)
        yield batch


@dataclass(frozen=True)
class _Missing:
    """A cell of a run, and the replications it lacks, cut into those of its tasks."""

    run: PlannedRun
    cell: PlannedCell
    ranges: list[range]


def _missing(run: PlannedRun, progress: Progress, warn: Warn) -> Iterator[_Missing]:
    """The cells to simulate; replications of the others are reported as finished."""
    results, trace = run.results, run.trace
    size = _most_replications(trace)
    total = run.replications or run.plan.scenario.replications
    exactly = None if run.replications else total
    for cell in run.plan.cells:
        have = 0
        if results.is_complete(cell, exactly, trace):
            have = results.replications(cell) if run.replications else total
        elif damage := results.damage(cell, exactly, trace):
            warn(f"{damage}; computing it again")
        if have:
            progress(min(have, total))
        ranges = [range(first, min(first + size, total)) for first in range(have, total, size)]
        if ranges:
            yield _Missing(run, cell, ranges)


def _most_replications(trace: bool) -> int:
    return _TRACED_PER_TASK if trace else _REPLICATIONS_PER_TASK


def _most_tasks(plan: Plan, replications: int | None, trace: bool) -> int:
    """How many tasks there can be, and so how many workers there is something to do for."""
    each = replications or plan.scenario.replications
    return len(plan.cells) * -(-each // _most_replications(trace))


def _tasks(missing: _Missing, engine: Engine) -> Iterator[Task]:
    cell, plan = missing.cell, missing.run.plan
    source = cell.source()
    for replications in missing.ranges:
        runs = Runs(
            observation=cell.observation,
            key=cell.key,
            replications=replications,
            until=plan.until,
            choice_law=plan.scenario.choice_law,
            order=plan.scenario.order,
            trace=missing.run.trace,
        )
        yield Task(cell.name, source, runs, engine)


def _packed(tasks: Iterator[Task]) -> Iterator[list[Task]]:
    """Put the tasks of a model together for one worker, as long as that is not too much."""
    pack: list[Task] = []
    count = 0
    for task in tasks:
        runs = task.runs
        more = len(runs.replications)
        if pack and (pack[0].cell != task.cell or count + more > _most_replications(runs.trace)):
            yield pack
            pack, count = [], 0
        pack.append(task)
        count += more
    if pack:
        yield pack


def _in_order(
    pool: WorkerPool | None, packs: Iterator[list[Task]], progress: Progress
) -> Iterator[Batch]:
    """Run tasks and give their results in the order of the tasks."""
    if pool is None:
        for pack in packs:
            for task in pack:
                (batch,) = run_tasks([task])
                progress(len(batch.outcomes))
                yield batch
        return

    def submit(pack: list[Task]) -> Future[list[Batch]]:
        future = pool.submit(run_tasks, pack)
        future.add_done_callback(lambda done: _report(done, progress))
        return future

    pending = deque(map(submit, islice(packs, pool.size * _AHEAD)))
    while pending:
        yield from pending.popleft().result()
        pending.extend(map(submit, islice(packs, 1)))


def _report(done: Future[list[Batch]], progress: Progress) -> None:
    if not done.cancelled() and done.exception() is None:
        progress(sum(len(batch.outcomes) for batch in done.result()))
