"""Each input that no cluster can run, the smallest of its kind, with what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.inputs import node_sizes
from rebecsim.errors import UserError
from rebecsim.workloads.container_jobs import read_sls_topology
from rebecsim.workloads.sls import read_sls_jobs

NODES = '{"rack": "r", "nodes": [{"node": "a"}]}'


def task(**changed: object) -> str:
    fields = {"dur": 1, "mem": 1, "nr": 1, "prio": 1, "type": '"map"', **changed}
    return "{" + ", ".join(f'"c.{name}": {value}' for name, value in fields.items()) + "}"


def job(number: int = 0, start: object = 0, *, tasks: str | None = None) -> str:
    listed = task() if tasks is None else tasks
    return f'{{"job.id": "job_{number}", "job.start.ms": {start}, "job.tasks": [{listed}]}}'


TRACES = {
    "nothing": ("", "trace: the file is empty"),
    "an empty array": (" [ ]", "trace: the file is empty"),
    "the end in the middle of a job": (
        job() + '\n{"job.id": ',
        "trace:2: the file ends in the middle of the object that begins in line 2",
    ),
    "the end in the middle of an array": (
        f"[{job()},\n",
        "trace:2: the file ends in the middle of the array that begins in line 1",
    ),
    "a job twice": (f"{job()}\n{job()}", "trace:2: job_0: is given again; first in line 1"),
    "waiting for nobody": (job(0, '"job_7"'), "trace:1: job_0: waits for job_7, which is not in"),
    "waiting for itself": (job(0, '"job_0"'), "trace:1: job_0: waits for itself"),
    "waiting for each other": (
        job(0, '"job_1"') + "\n" + job(1, '"job_0"'),
        "trace:1: job_0: waits for job_1, which waits for it",
    ),
    "waiting in a circle": (
        "\n".join((job(9, '"job_0"'), job(0, '"job_1"'), job(1, '"job_2"'), job(2, '"job_0"'))),
        "trace:2: job_0: waits for job_1, which waits for it by way of others",
    ),
    "a part of a millisecond": (
        job(0, 0.5),
        "trace:1: job_0: 'job.start.ms' should be a whole number of 0 or more, not 0.5",
    ),
    "a start before time": (
        job(0, -1),
        "'job.start.ms' should be a whole number of 0 or more, not -1",
    ),
    "a duration that is no whole number": (
        job(tasks=task(dur=1.0)),
        "trace:1: job_0, task 1: 'c.dur' should be a whole number of 0 or more, not 1.0",
    ),
    "memory below nothing": (
        job(tasks=task(mem=-1)),
        "trace:1: job_0, task 1: 'c.mem' should be a whole number of 1 or more, not -1",
    ),
    "no task of a class": (
        job(tasks=task(nr=0)),
        "trace:1: job_0, task 1: 'c.nr' should be a whole number of 1 or more, not 0",
    ),
    "too much memory": (
        job(tasks=task() + "," + task(mem=4001)),
        "trace:1: job_0, task 2 asks for 4001 MB and 1 cores, and fits on no node; "
        "a, the largest, has 4000 MB and 4 cores",
    ),
    "too many cores": (
        job() + "\n" + job(1, tasks=task(cores=5)),
        "trace:2: job_1, task 1 asks for 1 MB and 5 cores, and fits on no node",
    ),
}
"""Of each kind: the trace, and what is said about it."""

TOPOLOGIES = {
    "nothing": ("", "nodes: the file is empty"),
    "the end in the middle": (NODES[:-1], "nodes:1: the file ends in the middle of the object"),
    "no nodes": ('{"rack": "r", "nodes": []}', "nodes:1: rack r: no nodes"),
    "no cores": (
        '{"rack": "r", "nodes": [{"node": "a", "vcores": 0}]}',
        "nodes:1: rack r, node 1: 'vcores' should be a whole number of 1 or more, not 0",
    ),
    "no memory": (
        '{"rack": "r", "nodes": [{"node": "a", "memory-mb": 0}]}',
        "nodes:1: rack r, node 1: 'memory-mb' should be a whole number of 1 or more, not 0",
    ),
    "a name twice": (
        '{"rack": "r", "nodes": [{"node": "a"}, {"node": "a"}]}',
        "nodes:1: rack r: another node is called a; give",
    ),
    "a name in two racks": (
        NODES + "\n" + NODES.replace('"r"', '"s"'),
        "nodes:2: rack s: another node is called a; give",
    ),
    "a rack twice": (
        NODES + "\n" + NODES.replace('"a"', '"b"'),
        "nodes:2: object 2: another rack is called r; give",
    ),
}
"""Of each kind: the topology, and what is said about it."""


def run_files(folder: Path, trace: str, nodes: str, cores: int = 4) -> int:
    """Run the jobs of a trace, and say how many have ended."""
    (folder / "trace").write_text(trace)
    (folder / "nodes").write_text(nodes)
    jobs = read_sls_jobs(folder / "trace")
    sizes = node_sizes(read_sls_topology(folder / "nodes"), 4000, cores)
    applications = run_cluster(jobs, sizes, YarnConfiguration()).applications
    return sum(application.end is not None for application in applications)


def test_what_the_bad_inputs_are_made_of_is_good(tmp_path):
    assert run_files(tmp_path, job() + job(1, '"job_0"', tasks=""), NODES) == 2


@pytest.mark.parametrize(("trace", "problem"), TRACES.values(), ids=TRACES)
def test_a_bad_trace_is_refused(tmp_path, trace, problem):
    with pytest.raises(UserError) as raised:
        run_files(tmp_path, trace, NODES)
    assert problem in str(raised.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(("nodes", "problem"), TOPOLOGIES.values(), ids=TOPOLOGIES)
def test_a_bad_topology_is_refused(tmp_path, nodes, problem):
    with pytest.raises(UserError) as raised:
        run_files(tmp_path, job(), nodes)
    assert problem in str(raised.value).replace(f"{tmp_path}/", "")


def test_nodes_of_no_cores_are_refused(tmp_path):
    with pytest.raises(UserError, match="node a: 4000 MB and 0 cores; give 1 or more of each"):
        run_files(tmp_path, job(), NODES, cores=0)
