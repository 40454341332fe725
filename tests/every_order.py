"""Every order of the messages of a model, each run from its start: slow, and hard to get wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rebecsim.actors import Model, enabled, execute
from rebecsim.exploration import pose, state_space

MOST = 20_000
"""Runs after which a model has too many orders for this."""


def explored_ends(model: Model, variable: str) -> set[Any]:
    """Give the values that exploring finds `rebec.variable` to have where runs end."""
    space = state_space(pose(model))
    assert space.complete
    return {_hashable(each) for each in space.final_values(variable)}


def ends_of_every_order(model: Model, variable: str) -> Iterator[Any]:
    """Run every order; give the value of `rebec.variable` where each run ends."""
    rebec, name = variable.split(".")
    pending: list[tuple[int, ...]] = [()]
    for _ in range(MOST):
        if not pending:
            return
        chosen = pending.pop()
        system = model.start()
        for place in range(10_000):
            steps = enabled(system)
            if not steps:
                yield _hashable(getattr(system.rebec(rebec), name))
                break
            if place == len(chosen):
                pending += [(*chosen, other) for other in range(1, len(steps))]
                chosen = (*chosen, 0)
            execute(system, steps[chosen[place]])
    pytest.fail("there are too many orders")


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
