"""Values over all orders by definition: every run is done from its start, none is remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from rebecsim.actors import Model, System, Violation, enabled, execute
from rebecsim.errors import UserError


class TooManyRunsError(Exception):
    """There are more runs than a test has time for."""


class _AskedError(UserError):
    """The script is at its end, and a choice is made."""

    def __init__(self, alternatives: Sequence[Any]) -> None:
        super().__init__("a choice")
        self.alternatives = alternatives


Reader = Callable[[System], Any]


class ByDefinition:
    """Walks the tree of all runs of a model up to a time, at most so many."""

    def __init__(
        self,
        model: Model,
        until: int,
        law: Literal["fair", "rmc"],
        asked: Sequence[tuple[str, Reader]],
        most: int,
    ) -> None:
        self._model, self._until, self._law, self._asked = model, until, law, asked
        self._left = most

    def values(self, script: tuple[int, ...] = ()) -> np.ndarray:
        """Give the values of runs that begin like this: for each quantity, least, mean and most."""
        kind, found, is_violated = self._done(script)
        if kind == "end":
            self._left -= 1
            if self._left < 0:
                raise TooManyRunsError
            worth = [
                _worth(asked, [each[place] for each in found], is_violated)
                for place, (asked, _) in enumerate(self._asked)
            ]
            return np.repeat(np.array(worth)[:, None], 3, axis=1)
        if kind == "pick":
            after = np.array([self.values((*script, each)) for each in range(len(found))])
            mean = np.tensordot(found, after[:, :, 1], 1)
            return np.stack([after[:, :, 0].min(axis=0), mean, after[:, :, 2].max(axis=0)], axis=1)
        extra = self._law == "rmc"
        count = len(found)
        after = np.array([self.values((*script, each)) for each in range(count)])
        chances = [(1 + (extra and each == count - 1)) / (count + extra) for each in range(count)]
        return np.tensordot(getattr(found, "shares", chances), after, 1)

    def _done(self, script: tuple[int, ...]) -> tuple[str, Any, bool]:
        left = list(script)

        def choose(rebec: Any, alternatives: Any, site: int) -> int:
            if not left:
                raise _AskedError(alternatives)
            return left.pop(0)

        system = self._model.start(choose)
        seen = [self._read(system)]
        while True:
            steps = enabled(system)
            if not steps or min(step.start for step in steps) > self._until:
                return "end", seen, False
            if not left:
                owners = [step.rebec._name for step in steps]
                messages = Counter(owners)
                return "pick", [1 / len(messages) / messages[each] for each in owners], False
            try:
                execute(system, steps[left.pop(0)])
            except Violation:
                return "end", seen, True
            except _AskedError as asked:
                return "draw", asked.alternatives, False
            seen.append(self._read(system))

    def _read(self, system: System) -> list[float]:
        return [float(read(system)) for _, read in self._asked]


def _worth(kind: str, seen: list[float], is_violated: bool) -> float:
    match kind:
        case "increase":
            return sum(max(after - before, 0.0) for before, after in pairwise(seen))
        case "final":
            return seen[-1]
        case "reached":
            return float(any(seen))
    return float(is_violated)
