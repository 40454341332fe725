"""Group the races of the same two kinds of services, follow them, and judge each group.

Races are followed as far as the limits allow. The judgement says whether the orders join again, and
what differs until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np

from rebecsim.exploration.checks import Bound
from rebecsim.exploration.races.diamonds import NONE, Diamonds, Ways
from rebecsim.exploration.races.following import Arrival, Follower, Move, Start
from rebecsim.exploration.races.futures import avoiding, distances, longest, reaching
from rebecsim.exploration.races.result import RACE_KINDS, Contender, Distance, RaceBound, RaceKind
from rebecsim.exploration.races.step_graph import Arrays, Graph
from rebecsim.exploration.states.transitions import TransitionSystem
from rebecsim.native.arrays import Flags, Integers

_Test = Callable[[Move, Arrival], bool]


class JoinAnalysis:
    """Whether the two orders join again, for all nodes that were followed."""

    def __init__(self, follower: Follower, arrays: Arrays) -> None:
        self._follower = follower
        self._arrays = arrays
        self._graph, self._passed = self._as_graph()
        nodes = len(follower.nodes)
        joined = _mask(nodes, follower.joined)
        unknown = _mask(nodes, follower.cut)
        unknown |= ~np.array(follower.is_expanded, dtype=bool) & ~joined
        nothing = np.zeros(nodes, dtype=bool)
        self.never_joins = avoiding(self._graph, joined | unknown, nothing)
        """Some run never joins the other one."""
        self.may_never_join = self.never_joins
        if unknown.any():
            self.may_never_join = avoiding(self._graph, joined, unknown)
        self._to_alone = distances(self._graph, _mask(nodes, follower.breaching))
        self._to_mismatch = distances(self._graph, _mask(nodes, follower.mismatching))
        self._to_differing = distances(self._graph, _mask(nodes, follower.differing))
        self._to_joined = distances(self._graph, joined)
        if any(node.leads for node in follower.nodes):
            even = np.array(
                [not any(lead.shown for lead in node.leads) for node in follower.nodes], dtype=bool
            )
            behind = avoiding(self._graph, even | unknown, nothing)
            self._lags = reaching(self._graph, behind)
        else:
            self._lags = nothing

    def _as_graph(self) -> tuple[Graph, Integers]:
        follower, arrays = self._follower, self._arrays
        counts = list(map(len, follower.moves))
        first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        arrivals = chain.from_iterable(follower.arrivals)
        target = np.array([after.node for after in arrivals], dtype=np.int64)
        moves = chain.from_iterable(follower.moves)
        edges = np.array([move.edges for move in moves], dtype=np.int64).reshape(-1, 2)
        owners = np.zeros(len(edges), dtype=np.int64)
        duration = np.zeros(len(edges), dtype=np.int64)
        of_edge = arrays.graph
        passed = []
        for side in (0, 1):
            goes = edges[:, side] != NONE
            owners |= np.where(goes, of_edge.owners[edges[:, side]], 0)
            passed.append(np.where(goes, arrays.duration[edges[:, side]], 0))
            duration += passed[-1]
        return Graph(first, target, owners, duration), passed[0]

    # --- questions about one node ----------------------------------------------------------------

    def shows_different(self, node: int) -> bool:
        """Whether the two can show different things."""
        return bool(self._to_differing[node] >= 0 or self._lags[node])

    def is_mismatched(self, node: int) -> bool:
        """Whether the two can do different services, or at different times."""
        return bool(self._to_mismatch[node] >= 0)

    def keys_met_alone(self, node: int) -> set[tuple[int, int]]:
        """Give all breaches that one side can meet and the other one not, as (side, key)."""
        follower = self._follower
        found: set[tuple[int, int]] = set()
        seen, pending = {node}, [node]
        while pending:
            for after in follower.arrivals[pending.pop()]:
                found |= set(after.alone)
                if after.node not in seen and self._to_alone[after.node] >= 0:
                    seen.add(after.node)
                    pending.append(after.node)
        return found

    def way(self, node: int) -> list[tuple[Move, Arrival]]:
        """Give the shortest way to what tells most of how the two differ."""
        joined = self._follower.joined
        goals: tuple[tuple[Integers, _Test], ...] = (
            (self._to_alone, lambda move, after: bool(after.alone)),
            (self._to_differing, lambda move, after: after.differs),
            (self._to_mismatch, lambda move, after: move.mismatched),
            (self._to_joined, lambda move, after: after.node in joined),
        )
        near = (goal for goal in goals if goal[0][node] >= 0)
        return next((self._walk(node, *goal) for goal in near), [])

    def _walk(self, node: int, distance: Integers, last: _Test) -> list[tuple[Move, Arrival]]:
        """Go the shortest way to a node with a move of some sort, and take that one."""
        follower = self._follower
        way: list[tuple[Move, Arrival]] = []
        while True:
            pairs = list(zip(follower.moves[node], follower.arrivals[node], strict=True))
            if distance[node] == 0:
                return way + [pair for pair in pairs if last(*pair)][:1]
            nearer = [pair for pair in pairs if distance[pair[1].node] == distance[node] - 1]
            way.append(nearer[0])
            node = nearer[0][1].node

    def until_joined(self, node: int) -> tuple[int, int]:
        """Give the most moves and time, as the first side counts it, until the two have joined."""
        steps, time = self._until_joined
        return int(steps[node]), int(time[node])

    @cached_property
    def _until_joined(self) -> tuple[Integers, Integers]:
        graph = self._graph
        return longest(Graph(graph.first, graph.target, graph.owners, self._passed))


def _mask(nodes: int, members: Iterable[int]) -> Flags:
    found = np.zeros(nodes, dtype=bool)
    found[list(members)] = True
    return found


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
        left_first, right_first = diamonds.left_first, diamonds.right_first
        return (right_first, left_first) if pair in self.swapped else (left_first, right_first)

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


def group_races(system: TransitionSystem, arrays: Arrays, diamonds: Diamonds) -> list[Group]:
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


_BATCHES = (1, 8, 64, 512)  # races of a group followed before each judgement
_FIRST_LOOK = 500  # pairs of states followed before the first judgement
LOOK_EVERY = 256  # races between two checks of the limits


class GroupFollower:
    """Follows the orders of races until the outcome of each group is known.

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
        self._analysis: tuple[tuple[int, int], JoinAnalysis] | None = None
        self.bounds: list[RaceBound] = []
        self.unfinished = 0

    def follow_groups(self, groups: Sequence[Group], *, thorough: bool) -> None:
        """Follow groups until the worst outcome of each is known.

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
                if not self._follow_group(group, share, thorough=thorough):
                    unfinished.append(group)
            pending = unfinished
        self.unfinished = len(pending)
        for group in pending:
            self._judge_unfinished(group)

    def _judge_unfinished(self, group: Group) -> None:
        """Judge the races of a group that are not followed to their ends."""
        rest = group.pairs[group.followed :]
        for first in range(0, len(rest), LOOK_EVERY):
            if self.is_over():
                pair, start = self._starts(group, rest[first : first + 1])[0]
                group.note("undecided", 0, pair, start)
                return
            starts = self._starts(group, rest[first : first + LOOK_EVERY])
            self._judge(group, starts, finally_=True)

    def analysis(self) -> JoinAnalysis:
        """Judge all that has been followed."""
        size = len(self._follower.nodes), self._follower.expanded
        if self._analysis is None or self._analysis[0] != size:
            self._analysis = size, JoinAnalysis(self._follower, self._arrays)
        return self._analysis[1]

    def _follow_group(self, group: Group, share: int, *, thorough: bool) -> bool:
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
        """Whether a group can have no worse outcome than the known one."""
        return group.kind is not None and RACE_KINDS.index(group.kind) <= self._worst

    def _follow(self, group: Group, batch: list[int], share: int, *, thorough: bool) -> bool:
        """Follow some races of a group, and judge them from time to time."""
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
        analysis = self.analysis()
        for pair, start in starts:
            _note(group, pair, start, analysis, finally_=finally_)


def _note(group: Group, pair: int, start: Start, analysis: JoinAnalysis, *, finally_: bool) -> None:
    node, alone, differs = start.arrival
    found = {*alone, *analysis.keys_met_alone(node)}
    for side, key in found:
        group.keys[side].add(key)
    if found:
        far = 0 if alone else len(analysis.way(node))
        group.note("avoidable", 2 + far, pair, start)
    elif differs or analysis.shows_different(node):
        group.note("observed", 0, pair, start)
    elif analysis.never_joins[node]:
        group.note("results", 0, pair, start)
    elif not finally_:
        return
    elif analysis.may_never_join[node]:
        group.note("undecided", 0, pair, start)
    elif start.mismatched or analysis.is_mismatched(node):
        steps, time = analysis.until_joined(node)
        group.span = Distance(
            max(group.span.steps, 2 + steps), max(group.span.time, start.time + time)
        )
        group.note("while", 0, pair, start)
    else:
        group.note("joins", 0, pair, start)
