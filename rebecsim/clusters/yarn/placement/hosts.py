"""How near a node is to the hosts that tasks prefer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rebecsim.clusters.yarn.container import Locality
from rebecsim.clusters.yarn.node import NodeSize


class Preference(NamedTuple):
    """A preferred node, None if the cluster has it not, and the rack in which it is."""

    node: str | None
    rack: str


class Hosts:
    """The nodes of a cluster by name, and their racks."""

    def __init__(self, sizes: Iterable[NodeSize]) -> None:
        self._racks = {size.name: size.rack for size in sizes}
        self._rack_names = set(self._racks.values())
        self._known: dict[str, Preference | None] = {}

    def preference(self, host: str) -> Preference | None:
        """Read where tasks would rather run: `/rack/node` or `node`.

        None: anywhere, as nothing is said, or neither the node nor the rack is there.
        """
        if host not in self._known:
            self._known[host] = self._found(host)
        return self._known[host]

    def _found(self, host: str) -> Preference | None:
        rack, _, node = host.strip("/").rpartition("/")
        if node in self._racks:
            return Preference(node, self._racks[node])
        return Preference(None, rack) if rack in self._rack_names else None

    def locality(self, size: NodeSize, host: str) -> Locality | None:
        """Say how near a node is; None if there is no preference."""
        preferred = self.preference(host)
        if preferred is None:
            return None
        if size.name == preferred.node:
            return "node"
        return "rack" if size.rack == preferred.rack else "any"
