from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from rebecsim.workloads.container_jobs import ContainerJob, TaskClass
from rebecsim.workloads.files import WorkloadError, json_objects
from rebecsim.workloads.sls import read_sls_jobs

TRACES = Path(__file__).resolve().parents[2] / "data/containers"
TASK = {"c.dur": 4000, "c.prio": 20, "c.mem": 900, "c.type": "reduce", "c.nr": 3}
JOB = {
    "am.type": "mapreduce",
    "job.start.ms": 5000,
    "job.end.ms": 9000,
    "job.queue.name": "sls_queue_1",
    "job.id": "job_4",
    "job.user": "default",
    "job.tasks": [TASK],
}


def write(folder: Path, *objects: object, indent: int | None = None, glue: str = "\n") -> Path:
    path = folder / "trace.json"
    path.write_text(glue.join(json.dumps(each, indent=indent) for each in objects))
    return path


def test_a_job_is_read_with_its_classes(tmp_path):
    second = {**TASK, "c.type": "map", "c.cores": 2, "c.penalty": "step", "c.ib": 1.5, "c.prio": 1}
    path = write(tmp_path, {**JOB, "job.tasks": [TASK, second]}, indent=4)
    (job,) = read_sls_jobs(path)
    assert job == ContainerJob(
        4,
        5000,
        None,
        (
            TaskClass("reduce", 3, 4000, 900, 1, 20),
            TaskClass("map", 3, 4000, 900, 2, 1, "STEP", 1.5),
        ),
        queue="sls_queue_1",
        end=9000,
    )
    assert job.name == "job_4"
    assert job.source == f"{path}:1"


def test_single_quotes_and_keys_in_none_are_read_as_dss_reads_them(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(
        """{job.id: 'job_3', "job.start.ms": 5, 'job.user': 'a "b" o\\'clock: c', 'job.tasks':
        [{c.dur : 1, 'c.prio': 1, "c.mem": 1, c.type: 'map', c.nr: 1}]}
        {"job.id": "it's job.id: 4"}"""
    )
    (_, first), (line, second) = json_objects(path)
    assert first["job.user"] == 'a "b" o\'clock: c'
    assert first["job.tasks"] == [{"c.dur": 1, "c.prio": 1, "c.mem": 1, "c.type": "map", "c.nr": 1}]
    assert (line, second) == (3, {"job.id": "it's job.id: 4"})


@pytest.mark.parametrize("name", ["dss.json", "hadoop.json", "rumen.json"])
def test_a_trace_that_is_cut_off_anywhere_is_refused_or_cut_between_jobs(tmp_path, name):
    text = (TRACES / name).read_text()
    whole = read_sls_jobs(TRACES / name)
    path = tmp_path / "cut.json"
    errors, read = [], 0
    for end in range(len(text.rstrip())):
        path.write_text(text[:end])
        try:
            jobs = read_sls_jobs(path)
        except WorkloadError as error:
            errors.append(str(error))
            continue
        assert text[:end].rstrip().endswith("}")
        assert [job.classes for job in jobs] == [job.classes for job in whole[: len(jobs)]]
        read += 1
    assert all(
        re.match(rf"{re.escape(str(path))}:(\d+:| the file is empty)", each) for each in errors
    )
    assert bool(read) == (name != "hadoop.json")  # which is an array


def test_a_job_may_wait_for_another(tmp_path):
    path = write(tmp_path, {**JOB, "job.start.ms": "job_9"}, {**JOB, "job.id": "job_9"})
    first, second = read_sls_jobs(path)
    assert (first.start, first.after) == (None, 9)
    assert (second.start, second.after) == (5000, None)


@given(
    numbers=st.lists(st.integers(0, 99), min_size=1, unique=True),
    indent=st.sampled_from([None, 0, 2]),
    glue=st.sampled_from(["", " ", "\n", "\n\n\t"]),
    as_array=st.booleans(),
)
def test_no_job_is_lost_however_the_trace_is_laid_out(
    tmp_path_factory, numbers, indent, glue, as_array
):
    jobs: list[object] = [{**JOB, "job.id": f"job_{number}"} for number in numbers]
    objects = [jobs] if as_array else jobs
    path = write(tmp_path_factory.mktemp("trace"), *objects, indent=indent, glue=glue)
    assert [job.number for job in read_sls_jobs(path)] == numbers


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"job.id": "task_4"}, "'job.id' should be job_ and a number, not 'task_4'"),
        ({"job.id": 4}, "'job.id' should be a text, not 4"),
        ({"job.start.ms": 1.5}, "job_4: 'job.start.ms' should be a whole number of 0 or more"),
        (
            {"job.start.ms": -1},
            "job_4: 'job.start.ms' should be a whole number of 0 or more, not -1",
        ),
        ({"job.start.ms": True}, "job_4: 'job.start.ms' should be a whole number"),
        ({"job.start.ms": "job_7"}, "job_4: waits for job_7, which is not in the trace"),
        ({"job.start.ms": "70"}, "waits for 70, which is not in the trace; write a time without"),
        ({"job.start.ms": "job_4"}, "job_4: waits for itself"),
        ({"job.tasks": {}}, "job_4: 'job.tasks' should be a list of objects"),
    ],
)
def test_what_is_wrong_with_a_job_is_said_with_its_line(tmp_path, changes, problem):
    path = write(tmp_path, {**JOB, "job.id": "job_1"}, {**JOB, **changes})
    with pytest.raises(WorkloadError) as raised:
        read_sls_jobs(path)
    assert str(raised.value).startswith(f"{path}:2: ")
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"c.nr": 0}, "'c.nr' should be a whole number of 1 or more, not 0"),
        ({"c.mem": -5}, "'c.mem' should be a whole number of 1 or more, not -5"),
        ({"c.dur": 2.5}, "'c.dur' should be a whole number of 0 or more, not 2.5"),
        ({"c.type": "shuffle"}, "'c.type' should be map or reduce, not 'shuffle'"),
        ({"c.penalty": "STEP"}, "'c.penalty' and 'c.ib' go together"),
        ({"c.penalty": "STEP", "c.ib": "big"}, "'c.ib' should be a number of 1 or more, not 'big'"),
    ],
)
def test_what_is_wrong_with_a_task_is_said_with_its_job(tmp_path, changes, problem):
    path = write(tmp_path, {**JOB, "job.tasks": [TASK, {**TASK, **changes}]})
    with pytest.raises(WorkloadError) as raised:
        read_sls_jobs(path)
    assert str(raised.value) == f"{path}:1: job_4, task 2: {problem}"


