"""Places of the blocks of inputs, and the choice of the replica that is read."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rebecsim.clusters.mapreduce.configuration import FileSystem
from rebecsim.clusters.mapreduce.progress import Locality


def racks_of(nodes: int, racks: int) -> list[int]:
    """Deal nodes to racks, as evenly as can be; neighbours to the same."""
    return [node * racks // nodes for node in range(nodes)]


def place_blocks(
    blocks: int, racks: Sequence[int], files: FileSystem, draws: Random
) -> list[tuple[int, ...]]:
    """Draw the nodes with a replica of each block; no node has two of one."""
    nodes = range(len(racks))
    if files.placement == "random":
        return [tuple(draws.sample(nodes, files.replication)) for _ in range(blocks)]
    return [_in_two_racks(racks, files.replication, draws) for _ in range(blocks)]


def _in_two_racks(racks: Sequence[int], replication: int, draws: Random) -> tuple[int, ...]:
    """Place as Hadoop does for a client that is not on a node of the cluster.

    The first replica is on any node, the second in another rack, the third in the rack of the
    second, and any others anywhere. Where a rack has no node left, any node will do.
    """
    chosen: list[int] = []
    while len(chosen) < replication:
        free = [node for node in range(len(racks)) if node not in chosen]
        wished = free
        if len(chosen) == 1:
            wished = [node for node in free if racks[node] != racks[chosen[0]]]
        elif len(chosen) == 2:
            wished = [node for node in free if racks[node] == racks[chosen[1]]]
        chosen.append(draws.choice(wished or free))
    return tuple(chosen)


def replica_for(hosts: Sequence[int], node: int, racks: Sequence[int], drawn: float) -> int | None:
    """Choose the replica that a node reads: its own, one in its rack, or any; None without one.

    Of replicas that are equally near, a number between 0 and 1 that is `drawn` chooses one.
    """
    if node in hosts:
        return node
    near = [host for host in hosts if racks[host] == racks[node]]
    among = near or hosts
    return among[int(drawn * len(among))] if among else None


def locality_of(host: int, node: int, racks: Sequence[int]) -> Locality:
    """Say how far a replica is from a node."""
    if host == node:
        return Locality.NODE
    return Locality.RACK if racks[host] == racks[node] else Locality.OFF_SWITCH
