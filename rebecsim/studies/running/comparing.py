"""A whole comparison: the runs of a plan, and its cells in other message orders.

The other orders show whether a figure is due to the policy or to a race.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from rebecsim.native.engines import Engine
from rebecsim.studies.plan import Plan, plan_size
from rebecsim.studies.running.executors import Executor
from rebecsim.studies.running.runner import PlannedRun, run_plans
from rebecsim.studies.running.sequential import run_until_precise
from rebecsim.studies.size import Size
from rebecsim.studies.storage.results import Results
from rebecsim.studies.storage.run_directory import RECORD


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

    def _run(self, runs: Sequence[PlannedRun], bar: Bar) -> None:
        bar.start(sum(_total(run) for run in runs))
        run_plans(runs, self.executor, progress=bar.advance, warn=self.warn, engine=self.engine)


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
    """Plan runs that lie beside others; those that were begun are gone on with."""
    directory = companion_directory(results, name)
    begun = (directory / RECORD).exists()
    return PlannedRun(plan, Results.open(directory, plan, resume=begun))


def _beside(run: PlannedRun, replications: int) -> Iterator[PlannedRun]:
    for name, plan in run.plan.beside(replications).items():
        yield planned(plan, run.results, name)


def _total(run: PlannedRun) -> int:
    wanted = run.replications or run.plan.scenario.replications
    return sum(cell.replications(wanted) for cell in run.plan.cells)
