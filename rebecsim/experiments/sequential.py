"""Runs whose number is found on the way: more of them until the figures are precise enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from rebecsim.experiments.moments import CellMoments
from rebecsim.experiments.plan import Plan
from rebecsim.experiments.precision import Precision, next_replications, parse_precision
from rebecsim.experiments.results import Results

__all__ = ["precision_of", "run_until_precise"]


def precision_of(plan: Plan) -> Precision | None:
    """Give the precision that a scenario asks for, of its most important figure."""
    if plan.scenario.precision is None:
        return None
    return parse_precision(plan.scenario.precision, plan.metrics[0])


def run_until_precise(
    plan: Plan, results: Results, target: Precision, run: Callable[[int], None]
) -> int:
    """Run a plan until the target is reached, and give the replications of each cell.

    `run(n)` is to see to it that every cell has n replications. How many come next depends on
    those before and nothing else, so an interrupted comparison goes on to the same end. The
    scenario's number of replications is the most that a cell gets.
    """
    done = 0
    by_policy: dict[str, list[CellMoments]] = {}
    while more := next_replications(by_policy, target, done, plan.scenario.replications):
        done += more
        run(done)
        by_policy = defaultdict(list)
        for moments in results.moments(plan, first=done):
            by_policy[moments.cell.policy].append(moments)
    return done
