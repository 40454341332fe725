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
    """Run every order and choice; give the value of `rebec.variable` where each run ends."""
    rebec, name = variable.split(".")
    pending: list[list[int]] = [[]]
    for _ in range(MOST):
        if not pending:
            return
        ways = _Ways(pending)
        system = model.start(lambda _, alternatives, site, ways=ways: ways.take(len(alternatives)))
        for _ in range(10_000):
            steps = enabled(system)
            if not steps:
                yield _hashable(getattr(system.rebec(rebec), name))
                break
            execute(system, steps[ways.take(len(steps))])
    pytest.fail("there are too many orders")


class _Ways:
    """Which way a run takes wherever there are several; others are left for later runs."""

    def __init__(self, pending: list[list[int]]) -> None:
        self._pending = pending
        self._chosen = pending.pop()
        self._place = 0

    def take(self, count: int) -> int:
        """Give the number of a way, of so many."""
        if self._place == len(self._chosen):
            self._pending += [[*self._chosen, other] for other in range(1, count)]
            self._chosen.append(0)
        self._place += 1
        return self._chosen[self._place - 1]


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
