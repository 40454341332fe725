from __future__ import annotations

import json
from pathlib import Path

import pytest

from rebecsim.workloads.containers.topology import NodeLabel, Rack, RackNode, read_sls_topology
from rebecsim.workloads.errors import WorkloadError


def write(folder: Path, *racks: object) -> Path:
    path = folder / "nodes.json"
    path.write_text("\n".join(json.dumps(each) for each in racks))
    return path


def test_a_topology_has_racks_of_nodes(tmp_path):
    racks = [
        {"rack": "first", "nodes": [{"node": "a"}, {"node": "b"}]},
        {"rack": "second", "nodes": [{"node": "c"}]},
    ]
    assert read_sls_topology(write(tmp_path, *racks)) == (
        Rack("first", (RackNode("a"), RackNode("b"))),
        Rack("second", (RackNode("c"),)),
    )


def test_nodes_may_have_memory_cores_and_labels_of_their_own(tmp_path):
    nodes = [
        {"node": "a", "memory-mb": 4096, "vcores": 3},
        {"node": "b", "labels": "gpu, fast(exclusive=false)", "vcores": 12},
        {"node": "c", "labels": ""},
    ]
    assert read_sls_topology(write(tmp_path, {"rack": "r", "nodes": nodes})) == (
        Rack(
            "r",
            (
                RackNode("a", 4096, 3),
                RackNode("b", None, 12, (NodeLabel("gpu"), NodeLabel("fast", exclusive=False))),
                RackNode("c"),
            ),
        ),
    )


def rack(*nodes: object) -> dict[str, object]:
    return {"rack": "r", "nodes": list(nodes)}


@pytest.mark.parametrize(
    ("rack", "problem"),
    [
        (rack(), "rack r: no nodes"),
        (rack({"node": "a"}, {"node": "a"}), "rack r: another node is called a, too"),
        (rack({"name": "a"}), "rack r, node 1: 'name' is not understood"),
        (rack({"node": "a", "vcores": 0}), "node 1: 'vcores' should be a whole number from 1 on"),
        (rack({"node": "a", "memory-mb": -1}), "'memory-mb' should be a whole number from 1 on"),
        (rack({"node": "a", "labels": "two words"}), "'labels' should be names as in"),
        (rack({"node": "a", "labels": 3}), "'labels' should be a text, not 3"),
        (rack({"node": "a", "vcore": 3}), "'vcore' is not understood; did you mean vcores?"),
        ({"nodes": [{"node": "a"}]}, "object 1: no 'rack'"),
    ],
)
def test_what_is_wrong_with_a_topology_is_said(tmp_path, rack, problem):
    path = write(tmp_path, rack)
    with pytest.raises(WorkloadError) as raised:
        read_sls_topology(path)
    assert str(raised.value).startswith(f"{path}:1: ")
    assert problem in str(raised.value)


def test_two_racks_of_one_name_are_refused(tmp_path):
    path = write(tmp_path, rack({"node": "a"}), rack({"node": "b"}))
    with pytest.raises(WorkloadError, match=r":2: object 2: another rack is called r, too"):
        read_sls_topology(path)
