"""Follow two orders of a race, with the same steps after both, until they join again.

Pairs of states are followed, with how far the two runs are out of step. At each point

* the run that is behind in time goes on alone;
* at equal times, a run that owes the other one a service does it as soon as it can: the same
  message, with the same choices;
* otherwise a service that both can do next is done in both: one of the same message server and
  sender, with the same arguments and choices as far as there is such a one;
* a service that only one of them can do is done there alone, and the other one owes it.

Where one of them meets a breach, the other one does what it owes, and that is all. Otherwise they
have come together in equal states at one time, or when both have ended in the same way. Runs that
are more than `MOST_OWED` services out of step count as never joining.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rebecsim.exploration.races.diamonds import NONE, Ways
from rebecsim.exploration.races.futures import Futures
from rebecsim.exploration.races.step_graph import TIME, Arrays, Edge, Edges, Lead, Observed

MOST_OWED = 8
"""Services that one run may be behind the other before they count as never joining."""

_LOOK_EVERY = 100  # nodes between two checks of the limits of time and memory
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


class RunPair(NamedTuple):
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
    """An edge for each side, NONE for a side that stays; `mismatched` if the services differ."""

    edges: tuple[int, int]
    mismatched: bool


class Start(NamedTuple):
    """Where following begins for one way in each order: rows of the first and the second order.

    `mismatched` is that of a move; `time` has passed in the first of them.
    """

    arrival: Arrival
    mismatched: bool
    rows: tuple[int, int]
    time: int


class Follower:
    """Follows pairs of orders, each once.

    For every node: its moves, and where each of them arrives. Nodes that are `joined` and those
    that lie at the limits of the exploration, `cut`, have no moves. `mismatching` are the nodes
    with a mismatched move, `breaching` those with a move by which only one side meets a breach,
    `differing` those with a move by which an observer sees a difference.
    """

    def __init__(self, arrays: Arrays, futures: Futures, observed: Observed) -> None:
        self._arrays = arrays
        self._states = arrays.states
        self._is_cut = memoryview(arrays.cut.data)
        self._futures = futures
        self._observed = observed
        self._edges = Edges(arrays)
        self._numbers: dict[RunPair, int] = {}
        self.nodes: list[RunPair] = []
        self.moves: list[list[Move]] = []
        self.arrivals: list[list[Arrival]] = []
        self.is_expanded: list[bool] = []
        self.expanded = 0
        self.joined: set[int] = set()
        self.cut: set[int] = set()
        self.breaching: set[int] = set()
        self.differing: set[int] = set()
        self.mismatching: set[int] = set()
        self._deadlock = sum(
            1 << key for key, each in enumerate(arrays.keys) if each.verdict == "deadlock"
        )

    # --- from the two orders on ------------------------------------------------------------------

    def starts(self, left_first: Ways, right_first: Ways, rows: tuple[slice, slice]) -> list[Start]:
        """Give where following begins for a pair: for ways with the same choices in both orders."""
        ones = range(rows[0].start, rows[0].stop)
        others = range(rows[1].start, rows[1].stop)
        fitting = [
            (i, j)
            for i in ones
            for j in others
            if self._same_choices(left_first, i, right_first, j)
        ]
        alone = set(ones) - {i for i, _ in fitting}
        fitting += [(i, j) for i in alone for j in others]
        alone = set(others) - {j for _, j in fitting}
        fitting += [(i, j) for j in alone for i in ones]
        return [self._start(left_first, right_first, pair) for pair in fitting]

    def _same_choices(self, left_first: Ways, one: int, right_first: Ways, other: int) -> bool:
        choice = self._arrays.choice
        pairs = (
            (left_first.one[one], right_first.two[other]),
            (left_first.two[one], right_first.one[other]),
        )
        return all(NONE in pair or choice[pair[0]] == choice[pair[1]] for pair in pairs)

    def _start(self, left_first: Ways, right_first: Ways, rows: tuple[int, int]) -> Start:
        edges = [
            [int(ways.one[row]), int(ways.two[row])]
            for ways, row in zip((left_first, right_first), rows, strict=True)
        ]
        done = [[self._edges[edge] for edge in each if edge != NONE] for each in edges]
        times = [sum(edge.units for edge in each) for each in done]
        sides = tuple(each[-1].target for each in done)
        owed = tuple(
            _owed_service(side, self._edges[edges[1 - side][0]], -times[side])
            for side in (0, 1)
            if len(done[side]) == 1 and sides[side] < self._states
        )
        met = [0, 0]
        leads = self._observed.none
        differs = False
        source = int(np.searchsorted(self._arrays.first, edges[0][0], side="right")) - 1
        for side in (0, 1):
            at = source
            for edge in done[side]:
                met[side] |= edge.met
                leads, mismatch = self._observed.after(leads, side, at, edge.number)
                differs |= mismatch
                at = int(self._arrays.target[edge.number])
        mismatched = any(len(each) == 2 and each[0].units for each in done)
        node = RunPair((sides[0], sides[1]), times[0] - times[1], owed, (met[0], met[1]), leads)
        return Start(self._arrive(node, differs), mismatched, rows, times[0])

    # --- nodes -----------------------------------------------------------------------------------

    def _arrive(self, node: RunPair, differs: bool) -> Arrival:
        """Number a node; what only one side meets is settled before."""
        node, alone = self._mark_one_sided(node)
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

    def _has_joined(self, node: RunPair) -> bool:
        """Whether there is nothing left to compare."""
        one, other = node.sides
        if one == other:
            return node.ahead == 0 or one >= self._states or self._arrays.is_stuck(one)
        over = [self._is_over(node, side) for side in (0, 1)]
        if not any(over):
            return False
        return all(over) or not self._owes(node, over.index(False))

    def _is_over(self, node: RunPair, side: int) -> bool:
        """Whether a run has met a breach; a deadlock is its end in any case."""
        return node.sides[side] >= self._states or bool(node.met[side] & ~self._deadlock)

    @staticmethod
    def _owes(node: RunPair, side: int) -> bool:
        return any(each.side == side for each in node.owed)

    def _mark_one_sided(self, node: RunPair) -> tuple[RunPair, list[tuple[int, int]]]:
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

    def _is_alone(self, node: RunPair, side: int, key: int) -> bool:
        """Whether the other side does not meet what this one has met, doing the same."""
        other = node.sides[1 - side]
        if self._is_over(node, 1 - side):
            return True
        future = self._futures.of_key[key]
        if future.inevitable[other] or self._is_unknown(other):
            return False
        return not future.maybe_possible[other] or not self._owes(node, 1 - side)

    def _is_unknown(self, side: int) -> bool:
        return side < self._states and bool(self._is_cut[side])

    # --- moves -----------------------------------------------------------------------------------

    def _expand(self, number: int) -> None:
        """Compute the moves of a node."""
        self.is_expanded[number] = True
        self.expanded += 1
        node = self.nodes[number]
        if number in self.joined or number in self.cut or len(node.owed) > MOST_OWED:
            return
        self.moves[number] = moves = self._moves(node)
        self.arrivals[number] = arrivals = [self._after(node, move) for move in moves]
        if any(move.mismatched for move in moves):
            self.mismatching.add(number)
        if any(after.alone for after in arrivals):
            self.breaching.add(number)
        if any(after.differs for after in arrivals):
            self.differing.add(number)

    def _moves(self, node: RunPair) -> list[Move]:
        edges = [self._edges.of(side) for side in node.sides]
        able = [bool(each) for each in edges]
        for side in (0, 1):
            able[side] = able[side] and not self._is_over(node, side)
        if not any(able):
            return []
        if not all(able):
            side = able.index(True)
            return self._solo_moves(node, side, edges[side])
        if node.ahead:
            side = 1 if node.ahead > 0 else 0
            return self._solo_moves(node, side, edges[side])
        for side in (0, 1):
            paid = self._owed_moves(node, side, edges[side])
            if paid:
                return paid
        passes = [each[0].kind == TIME for each in edges]
        if passes[0] != passes[1]:  # the side that can act at this time does it first
            side = passes.index(False)
            return self._solo_moves(node, side, edges[side])
        return list(_joint_moves(edges[0], edges[1]))

    def _solo_moves(self, node: RunPair, side: int, edges: Sequence[Edge]) -> list[Move]:
        paid = self._owed_moves(node, side, edges)
        return paid or [
            Move((edge.number, NONE) if side == 0 else (NONE, edge.number), edge.kind != TIME)
            for edge in edges
        ]

    def _owed_moves(self, node: RunPair, side: int, edges: Sequence[Edge]) -> list[Move]:
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

    def _after(self, node: RunPair, move: Move) -> Arrival:
        sides, met = list(node.sides), list(node.met)
        ahead, owed, leads = node.ahead, node.owed, node.leads
        differs = False
        for side in (0, 1):
            if move.edges[side] == NONE:
                continue
            edge = self._edges[move.edges[side]]
            if edge.kind != TIME and move.edges[1 - side] == NONE:
                owed = _settle_owed(node, side, edge)
            if leads:
                leads, mismatch = self._observed.after(leads, side, sides[side], edge.number)
                differs |= mismatch
            sides[side] = edge.target
            met[side] |= edge.met
            if edge.units:
                ahead += edge.units if side == 0 else -edge.units
                owed = _seen_later(owed, side, edge.units)
        if owed and max(sides) >= self._states:  # no run goes on behind a breach
            owed = tuple([each for each in owed if sides[each.side] < self._states])
        return self._arrive(
            RunPair((sides[0], sides[1]), ahead, owed, (met[0], met[1]), leads), differs
        )

    def follow(
        self, roots: Sequence[int], limit: int, *, widely: bool, is_over: Callable[[], bool]
    ) -> bool:
        """Follow all that can come behind nodes; false if there are more nodes than the limit.

        It is also false once `is_over`, which is asked every now and then.
        `widely`: breadth first, else depth first.
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


