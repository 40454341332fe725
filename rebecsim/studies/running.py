"""Run plans: cells on worker processes, results on disk as soon as a cell is complete.

A comparison adds replications until its figures are precise enough, and runs its cells again in
other message orders, which show whether a figure is due to the policy or to a race.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Protocol, TypeVar

from rebecsim.actors.watchdog import Interrupt, remembering_interrupts
from rebecsim.files import Size
from rebecsim.native.engines import Engine
from rebecsim.studies.cells import Rows, grouped
from rebecsim.studies.executors import Executor, ThisProcess
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan, plan_size
from rebecsim.studies.precision import Precision, next_replications
from rebecsim.studies.results import Results
from rebecsim.studies.run_directory import RECORD
from rebecsim.studies.study import How, PlannedCell, per_task, task_of


def run_until_precise(
    plan: Plan, results: Results, targets: Sequence[Precision], run: Callable[[int], None]
) -> int:
    """Run a plan until all targets are reached, and give the replications of each cell.

    `run(n)` is to see to it that every cell has n replications. How many come next depends on
    those before and nothing else, so an interrupted comparison goes on to the same end. The
    scenario's number of replications is the most that a cell gets. Cells in which nothing is drawn
    have a say only where there are no others.
    """
    done, cap = 0, plan.scenario.replications
    drawn = [cell for cell in plan.cells if cell.is_random] or plan.cells
    by_policy: dict[str, list[CellMoments]] = {}
    while more := max(next_replications(by_policy, each, done, cap) or 0 for each in targets):
        done += more
        run(done)
        moments = results.moments(drawn, first=done)
        by_policy = grouped(moments, lambda each: each.cell.policy)
    return done


T = TypeVar("T")

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
    total: int = 0,
) -> None:
    """Run every cell that the results do not hold yet, or hold damaged.

    `total` is how many replications there will be, where this is a step of a larger run: compiled
    code may pay then. What several plans have in common, as comparisons in different message orders
    do, is run together, so that its model is read once. Without an executor this process does the
    work.

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
        total = max(total, sum(len(some) for each in missing for some in each.ranges))
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


class Bar(Protocol):
    """Shows how far runs are."""

    def start(self, total: int) -> None:
        """Begin anew with a total."""

    def advance(self, finished: int) -> None:
        """Count runs that have just been finished."""


@dataclass(frozen=True)
class StudyRunner:
    """How to run.

    Attributes:
        executor: who does it.
        engine: what runs models, where there are several engines.
        showing: shows the progress of some runs while a block does them.
        warn: is told, in a line of text, what a user should know and need not act on.
    """

    executor: Executor
    engine: Engine
    showing: Callable[[Sequence[PlannedRun]], AbstractContextManager[Bar]]
    warn: Callable[[str], None]

    def run(self, runs: Sequence[PlannedRun]) -> None:
        """Do some runs together. Raises as `run_plans`."""
        with self.showing(runs) as bar:
            self._run(runs, bar)

    def run_until_precise(self, run: PlannedRun) -> int:
        """Run a plan until it is as precise as its scenario asks; give the runs of each cell."""
        with self.showing([run]) as bar:
            return run_until_precise(
                run.plan,
                run.results,
                run.plan.precisions,
                lambda replications: self._run([replace(run, replications=replications)], bar),
            )

    def run_in_steps(self, run: PlannedRun, work: Callable[[Callable[[PlannedRun], None]], T]) -> T:
        """Let `work` run parts of a plan one after the other, with one bar; give its result."""
        total = run.plan.usual_runs * len(run.plan.cells)
        with self.showing([run]) as bar:
            return work(lambda part: self._run([part], bar, total))

    def _run(self, runs: Sequence[PlannedRun], bar: Bar, total: int = 0) -> None:
        bar.start(sum(_total(run) for run in runs))
        run_plans(
            runs,
            self.executor,
            progress=bar.advance,
            warn=self.warn,
            engine=self.engine,
            total=total,
        )


def compare(run: PlannedRun, runner: StudyRunner, with_others: bool) -> None:
    """Do the runs of a comparison, and those beside it if that is wanted."""
    if run.plan.precisions:
        done = runner.run_until_precise(run)
        others = list(_beside(run, done)) if with_others else []
        if others:
            runner.run(others)
        return
    others = list(_beside(run, run.plan.scenario.replications)) if with_others else []
    runner.run([run, *others])


def comparison_size(plan: Plan, with_others: bool, workers: int) -> Size | None:
    """Estimate the runs of `compare`, as `plan_size` does."""
    others = plan.beside(plan.scenario.replications).values() if with_others else ()
    return plan_size((plan, *others), workers)


def companion_directory(results: Results, name: str) -> Path:
    """Give the directory of the runs in another order."""
    return results.directory / "orders" / name


def stored_companions(plan: Plan, results: Results) -> dict[str, tuple[Plan, Results]]:
    """Find the complete runs in other orders beside a comparison."""
    found: dict[str, tuple[Plan, Results]] = {}
    for name, other in plan.beside(plan.scenario.replications).items():
        runs = Results(companion_directory(results, name))
        has_record = (runs.directory / RECORD).exists()
        if has_record and all(runs.part(cell).exists() for cell in other.cells):
            found[name] = (other, runs)
    return found


def planned(plan: Plan, results: Results, name: str) -> PlannedRun:
    """Plan runs that lie beside others; those that were begun are continued."""
    directory = companion_directory(results, name)
    begun = (directory / RECORD).exists()
    return PlannedRun(plan, Results.open(directory, plan, resume=begun))


def _beside(run: PlannedRun, replications: int) -> Iterator[PlannedRun]:
    for name, plan in run.plan.beside(replications).items():
        yield planned(plan, run.results, name)


def _total(run: PlannedRun) -> int:
    wanted = run.replications or run.plan.scenario.replications
    return sum(cell.replications(wanted) for cell in run.plan.cells)
