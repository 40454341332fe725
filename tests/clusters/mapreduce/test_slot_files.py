"""Hadoop 1's capacity-scheduler.xml and fair-scheduler.xml are read as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebecsim.clusters.mapreduce.schedulers.capacity import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.capacity_file import read_capacity_settings
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacityQueueSettings,
    CapacitySettings,
)
from rebecsim.clusters.mapreduce.schedulers.fair import FairTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.fair_settings import PoolSettings, read_fair_settings
from rebecsim.clusters.mapreduce.schedulers.fifo import JobQueueTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.registry import SLOT_SCHEDULERS, slot_scheduler
from rebecsim.errors import UserError
from tests.clusters.mapreduce.slots import trackers

OWN = "mapred.capacity-scheduler."


def capacity_file(tmp_path: Path, *properties: str) -> Path:
    """A file with properties of the scheduler, each as `name=value`, on a line each from line 2."""
    lines = ["<configuration>"]
    for each in properties:
        name, _, value = each.partition("=")
        lines.append(f"<property><name>{OWN}{name}</name><value>{value}</value></property>")
    path = tmp_path / "capacity-scheduler.xml"
    path.write_text("\n".join([*lines, "</configuration>"]), "utf-8")
    return path


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = capacity_file(
        tmp_path,
        "maximum-system-jobs=40",
        "queue.long.capacity=70",
        "queue.long.maximum-capacity=90",
        "queue.short.supports-priority=true",
        "queue.short.minimum-user-limit-percent=25",
        "queue.short.user-limit-factor=1.5",
        "queue.short.maximum-initialized-active-tasks=50000",
        "default-init-accept-jobs-factor=3",
        "default-minimum-user-limit-percent=50",
        "init-worker-threads=2",
        "maximum-tasks-per-heartbeat=32767",
        "task.limit.maxpmem=-1",
    )
    settings, idle = read_capacity_settings(path, "c.xml")
    assert settings == CapacitySettings(
        queues={
            "long": CapacityQueueSettings(
                capacity=70,
                maximum_capacity=90,
                minimum_user_limit_percent=50,
                init_accept_jobs_factor=3,
            ),
            "short": CapacityQueueSettings(
                capacity=30,  # what the other one leaves
                supports_priority=True,
                minimum_user_limit_percent=25,
                user_limit_factor=1.5,
                maximum_initialized_active_tasks=50_000,
                maximum_initialized_active_tasks_per_user=50_000,  # no more than the queue
                init_accept_jobs_factor=3,
            ),
        },
        maximum_system_jobs=40,
        init_worker_threads=2,
        maximum_tasks_per_heartbeat=32767,
    )
    assert idle == (
        f"c.xml:11: {OWN}init-worker-threads has no effect",
        f"c.xml:13: {OWN}task.limit.maxpmem has no effect",
    )


def test_an_empty_file_is_one_queue_of_all_slots(tmp_path: Path) -> None:
    assert read_capacity_settings(capacity_file(tmp_path)) == (CapacitySettings(), ())


def test_a_third_of_the_slots_is_written_a_little_larger(tmp_path: Path) -> None:
    thirds = capacity_file(tmp_path, *(f"queue.{name}.capacity=33.34" for name in "abc"))
    assert len(read_capacity_settings(thirds)[0].queues) == 3


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        (
            ["queue.a.capacity=50", "queue.b.capacity=49"],
            "c.xml:2: {}queue.a.capacity: the capacities of the queues are 99 percent together, "
            "and should be 100 (at least 100, and less than 101)",
        ),
        (
            ["queue.a.capacity=60", "queue.b.capacity=40", "queue.b.maximum-capacity=30"],
            "c.xml:4: {}queue.b.maximum-capacity: 30 is below the capacity of the queue, 40; "
            "write the capacity at least, or -1 for no maximum",
        ),
        (
            ["queue.a.capacity=100", "queue.a.minimum-user-limit-percent=0"],
            "c.xml:3: {}queue.a.minimum-user-limit-percent: should be 1 to 100, not 0",
        ),
        (
            ["queue.a.capacity=100", "queue.a.minimum-user-limit-percent=101"],
            "c.xml:3: {}queue.a.minimum-user-limit-percent: should be 1 to 100, not 101",
        ),
        (
            ["queue.a.capacity=100", "queue.a.user-limit-factor=0"],
            "c.xml:3: {}queue.a.user-limit-factor: should be above 0, not 0",
        ),
        (
            ["queue.a.capacity=much"],
            "c.xml:2: {}queue.a.capacity: should be a number, not 'much'",
        ),
        (
            ["queue.a.capacity=0", "queue.b.capacity=100"],
            "c.xml:2: {}queue.a.capacity: should be above 0 and at most 100, not 0",
        ),
        (
            ["queue.a.capacity=100", "queue.a.supports-priority=yes"],
            "c.xml:3: {}queue.a.supports-priority: should be true or false, not 'yes'",
        ),
        (
            [
                "queue.a.capacity=100",
                "queue.a.maximum-initialized-active-tasks=100",
                "queue.a.maximum-initialized-active-tasks-per-user=160",
            ],
            "c.xml:4: {}queue.a.maximum-initialized-active-tasks-per-user: 160 is more than the "
            "whole queue may have, 100",
        ),
        (
            ["maximum-system-jobs=0"],
            "c.xml:2: {}maximum-system-jobs: should be at least 1, not 0",
        ),
        (
            ["queue-order=most"],
            "c.xml:2: {}queue-order: should be capacity or backlog, not 'most'",
        ),
        (
            ["capped-slots=reduces"],
            "c.xml:2: {}capped-slots: should be both or maps, not 'reduces'",
        ),
        (
            ["init-poll-interval=0.5"],
            "c.xml:2: {}init-poll-interval: should be a whole number, not '0.5'",
        ),
    ],
)
def test_what_cannot_be_meant_names_file_line_and_property(
    tmp_path: Path, properties: list[str], problem: str
) -> None:
    with pytest.raises(UserError) as raised:
        read_capacity_settings(capacity_file(tmp_path, *properties), "c.xml")
    assert str(raised.value) == problem.format(OWN)


def test_a_queue_that_jobs_name_and_nobody_defines(tmp_path: Path) -> None:
    path = capacity_file(tmp_path, "queue.long.capacity=60", "queue.short.capacity=40")
    setup = CapacityTaskScheduler.from_file(path, "c.xml")
    setup.require_queues(["long", "short"])
    with pytest.raises(UserError) as raised:
        setup.require_queues(["shorty"])
    problem = "c.xml: jobs name the queue 'shorty', which is not defined; did you mean short?"
    assert str(raised.value) == problem
    assert setup.build(trackers(5)).poll_interval == 5_000_000


POOLS = """<?xml version="1.0"?>
<allocations>
  <pool name="sample">
    <minMaps>5</minMaps>
    <minReduces>5</minReduces>
    <maxMaps>25</maxMaps>
    <weight>2.0</weight>
    <schedulingMode>FIFO</schedulingMode>
    <minSharePreemptionTimeout>300</minSharePreemptionTimeout>
    <aclSubmitJobs>*</aclSubmitJobs>
  </pool>
  <user name="sample_user">
    <maxRunningJobs>6</maxRunningJobs>
  </user>
  <userMaxJobsDefault>3</userMaxJobsDefault>
  <fairSharePreemptionTimeout>600</fairSharePreemptionTimeout>
  <queueMaxAMShareDefault>0.5</queueMaxAMShareDefault>
