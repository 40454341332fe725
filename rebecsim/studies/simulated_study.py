"""Cut the runs of kinds into tasks; the base class of kinds that simulate a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from rebecsim.native.engines import RUNS_COMPILE, Engine, usable
from rebecsim.studies.cells import Rows
from rebecsim.studies.executors import simulation_modules
from rebecsim.studies.study import How, PlannedCell, Study


class SimulatedStudy(Study):
    """A kind that simulates models, in the order of messages that a scenario names."""

    options: ClassVar[frozenset[str]] = frozenset({"law", "order", "orders", "trace", "engine"})
    traced_per_task: ClassVar[int] = 50
    """Fewer replications for a worker process where each is kept with its messages."""

    @abstractmethod
    def task(
        self, cell: PlannedCell, replications: range, how: How
    ) -> tuple[str, Callable[[], Rows]]:
        """Send the text of the model, which is all that a worker needs."""

    def run(self, cell: PlannedCell, replications: range) -> Rows:
        """Simulate some replications."""
        return self.task(cell, replications, How())[1]()


def task_of(
    study: Study, cell: PlannedCell, replications: range, how: How
) -> tuple[str, Callable[[], Rows]]:
    """Give what a worker process is sent, and the name of what it may keep between tasks."""
    if isinstance(study, SimulatedStudy):
        return study.task(cell, replications, how)
    return cell.name, partial(study.run, cell, replications)


def per_task(study: Study, trace: bool) -> int:
    """Give how many replications a worker process is given at a time, with messages or without."""
    if trace and isinstance(study, SimulatedStudy):
        return study.traced_per_task
    return study.replications_per_task


def modules_of(study: Study, engine: Engine) -> tuple[str, ...]:
    """Name what worker processes import beforehand."""
    simulating = simulation_modules(engine) if isinstance(study, SimulatedStudy) else ()
    return (*simulating, *study.modules)


_COMPILED_SECONDS = 4e-7
"""Of a time unit in compiled code: 2e-7 in `resource_manager_edf3`, 4e-7 with eviction."""


def seconds_of_runs(
    units: int, replications: int, in_python: float, *, is_compiled: bool = True
) -> float:
    """Estimate a run of so many time units, in the mean of so many replications.

    `in_python` is how long a unit takes there (s). To make compiled code takes as long as Python
    takes until that is worth while.
    """
    every = units * replications
    compiles = is_compiled and usable("auto") == "auto"
    first = min(every, RUNS_COMPILE) if compiles else every
    return (first * in_python + (every - first) * _COMPILED_SECONDS) / max(replications, 1)