@pytest.mark.parametrize("key", ["job.id", "job.start.ms", "job.tasks"])
def test_a_key_that_is_missing_is_named(tmp_path, key):
    path = write(tmp_path, {name: value for name, value in JOB.items() if name != key})
    with pytest.raises(WorkloadError, match=rf":1: .*no '{key}'"):
        read_sls_jobs(path)


def test_jobs_that_wait_for_each_other_are_refused(tmp_path):
    path = write(
        tmp_path,
        {**JOB, "job.start.ms": "job_5"},
        {**JOB, "job.id": "job_5", "job.start.ms": "job_4"},
    )
    with pytest.raises(WorkloadError, match=r":1: job_4: waits for job_5, which waits for it"):
        read_sls_jobs(path)


def test_a_long_chain_of_jobs_that_wait_is_no_circle(tmp_path):
    chain = [
        {**JOB, "job.id": f"job_{number}", "job.start.ms": f"job_{number + 1}"}
        for number in range(3000)
    ]
    path = write(tmp_path, *chain, {**JOB, "job.id": "job_3000"})
    assert len(read_sls_jobs(path)) == 3001
    path = write(tmp_path, *chain, {**JOB, "job.id": "job_3000", "job.start.ms": "job_2998"})
    with pytest.raises(WorkloadError, match=r":2999: job_2998: waits for job_2999, .* of others"):
        read_sls_jobs(path)


def test_a_job_that_stands_twice_is_refused(tmp_path):
    path = write(tmp_path, JOB, JOB)
    with pytest.raises(WorkloadError, match=r":2: job_4: is given again; first in line 1"):
        read_sls_jobs(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ": the file is empty"),
        ("[]", ": the file is empty"),
        ("\n 7", ":2: should be an object in braces, not 7"),
        (
            '{"a": 1}\n{"b": 2',
            ":2: the file ends in the middle of the object that begins in line 2",
        ),
        ('{"a": 1}\n{"b" 2}', ":2: not JSON: expecting ':' delimiter, column 6"),
        ('{"a": 1, "a": 2}', ":1: in the object from here, 'a' is given twice"),
        ('{"a": NaN}', ":1: in the object from here, NaN is not a JSON number"),
        ('{"a": "b', ":1: the file ends in the middle of the object that begins in line 1"),
        ('[{"a": 1},\n 3]', ":2: should be an object in braces, not 3"),
        ('\n[{"a": 1}\n', ":3: the file ends in the middle of the array that begins in line 2"),
        ('[{"a": 1},', ":1: the file ends in the middle of the array that begins in line 1"),
        ("[", ":1: the file ends in the middle of the array that begins in line 1"),
        (
            '[{"a": 1}\n{"a": 2}]',
            ":2: not JSON: expected a comma or the end of the array, found '{'",
        ),
        ('[{"a": 1},\n]', ":2: not JSON: expected another value of the array, found ']'"),
        ('{"a": ' + "9" * 5000 + "}", ":1: in the object from here, a number of too many digits"),
        ("[" * 3 + '{"a": 1}]]]', ':1: should be an object in braces, not [[{"a": 1}]]'),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(tmp_path, text, problem):
    path = tmp_path / "trace.json"
    path.write_text(text)
    with pytest.raises(WorkloadError) as raised:
        list(json_objects(path))
    assert str(raised.value) == f"{path}{problem}"
