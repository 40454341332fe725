"""Every order of the messages of a model, each run from its start: slow, and hard to get wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rebecsim.actors import Model, enabled, execute


def ends_of_every_order(model: Model, rebec: str, variable: str) -> Iterator[Any]:
    """Give the value of a variable where each run ends; a list as a tuple."""
    pending: list[tuple[int, ...]] = [()]
    while pending:
        chosen = pending.pop()
        system = model.start()
        for place in range(10_000):
            steps = enabled(system)
            if not steps:
                value = getattr(system.rebec(rebec), variable)
                yield tuple(value) if isinstance(value, list) else value
                break
            if place == len(chosen):
                pending += [(*chosen, other) for other in range(1, len(steps))]
                chosen = (*chosen, 0)
            execute(system, steps[chosen[place]])
