from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from rebecsim.workloads.container_jobs import (
    AlikeNodes,
    NodeLabel,
    Rack,
    RackNode,
    racks_of,
    read_sls_topology,
    write_sls_topology,
)
from rebecsim.workloads.files import WorkloadError


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
        (rack({"node": "a"}, {"node": "a"}), "rack r: another node is called a; give"),
        (rack({"name": "a"}), "rack r, node 1: 'name' is not understood"),
        (
            rack({"node": "a", "vcores": 0}),
            "node 1: 'vcores' should be a whole number of 1 or more",
        ),
        (rack({"node": "a", "memory-mb": -1}), "'memory-mb' should be a whole number of 1 or more"),
        (rack({"node": "a", "labels": "two words"}), "'labels' should be names as in"),
        (rack({"node": "a", "labels": 3}), "'labels' should be a text, not 3"),
        (rack({"node": "a", "vcore": 3}), "'vcore' is not understood; did you mean vcores?"),
        ({"nodes": [{"node": "a"}]}, "object 1: no 'rack'"),
        ({"job.tasks": []}, "object 1: this is a job of a trace, not a rack"),
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
    with pytest.raises(WorkloadError, match=r":2: object 2: another rack is called r; give"):
        read_sls_topology(path)


def test_nodes_that_are_alike_need_no_file():
    (only,) = racks_of([AlikeNodes(2), AlikeNodes(1, 4000, 8)])
    assert only == Rack(
        "default-rack", (RackNode("node1"), RackNode("node2"), RackNode("node3", 4000, 8))
    )
    racks = racks_of([AlikeNodes(7)], racks=3)
    assert [(rack.name, [node.name for node in rack.nodes]) for rack in racks] == [
        ("rack1", ["node1", "node2"]),
        ("rack2", ["node3", "node4"]),
        ("rack3", ["node5", "node6", "node7"]),
    ]


@pytest.mark.parametrize("numbers", [(0,), (1, 0, 1), (1, 1, 0), (1, -5)])
def test_no_nodes_and_nodes_of_nothing_are_refused(numbers):
    with pytest.raises(WorkloadError, match="at least 1 node, each with at least 1 MB and 1 core"):
        AlikeNodes(*numbers)


@pytest.mark.parametrize("racks", [0, 3])
def test_a_rack_has_a_node(racks):
    with pytest.raises(WorkloadError, match=f"2 nodes in {racks} racks"):
        racks_of([AlikeNodes(2)], racks)


names = st.text("abc-_.1/", min_size=1, max_size=6)
sizes = st.none() | st.integers(1, 2**53)
labels = st.lists(
    st.builds(NodeLabel, st.from_regex(r"[a-zA-Z0-9_.-]{1,5}", fullmatch=True), st.booleans()),
    max_size=2,
).map(tuple)


@given(data=st.data(), rack_names=st.lists(names, min_size=1, max_size=3, unique=True))
def test_a_topology_that_is_written_is_read_as_it_was(tmp_path_factory, data, rack_names):
    unique = data.draw(st.lists(names, min_size=len(rack_names), max_size=8, unique=True))
    nodes = [RackNode(name, *data.draw(st.tuples(sizes, sizes, labels))) for name in unique]
    racks = tuple(
        Rack(name, tuple(nodes[place :: len(rack_names)])) for place, name in enumerate(rack_names)
    )
    path = tmp_path_factory.mktemp("nodes") / "nodes.json.gz"
    write_sls_topology(racks, path)
    assert read_sls_topology(path) == racks
