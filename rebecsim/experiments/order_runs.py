"""The same comparison in other message orders, to see what is the policy and what is the race."""

from __future__ import annotations

from pathlib import Path

from rebecsim.experiments.plan import Plan, plan_scenario
from rebecsim.experiments.results import Results
from rebecsim.simulate import ORDERS, Order

__all__ = ["order_directory", "order_plans", "stored_orders"]

_SHARE = 4
_LEAST = 25
"""Orders differ by far more than chance, so a quarter of the replications shows it, if that is not
too few."""


def order_plans(plan: Plan, replications: int) -> dict[Order, Plan]:
    """Plan the cells in every other order; empty when the comparison is not in random order.

    `replications` is how many each cell of the comparison has.
    """
    if plan.scenario.order != "random":
        return {}
    fewer = min(replications, max(_LEAST, replications // _SHARE))
    return {
        order: plan_scenario(
            plan.scenario.model_copy(
                update={"order": order, "replications": fewer, "precision": None}
            )
        )
        for order in ORDERS
        if order != "random"
    }


def order_directory(results: Results, order: str) -> Path:
    """Give the directory of the runs in another order."""
    return results.directory / "orders" / order


def stored_orders(plan: Plan, results: Results) -> dict[str, tuple[Plan, Results]]:
    """Find the complete runs in other orders beside a comparison."""
    found: dict[str, tuple[Plan, Results]] = {}
    for order in order_plans(plan, plan.scenario.replications):
        directory = order_directory(results, order)
        if not (directory / "run.json").exists():
            continue
        other = Results(directory)
        other_plan = plan_scenario(other.scenario())
        if all(other.part(cell).exists() for cell in other_plan.cells):
            found[order] = (other_plan, other)
    return found
