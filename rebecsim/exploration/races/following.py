"""Following two orders: the model does the same after both, until they have come together again.

What is followed is a pair of states and how far the two runs are out of step. At each point

* the run that is behind in time goes on alone;
* at equal times, a run that owes the other one a service does it as soon as it can: the same
  message, with the same choices;
* otherwise a service that both can do next is done in both: one of the same message server and
  sender, with the same arguments and choices as far as there is such a one;
* a service that only one of them can do is done there alone, and the other one owes it.

Where one of them meets a breach, the other one does what it owes, and that is all. Otherwise they
have come together in equal states at one time, or when both have ended in the same way. Runs that
are more than `MOST_OWED` services out of step count as apart for good.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rebecsim.exploration.races.arrays import NO_ACTION, Arrays
from rebecsim.exploration.races.diamonds import NONE, Ways
from rebecsim.exploration.races.futures import Futures
from rebecsim.exploration.races.observed import Lead, Observed

__all__ = ["MOST_OWED", "Follower", "Node", "Start"]

MOST_OWED = 8
"""Services that one run may be behind the other before they count as apart for good."""

_LOOK_EVERY = 100  # nodes between two looks at the limits of time and memory
_TIME = -1
_LATE = -1


class Owed(NamedTuple):
    """A service that one `side` has still to do as the other one did.

    `when` is the time at which the other one did it, counted from the time of this side; anything
    before that is the same.
    """

    side: int
    kind: int
    action: int
    choice: int
    when: int


class Node(NamedTuple):
    """Two runs: where they are, and how they differ beside that.

    `sides` are a state, or a breach behind the states, each. `ahead` is by how much the first is
    later. `met` are the breaches that each has met since the two orders parted, as bits of their
    keys. `leads`: what only one of them has shown so far to those who observe.
    """

    sides: tuple[int, int]
    ahead: int
    owed: tuple[Owed, ...]
    met: tuple[int, int]
    leads: tuple[Lead, ...]


class Arrival(NamedTuple):
    """The node that is reached, and what has been found on the way to it.

    `alone` are the breaches that one side meets and the other does not, as (side, key);
    `differs` says whether the two have shown different things to those who observe.
    """

    node: int
    alone: tuple[tuple[int, int], ...]
    differs: bool


class Move(NamedTuple):
    """An edge for each side, NONE for a side that stays; `noted` if the two are not alike."""

    edges: tuple[int, int]
    noted: bool


class Start(NamedTuple):
    """Where following begins for one way in each order: rows of there and back.

    `noted` as of a move; `time` is what has passed in the first of them.
    """

    arrival: Arrival
    noted: bool
    rows: tuple[int, int]
    time: int


class _Edge(NamedTuple):
    kind: int
    action: int
    choice: int
    number: int


class Follower:
    """Follows pairs of orders; what was followed once is not followed again.

    For every node: its moves, and where each of them arrives. Nodes that are `joined` and those
    that lie at the limits of the exploration, `cut`, have no moves.
    """

    def __init__(self, arrays: Arrays, futures: Futures, observed: Observed) -> None:
        self._arrays = arrays
        self._futures = futures
        self._observed = observed
        kinds: dict[tuple[int, int, int, bool], int] = {}
        for each in arrays.actions:
            kinds.setdefault(each.kind, len(kinds))
        self._kinds = [kinds[action.kind] for action in arrays.actions]
        self._edges: dict[int, list[_Edge]] = {}
        self._numbers: dict[Node, int] = {}
        self.nodes: list[Node] = []
        self.moves: list[list[Move]] = []
        self.arrivals: list[list[Arrival]] = []
        self.is_expanded: list[bool] = []
        self.expanded = 0
        self.joined: set[int] = set()
        self.cut: set[int] = set()
        self._keys = self._keys_of_nodes()
        self._deadlock = sum(
            1 << key for key, each in enumerate(arrays.keys) if each.verdict == "deadlock"
        )

    def _keys_of_nodes(self) -> dict[int, int]:
        """Give the breaches of states and breaches, as bits."""
        found = {
            state: sum(1 << key for key in set(keys)) for state, keys in self._arrays.wrong.items()
        }
        found |= {self._arrays.states + key: 1 << key for key in range(len(self._arrays.keys))}
        return found

    # --- from the two orders on ------------------------------------------------------------------

    def starts(self, there: Ways, back: Ways, rows: tuple[slice, slice]) -> list[Start]:
        """Give where following begins for a pair: for ways with the same choices in both orders."""
        ones = range(rows[0].start, rows[0].stop)
        others = range(rows[1].start, rows[1].stop)
        fitting = [(i, j) for i in ones for j in others if self._same_choices(there, i, back, j)]
        alone = set(ones) - {i for i, _ in fitting}
        fitting += [(i, j) for i in alone for j in others]
        alone = set(others) - {j for _, j in fitting}
        fitting += [(i, j) for j in alone for i in ones]
        return [self._start(there, back, pair) for pair in fitting]

    def _same_choices(self, there: Ways, one: int, back: Ways, other: int) -> bool:
        choice = self._arrays.choice
        pairs = ((there.one[one], back.two[other]), (there.two[one], back.one[other]))
        return all(NONE in pair or choice[pair[0]] == choice[pair[1]] for pair in pairs)

    def _start(self, there: Ways, back: Ways, rows: tuple[int, int]) -> Start:
        arrays = self._arrays
        edges = [
            [int(ways.one[row]), int(ways.two[row])]
            for ways, row in zip((there, back), rows, strict=True)
        ]
        done = [[edge for edge in each if edge != NONE] for each in edges]
        times = [sum(int(arrays.duration[edge]) for edge in each) for each in done]
        sides = tuple(self._standing(int(arrays.target[each[-1]])) for each in done)
        owed = tuple(
            self._owed(side, edges[1 - side][0], -times[side])
            for side in (0, 1)
            if len(done[side]) == 1 and sides[side] < arrays.states
        )
        met = [0, 0]
        leads = self._observed.none
        differs = False
        source = int(np.searchsorted(arrays.first, edges[0][0], side="right")) - 1
        for side in (0, 1):
            at = source
            for edge in done[side]:
                target = int(arrays.target[edge])
                met[side] |= self._keys.get(target, 0)
                leads, apart = self._observed.after(leads, side, at, edge)
                differs |= apart
                at = target
        noted = any(len(each) == 2 and arrays.duration[each[0]] for each in done)
        node = Node((sides[0], sides[1]), times[0] - times[1], owed, (met[0], met[1]), leads)
        return Start(self._arrive(node, differs), noted, rows, times[0])

    def _owed(self, side: int, edge: int, when: int) -> Owed:
        arrays = self._arrays
        action = int(arrays.action[edge])
        return Owed(side, self._kinds[action], action, int(arrays.choice[edge]), max(when, _LATE))

    def _standing(self, target: int) -> int:
        """Give the state or breach that stands for a target."""
        return int(self._arrays.same[target]) if target < self._arrays.states else target

    # --- nodes -----------------------------------------------------------------------------------

    def _arrive(self, node: Node, differs: bool) -> Arrival:
        """Number a node; what only one side meets is settled before."""
        node, alone = self._settled(node)
        known = self._numbers.get(node)
        if known is None:
            known = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.moves.append([])
            self.arrivals.append([])
            self.is_expanded.append(False)
            if self._has_joined(node):
                self.joined.add(known)
            elif any(map(self._is_unknown, node.sides)):
                self.cut.add(known)
        if known in self.joined:
            differs |= any(lead.shown for lead in node.leads)
        return Arrival(known, tuple(alone), differs)

    def _has_joined(self, node: Node) -> bool:
        """Whether there is nothing left to compare."""
        one, other = node.sides
        if one == other:
            is_over = one >= self._arrays.states or self._arrays.is_stuck(one)
            return node.ahead == 0 or is_over
        over = [self._is_over(node, side) for side in (0, 1)]
        if not any(over):
            return False
        return all(over) or not self._owes(node, over.index(False))

    def _is_over(self, node: Node, side: int) -> bool:
        """Whether a run has met a breach; a deadlock is its end in any case."""
        return node.sides[side] >= self._arrays.states or bool(node.met[side] & ~self._deadlock)

    @staticmethod
    def _owes(node: Node, side: int) -> bool:
        return any(each.side == side for each in node.owed)

    def _settled(self, node: Node) -> tuple[Node, list[tuple[int, int]]]:
        """Find the breaches that only one side meets, and count them as met by both from now on."""
        missing = node.met[0] ^ node.met[1]
        if not missing:
            return node, []
        alone = []
        key = 0
        while missing >> key:
            if missing >> key & 1:
                side = 0 if node.met[0] >> key & 1 else 1
                if self._is_alone(node, side, key):
                    alone.append((side, key))
            key += 1
        both = sum(1 << key for _, key in alone)
        met = (node.met[0] | both, node.met[1] | both)
        return node._replace(met=met), alone

    def _is_alone(self, node: Node, side: int, key: int) -> bool:
        """Whether the other side does not meet what this one has met, doing the same."""
        other = node.sides[1 - side]
        if self._is_over(node, 1 - side):
            return True
        future = self._futures.of_key[key]
        if future.must_come[other] or self._is_unknown(other):
            return False
        return not future.may_come[other] or not self._owes(node, 1 - side)

    def _is_unknown(self, side: int) -> bool:
        return side < self._arrays.states and bool(self._arrays.cut[side])

    # --- moves -----------------------------------------------------------------------------------

    def _expand(self, number: int) -> None:
        """Work out the moves of a node."""
        self.is_expanded[number] = True
        self.expanded += 1
        node = self.nodes[number]
        if number in self.joined or number in self.cut or len(node.owed) > MOST_OWED:
            return
        moves = self._moves(node)
        self.moves[number] = moves
        self.arrivals[number] = [self._after(node, move) for move in moves]

    def _edges_of(self, side: int) -> list[_Edge]:
        """Give the edges of a state, none for a breach."""
        known = self._edges.get(side)
        if known is None:
            known = []
            arrays = self._arrays
            if side < arrays.states:
                low, high = int(arrays.first[side]), int(arrays.first[side + 1])
                actions = arrays.action[low:high].tolist()
                choices = arrays.choice[low:high].tolist()
                known = [
                    _Edge(
                        _TIME if action == NO_ACTION else self._kinds[action],
                        action,
                        choice,
                        low + place,
                    )
                    for place, (action, choice) in enumerate(zip(actions, choices, strict=True))
                ]
            self._edges[side] = known
        return known

    def _moves(self, node: Node) -> list[Move]:
        edges = [self._edges_of(side) for side in node.sides]
        able = [bool(each) for each in edges]
        for side in (0, 1):
            able[side] = able[side] and not self._is_over(node, side)
        if not any(able):
            return []
        if not all(able):
            side = able.index(True)
            return self._alone(node, side, edges[side])
        if node.ahead:
            side = 1 if node.ahead > 0 else 0
            return self._alone(node, side, edges[side])
        for side in (0, 1):
            paid = self._paying(node, side, edges[side])
            if paid:
                return paid
        passes = [each[0].kind == _TIME for each in edges]
        if passes[0] != passes[1]:  # whoever has something to do at this time does it first
            side = passes.index(False)
            return self._alone(node, side, edges[side])
        return list(_together(edges[0], edges[1]))

    def _alone(self, node: Node, side: int, edges: Sequence[_Edge]) -> list[Move]:
        paid = self._paying(node, side, edges)
        return paid or [
            Move((edge.number, NONE) if side == 0 else (NONE, edge.number), edge.kind != _TIME)
            for edge in edges
        ]

    def _paying(self, node: Node, side: int, edges: Sequence[_Edge]) -> list[Move]:
        """Give the moves that do the service owed longest of those that can be done."""
        for owed in node.owed:
            if owed.side != side:
                continue
            fitting = [edge for edge in edges if edge.kind == owed.kind]
            fitting = [edge for edge in fitting if edge.action == owed.action] or fitting
            fitting = [edge for edge in fitting if edge.choice == owed.choice] or fitting
            if fitting:
                return [
                    Move(
                        (edge.number, NONE) if side == 0 else (NONE, edge.number),
                        edge.action != owed.action or owed.when != 0,
                    )
                    for edge in fitting
                ]
        return []

    def _after(self, node: Node, move: Move) -> Arrival:
        arrays = self._arrays
        sides, met = list(node.sides), list(node.met)
        ahead, owed, leads = node.ahead, list(node.owed), node.leads
        differs = False
        for side in (0, 1):
            edge = move.edges[side]
            if edge == NONE:
                continue
            target = int(arrays.target[edge])
            units = int(arrays.duration[edge])
            if move.edges[1 - side] == NONE and arrays.action[edge] != NO_ACTION:
                self._account(owed, node, side, edge)
            leads, apart = self._observed.after(leads, side, sides[side], edge)
            differs |= apart
            sides[side] = self._standing(target)
            met[side] |= self._keys.get(target, 0)
            ahead += units if side == 0 else -units
            if units:
                owed = [
                    each._replace(when=max(each.when - units, _LATE)) if each.side == side else each
                    for each in owed
                ]
        owed = [each for each in owed if sides[each.side] < arrays.states]
        after = Node((sides[0], sides[1]), ahead, tuple(owed), (met[0], met[1]), leads)
        return self._arrive(after, differs)

    def _account(self, owed: list[Owed], node: Node, side: int, edge: int) -> None:
        """Pay with a service what this side owes, or let the other one owe it."""
        action = int(self._arrays.action[edge])
        kind = self._kinds[action]
        mine = [each for each in owed if each.side == side and each.kind == kind]
        if mine:
            exact = [each for each in mine if each.action == action]
            owed.remove((exact or mine)[0])
            return
        when = node.ahead if side == 0 else -node.ahead
        owed.append(self._owed(1 - side, edge, when))

    def follow(
        self, roots: Sequence[int], limit: int, *, widely: bool, is_over: Callable[[], bool]
    ) -> bool:
        """Follow all that can come behind nodes; false if there are more nodes than the limit.

        It is also false once `is_over`, which is asked every now and then.
        `widely`: what is near comes first, else one way is followed to its end before others.
        """
        pending = deque(roots)
        seen = set(roots)
        while pending:
            number = pending.popleft() if widely else pending.pop()
            if not self.is_expanded[number]:
                if len(self.nodes) >= limit:
                    return False
                if self.expanded % _LOOK_EVERY == 0 and is_over():
                    return False
                self._expand(number)
            for arrival in self.arrivals[number]:
                if arrival.node not in seen:
                    seen.add(arrival.node)
                    pending.append(arrival.node)
        return True


def _together(one: Sequence[_Edge], other: Sequence[_Edge]) -> Iterator[Move]:
    """Give the moves of two sides at one time, none of which owes anything that it could do."""
    kinds = dict.fromkeys(edge.kind for edge in (*one, *other))
    for kind in kinds:
        mine = [edge for edge in one if edge.kind == kind]
        theirs = [edge for edge in other if edge.kind == kind]
        common = {edge.action for edge in mine} & {edge.action for edge in theirs}
        for action in sorted(common):
            yield from _matched(
                [edge for edge in mine if edge.action == action],
                [edge for edge in theirs if edge.action == action],
            )
        rest = [edge for edge in mine if edge.action not in common]
        others = [edge for edge in theirs if edge.action not in common]
        if rest and others:
            yield from _matched(rest, others)
        else:
            yield from (Move((edge.number, NONE), True) for edge in rest)
            yield from (Move((NONE, edge.number), True) for edge in others)


def _matched(mine: Sequence[_Edge], theirs: Sequence[_Edge]) -> Iterator[Move]:
    """Match edges with the same choices, and those without such a partner with all."""
    left = {edge.choice for edge in mine}
    right = {edge.choice for edge in theirs}
    for edge in mine:
        for other in theirs:
            same = edge.choice == other.choice
            if same or edge.choice not in right or other.choice not in left:
                yield Move((edge.number, other.number), edge.action != other.action)
