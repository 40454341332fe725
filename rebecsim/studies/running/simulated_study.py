"""The base class of kinds whose replications simulate a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from rebecsim.native.engines import RUNS_COMPILE, Engine, usable
from rebecsim.simulation import Order
from rebecsim.studies.rows import Rows
from rebecsim.studies.running.executors import simulation_modules
from rebecsim.studies.study import How, PlannedCell, Study

_SHARE = 4
_LEAST = 25
"""Orders differ by far more than chance, so a quarter of the replications shows it, if that is not
too few."""


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

    @abstractmethod
    def orders(self, scenario: Any) -> Sequence[Order]:
        """Give the orders of messages that a scenario can be run in."""

    def run(self, cell: PlannedCell, replications: range) -> Rows:
        """Simulate some replications."""
        return self.task(cell, replications, How())[1]()

    def per_task(self, how: How) -> int:
        """Send fewer replications where each is kept with its messages."""
        return self.traced_per_task if how.trace else self.replications_per_task

    def modules(self, engine: Engine) -> tuple[str, ...]:
        """Name what workers that simulate need."""
        return simulation_modules(engine)

    def beside(self, scenario: Any, replications: int) -> Mapping[str, Any]:
        """Run the other orders of messages beside a study in random order."""
        if scenario.order != "random" or "order" in scenario.swept:
            return {}
        fewer = min(replications, max(_LEAST, replications // _SHARE))
        changes = {"replications": fewer, "precision": None}
        return {
            order: scenario.model_copy(update={"order": order, **changes})
            for order in self.orders(scenario)
            if order != "random"
        }


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
