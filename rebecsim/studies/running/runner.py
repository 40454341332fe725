"""Running plans: cells on worker processes, results on disk as soon as a cell is complete."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from rebecsim.interrupts import Interrupt, remembering_interrupts
from rebecsim.native.engines import Engine
from rebecsim.studies.plan import Plan
from rebecsim.studies.rows import Rows
from rebecsim.studies.running.executors import Executor, ThisProcess
from rebecsim.studies.running.simulated_study import per_task, task_of
from rebecsim.studies.storage.results import Results
from rebecsim.studies.study import How, PlannedCell

Progress = Callable[[int], None]
"""Told the number of replications that have just been finished."""

Warn = Callable[[str], None]
"""Told, in a line of text, what a user should know and need not act on."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PlannedRun:
    """A plan, and where its results go.

    Attributes:
        plan: what to run.
        results: the directory; replications that it holds already, undamaged, are not run again.
        trace: whether to keep every message served.
        replications: how many each cell gets, the scenario's number unless given; one that has
            more is left as it is.
    """

    plan: Plan
    results: Results
    trace: bool = False
    replications: int | None = None

    @classmethod
    def kept(cls, plan: Plan, directory: Path) -> PlannedRun:
        """Return the runs of a plan with what a directory holds of them; it is made if need be.

        Raises ResultsError, as `Results.resume` does.
        """
        return cls(plan, Results.resume(directory, plan))


def run_plans(
    runs: Sequence[PlannedRun],
    executor: Executor | None = None,
    *,
    progress: Progress = lambda replications: None,
    warn: Warn = _log.warning,
    engine: Engine = "auto",
) -> None:
    """Run every cell that the results do not hold yet, or hold damaged.

    What several plans have in common, as comparisons in different message orders do, is run
    together, so that its model is read once. Without an executor this process does the work.

    Results do not depend on `executor` and `engine`: each replication has its own random numbers,
    and rows are taken in order. An exception, KeyboardInterrupt included, leaves the finished
    cells, and so does the end of this process in any other way. Damaged parts are named to `warn`.

    Raises ResultsError when another process is writing into a directory, NotNativeError when the
    native engine is asked for and cannot run a model, and whatever a kind raises.
    """
    with ExitStack() as stack:
        interrupt = stack.enter_context(remembering_interrupts())
        for run in runs:
            stack.enter_context(run.results.writing(warn))
        found = chain.from_iterable(_missing(run, engine, progress, warn) for run in runs)
        # The same models one after the other.
        places = {cell.name: place for run in runs for place, cell in enumerate(run.plan.cells)}
        missing = sorted(found, key=lambda each: places[each.cell.name])
        total = sum(len(some) for each in missing for some in each.ranges)
        tasks = _packed(task for each in missing for task in _tasks(each, engine, total))
        rows = _in_order(executor or ThisProcess(), tasks, progress, interrupt)
        for each in missing:
            mine = _noting(islice(rows, len(each.ranges)), each.run.results)
            tables = each.run.plan.tables(each.run.trace)
            each.run.results.write(each.cell, mine, tables, keep=each.ranges[0].start > 0)


def _noting(rows: Iterator[Rows], results: Results) -> Iterator[Rows]:
    """Record which engines have run."""
    for some in rows:
        results.note_engine(some.engine)
        yield some


@dataclass(frozen=True)
class _Missing:
    """A cell of a run, and the replications it lacks, cut into those of its tasks."""

    run: PlannedRun
    cell: PlannedCell
    ranges: list[range]


@dataclass(frozen=True)
class _Task:
    """What a worker is sent: the name of what it may keep between tasks, and what to do."""

    name: str
    replications: int
    most: int
    do: Callable[[], Rows]


def _missing(run: PlannedRun, engine: Engine, progress: Progress, warn: Warn) -> Iterator[_Missing]:
    """The cells to run; replications of the others are reported as finished."""
    results, tables = run.results, run.plan.tables(run.trace)
    size = per_task(run.plan.study, run.trace)
    for cell in run.plan.cells:
        total = cell.replications(run.replications or run.plan.scenario.replications)
        have = results.replications(cell, tables)
        if not have and (damage := results.damage(cell, tables)):
            warn(f"{damage}; computing it again")
        if have:
            progress(min(have, total))
        ranges = [range(first, min(first + size, total)) for first in range(have, total, size)]
        if ranges:
            yield _Missing(run, cell, ranges)


def _tasks(missing: _Missing, engine: Engine, total: int) -> Iterator[_Task]:
    study, how = missing.run.plan.study, How(engine, missing.run.trace, total)
    for replications in missing.ranges:
        name, do = task_of(study, missing.cell, replications, how)
        yield _Task(name, len(replications), per_task(study, how.trace), do)


def _packed(tasks: Iterator[_Task]) -> Iterator[list[_Task]]:
    """Put the tasks of a model together for one worker, as long as that is not too much."""
    pack: list[_Task] = []
    count = 0
    for task in tasks:
        if pack and (pack[0].name != task.name or count + task.replications > task.most):
            yield pack
            pack, count = [], 0
        pack.append(task)
        count += task.replications
    if pack:
        yield pack


def _done(pack: Sequence[Callable[[], Rows]]) -> list[Rows]:
    """Do tasks one after the other: what worker processes are told."""
    return [do() for do in pack]


def _in_order(
    executor: Executor, packs: Iterator[list[_Task]], progress: Progress, interrupt: Interrupt
) -> Iterator[Rows]:
    """Run tasks and give their results in the order of the tasks, few of them at a time.

    Raises KeyboardInterrupt where one got lost while rows were written.
    """

    def submit(pack: list[_Task]) -> Future[list[Rows]]:
        future = executor.submit(_done, [task.do for task in pack])
        future.add_done_callback(lambda done: _report(done, progress))
        return future

    pending = deque(map(submit, islice(packs, executor.ahead)))
    while pending:
        for rows in pending.popleft().result():
            yield rows
            interrupt.raise_if_seen()
        room = executor.ahead - len(pending)  # workers of a cluster come and go
        pending.extend(map(submit, islice(packs, max(0, room))))


def _report(done: Future[list[Rows]], progress: Progress) -> None:
    if not done.cancelled() and done.exception() is None:
        progress(sum(map(len, done.result())))
