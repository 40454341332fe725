"""When reduces are asked for under Hadoop's own schedulers: when all maps have ended."""

from __future__ import annotations

import pytest

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, Container
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings
from rebecsim.workloads.container_jobs import TaskClass
from tests.clusters.yarn.queues.files import (
    MONITOR,
    TWO_QUEUES,
    capacity,
    fair,
    job,
    nodes,
    run,
    tasks as maps,
)

CAPACITY, FAIR = capacity(TWO_QUEUES), fair("<allocations/>")
FIRST = (TaskClass("reduce", 2, 5_000, 1024, priority=10), maps(3, 10), maps(1, 40))
"""Of one job: reduces that would go first by their priority, and maps that end at two times."""


def _of_kind(application: Application, kind: str) -> list[Container]:
    return [each for each in application.containers if each.task.kind == kind]


def _last_map(application: Application) -> int:
    ends = [each.finished for each in _of_kind(application, "map")]
    return max(end for end in ends if end is not None)


def _first_reduce(application: Application) -> int:
    return min(each.scheduled for each in _of_kind(application, "reduce"))


@pytest.mark.parametrize("settings", [CAPACITY, FAIR])
def test_reduces_wait_for_all_maps(settings: QueueSettings) -> None:
    found = run(settings, [job(1, "a", *FIRST)], nodes(2)).applications[0]
    assert len(_of_kind(found, "map")) == 4
    assert len(_of_kind(found, "reduce")) == 2
    assert _last_map(found) < _first_reduce(found) <= _last_map(found) + 4_000


def test_of_another_type_of_job_they_do_not() -> None:
    jobs = [job(1, "a", *FIRST, application="stream")]
    found = run(CAPACITY, jobs, nodes(2)).applications[0]
    assert _first_reduce(found) < 10_000 < _last_map(found)


def test_under_the_schedulers_of_dss_they_do_not() -> None:
    found = run_cluster([job(1, "a", *FIRST)], nodes(2), YarnConfiguration()).applications[0]
    assert _first_reduce(found) < 10_000 < _last_map(found)


def test_without_maps_they_are_asked_for_at_once() -> None:
    found = run(CAPACITY, [job(1, "a", FIRST[0])], nodes(1)).applications[0]
    assert [each.task.kind for each in found.containers] == ["master", "reduce", "reduce"]
    assert _first_reduce(found) < 5_000


def test_maps_that_were_killed_are_waited_for_too() -> None:
    rules = {**TWO_QUEUES, **MONITOR, "root.a.maximum-capacity": "100"}
    rules["root.a.user-limit-factor"] = "10"
    jobs = [job(1, "a", maps(90, 300), FIRST[0]), job(2, "b", maps(60, 300), at=50)]
    found = run(capacity(rules), jobs, nodes(10)).applications[0]
    killed = [each for each in found.containers if each.killed]
    assert killed
    assert len(_of_kind(found, "map")) == 90 + len(killed)
    assert len(_of_kind(found, "reduce")) == 2
    assert _last_map(found) < _first_reduce(found)