</allocations>
"""


def test_pools_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "fair-scheduler.xml"
    path.write_text(POOLS, "utf-8")
    settings, idle = read_fair_settings(path, "f.xml")
    assert settings.pools == {
        "sample": PoolSettings(
            min_maps=5,
            min_reduces=5,
            max_maps=25,
            weight=2.0,
            scheduling_mode="fifo",
            min_share_preemption_timeout=300,
        )
    }
    assert settings.max_jobs_of == {"sample_user": 6}
    assert settings.user_max_jobs_default == 3
    assert settings.fair_share_preemption_timeout == 600
    assert idle == (
        "f.xml:10: <aclSubmitJobs> has no effect",
        "f.xml:17: <queueMaxAMShareDefault> has no effect",
    )
    assert FairTaskScheduler.from_file(path).without_effect


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "<minMaps>5</minMaps>",
            "<minMaps>50</minMaps>",
            "f.xml:4: pool.sample.minMaps: 50 is more than maxMaps, 25",
        ),
        (
            "<weight>2.0</weight>",
            "<weight>0</weight>",
            "f.xml:7: pool.sample.weight: should be above 0; a pool without weight would get "
            "nothing",
        ),
        (
            "<minReduces>5</minReduces>",
            "<minMaps>5</minMaps>",
            "f.xml:5: pool.sample.minMaps is given twice, first on line 4",
        ),
        (
            "<maxRunningJobs>6</maxRunningJobs>",
            "<maxRunningJobs>six</maxRunningJobs>",
            "f.xml:13: user.sample_user.maxRunningJobs: should be a number, not 'six'",
        ),
        (
            ' name="sample"',
            "",
            'f.xml:3: a pool without a name; write <pool name="...">',
        ),
        (
            "<fairSharePreemptionTimeout>600",
            "<fairSharePreemptionTimeout>-1",
            "f.xml:16: fairSharePreemptionTimeout: should be at least 0, not -1",
        ),
    ],
)
def test_pools_that_cannot_be_meant(tmp_path: Path, old: str, new: str, problem: str) -> None:
    path = tmp_path / "fair-scheduler.xml"
    assert POOLS.count(old) == 1
    path.write_text(POOLS.replace(old, new), "utf-8")
    with pytest.raises(UserError) as raised:
        read_fair_settings(path, "f.xml")
    assert str(raised.value) == problem


def test_another_file_is_no_allocations_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"c\.xml:1: an <allocations> is expected"):
        read_fair_settings(capacity_file(tmp_path), "c.xml")


def test_schedulers_by_name() -> None:
    assert list(SLOT_SCHEDULERS)[:3] == ["CAPACITY", "FIFO", "FAIR"]
    assert slot_scheduler("FIFO").scheduler is JobQueueTaskScheduler
    with pytest.raises(UserError, match="x: JobQueueTaskScheduler takes no file"):
        JobQueueTaskScheduler.from_file(Path("x"))
    with pytest.raises(UserError, match="a: JobQueueTaskScheduler has no parameters"):
        JobQueueTaskScheduler.with_parameters({"a": 1})
    setup = FairTaskScheduler.with_parameters({"pool.a.weight": 2, "allow.undeclared.pools": False})
    with pytest.raises(UserError, match="jobs name the queue 'b'"):
        setup.require_queues(["b"])
    assert FairTaskScheduler.with_parameters({}).queues is None
    queues = {"queue.a.capacity": 40, "queue.b.capacity": 60, "queue.b.supports-priority": True}
    assert CapacityTaskScheduler.with_parameters(queues).queues == ("a", "b")
    idle = CapacityTaskScheduler.with_parameters({"init-worker-threads": 2})
    assert idle.without_effect == ("init-worker-threads has no effect",)
    with pytest.raises(UserError, match=r"queue.a.capacty: queues have no such parameter"):
        CapacityTaskScheduler.with_parameters({"queue.a.capacty": 40})
