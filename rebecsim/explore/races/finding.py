"""Finding the races of a model, and what comes of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rebecsim.actors import Model, Violation
from rebecsim.explore.breach_key import BreachKey
from rebecsim.explore.exploring import Checks, Problem, pose
from rebecsim.explore.limits import Limits, peak_bytes
from rebecsim.explore.outcome import Breach
from rebecsim.explore.races.arrays import NO_ACTION, Arrays, arrays_of
from rebecsim.explore.races.deciding import breach_of_state, unexplained
from rebecsim.explore.races.diamonds import NONE, Diamonds, Ways, find_diamonds
from rebecsim.explore.races.folding import alike
from rebecsim.explore.races.following import Follower, Start
from rebecsim.explore.races.futures import Futures, futures_of
from rebecsim.explore.races.judged import Judged
from rebecsim.explore.races.observed import observed_of
from rebecsim.explore.races.result import (
    RACE_KINDS,
    Contender,
    Distance,
    RaceBound,
    RaceGroup,
    RaceKind,
    Races,
)
from rebecsim.explore.races.witness import Way, Witness, witness_of
from rebecsim.explore.search import Progress, Search
from rebecsim.explore.state_graph import build_graph
from rebecsim.explore.transitions import Mode
from rebecsim.lang import CheckedModel
from rebecsim.native.engines import Engine

__all__ = ["MOST_FOLLOWED", "find_races"]

MOST_FOLLOWED = 200_000
"""The pairs of states that are followed, at most, unless the caller says otherwise."""

_BATCHES = (1, 8, 64, 512)  # races of a group that are followed before it is looked what came of it


def find_races(
    model: Model,
    *,
    mode: Mode | None = None,
    checks: Checks | None = None,
    checked: CheckedModel | None = None,
    limits: Limits | None = None,
    abstract: Sequence[str] = (),
    observe: Sequence[str] = (),
    most_followed: int = MOST_FOLLOWED,
    engine: Engine = "auto",
    strict: bool = False,
    progress: Callable[[Progress], None] | None = None,
    is_interrupted: Callable[[], bool] = lambda: False,
) -> Races:
    """Find every race of a model; the arguments are those of `explore`.

    `observe` names what somebody outside looks at: variables, as `rebec.variable`, or the messages
    of a `rebec`. Then an order is harmful only if they are shown something else, or something
    goes wrong. `most_followed` limits the pairs of states that are followed.

    Raises UserError or RebecaError for what does not fit the model.
    """
    wanted = checks or Checks()
    try:
        problem = pose(
            model,
            mode=mode,
            checks=wanted,
            checked=checked,
            abstract=abstract,
            absolute=limits is not None and limits.horizon is not None,
            strict=strict,
        )
    except Violation as violation:
        return _in_constructor(model, mode, violation, abstract, observe)
    graph = build_graph(
        problem,
        deadlock=wanted.deadlock,
        checked=checked,
        limits=limits,
        engine=engine,
        progress=progress,
        is_interrupted=is_interrupted,
    )
    arrays = arrays_of(graph)
    found = _Finder(problem, graph.search, arrays, observe, most_followed).races()
    problem.system.runner.finish()
    return found


def _in_constructor(
    model: Model,
    mode: Mode | None,
    violation: Violation,
    abstract: Sequence[str],
    observe: Sequence[str],
) -> Races:
    text = f"{violation}, in a constructor" if str(violation) else "in a constructor"
    return Races(
        model=model.name,
        mode=mode or ("core" if model.core else "FTTS"),
        groups=(),
        unexplained=(),
        states=0,
        pairs=0,
        commuting=0,
        followed=0,
        bounds=(),
        abstraction=tuple(abstract),
        observed=tuple(observe),
        alike=(),
        in_constructor=Breach(violation.verdict, text),
    )


_FIRST_LOOK = 500  # pairs of states followed before it is looked what is known

_HERE = Distance(0, 0)


@dataclass
class _Group:
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


class _Finder:
    """Looks at all races of a graph."""

    def __init__(
        self,
        problem: Problem,
        search: Search,
        arrays: Arrays,
        observe: Sequence[str],
        most_followed: int,
    ) -> None:
        self._problem = problem
        self._search = search
        self._arrays = arrays
        self._most = most_followed
        self._observe = tuple(observe)
        self._diamonds: Diamonds = find_diamonds(arrays)
        self._futures: Futures = futures_of(arrays)
        observed = observed_of(observe, problem.system, search.states, arrays)
        self._follower = Follower(arrays, self._futures, observed)
        self._is_full = False
        # What comes whatever is done is decided by no race.
        self._interesting = [
            key for key, future in enumerate(self._futures.of_key) if not future.must_come[0]
        ]
        self._groups = self._grouped()

    def races(self) -> Races:
        """Give what is to be said."""
        for group in self._groups:
            for pair in group.pairs:
                self._look_ahead(group, pair)
        for group in self._groups:
            self._follow(group, thorough=False)
        if set(self._unexplained_keys()) & set(self._interesting):
            for group in self._groups:
                self._follow(group, thorough=True)
        system, search = self._problem.system, self._search
        ordered = sorted(
            self._groups, key=lambda each: (RACE_KINDS.index(each.kind or "joins"), each.contenders)
        )
        groups = tuple(map(self._result, ordered))
        bounds: list[RaceBound] = list(search.bounds)
        if self._is_full:
            bounds.append("pairs")
        return Races(
            model=system.model.name,
            mode=system.mode,
            groups=groups,
            unexplained=unexplained(
                self._problem, search, self._arrays, self._futures, self._unexplained_keys()
            ),
            states=len(search.states),
            pairs=len(self._diamonds.left),
            commuting=int(self._diamonds.commutes.sum()),
            followed=len(self._follower.nodes),
            bounds=tuple(bounds),
            abstraction=self._problem.left_out,
            observed=self._observe,
            alike=alike(system, groups),
            deciding=self._problem.deciding,
            memory=peak_bytes() or 0,
        )

    def _grouped(self) -> list[_Group]:
        arrays, diamonds = self._arrays, self._diamonds
        runner = self._problem.system.runner
        contenders = [
            Contender(
                str(runner.rebecs[action.owner]),
                runner.server_at(action.owner, action.number).name,
                runner.name_of(action.sender),
            )
            for action in arrays.actions
        ]
        groups: dict[tuple[Contender, Contender], _Group] = {}
        edges = diamonds.steps.first
        for pair in np.flatnonzero(~diamonds.commutes).tolist():
            one = contenders[arrays.action[edges[diamonds.left[pair]]]]
            two = contenders[arrays.action[edges[diamonds.right[pair]]]]
            key = (two, one) if two < one else (one, two)
            group = groups.setdefault(key, _Group(key))
            group.pairs.append(pair)
            if two < one:
                group.swapped.add(pair)
        return list(groups.values())

    # --- violations, from the futures of states --------------------------------------------------

    def _look_ahead(self, group: _Group, pair: int) -> None:
        """Note what must come, or can come, after one order and not after the other."""
        if not self._arrays.keys:
            return
        ways = self._ways(group, pair)
        for side in (0, 1):
            mine, theirs = ways[side], ways[1 - side]
            for key in range(len(self._arrays.keys)):
                must = self._must(mine, key) and not self._might_be_bound(theirs, key)
                can = self._can(mine, key) and not self._may(theirs, key)
                if must or can:
                    group.keys[side].add(key)
                    far = min(self._far(way, key) for way in mine)
                    group.note("inevitable" if must else "avoidable", far, pair, None)
            if self._must_fail(mine) and not self._might_fail(theirs):
                keys = {key for key in range(len(self._arrays.keys)) if self._can(mine, key)}
                group.keys[side].update(keys)
                far = min(self._far(way, key) for way in mine for key in keys)
                group.note("inevitable", far, pair, None)

    def _ways(self, group: _Group, pair: int) -> tuple[list[_Row], list[_Row]]:
        """Give the ways of the first contender first, then those of the second one first."""
        rows = _rows(self._diamonds.there, pair), _rows(self._diamonds.back, pair)
        return (rows[1], rows[0]) if pair in group.swapped else rows

    def _targets(self, way: _Row) -> list[int]:
        """Give what a way passes."""
        arrays = self._arrays
        return [int(arrays.target[edge]) for edge in way.edges]

    def _meets(self, way: _Row, key: int) -> bool:
        meets = self._futures.of_key[key].meets
        return any(meets[target] for target in self._targets(way))

    def _must(self, ways: list[_Row], key: int) -> bool:
        must = self._futures.of_key[key].must_come
        return all(self._meets(way, key) or must[way.end] for way in ways)

    def _might_be_bound(self, ways: list[_Row], key: int) -> bool:
        might = self._futures.of_key[key].might_be_bound_to
        return all(self._meets(way, key) or might[way.end] for way in ways)

    def _must_fail(self, ways: list[_Row]) -> bool:
        future = self._futures.any
        return all(
            future.must_come[way.end] or any(future.meets[each] for each in self._targets(way))
            for way in ways
        )

    def _might_fail(self, ways: list[_Row]) -> bool:
        future = self._futures.any
        return all(
            future.might_be_bound_to[way.end]
            or any(future.meets[each] for each in self._targets(way))
            for way in ways
        )

    def _can(self, ways: list[_Row], key: int) -> bool:
        distance = self._futures.of_key[key].distance
        return any(self._meets(way, key) or distance[way.end] >= 0 for way in ways)

    def _may(self, ways: list[_Row], key: int) -> bool:
        may = self._futures.of_key[key].may_come
        return any(self._meets(way, key) or may[way.end] for way in ways)

    def _far(self, way: _Row, key: int) -> int:
        """Give how many steps a breach lies behind the state of the race."""
        future = self._futures.of_key[key]
        for steps, target in enumerate(self._targets(way), 1):
            if future.meets[target]:
                return steps
        distance = int(future.distance[way.end])
        return len(way.edges) + distance if distance >= 0 else 1 << 60

    # --- following -------------------------------------------------------------------------------

    def _follow(self, group: _Group, *, thorough: bool) -> None:
        """Follow the orders of a group until it is known what the worst of them comes to.

        `thorough`: until all that can go wrong after one order only is known.
        """
        for size in (*_BATCHES, len(group.pairs)):
            if group.followed == len(group.pairs) or (self._is_settled(group) and not thorough):
                return
            batch = group.pairs[group.followed : size]
            if batch:
                self._follow_batch(group, batch, thorough=thorough)
                group.followed = min(size, len(group.pairs))

    def _is_settled(self, group: _Group) -> bool:
        """Whether nothing worse can come of a group than what is known."""
        if group.kind is None:
            return False
        worst: RaceKind = "results"
        if self._interesting:
            worst = "avoidable"
        elif self._observe:
            worst = "observed"
        return RACE_KINDS.index(group.kind) <= RACE_KINDS.index(worst)

    def _follow_batch(self, group: _Group, batch: list[int], *, thorough: bool) -> None:
        """Follow some races of a group, and look every now and then what is known."""
        starts = [(pair, start) for pair in batch for start in self._starts(group, pair)]
        roots = [start.arrival.node for _, start in starts]
        budget = _FIRST_LOOK
        finished = False
        while not finished and not self._is_full:
            most = min(len(self._follower.nodes) + budget, self._most)
            finished = self._follower.follow(roots, most, widely=bool(self._interesting))
            self._is_full = not finished and most == self._most
            judged = Judged(self._follower, self._arrays)
            for pair, start in starts:
                self._judge(group, pair, start, judged, finally_=finished or self._is_full)
            if self._is_settled(group) and not thorough:
                return
            budget *= 2
        if self._is_full and not finished:
            judged = Judged(self._follower, self._arrays)
            for pair, start in starts:
                self._judge(group, pair, start, judged, finally_=True)

    def _starts(self, group: _Group, pair: int) -> list[Start]:
        there, back = self._diamonds.there, self._diamonds.back
        if pair in group.swapped:
            there, back = back, there
        return self._follower.starts(there, back, (there.of(pair), back.of(pair)))

    def _judge(
        self, group: _Group, pair: int, start: Start, judged: Judged, *, finally_: bool
    ) -> None:
        """Note what comes of a race; what may change as more is followed, only `finally_`."""
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
            steps, time = judged.until_joined([node])
            group.span = Distance(
                max(group.span.steps, 2 + steps), max(group.span.time, start.time + time)
            )
            group.note("while", 0, pair, start)
        else:
            group.note("joins", 0, pair, start)

    def _unexplained_keys(self) -> list[int]:
        """Give the breaches that can come and that no group explains."""
        explained = {key for group in self._groups for keys in group.keys for key in keys}
        return [
            key
            for key, future in enumerate(self._futures.of_key)
            if key not in explained and future.distance[0] >= 0
        ]

    # --- results ---------------------------------------------------------------------------------

    def _result(self, group: _Group) -> RaceGroup:
        assert group.shown is not None
        pair, start = group.shown
        kind = group.kind or "joins"
        keys = tuple(
            tuple(self._arrays.keys[key] for key in sorted(of_side)) for of_side in group.keys
        )
        if start is None:
            ways = self._ways_to_breach(group, pair)
        else:
            ways = self._ways_followed(group, start)
        state = int(self._diamonds.steps.state[self._diamonds.left[pair]])
        witness = witness_of(self._search, state, ways, (keys[0], keys[1]))
        distance = None
        if kind in ("inevitable", "avoidable"):
            distance = _distance(witness)
        elif kind == "while":
            distance = group.span
        harmful = kind in ("inevitable", "avoidable", "observed") or (
            kind == "results" and not self._observe
        )
        return RaceGroup(
            group.contenders, kind, len(group.pairs), (keys[0], keys[1]), distance, witness, harmful
        )

    def _ways_to_breach(self, group: _Group, pair: int) -> tuple[Way, Way]:
        """Show the order after which something goes wrong until it does, beside the other one."""
        ways = self._ways(group, pair)
        best = min(
            (
                (self._far(way, key), side, place, key)
                for side in (0, 1)
                for key in group.keys[side]
                for place, way in enumerate(ways[side])
            ),
        )
        _, side, place, key = best
        wrong = ways[side][place]
        other = min(ways[1 - side], key=lambda way: (self._meets(way, key), -len(way.edges)))
        edges = self._to_breach(wrong, key)
        bad = self._way(edges, key)
        good = self._way(self._catching_up(list(other.edges), edges, key), None)
        return (bad, good) if side == 0 else (good, bad)

    def _catching_up(self, edges: list[int], others: list[int], key: int) -> list[int]:
        """Let an order go on until it has served what the other one has, as far as it can."""
        arrays = self._arrays
        missing = [int(action) for action in arrays.action[others] if action != NO_ACTION]
        for action in arrays.action[edges].tolist():
            if action in missing:
                missing.remove(action)
        at = int(arrays.target[edges[-1]])
        meets = self._futures.of_key[key].meets
        while missing and at < arrays.states:
            low, high = int(arrays.first[at]), int(arrays.first[at + 1])
            fitting = [
                edge
                for edge in range(low, high)
                if int(arrays.action[edge]) in (*missing, NO_ACTION)
                and not meets[arrays.target[edge]]
            ]
            if not fitting:
                break
            edges.append(fitting[0])
            if arrays.action[fitting[0]] != NO_ACTION:
                missing.remove(int(arrays.action[fitting[0]]))
            at = int(arrays.target[fitting[0]])
        return edges

    def _to_breach(self, way: _Row, key: int) -> list[int]:
        future = self._futures.of_key[key]
        edges = []
        for edge in way.edges:
            edges.append(edge)
            if future.meets[self._arrays.target[edge]]:
                return edges
        at = way.end
        while not future.meets[at]:
            low, high = self._arrays.first[at], self._arrays.first[at + 1]
            ahead = future.distance[self._arrays.target[low:high]]
            edge = int(low + np.flatnonzero(ahead == future.distance[at] - 1)[0])
            edges.append(edge)
            at = int(self._arrays.target[edge])
        return edges

    def _ways_followed(self, group: _Group, start: Start) -> tuple[Way, Way]:
        pair, _ = group.shown or (0, None)
        ways = self._diamonds.there, self._diamonds.back
        if pair in group.swapped:
            ways = ways[1], ways[0]
        edges = [
            [int(edge) for edge in (each.one[row], each.two[row]) if edge != NONE]
            for each, row in zip(ways, start.rows, strict=True)
        ]
        alone = list(start.arrival.alone)
        if not alone and not start.arrival.differs:
            judged = Judged(self._follower, self._arrays)
            for move, arrival in judged.way(start.arrival.node):
                for side in (0, 1):
                    if move.edges[side] != NONE:
                        edges[side].append(move.edges[side])
                alone = list(arrival.alone)
        key = dict(alone)
        first, second = (self._way(edges[side], key.get(side)) for side in (0, 1))
        return first, second

    def _way(self, edges: list[int], key: int | None) -> Way:
        """Give edges as transitions, up to the first that meets a breach if there is one."""
        arrays = self._arrays
        breach = None
        if key is not None:
            meets = self._futures.of_key[key].meets
            for place, edge in enumerate(edges):
                if meets[arrays.target[edge]]:
                    edges = edges[: place + 1]
                    breach = self._breach_of(int(arrays.target[edge]), arrays.keys[key])
                    break
        ordinals = []
        for edge in edges:
            source = int(np.searchsorted(arrays.first[1:], edge, side="right"))
            ordinals.append(edge - int(arrays.first[source]))
        end = int(arrays.target[edges[-1]])
        return Way(tuple(ordinals), end if end < arrays.states else None, breach)

    def _breach_of(self, target: int, key: BreachKey) -> Breach | None:
        """Give what is wrong with a state; a breach of the last transition is found on the way."""
        return None if target >= self._arrays.states else breach_of_state(key)


@dataclass(frozen=True)
class _Row:
    """One way to take two steps: its edges, and the state or breach at its end."""

    edges: tuple[int, ...]
    end: int


def _rows(ways: Ways, pair: int) -> list[_Row]:
    rows = ways.of(pair)
    return [
        _Row(tuple(int(edge) for edge in (one, two) if edge != NONE), int(end))
        for one, two, end in zip(
            ways.one[rows].tolist(), ways.two[rows].tolist(), ways.end[rows].tolist(), strict=True
        )
    ]


def _distance(witness: Witness) -> Distance | None:
    """Give how far the breach that is shown lies behind the state of the race."""
    found = [
        Distance(len(order.steps), order.steps[-1].time - witness.time)
        for order in witness.orders
        if order.breach is not None
    ]
    return min(found, default=None)
