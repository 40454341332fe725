"""Find what must or can come after one order of a race and not after the other."""

from __future__ import annotations

from rebecsim.exploration.races.arrays import Arrays
from rebecsim.exploration.races.diamonds import Diamonds
from rebecsim.exploration.races.futures import Futures
from rebecsim.exploration.races.groups import Group, Row


class Ahead:
    """Judges the orders of a race by the futures of the states that they lead to."""

    def __init__(self, arrays: Arrays, diamonds: Diamonds, futures: Futures) -> None:
        self._arrays = arrays
        self._diamonds = diamonds
        self._futures = futures

    def look(self, group: Group, pair: int) -> None:
        """Note what must come, or can come, after one order and not after the other."""
        if not self._arrays.keys:
            return
        ways = group.rows(self._diamonds, pair)
        for side in (0, 1):
            mine, theirs = ways[side], ways[1 - side]
            for key in range(len(self._arrays.keys)):
                must = self._must(mine, key) and not self._might_be_bound(theirs, key)
                can = self._can(mine, key) and not self._may(theirs, key)
                if must or can:
                    group.keys[side].add(key)
                    far = min(self.far(way, key) for way in mine)
                    group.note("inevitable" if must else "avoidable", far, pair, None)
            if self._must_fail(mine) and not self._might_fail(theirs):
                keys = {key for key in range(len(self._arrays.keys)) if self._can(mine, key)}
                group.keys[side].update(keys)
                far = min(self.far(way, key) for way in mine for key in keys)
                group.note("inevitable", far, pair, None)

    def _targets(self, way: Row) -> list[int]:
        """Give what a way passes."""
        arrays = self._arrays
        return [int(arrays.target[edge]) for edge in way.edges]

    def meets(self, way: Row, key: int) -> bool:
        """Say whether a breach is met on a way itself."""
        meets = self._futures.of_key[key].meets
        return any(meets[target] for target in self._targets(way))

    def _must(self, ways: list[Row], key: int) -> bool:
        must = self._futures.of_key[key].must_come
        return all(self.meets(way, key) or must[way.end] for way in ways)

    def _might_be_bound(self, ways: list[Row], key: int) -> bool:
        might = self._futures.of_key[key].might_be_bound_to
        return all(self.meets(way, key) or might[way.end] for way in ways)

    def _must_fail(self, ways: list[Row]) -> bool:
        future = self._futures.any
        return all(
            future.must_come[way.end] or any(future.meets[each] for each in self._targets(way))
            for way in ways
        )

    def _might_fail(self, ways: list[Row]) -> bool:
        future = self._futures.any
        return all(
            future.might_be_bound_to[way.end]
            or any(future.meets[each] for each in self._targets(way))
            for way in ways
        )

    def _can(self, ways: list[Row], key: int) -> bool:
        distance = self._futures.of_key[key].distance
        return any(self.meets(way, key) or distance[way.end] >= 0 for way in ways)

    def _may(self, ways: list[Row], key: int) -> bool:
        may = self._futures.of_key[key].may_come
        return any(self.meets(way, key) or may[way.end] for way in ways)

    def far(self, way: Row, key: int) -> int:
        """Give how many steps a breach lies behind the state of the race."""
        future = self._futures.of_key[key]
        for steps, target in enumerate(self._targets(way), 1):
            if future.meets[target]:
                return steps
        distance = int(future.distance[way.end])
        return len(way.edges) + distance if distance >= 0 else 1 << 60

    def to_breach(self, way: Row, key: int) -> list[int]:
        """Give the edges of a way and those of a shortest one behind it to a breach."""
        future = self._futures.of_key[key]
        edges = []
        for edge in way.edges:
            edges.append(edge)
            if future.meets[self._arrays.target[edge]]:
                return edges
        return edges + future.nearest(self._arrays, way.end)