def _owed_service(side: int, edge: Edge, when: int) -> Owed:
    return Owed(side, edge.kind, edge.action, edge.choice, max(when, _LATE))


def _settle_owed(node: RunPair, side: int, edge: Edge) -> tuple[Owed, ...]:
    """Pay with a service what this side owes, or let the other one owe it."""
    mine = [each for each in node.owed if each.side == side and each.kind == edge.kind]
    if not mine:
        return *node.owed, _owed_service(1 - side, edge, node.ahead if side == 0 else -node.ahead)
    paid = ([each for each in mine if each.action == edge.action] or mine)[0]
    place = node.owed.index(paid)
    return node.owed[:place] + node.owed[place + 1 :]


def _seen_later(owed: tuple[Owed, ...], side: int, units: int) -> tuple[Owed, ...]:
    """Give the owed services as they are when time has passed for a side."""
    return tuple(
        [
            each._replace(when=max(each.when - units, _LATE)) if each.side == side else each
            for each in owed
        ]
    )


def _joint_moves(one: Sequence[Edge], other: Sequence[Edge]) -> Iterator[Move]:
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


def _matched(mine: Sequence[Edge], theirs: Sequence[Edge]) -> Iterator[Move]:
    """Match edges with the same choices, and those without such a partner with all."""
    left = {edge.choice for edge in mine}
    right = {edge.choice for edge in theirs}
    for edge in mine:
        for other in theirs:
            same = edge.choice == other.choice
            if same or edge.choice not in right or other.choice not in left:
                yield Move((edge.number, other.number), edge.action != other.action)
