"""Sequential runs: more replications until the figures are precise enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebecsim.studies.cell import grouped
from rebecsim.studies.plan import Plan
from rebecsim.studies.statistics.moments import CellMoments
from rebecsim.studies.statistics.precision import Precision, next_replications
from rebecsim.studies.storage.results import Results


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
