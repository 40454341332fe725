"""Read and write the nodes and racks of a YARN cluster, in the JSON of Hadoop's SLS.

A topology has an object for each rack. A node may say how much memory it has (`memory-mb`), how
many cores (`vcores`), and its labels: `"gpu, fast(exclusive=false)"`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rebecsim.limits import NODES
from rebecsim.workloads.container_jobs import Fields
from rebecsim.workloads.files import WorkloadError, first_json_object, json_objects, replacing

_LABEL = re.compile(r"([\w.-]+)(?:\(exclusive=(true|false)\))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """A label of a node; containers without a label may use the node if it is not exclusive."""

    name: str
    exclusive: bool = True


@dataclass(frozen=True, slots=True)
class RackNode:
    """A node of a rack: MB and cores, or None for those of the cluster, and its labels."""

    name: str
    memory: int | None = None
    cores: int | None = None
    labels: tuple[NodeLabel, ...] = ()


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack of nodes."""

    name: str
    nodes: tuple[RackNode, ...]


def read_sls_topology(path: Path) -> tuple[Rack, ...]:
    """Read the racks of a topology.

    Raises WorkloadError, with file and line, for what is not in the format, a field that is not
    understood, a rack without nodes, a node of no memory or no cores, and a name that two nodes or
    two racks have. Raises LimitError for too many nodes, OSError when the file cannot be read.
    """
    racks: list[Rack] = []
    names: set[str] = set()
    seen: set[str] = set()
    for number, (line, values) in enumerate(json_objects(path), start=1):
        fields = Fields(values, path, line, f"object {number}")
        if "job.tasks" in values:
            raise fields.wrong("this is a job of a trace, not a rack")
        rack = _rack(fields.named(f"rack {fields.text('rack')}"))
        if rack.name in names:
            raise fields.wrong(f"another rack is called {rack.name}; give each its own name")
        names.add(rack.name)
        for node in rack.nodes:
            if node.name in seen:
                raise fields.named(f"rack {rack.name}").wrong(
                    f"another node is called {node.name}; give each its own name"
                )
            seen.add(node.name)
        racks.append(rack)
        NODES.require(len(seen), path)
    return tuple(racks)


def is_sls_topology(path: Path) -> bool:
    """Whether a file begins with a rack. Raises OSError when it cannot be read."""
    return "rack" in first_json_object(path)


def _rack(fields: Fields) -> Rack:
    fields.require_known(("rack", "nodes"))
    nodes = [
        _node(fields.of(values, f"node {place}"))
        for place, values in enumerate(fields.objects("nodes"), start=1)
    ]
    if not nodes:
        raise fields.wrong("no nodes")
    return Rack(fields.text("rack"), tuple(nodes))


def _node(fields: Fields) -> RackNode:
    fields.require_known(("node", "memory-mb", "vcores", "labels"))
    return RackNode(
        fields.text("node"),
        fields.whole_or_none("memory-mb", 1),
        fields.whole_or_none("vcores", 1),
        tuple(_labels(fields)),
    )


def _labels(fields: Fields) -> Iterator[NodeLabel]:
    text = fields.text("labels", default="")
    for each in filter(None, map(str.strip, text.split(","))):
        found = _LABEL.fullmatch(each)
        if found is None:
            raise fields.wrong(
                f"'labels' should be names as in 'gpu, fast(exclusive=false)', not {each!r:.40}"
            )
        yield NodeLabel(found[1], found[2] != "false")


def write_sls_topology(racks: Sequence[Rack], path: Path) -> None:
    """Write the racks of a topology, with gzip if the file is named `.gz`; whole or not at all.

    Raises OSError when the file cannot be written.
    """
    with replacing(path) as file:
        for rack in racks:
            values = {"rack": rack.name, "nodes": [dict(_items(node)) for node in rack.nodes]}
            file.write((json.dumps(values, indent=4) + "\n").encode())


def _items(node: RackNode) -> Iterator[tuple[str, object]]:
    yield "node", node.name
    if node.memory is not None:
        yield "memory-mb", node.memory
    if node.cores is not None:
        yield "vcores", node.cores
    if node.labels:
        texts = (
            each.name if each.exclusive else f"{each.name}(exclusive=false)" for each in node.labels
        )
        yield "labels", ", ".join(texts)


@dataclass(frozen=True, slots=True)
class AlikeNodes:
    """So many nodes of some MB and cores, or of those of the cluster."""

    count: int
    memory: int | None = None
    cores: int | None = None

    def __post_init__(self) -> None:
        given = (self.count, self.memory, self.cores)
        if any(number is not None and number < 1 for number in given):
            raise WorkloadError("a group needs at least 1 node, each with at least 1 MB and 1 core")
        NODES.require(self.count)


def racks_of(groups: Sequence[AlikeNodes], racks: int = 1) -> tuple[Rack, ...]:
    """Make racks of nodes, called node1, node2, ...

    One rack is called default-rack; of several, rack1, rack2, ..., each has as many nodes as the
    others or one less. Raises WorkloadError for a rack without nodes, LimitError for too many.
    """
    NODES.require(sum(group.count for group in groups))
    kinds = [group for group in groups for _ in range(group.count)]
    nodes = [
        RackNode(f"node{number}", kind.memory, kind.cores)
        for number, kind in enumerate(kinds, start=1)
    ]
    if not 1 <= racks <= len(nodes):
        raise WorkloadError(f"{len(nodes)} nodes in {racks} racks; a rack needs at least 1 node")
    if racks == 1:
        return (Rack("default-rack", tuple(nodes)),)
    ends = [len(nodes) * rack // racks for rack in range(racks + 1)]
    return tuple(
        Rack(f"rack{number}", tuple(nodes[begin:end]))
        for number, (begin, end) in enumerate(pairwise(ends), start=1)
    )
