"""Traces that Rumen made of a job history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rebecsim.workloads.container_jobs import ContainerJob, TaskClass
from rebecsim.workloads.files import WorkloadError
from rebecsim.workloads.sls import read_sls_jobs

ORIGIN = 1_400_000_000_000


def attempt(start: int, finish: int, **other: object) -> dict[str, object]:
    return {"startTime": ORIGIN + start, "finishTime": ORIGIN + finish, **other}


def task(*attempts: object) -> dict[str, object]:
    return {"taskStatus": "SUCCESS", "attempts": list(attempts), "inputBytes": 5}


JOB = {
    "jobID": "job_1400_0007",
    "submitTime": ORIGIN + 400,
    "finishTime": ORIGIN + 9000,
    "user": "jenkins",
    "queue": "etl",
    "jobMapMB": 1536,
    "jobReduceMB": -1,
    "mapTasks": [task(attempt(500, 2500, hostName="/rack/a", result="SUCCESS"))],
    "reduceTasks": [task(attempt(500, 1500, hostName=None))],
    "otherTasks": [task()],
    "jobName": None,
}


def write(folder: Path, *jobs: object, as_array: bool = False) -> Path:
    path = folder / "rumen.json"
    path.write_text(json.dumps(jobs) if as_array else "\n".join(map(json.dumps, jobs)))
    return path


@pytest.mark.parametrize("as_array", [False, True])
def test_a_job_has_a_task_for_each_of_rumens(tmp_path, as_array):
    first = {**JOB, "jobID": "job_1400_0006", "submitTime": ORIGIN, "finishTime": None}
    jobs = read_sls_jobs(write(tmp_path, JOB, first, as_array=as_array))
    classes = (
        TaskClass("map", 1, 2000, 1536, 1, 10, host="/rack/a"),
        TaskClass("reduce", 1, 1000, 1024, 1, 20),
    )
    assert jobs == (
        ContainerJob(
            0, 400, None, classes, user="jenkins", queue="etl", end=9000, known_as="job_1400_0007"
        ),
        ContainerJob(1, 0, None, classes, user="jenkins", queue="etl", known_as="job_1400_0006"),
    )


@pytest.mark.parametrize(
    ("attempts", "duration"),
    [
        ([attempt(0, 5, result="SUCCESS"), attempt(0, 9, result="KILLED")], 5),
        ([attempt(0, 5, result="SUCCESS"), attempt(0, 7, result="SUCCESS")], 7),
        ([attempt(0, 5, result="FAILED"), attempt(0, 9, result="KILLED")], 9),
    ],
)
def test_the_last_attempt_that_succeeded_counts(tmp_path, attempts, duration):
    (job,) = read_sls_jobs(write(tmp_path, {**JOB, "mapTasks": [task(*attempts)]}))
    assert job.classes[0].duration == duration


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"mapTasks": [task()]}, ", map task 1: no attempts; leave the task out"),
        (
            {"reduceTasks": [task(attempt(7, 7))]},
            f", reduce task 1, attempt 1: 'finishTime' should be after the start at {ORIGIN + 7}",
        ),
        ({"submitTime": -1}, ": 'submitTime' should be a whole number of 0 or more, not -1"),
        ({"mapTasks": None}, ": no 'mapTasks'"),
        ({"reduceTasks": 3}, ": 'reduceTasks' should be a list of objects"),
    ],
)
def test_what_is_wrong_is_said_with_the_job(tmp_path, changes, problem):
    path = write(tmp_path, JOB, {**JOB, "jobID": "job_8", **changes})
    with pytest.raises(WorkloadError) as raised:
        read_sls_jobs(path)
    assert str(raised.value).startswith(f"{path}:2: job_8{problem}")


WHOLE_ATTEMPT = {
    "location": {"layers": ["default-rack", "n1.example.org"]},
    "hostName": "/default-rack/n1.example.org",
    "result": "SUCCESS",
    "attemptID": "attempt_1400_0007_m_000000_0",
    "clockSplits": [1500] * 12,
    "vmemKbytes": [1_400_000] * 12,
    "shuffleFinished": -1,
    "sortFinished": -1,
    "mapInputBytes": -1,
    "resourceUsageMetrics": {"cumulativeCpuUsage": 14_000, "heapUsage": 745_000_000},
}
NOTHING = {
    "maximum": 2**63 - 1,
    "minimum": -(2**63),
    "rankings": [{"datum": 14_000, "relativeRanking": 0.05}],
    "numberValues": 0,
}
WHOLE_JOB = {
    "priority": "NORMAL",
    **JOB,
    "launchTime": ORIGIN + 450,
    "totalMaps": 1,
    "totalReduces": 0,
    "mapTasks": [
        {
            **task(attempt(500, 2500, **WHOLE_ATTEMPT)),
            "startTime": ORIGIN + 300,
            "finishTime": ORIGIN + 2500,
            "taskID": "task_1400_0007_m_000000",
            "taskType": "MAP",
            "preferredLocations": [{"layers": ["default-rack", "n2.example.org"]}],
            "inputRecords": 4_000_000,
        }
    ],
    "reduceTasks": [],
    "otherTasks": [],
    "jobProperties": {"mapreduce.job.acl-view-job": " ", "mapreduce.task.profile.maps": "0-2"},
    "computonsPerMapInputByte": -1,
    "heapMegabytes": 200,
    "outcome": "SUCCESS",
    "jobtype": "JAVA",
    "directDependantJobs": [],
    "successfulMapAttemptCDFs": [NOTHING] * 4,
    "failedReduceAttemptCDF": NOTHING,
    "mapperTriesToSucceed": [1.0],
    "failedMapperFraction": 0.0,
    "relativeTime": 0,
    "clusterMapMB": -1,
    "jobMapMB": 200,
}
"""With the fields of the traces that come with Hadoop's simulator."""


def test_nothing_of_a_whole_trace_is_missing_or_in_the_way(tmp_path):
    path = tmp_path / "whole.json"
    jobs = [{**WHOLE_JOB, "jobID": f"job_1400_{number:04}"} for number in range(7, 10)]
    text = "".join(json.dumps(job, indent=2).replace('":', '" :') + "\n" for job in jobs)
    path.write_text(text)
    read = read_sls_jobs(path)
    assert [job.known_as for job in read] == ["job_1400_0007", "job_1400_0008", "job_1400_0009"]
    for job in read:
        assert job.classes == (
            TaskClass("map", 1, 2000, 200, 1, 10, host="/default-rack/n1.example.org"),
        )
    lines = text.count("\n") // 3
    path.write_text(text[: -len(text) // 4])
    with pytest.raises(WorkloadError) as raised:
        read_sls_jobs(path)
    assert f"in the middle of the object that begins in line {2 * lines + 1}" in str(raised.value)


def test_a_job_that_stands_twice_is_refused(tmp_path):
    with pytest.raises(WorkloadError, match=r":2: job_1400_0007: is given again; first in line"):
        read_sls_jobs(write(tmp_path, JOB, JOB))
