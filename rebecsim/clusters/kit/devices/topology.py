"""The links of a cluster: what a node sends and receives, and what a rack does."""

from __future__ import annotations

from collections.abc import Sequence


class RackTopology:
    """Nodes under switches of racks, under one switch for all.

    Links have one direction. Nodes have one up and one down. So have racks, if there are several
    of them: the links of its nodes together, divided by the oversubscription.

    Attributes:
        capacities: of each link (bytes per microsecond): nodes up, nodes down, racks up, racks
            down.
    """

    def __init__(self, racks: Sequence[int], rate: float, oversubscription: float = 1.0) -> None:
        """`racks` has the number of the rack of each node; `rate` is that of a node's link."""
        self._racks = racks
        nodes = len(racks)
        self._down = nodes
        self._rack_up = 2 * nodes
        sizes = [0] * (max(racks) + 1)
        for rack in racks:
            sizes[rack] += 1
        self._rack_down = 2 * nodes + len(sizes)
        uplinks = [size * rate / oversubscription for size in sizes]
        self.capacities: list[float] = [rate] * (2 * nodes) + uplinks + uplinks

    def path(self, source: int, target: int) -> tuple[int, ...]:
        """Give the links from one node to another; none within a node."""
        if source == target:
            return ()
        here, there = self._racks[source], self._racks[target]
        if here == there:
            return source, self._down + target
        return source, self._down + target, self._rack_up + here, self._rack_down + there

    def links_of(self, node: int) -> tuple[int, int]:
        """Give the links up and down of a node."""
        return node, self._down + node

    def name(self, link: int) -> str:
        """Give what tables call a link."""
        nodes = self._down
        if link < 2 * nodes:
            return f"node {link % nodes} {'down' if link >= nodes else 'up'}"
        return f"rack {(link - 2 * nodes) % (self._rack_down - 2 * nodes)} " + (
            "down" if link >= self._rack_down else "up"
        )
