"""Group races of the same two kinds of services."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rebecsim.exploration.races.arrays import Arrays
from rebecsim.exploration.races.diamonds import NONE, Diamonds, Ways
from rebecsim.exploration.races.following import Start
from rebecsim.exploration.races.result import RACE_KINDS, Contender, Distance, RaceKind
from rebecsim.exploration.states.transitions import TransitionSystem

_HERE = Distance(0, 0)


@dataclass
class Group:
    """The races of two kinds of services: pairs of a diamond, in the order of their states.

    `swapped` are those whose left step is the second contender. `best` is the race to show: rank,
    pair and, if it was followed, where that began. `keys` are what can go wrong after one order
    only. `followed` counts the races of `pairs` that need no further look.
    """

    contenders: tuple[Contender, Contender]
    pairs: list[int] = field(default_factory=list)
    swapped: set[int] = field(default_factory=set)
    best: tuple[int, int, int] | None = None
    shown: tuple[int, Start | None] | None = None
    keys: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    followed: int = 0
    span: Distance = _HERE

    @property
    def kind(self) -> RaceKind | None:
        """The worst that is known to come of its races."""
        return None if self.best is None else RACE_KINDS[self.best[0]]

    def note(self, kind: RaceKind, far: int, pair: int, start: Start | None) -> None:
        """Take a race for the one to show if it is worse, or comes sooner."""
        rank = RACE_KINDS.index(kind), far, pair
        if self.best is None or rank < self.best:
            self.best, self.shown = rank, (pair, start)

    def in_order(self, diamonds: Diamonds, pair: int) -> tuple[Ways, Ways]:
        """Give the ways of a diamond: the first contender first, then the second one first."""
        there, back = diamonds.there, diamonds.back
        return (back, there) if pair in self.swapped else (there, back)

    def rows(self, diamonds: Diamonds, pair: int) -> tuple[list[Row], list[Row]]:
        """Give the ways of one race in the same order, with their edges."""
        first, second = self.in_order(diamonds, pair)
        return _rows(first, pair), _rows(second, pair)


@dataclass(frozen=True)
class Row:
    """One way to take two steps: its edges, and the state or breach at its end."""

    edges: tuple[int, ...]
    end: int


def _rows(ways: Ways, pair: int) -> list[Row]:
    rows = ways.of(pair)
    return [
        Row(tuple(int(edge) for edge in (one, two) if edge != NONE), int(end))
        for one, two, end in zip(
            ways.one[rows].tolist(), ways.two[rows].tolist(), ways.end[rows].tolist(), strict=True
        )
    ]


def grouped(system: TransitionSystem, arrays: Arrays, diamonds: Diamonds) -> list[Group]:
    """Put the races together that are between the same message servers and senders."""
    runner = system.runner
    contenders = [
        Contender(
            str(runner.rebecs[action.owner]),
            runner.server_at(action.owner, action.number).name,
            runner.name_of(action.sender),
        )
        for action in arrays.actions
    ]
    ordered = sorted(set(contenders))
    place = np.array([ordered.index(each) for each in contenders], dtype=np.int64)
    left, right = (
        place[arrays.messages.action[diamonds.steps.message[each]]]
        for each in (diamonds.left, diamonds.right)
    )
    both = np.minimum(left, right) * len(ordered) + np.maximum(left, right)
    groups = []
    for number in dict.fromkeys(both.tolist()):
        of_group = both == number
        one, two = divmod(number, len(ordered))
        groups.append(
            Group(
                (ordered[one], ordered[two]),
                np.flatnonzero(of_group).tolist(),
                set(np.flatnonzero(of_group & (right < left)).tolist()),
            )
        )
    return groups
