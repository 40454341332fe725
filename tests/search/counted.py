"""Runs that are kept in memory, for searches that are done many times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rebecsim.clusters.scenarios import load
from rebecsim.metrics import Metric
from rebecsim.search.space import Candidate, Numbers, Question, combined
from rebecsim.search.tuning import Choice, choose
from rebecsim.studies.cells import Rows
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario_files import ScenarioText
from rebecsim.studies.study import How, PlannedCell, task_of

SMALL: dict[str, Any] = {
    "kind": "dispatch",
    "name": "small",
    "policies": ["EDF", "FIFO"],
    "app_masters": [2, 3],
    "queue_size": 12,
    "epsilon": 2.0,
    "ticks": 40,
    "replications": 12,
    "high_priority": {"probability": 10, "length": 0},
    "arrivals": [{"pattern": "uniform", "count": 1}],
    "lengths": [{"pattern": "nondet", "minimum": 1, "maximum": 6}],
    "sweep": {"queue_size": [4, 12]},
}


class InMemory:
    """Runs cells of a plan as a search asks for them, by compiled code."""

    def __init__(self, plan: Plan) -> None:
        self._study = plan.study
        self._rows: dict[str, Rows] = {}

    def run(self, cells: Sequence[PlannedCell], runs: int) -> None:
        """See to it that cells have so many runs; those before are run again, to the same end."""
        for cell in cells:
            if cell.name not in self._rows or len(self._rows[cell.name]) < runs:
                task = task_of(self._study, cell, range(cell.replications(runs)), How("native"))
                self._rows[cell.name] = task[1]()

    def counts(
        self, candidate: Candidate, metric: Metric, runs: int
    ) -> tuple[Numbers, Numbers | None]:
        """Give what was counted."""
        cells = [
            {name: self._rows[cell.name].columns[name][:runs] for name in metric.counters}
            for cell in candidate.cells
        ]
        return combined(cells, metric, runs)


def searched(plan: Plan, question: Question) -> Choice:
    """Search a plan, its runs in memory."""
    runs = InMemory(plan)
    return choose(plan, question, runs, runs.run)


class Drawn:
    """Gives runs that were drawn before, shape (cells, runs), to the candidates of `drawn_plan`."""

    def __init__(self, rows: Numbers) -> None:
        self._rows = rows
        self.runs: dict[str, int] = {}

    def run(self, cells: Sequence[PlannedCell], runs: int) -> None:
        """Note how many runs were asked for."""
        self.runs |= {cell.name: max(runs, self.runs.get(cell.name, 0)) for cell in cells}

    @staticmethod
    def cell_of(candidate: Candidate) -> int:
        """Give the row of a candidate."""
        return int(candidate.values["queue_size"]) - _LEAST

    def counts(
        self, candidate: Candidate, metric: Metric, runs: int
    ) -> tuple[Numbers, Numbers | None]:
        """Give the first runs, which must have been asked for."""
        assert all(self.runs[cell.name] >= runs for cell in candidate.cells)
        return self._rows[[self.cell_of(candidate)], :runs], None


_LEAST = 4


def drawn_plan(cells: int) -> Plan:
    """Lay out so many candidates of one cell."""
    sizes = list(range(_LEAST, _LEAST + cells))
    values = {**SMALL, "policies": ["EDF"], "app_masters": [2], "sweep": {"queue_size": sizes}}
    return load(ScenarioText("small", values, {}, Path())).plan()
