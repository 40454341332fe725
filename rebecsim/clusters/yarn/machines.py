"""The nodes of a cluster, from its racks."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.clusters.yarn.node import NodeSize
from rebecsim.workloads.topology import Rack


def node_sizes(racks: Sequence[Rack], memory: int, cores: int) -> tuple[NodeSize, ...]:
    """Give the nodes of racks, numbered in their order.

    Those that do not say what they have get this memory (MB) and these cores.
    """
    nodes = [(rack, node) for rack in racks for node in rack.nodes]
    return tuple(
        NodeSize(
            node.name,
            place,
            memory if node.memory is None else node.memory,
            cores if node.cores is None else node.cores,
            rack.name,
            node.labels,
        )
        for place, (rack, node) in enumerate(nodes, start=1)
    )


def mega_nodes(
    racks: Sequence[Rack], memory: int, cores: int, *, last_rack: bool = False
) -> tuple[NodeSize, ...]:
    """Give a node for each rack that has what its nodes have together.

    With `last_rack`, all have one name, so that only that of the last rack is there; see `Quirks`.
    """
    nodes = []
    for number, rack in enumerate(racks, start=1):
        of_it = node_sizes((rack,), memory, cores)
        name = "meganode1" if last_rack else f"meganode{number}"
        total = sum(node.memory for node in of_it), sum(node.cores for node in of_it)
        nodes.append(NodeSize(name, number, *total, rack=rack.name))
    return tuple(nodes[-1:] if last_rack else nodes)
