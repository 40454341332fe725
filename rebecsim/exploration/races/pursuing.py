"""Follow the races of all groups as far as the limits allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebecsim.exploration.limits import Bound
from rebecsim.exploration.races.arrays import Arrays
from rebecsim.exploration.races.diamonds import Diamonds
from rebecsim.exploration.races.following import Follower, Start
from rebecsim.exploration.races.groups import Group
from rebecsim.exploration.races.judged import Judged
from rebecsim.exploration.races.result import RACE_KINDS, Distance, RaceBound, RaceKind

_BATCHES = (1, 8, 64, 512)  # races of a group that are followed before it is looked what came of it
_FIRST_LOOK = 500  # pairs of states followed before it is looked what is known
LOOK_EVERY = 256  # races between two looks at the limits


class Pursuit:
    """Follows the orders of races until it is known what comes of each group.

    `worst` is the worst that following can find. `most` limits the pairs of states; every group
    gets a fair share of them, and what one does not need is there for the others. `reached` says
    which limit of time or memory is reached. `bounds` are the limits that were, `unfinished` counts
    the groups that they kept from being followed to the end.
    """

    def __init__(
        self,
        follower: Follower,
        arrays: Arrays,
        diamonds: Diamonds,
        worst: RaceKind,
        most: int,
        reached: Callable[[], Bound | None],
    ) -> None:
        self._follower = follower
        self._arrays = arrays
        self._diamonds = diamonds
        self._worst = RACE_KINDS.index(worst)
        self._most = most
        self._reached = reached
        self._judged: tuple[tuple[int, int], Judged] | None = None
        self.bounds: list[RaceBound] = []
        self.unfinished = 0

    def pursue(self, groups: Sequence[Group], *, thorough: bool) -> None:
        """Follow groups until it is known what the worst of each comes to.

        `thorough`: until all that can go wrong after one order only is known.
        """
        pending = list(groups)
        enough = 1
        while pending and not self.bounds:
            left = self._most - len(self._follower.nodes)
            if left < enough * len(pending):
                self.bounds.append("pairs")
                break
            enough = _FIRST_LOOK
            unfinished = []
            for place, group in enumerate(pending):
                left = self._most - len(self._follower.nodes)
                share = len(self._follower.nodes) + left // (len(pending) - place)
                if not self._is_known(group, share, thorough=thorough):
                    unfinished.append(group)
            pending = unfinished
        self.unfinished = len(pending)
        for group in pending:
            self._leave(group)

    def _leave(self, group: Group) -> None:
        """Note what is known of the races of a group that are not followed to their ends."""
        rest = group.pairs[group.followed :]
        for first in range(0, len(rest), LOOK_EVERY):
            if self.is_over():
                pair, start = self._starts(group, rest[first : first + 1])[0]
                group.note("undecided", 0, pair, start)
                return
            starts = self._starts(group, rest[first : first + LOOK_EVERY])
            self._judge(group, starts, finally_=True)

    def judged(self) -> Judged:
        """Judge all that has been followed."""
        size = len(self._follower.nodes), self._follower.expanded
        if self._judged is None or self._judged[0] != size:
            self._judged = size, Judged(self._follower, self._arrays)
        return self._judged[1]

    def _is_known(self, group: Group, share: int, *, thorough: bool) -> bool:
        """Follow the races of a group, some at a time; false if there is no room for more."""
        for size in (*_BATCHES, len(group.pairs)):
            if self._is_settled(group) and not thorough:
                break
            batch = group.pairs[group.followed : size]
            if batch:
                if not self._follow(group, batch, share, thorough=thorough):
                    return False
                group.followed += len(batch)
        return True

    def _is_settled(self, group: Group) -> bool:
        """Whether nothing worse can come of a group than what is known."""
        return group.kind is not None and RACE_KINDS.index(group.kind) <= self._worst

    def _follow(self, group: Group, batch: list[int], share: int, *, thorough: bool) -> bool:
        """Follow some races of a group, and look every now and then what is known."""
        starts = self._starts(group, batch)
        roots = [start.arrival.node for _, start in starts]
        widely = self._worst <= RACE_KINDS.index("avoidable")
        while not self.bounds:
            nodes = len(self._follower.nodes)
            most = min(nodes + max(_FIRST_LOOK, nodes // 2), share)
            finished = self._follower.follow(roots, most, widely=widely, is_over=self.is_over)
            self._judge(group, starts, finally_=finished)
            if finished or (self._is_settled(group) and not thorough):
                return True
            if most == share:
                return False
        return False

    def is_over(self) -> bool:
        """Look whether time or memory is used up; then it is noted among the bounds."""
        bound = self._reached()
        if bound is not None:
            self.bounds.append(bound)
        return bound is not None

    def _starts(self, group: Group, pairs: Sequence[int]) -> list[tuple[int, Start]]:
        """Give where following begins for each pair, as far as there is time."""
        found: list[tuple[int, Start]] = []
        for place, pair in enumerate(pairs):
            if place and place % LOOK_EVERY == 0 and self.is_over():
                break
            first, second = group.in_order(self._diamonds, pair)
            rows = first.of(pair), second.of(pair)
            found += [(pair, start) for start in self._follower.starts(first, second, rows)]
        return found

    def _judge(self, group: Group, starts: Sequence[tuple[int, Start]], *, finally_: bool) -> None:
        """Note what comes of races; what may change as more is followed, only `finally_`."""
        judged = self.judged()
        for pair, start in starts:
            _note(group, pair, start, judged, finally_=finally_)


def _note(group: Group, pair: int, start: Start, judged: Judged, *, finally_: bool) -> None:
    node, alone, differs = start.arrival
    found = {*alone, *judged.keys_met_alone(node)}
    for side, key in found:
        group.keys[side].add(key)
    if found:
        far = 0 if alone else len(judged.way(node))
        group.note("avoidable", 2 + far, pair, start)
    elif differs or judged.shows_different(node):
        group.note("observed", 0, pair, start)
    elif judged.stays_apart[node]:
        group.note("results", 0, pair, start)
    elif not finally_:
        return
    elif judged.may_stay_apart[node]:
        group.note("undecided", 0, pair, start)
    elif start.noted or judged.is_noted(node):
        steps, time = judged.until_joined(node)
        group.span = Distance(
            max(group.span.steps, 2 + steps), max(group.span.time, start.time + time)
        )
        group.note("while", 0, pair, start)
    else:
        group.note("joins", 0, pair, start)
