"""A trace and a topology as Hadoop's own simulator has them, on a cluster."""

from __future__ import annotations

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.inputs import node_sizes
from rebecsim.workloads.container_jobs import read_sls_topology
from rebecsim.workloads.sls import read_sls_jobs


def test_a_trace_and_a_topology_of_hadoop_run_together(shared_data):
    jobs = read_sls_jobs(shared_data / "sls" / "sls_2jobs.json")
    racks = read_sls_topology(shared_data / "sls" / "nodes_with_resources.json")
    sizes = node_sizes(racks, 3000, 4)
    assert [(size.memory, size.cores) for size in sizes] == [
        (2048, 6),
        (3000, 4),
        (3000, 4),
        (6144, 12),
    ]
    first, second = run_cluster(jobs, sizes, YarnConfiguration()).applications
    assert (first.start, second.start) == (0, 105_204)
    for application, longest in ((first, 17_843), (second, 22_163)):
        assert application.end is not None
        assert longest < application.end - application.start < longest + 10_000
