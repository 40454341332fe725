"""The edges of a state graph, one by one, for following orders."""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.exploration.races.arrays import NO_ACTION, Arrays

TIME = -1
"""The kind of an edge in which only time passes."""


class Edge(NamedTuple):
    """An edge of a state.

    `kind` numbers the kinds of actions. `target` is the state or breach that stands for its target,
    `met` the breaches there, as bits of their keys, `units` the time that passes.
    """

    number: int
    kind: int
    action: int
    choice: int
    target: int
    met: int
    units: int


class Edges:
    """Gives edges of arrays; what was asked for once is kept."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        kinds: dict[tuple[int, int, int, bool], int] = {}
        for each in arrays.actions:
            kinds.setdefault(each.kind, len(kinds))
        self._kinds = [kinds[action.kind] for action in arrays.actions]
        self._met = {
            state: sum(1 << key for key in set(keys)) for state, keys in arrays.wrong.items()
        }
        self._met |= {arrays.states + key: 1 << key for key in range(len(arrays.keys))}
        self._known: dict[int, Edge] = {}
        self._of: dict[int, list[Edge]] = {}

    def of(self, side: int) -> list[Edge]:
        """Give the edges of a state, none for a breach."""
        known = self._of.get(side)
        if known is None:
            known = []
            if side < self._arrays.states:
                low, high = self._arrays.first[side : side + 2].tolist()
                known = [self[number] for number in range(low, high)]
            self._of[side] = known
        return known

    def __getitem__(self, number: int) -> Edge:
        known = self._known.get(number)
        if known is None:
            arrays = self._arrays
            action, target = int(arrays.action[number]), int(arrays.target[number])
            known = self._known[number] = Edge(
                number,
                TIME if action == NO_ACTION else self._kinds[action],
                action,
                int(arrays.choice[number]),
                int(arrays.same[target]) if target < arrays.states else target,
                self._met.get(target, 0),
                int(arrays.duration[number]),
            )
        return known
