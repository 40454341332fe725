"""Runs that are kept in memory, for searches that are done many times."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.metrics import Metric
from rebecsim.search.space import Candidate, Numbers, Question, combined
from rebecsim.search.tuning import Choice, choose
from rebecsim.studies.cells import Rows
from rebecsim.studies.plan import Plan
from rebecsim.studies.study import How, PlannedCell, task_of


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
