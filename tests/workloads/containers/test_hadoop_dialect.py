"""Traces as Hadoop's own simulator has them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rebecsim.workloads.container_jobs import ContainerJob, Rack, RackNode, TaskClass
from rebecsim.workloads.files import WorkloadError
from rebecsim.workloads.sls import read_sls_jobs, read_sls_trace

TASK = {"container.start.ms": 600, "container.end.ms": 1700}
JOB = {"job.start.ms": 50, "job.id": "job_3", "job.queue.name": "root.a", "job.tasks": [TASK]}


def write(folder: Path, *objects: object) -> Path:
    path = folder / "trace.json"
    path.write_text("\n".join(json.dumps(each) for each in objects))
    return path


def only_job(folder: Path, job: object) -> ContainerJob:
    (found,) = read_sls_jobs(write(folder, job))
    return found


def test_what_is_not_said_has_the_defaults_of_hadoop(tmp_path):
    assert only_job(tmp_path, {"job.tasks": [{"duration.ms": 9}]}) == ContainerJob(
        0, 0, None, (TaskClass("map", 1, 9, memory=1024, cores=1, priority=20),)
    )


def test_everything_that_is_said_is_kept(tmp_path):
    job = {
        **JOB,
        "am.type": "dag",
        "am.memory-mb": 2048,
        "am.vcores": 2,
        "job.end.ms": 7000,
        "job.user": "jenkins",
        "job.label.expression": "gpu",
        "job.tasks": [
            {
                "count": 4,
                "container.host": "/rack/node7",
                "container.duration.ms": 800,
                "container.priority": 10,
                "container.type": "reduce",
                "container.memory-mb": 3000,
                "container.vcores": 2,
                "container.execution.type": "GUARANTEED",
                "container.allocation.id": 5,
                "container.request.delay": 0,
            }
        ],
    }
    task = TaskClass("reduce", 4, 800, 3000, 2, 10, host="/rack/node7", allocation=5)
    assert only_job(tmp_path, job) == ContainerJob(
        3,
        50,
        None,
        (task,),
        user="jenkins",
        queue="root.a",
        label="gpu",
        end=7000,
        application="dag",
        master_memory=2048,
        master_cores=2,
    )


@pytest.mark.parametrize(
    ("said", "duration"),
    [
        ({"container.duration.ms": 5, "duration.ms": 6, **TASK}, 5),
        ({"duration.ms": 6, **TASK}, 6),
        (TASK, 1100),
    ],
)
def test_the_first_duration_that_is_said_counts(tmp_path, said, duration):
    job = only_job(tmp_path, {**JOB, "job.tasks": [said]})
    assert job.classes[0].duration == duration


@pytest.mark.parametrize(
    ("kind", "priorities", "expected"),
    [
        ("mapreduce", (10, 20, 20, 30), (21, 20, 21, 30)),
        ("dag", (10, 20, 20, 30), (10, 20, 20, 30)),
    ],
)
def test_a_job_of_mapreduce_has_maps_first(tmp_path, kind, priorities, expected):
    types = ("reduce", "map", "reduce", "reduce")
    tasks = [
        {**TASK, "container.type": each, "container.priority": priority}
        for each, priority in zip(types, priorities, strict=True)
    ]
    job = only_job(tmp_path, {**JOB, "am.type": kind, "job.tasks": tasks})
    assert tuple(each.priority for each in job.classes) == expected
    alone = only_job(tmp_path, {**JOB, "am.type": kind, "job.tasks": tasks[:1]})
    assert alone.classes[0].priority == 10


def test_jobs_of_other_names_are_numbered_after_those_that_have_numbers(tmp_path):
    named = [
        {**JOB, "job.id": "etl"},
        JOB,
        {"job.tasks": [TASK]},
        {**JOB, "job.id": 17, "job.start.ms": "etl"},
    ]
    jobs = read_sls_jobs(write(tmp_path, *named))
    assert [(job.number, job.name) for job in jobs] == [
        (5, "etl"),
        (3, "job_3"),
        (4, "job_4"),
        (6, "17"),
    ]
    assert jobs[3].after == 5


def test_a_job_may_be_there_several_times(tmp_path):
    jobs = read_sls_jobs(write(tmp_path, {**JOB, "job.count": 3}, {"job.tasks": [TASK]}))
    assert [(job.number, job.name) for job in jobs] == [
        (3, "job_3"),
        (5, "job_3#2"),
        (6, "job_3#3"),
        (4, "job_4"),
    ]
    assert {job.start for job in jobs} == {50, 0}


def test_both_dialects_may_stand_in_one_trace(tmp_path):
    dss = {"c.dur": 5, "c.prio": 20, "c.mem": 900, "c.type": "map", "c.nr": 1}
    path = write(tmp_path, JOB, {**JOB, "job.id": "job_4", "job.tasks": [dss]})
    assert [job.classes[0].memory for job in read_sls_jobs(path)] == [1024, 900]


def test_a_trace_may_say_how_many_nodes_there_are(tmp_path):
    trace = read_sls_trace(write(tmp_path, {"num.nodes": 3, "num.racks": 2}, JOB))
    assert trace.racks == (
        Rack("rack0", (RackNode("node0"), RackNode("node2"))),
        Rack("rack1", (RackNode("node1"),)),
    )
    assert len(trace.jobs) == 1


def test_a_trace_may_be_compressed(tmp_path):
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps([JOB]).encode()))
    assert len(read_sls_jobs(path)) == 1
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(WorkloadError, match="compressed data are cut off"):
        read_sls_jobs(path)


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ({}, "no 'duration.ms', nor 'container.start.ms' and 'container.end.ms'"),
        ({"container.start.ms": 6}, "no 'duration.ms', nor"),
        ({"duration.ms": 0}, "'duration.ms' should be a whole number of 1 or more, not 0"),
        ({**TASK, "container.end.ms": 600}, "should be after the start at 600, not 600"),
        ({**TASK, "count": 0}, "'count' should be a whole number of 1 or more, not 0"),
        ({**TASK, "container.memory-mb": -4}, "'container.memory-mb' should be a whole number"),
        (
            {**TASK, "container.memory": 4, "container.memory-mb": 4},
            "'container.memory-mb' and 'container.memory' mean the same; give one of them",
        ),
        ({**TASK, "container.execution.type": "OPPORTUNISTIC"}, "should be GUARANTEED"),
        ({**TASK, "container.request.delay": 5}, "'container.request.delay' should be 0"),
        ({**TASK, "container.type": "spark"}, "should be map or reduce, not 'spark'"),
        ({**TASK, "container.yarn.io/gpu": 1}, "'container.yarn.io/gpu' is not understood"),
        ({**TASK, "c.nr": 4}, "'c.nr' is not understood"),
    ],
)
def test_what_is_wrong_with_a_container_is_said_with_its_job(tmp_path, task, problem):
    path = write(tmp_path, JOB, {**JOB, "job.id": "job_4", "job.tasks": [TASK, task]})
    with pytest.raises(WorkloadError) as raised:
        read_sls_jobs(path)
    assert str(raised.value).startswith(f"{path}:2: job_4, task ")
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("objects", "problem"),
    [
        ([{**JOB, "job.ids": 1}], "1: job_3: 'job.ids' is not understood; did you mean job.id?"),
        ([{**JOB, "job.id": 1.5}], "1: object 1: 'job.id' should be a text, not 1.5"),
        ([{**JOB, "job.count": 0}], "1: job_3: 'job.count' should be a whole number of 1 or more"),
        ([{**JOB, "am.vcores": 0}], "1: job_3: 'am.vcores' should be a whole number of 1 or more"),
        ([{**JOB, "job.start.ms": "x"}], "1: job_3: waits for x, which is not in the trace"),
        ([JOB, {**JOB, "job.id": "job_03"}], "2: job_03: is the same as job_3"),
        ([{"num.nodes": 0}, JOB], "1: object 1: 'num.nodes' should be a whole number of 1 or more"),
        ([{"num.nodes": 1, "num.racks": 2}, JOB], "1: object 1: 1 nodes in 2 racks"),
        ([{"num.nodes": 1}], "1: object 1: no jobs follow"),
        ([{"rack": "r", "nodes": []}], "1: object 1: this is a rack of a topology, not a job"),
        ([{"num_jobs": 3, "workloads": []}], "1: object 1: this tells Hadoop how to generate jobs"),
        ([JOB, {"jobID": "job_1_1"}], "2: object 2: this is a job of Rumen among those"),
    ],
)
def test_what_is_wrong_with_a_trace_is_said(tmp_path, objects, problem):
    path = write(tmp_path, *objects)
    with pytest.raises(WorkloadError) as raised:
        read_sls_jobs(path)
    assert f"{path}:{problem}" in str(raised.value)
