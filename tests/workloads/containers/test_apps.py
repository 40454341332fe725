"""Applications as the ResourceManager lists them: how they become jobs, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rebecsim.files import LimitError
from rebecsim.workloads import AppsRule, WorkloadError, read_sls_jobs, read_sls_trace

TRACE = Path(__file__).parents[2] / "data/containers/apps.json"

APP: dict[str, Any] = {
    "id": "application_17_0001",
    "user": "etl",
    "queue": "root.production",
    "applicationType": "MAPREDUCE",
    "startedTime": 1_000_000,
    "launchTime": 1_002_000,
    "finishedTime": 1_302_000,
    "memorySeconds": 6_600_000,
    "vcoreSeconds": 3_300,
}


def write(folder: Path, *apps: Any, name: str = "apps.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"apps": {"app": list(apps)}}))
    return path


def test_an_answer_is_read_as_jobs_of_queues_and_users() -> None:
    jobs = read_sls_jobs(TRACE)
    assert [(job.name[-4:], job.user, job.queue, job.start) for job in jobs] == [
        ("0001", "etl", "root.production", 0),
        ("0002", "analyst1", "root.analysts", 30_000),
        ("0003", "analyst2", "root.analysts", 60_000),
        ("0004", "analyst2", "root.analysts", 90_000),
    ]
    assert [(job.application, job.end) for job in jobs[:2]] == [
        ("mapreduce", 302_000),
        ("spark", 631_000),
    ]


def test_what_an_application_has_used_is_divided_among_its_tasks(tmp_path) -> None:
    (job,) = read_sls_jobs(write(tmp_path, APP))
    (tasks,) = job.classes
    # 3,300 core seconds; the AppMaster holds a core for 300 s, 50 tasks of 60 s the rest
    assert (tasks.count, tasks.duration, tasks.memory, tasks.cores) == (50, 60_000, 2000, 1)
    assert (job.master_memory, job.master_cores) == (2000, 1)
    used = tasks.count * tasks.duration * tasks.memory + 300_000 * 2000
    assert used == 1000 * APP["memorySeconds"]


def test_tasks_take_as_long_as_the_rule_says_and_no_longer_than_the_job(tmp_path) -> None:
    path = write(tmp_path, APP)
    for seconds, count in ((20, 150), (300, 10), (9_000, 10)):
        ((tasks,),) = (job.classes for job in read_sls_trace(path, AppsRule(seconds)).jobs)
        assert (tasks.count, tasks.count * tasks.duration) == (count, 3_000_000)


def test_containers_of_other_types_last_as_long_as_the_application(tmp_path) -> None:
    (job,) = read_sls_jobs(write(tmp_path, {**APP, "applicationType": "SPARK"}))
    assert [(each.count, each.duration) for each in job.classes] == [(10, 300_000)]


def test_an_application_of_an_appmaster_alone_has_one_task_as_long(tmp_path) -> None:
    (job,) = read_sls_jobs(write(tmp_path, {**APP, "vcoreSeconds": 300, "memorySeconds": 300_000}))
    assert [(each.count, each.duration, each.memory) for each in job.classes] == [
        (1, 300_000, 1000)
    ]


def test_older_versions_say_no_launch_time(tmp_path) -> None:
    older = {key: value for key, value in APP.items() if key != "launchTime"}
    (job,) = read_sls_jobs(write(tmp_path, older))
    assert sum(each.count * each.duration for each in job.classes) == 3_300_000 - 302_000


def test_what_is_no_job_is_counted() -> None:
    assert read_sls_trace(TRACE).notes == (
        "1 of 6 applications left out: not ended yet",
        "1 of 6 applications left out: never given a container",
    )


def test_answers_may_follow_each_other_and_the_last_one_counts(tmp_path) -> None:
    path = tmp_path / "day.json"
    running = {**APP, "finishedTime": 0}
    second = {**APP, "id": "application_17_0002", "startedTime": 1_001_000}
    answers = [{"apps": {"app": [running]}}, {"apps": {"app": [APP, second]}}]
    path.write_text("\n".join(map(json.dumps, answers)))
    trace = read_sls_trace(path)
    assert [job.name for job in trace.jobs] == ["application_17_0001", "application_17_0002"]
    assert trace.notes == ()


def test_one_application_alone_is_read(tmp_path) -> None:
    path = tmp_path / "app.json"
    path.write_text(json.dumps({"app": APP}))
    assert len(read_sls_jobs(path)) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"apps": None}, "no application in 'apps'; ask for those that have ended: curl"),
        ({"apps": {}}, "no application in 'apps'"),
        ({"apps": {"app": []}}, "no application in 'app'"),
        ({"apps": {"app": {}}}, "'app' should be a list of objects"),
        ({"apps": {"app": [{**APP, "finishedTime": 0}]}}, "no application that has run: 1 not en"),
        ({"app": "gone"}, "no application in 'app'"),
        ({"RemoteException": {"message": "no"}}, "the ResourceManager has refused to answer"),
        ({"apps": {"app": [{"user": "etl"}]}}, "app 1: no 'id'"),
        ({"apps": {"app": [{**APP, "vcoreSeconds": "3"}]}}, "'vcoreSeconds' should be a whole num"),
        ({"apps": {"app": [{**APP, "queue": 7}]}}, "'queue' should be a text, not 7"),
        ({"apps": {"app": [{**APP, "launchTime": 9}]}}, "should follow each other"),
        ({"apps": {"app": [{**APP, "finishedTime": 9}]}}, "should follow each other"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(content: Any, said: str, tmp_path) -> None:
    path = tmp_path / "apps.json"
    path.write_text(json.dumps(content))
    with pytest.raises(WorkloadError) as caught:
        read_sls_jobs(path)
    assert str(caught.value).startswith(f"{path}:1: ")
    assert said in str(caught.value)


def test_another_object_behind_an_answer_is_refused(tmp_path) -> None:
    path = tmp_path / "apps.json"
    path.write_text(json.dumps({"apps": {"app": [APP]}}) + '\n{"job.id": "job_1"}')
    with pytest.raises(WorkloadError, match=r"apps.json:2: .*an answer of the ResourceManager"):
        read_sls_jobs(path)


def test_an_application_of_too_many_tasks_is_refused(tmp_path) -> None:
    path = write(tmp_path, {**APP, "vcoreSeconds": 2**52})
    with pytest.raises(LimitError, match="application_17_0001: 'vcoreSeconds'"):
        read_sls_jobs(path)


def test_the_rule_is_for_applications_only(tmp_path) -> None:
    with pytest.raises(WorkloadError, match="other traces list their tasks"):
        read_sls_trace(TRACE.with_name("hadoop.json"), AppsRule(30))
