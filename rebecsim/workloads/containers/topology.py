"""Nodes of a YARN cluster and their racks, in the JSON of its scheduler load simulator (SLS).

A topology has an object for each rack. A node may say how much memory it has (`memory-mb`), how
many cores (`vcores`), and its labels: `"gpu, fast(exclusive=false)"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rebecsim.workloads.containers.fields import Fields
from rebecsim.workloads.containers.json_stream import json_objects

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
    two racks have. Raises OSError when the file cannot be read.
    """
    racks: list[Rack] = []
    seen: set[str] = set()
    for number, (line, values) in enumerate(json_objects(path), start=1):
        fields = Fields(values, path, line, f"object {number}")
        rack = _rack(fields.named(f"rack {fields.text('rack')}"))
        if any(rack.name == other.name for other in racks):
            raise fields.wrong(f"another rack is called {rack.name}, too")
        for node in rack.nodes:
            if node.name in seen:
                raise fields.named(f"rack {rack.name}").wrong(
                    f"another node is called {node.name}, too"
                )
            seen.add(node.name)
        racks.append(rack)
    return tuple(racks)


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
        fields.whole("memory-mb", 1) if "memory-mb" in fields.values else None,
        fields.whole("vcores", 1) if "vcores" in fields.values else None,
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
