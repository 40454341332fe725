"""Show one race of a group: the way there and both orders."""

from __future__ import annotations

from collections.abc import Callable

from rebecsim.exploration.races.ahead import Ahead
from rebecsim.exploration.races.arrays import NO_ACTION, Arrays
from rebecsim.exploration.races.deciding import breach_of_state
from rebecsim.exploration.races.diamonds import NONE, Diamonds
from rebecsim.exploration.races.following import Start
from rebecsim.exploration.races.futures import Futures
from rebecsim.exploration.races.groups import Group
from rebecsim.exploration.races.judged import Judged
from rebecsim.exploration.races.result import Distance, RaceGroup
from rebecsim.exploration.races.witness import Way, Witness, witness_of
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.breach_key import BreachKey
from rebecsim.exploration.states.outcome import Breach


class Shower:
    """Makes what is said of groups from what is known of them.

    `judged` gives what is known of all that was followed.
    """

    def __init__(
        self,
        search: Search,
        arrays: Arrays,
        diamonds: Diamonds,
        futures: Futures,
        judged: Callable[[], Judged],
    ) -> None:
        self._search = search
        self._arrays = arrays
        self._diamonds = diamonds
        self._futures = futures
        self._ahead = Ahead(arrays, diamonds, futures)
        self._judged = judged

    def shown(self, group: Group, *, observing: bool) -> RaceGroup:
        """Give the group with a witness of the worst that comes of it."""
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
        matters = kind in ("inevitable", "avoidable", "observed") or (
            kind == "results" and not observing
        )
        return RaceGroup(
            group.contenders, kind, len(group.pairs), (keys[0], keys[1]), distance, witness, matters
        )

    def _ways_to_breach(self, group: Group, pair: int) -> tuple[Way, Way]:
        """Show the order after which something goes wrong until it does, beside the other one."""
        ways = group.rows(self._diamonds, pair)
        best = min(
            (
                (self._ahead.far(way, key), side, place, key)
                for side in (0, 1)
                for key in group.keys[side]
                for place, way in enumerate(ways[side])
            ),
        )
        _, side, place, key = best
        wrong = ways[side][place]
        other = min(ways[1 - side], key=lambda way: (self._ahead.meets(way, key), -len(way.edges)))
        edges = self._ahead.to_breach(wrong, key)
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

    def _ways_followed(self, group: Group, start: Start) -> tuple[Way, Way]:
        pair, _ = group.shown or (0, None)
        ways = group.in_order(self._diamonds, pair)
        edges = [
            [int(edge) for edge in (each.one[row], each.two[row]) if edge != NONE]
            for each, row in zip(ways, start.rows, strict=True)
        ]
        alone = list(start.arrival.alone)
        if not alone and not start.arrival.differs:
            judged = self._judged()
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
        end = int(arrays.target[edges[-1]])
        return Way(arrays.ordinals(edges), end if end < arrays.states else None, breach)

    def _breach_of(self, target: int, key: BreachKey) -> Breach | None:
        """Give what is wrong with a state; a breach of the last transition is found on the way."""
        return None if target >= self._arrays.states else breach_of_state(key)


def _distance(witness: Witness) -> Distance | None:
    """Give how far the breach that is shown lies behind the state of the race."""
    found = [
        Distance(len(order.steps), order.steps[-1].time - witness.time)
        for order in witness.orders
        if order.breach is not None
    ]
    return min(found, default=None)
