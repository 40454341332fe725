"""Compute the least, expected and greatest value of quantities, and runs that reach an extreme."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rebecsim.actors import ChoiceLaw, Model, Violation
from rebecsim.errors import UserError
from rebecsim.exploration.checks import Bound, Checks, Limits, Problem, pose
from rebecsim.exploration.orders.decision_process import (
    GOALS,
    Goal,
    OrdersSearch,
    Rewards,
    StandsStillError,
    Sum,
    Unrolled,
    WrapsError,
    action_values,
    rewards_of,
    values_of,
)
from rebecsim.exploration.orders.quantities import (
    Measure,
    Numbers,
    Quantity,
    counted_of,
    measure_of,
    none_counted,
)
from rebecsim.exploration.paths import Path, path_along
from rebecsim.exploration.search import Progress
from rebecsim.exploration.states.transitions import TransitionSystem
from rebecsim.lang import CheckedModel


@dataclass(frozen=True)
class ExactValue:
    """A quantity over all orders, with the values from each state on."""

    quantity: Quantity
    rewards: Rewards
    values: dict[Goal, Numbers]

    def __getitem__(self, goal: Goal) -> float:
        return float(self.values[goal][0])

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        quantity = {"kind": self.quantity.kind, "expression": self.quantity.text}
        return quantity | {goal: self[goal] for goal in GOALS}


@dataclass(frozen=True)
class ExactOrders:
    """The exact values of a model over all orders of its messages.

    Attributes:
        system: its states and transitions.
        unrolled: its decision process.
        law: how choices are drawn.
        asked: the time that was asked for; `until` is the one that was reached.
        bound: the limit that was reached, if that is less.
        values: of each quantity.
    """

    system: TransitionSystem
    unrolled: Unrolled
    law: ChoiceLaw
    asked: int
    bound: Bound | None
    values: tuple[ExactValue, ...]

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.system.model.name

    @property
    def until(self) -> int:
        """The time up to which messages are served."""
        return self.unrolled.until

    @property
    def is_known(self) -> bool:
        """Whether all states of at least one time were found."""
        return self.bound is None or self.until >= self.system.start_time

    @cached_property
    def figures(self) -> dict[str, int]:
        """How many states, actions and outcomes of actions there are."""
        process = self.unrolled.process
        return {
            "states": process.states,
            "actions": len(process.weight),
            "outcomes": len(process.target),
        }

    def run(self, place: int, goal: Goal, seed: int = 0) -> Path:
        """Give a run of a scheduler under which a quantity has its extreme expected value.

        What the model chooses is drawn from a seed. With the goal `expected`, so is the order.
        """
        value, process = self.values[place], self.unrolled.process
        draw = random.Random(seed)
        state, ordinals = 0, list[int]()
        while state < process.states:
            actions = np.arange(process.first_action[state], process.first_action[state + 1])
            if not len(actions):
                break
            if goal == "expected":
                action = draw.choices(actions, process.weight[actions].tolist())[0]
            else:
                worth = action_values(process, value.rewards, value.values[goal], actions)
                action = actions[worth.argmin() if goal == "minimum" else worth.argmax()]
            first, behind = process.first_outcome[action : action + 2].tolist()
            outcome = draw.choices(
                range(first, behind), process.probability[first:behind].tolist()
            )[0]
            ordinals.append(outcome - int(process.first_outcome[actions[0]]))
            state = int(process.target[outcome])
        path = path_along(self.system, ordinals)
        return path if path.run is None else replace(path, run=replace(path.run, until=self.until))

    def sooner(self, until: int) -> tuple[dict[Goal, float], ...]:
        """Give the values of each quantity if messages are served up to an earlier time only."""
        is_over = np.array([state[-1] > until for state in self.unrolled.states])
        found = list[dict[Goal, float]]()
        for each in self.values:
            rewards = each.rewards
            ends = is_over & np.isnan(rewards.settled)
            cut = replace(rewards, settled=np.where(ends, rewards.ending, rewards.settled))
            process = self.unrolled.process
            found.append({goal: float(values_of(process, cut, goal)[0]) for goal in GOALS})
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """Give plain values, without runs."""
        return {
            "model": self.model,
            "until": self.until,
            "asked_until": self.asked,
            "stopped_by": self.bound,
            "law": self.law,
            **self.figures,
            "quantities": [each.to_json() for each in self.values],
        }


def exact_orders(
    model: Model,
    quantities: Sequence[Quantity],
    until: int,
    *,
    checked: CheckedModel | None = None,
    law: ChoiceLaw = "fair",
    deadlines: bool = True,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ExactOrders:
    """Find the least, the largest and the expected value of quantities over all orders.

    Messages are served up to and including time `until`. `checked` is the model as it was read from
    Rebeca text, if it was. `law` is how choices are drawn. Without `deadlines` a message whose
    deadline has passed is served like others. Where a limit is reached, the result is that of a
    shorter time.

    Raises UserError or RebecaError for a model or an expression that does not fit, or one in which
    time need not advance, EndlessError for a message server that does not end.
    """
    require_process(model, quantities, until, law)
    bounds = replace(limits or Limits(), horizon=until)
    problem = process_of(model, checked, deadlines)
    measures = [measure_of(each, problem.expression) for each in quantities]
    counted = counted_of(checked, quantities)
    try:
        try:
            search = OrdersSearch(problem, law, counted, bounds, progress)
            unrolled = search.unroll(until)
        except WrapsError:
            search = OrdersSearch(problem, law, none_counted(quantities), bounds, progress)
            unrolled = search.unroll(until)
    except StandsStillError as error:
        raise UserError(
            f"{model.name}: time need not advance, so some runs never reach time "
            f"{until}; `rebecsim explore` shows such a loop"
        ) from error
    problem.system.runner.finish()
    bound = search.bounds[0] if unrolled.until < until else None
    sums = unrolled.sums
    values = tuple(_solved(unrolled, *each) for each in zip(measures, sums, strict=True))
    return ExactOrders(problem.system, unrolled, law, until, bound, values)


def process_of(model: Model, checked: CheckedModel | None, deadlines: bool) -> Problem:
    """Give the states of floating time with the time. Raises UserError where there is no run."""
    try:
        return pose(
            model, mode="FTTS", checks=Checks(deadlines=deadlines), checked=checked, absolute=True
        )
    except Violation as violation:
        raise UserError(
            f"{model.name}: {violation.verdict} in a constructor: there is no run"
        ) from violation


def _solved(unrolled: Unrolled, measure: Measure, summed: Sum | None) -> ExactValue:
    rewards = rewards_of(unrolled, measure, summed)
    values = {goal: values_of(unrolled.process, rewards, goal) for goal in GOALS}
    return ExactValue(measure.quantity, rewards, values)


def require_process(
    model: Model, quantities: Sequence[Quantity], until: int, law: ChoiceLaw
) -> None:
    """Raise UserError if the model has no decision process, or no quantity is given."""
    if model.core:
        raise UserError(
            f"{model.name}: is a core model, which has no time; this needs a timed model"
        )
    if until < 0:
        raise UserError(f"the time must be 0 or more, not {until}")
    if not quantities:
        raise UserError(
            "no quantity is given; give a reward, a final value or a condition to reach"
        )
    priorities = {each.priority for each in model.instances}
    if law == "rmc" and (len(priorities) > 1 or model.uses_global_priority):
        raise UserError(
            f"{model.name}: rebecs have priorities, which the law rmc ignores; use the law fair"
        )
