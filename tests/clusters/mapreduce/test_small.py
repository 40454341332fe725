"""MapReduce clusters cut small keep their promises; with a scheduler at fault they do not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from rebecsim.clusters.mapreduce.cluster import cluster_model, run_mapreduce
from rebecsim.clusters.mapreduce.cluster_state import ClusterPlan
from rebecsim.clusters.mapreduce.configuration import (
    FailuresTable,
    MapReduceConfiguration,
    Speculation,
    SpeculationRule,
)
from rebecsim.clusters.mapreduce.job import Locality, MapReduceJob, SlotKind, TrackerSlots
from rebecsim.clusters.mapreduce.jobtracker import JobTracker
from rebecsim.clusters.mapreduce.schedulers.capacity import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.capacity_queues import SlotUsage
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacityQueueSettings,
    CapacitySettings,
)
from rebecsim.clusters.mapreduce.schedulers.fair import FairTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.fifo import JobQueueTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment, SchedulerFactory
from rebecsim.clusters.mapreduce.small import small_cluster
from rebecsim.clusters.mapreduce.speculation import BackupRule
from rebecsim.errors import UserError
from rebecsim.exploration import Checks, Result, explore
from rebecsim.studies.study import Cut, SmallCluster
from tests.clusters.mapreduce.simple import (
    EXACT,
    MIB,
    NOTHING,
    ROUND,
    FirstComeFirstServed,
    cluster,
    failing,
    job,
    with_keys,
)
from tests.every_order import ends_of_every_order, explored_ends

PLAIN = with_keys(
    MapReduceConfiguration(ROUND),
    nodes=2,
    replication=2,
    map_slots=1,
    reduce_slots=1,
    heartbeat=3000,
)
TWO_QUEUES = CapacitySettings(
    queues={name: CapacityQueueSettings(capacity=50, user_limit_factor=2) for name in "ab"},
    init_poll_interval=3000,
)
SCHEDULERS: dict[str, SchedulerFactory] = {
    "FIFO": JobQueueTaskScheduler,
    "FAIR": FairTaskScheduler,
    "CAPACITY": partial(CapacityTaskScheduler, settings=TWO_QUEUES),
}


def jobs_of(*maps: int, reduces: int = 0, after: int = 0) -> list[MapReduceJob]:
    """Make jobs of so many maps, of the queues a and b in turn, submitted so long apart."""
    return [
        replace(
            job(number, each, reduces, size=MIB),
            queue="ab"[number % 2],
            submit=number * after,
            costs=NOTHING,
        )
        for number, each in enumerate(maps)
    ]


def cut(
    jobs: list[MapReduceJob],
    scheduler: SchedulerFactory,
    configuration: MapReduceConfiguration = PLAIN,
    nodes: int = 2,
) -> SmallCluster:
    return small_cluster(jobs, configuration, scheduler, "small", Cut(len(jobs), nodes))


def explored(cluster: SmallCluster) -> Result:
    return explore(cluster.model, checks=Checks(terminal=(cluster.done,)))


def starts_of(cluster: SmallCluster) -> set[tuple[int, ...]]:
    return explored_ends(cluster.model, cluster.starts)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_every_scheduler_keeps_its_promises(name: str) -> None:
    cluster = cut(jobs_of(3, 2, reduces=1), SCHEDULERS[name])
    assert len(cluster.promises) == 5
    assert explored(cluster).verdict == "satisfied"


@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.parametrize("maps", [(1, 1), (2, 1)])
def test_brute_force_finds_the_same_starts(name: str, maps: tuple[int, ...]) -> None:
    cluster = cut(jobs_of(*maps), SCHEDULERS[name], nodes=1)
    assert explored(cluster).verdict == "satisfied"
    assert starts_of(cluster) == set(ends_of_every_order(cluster.model, cluster.starts))


def test_who_is_heard_of_first_is_served_first() -> None:
    """A second job comes at the time of a heartbeat."""
    jobs = jobs_of(1, 1, after=3_000_000)
    assert starts_of(cut(jobs, JobQueueTaskScheduler)) == {(3000, 3000), (3000, 6000)}


class Overfull(JobQueueTaskScheduler):
    """Gives a node one map more than it has slots for."""

    def _to_be_filled(self, tracker, kind):
        return 2 if kind is SlotKind.MAP else 0


class LastFirst(JobQueueTaskScheduler):
    """Asks the job last that came first."""

    def _find_map(self, tracker, now):
        for each in reversed(self._offering[SlotKind.MAP].jobs):
            found = each.map_for(tracker, Locality.OFF_SWITCH)
            if found is not None:
                each.start_map(found[0])
                return Assignment(each, SlotKind.MAP, *found)
        return None


class Twice(JobQueueTaskScheduler):
    """Gives the first map of a job again and again."""

    def _find_map(self, tracker, now):
        for each in self._offering[SlotKind.MAP].jobs:
            each.start_map(each.job.maps - 1)
            return Assignment(each, SlotKind.MAP, 0, Locality.NODE)
        return None


class Idle(JobQueueTaskScheduler):
    """Gives nothing."""

    def assign(self, tracker, now):
        self.withheld = False
        return []


@pytest.mark.parametrize(
    ("scheduler", "verdict", "text"),
    [
        (Overfull, "assertion failed", "runs 1 maps in 1 slots, and is given one more"),
        (LastFirst, "assertion failed", "job_1 got a map slot while job_0 asked"),
        (Twice, "assertion failed", "map 0 of job_0 runs or has ended, and is given a slot"),
        (Idle, "deadlock", ""),
    ],
)
def test_a_planted_fault_is_found(scheduler: SchedulerFactory, verdict: str, text: str) -> None:
    result = explored(cut(jobs_of(3, 2), scheduler))
    assert result.verdict == verdict
    assert result.path is not None
    assert result.path.breach is not None
    assert text in result.path.breach.text


def test_a_queue_that_is_passed_over_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = SlotUsage.ratio
    monkeypatch.setattr(SlotUsage, "ratio", lambda usage: -right(usage))
    result = explored(cut(jobs_of(3, 3), SCHEDULERS["CAPACITY"]))
    assert result.verdict == "assertion failed"
    assert result.path is not None
    assert result.path.breach is not None
    assert "got a map slot and has 2 of 1, while queue" in result.path.breach.text


FAILS = replace(with_keys(PLAIN, expiry=6.0), failures=failing((0, 4, 10)))
MAY_FAIL = replace(FAILS, failures=FailuresTable(mean_time_between=1, repair=9))
BACKUPS = replace(
    PLAIN,
    variation=EXACT.model_copy(update={"slow_tasks": 0.5, "task_slowdown": 20.0}),
    speculation=Speculation(rule="late", patience=1.0, cap=1.0, slow_task=1.0, slow_node=0.0),
)


@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.parametrize("configuration", [FAILS, BACKUPS], ids=["fails", "backups"])
def test_promises_are_kept_with_failures_and_backups(
    name: str, configuration: MapReduceConfiguration
) -> None:
    jobs = jobs_of(2, *[1] * (name != "CAPACITY"), reduces=1)
    assert explored(cut(jobs, SCHEDULERS[name], configuration)).verdict == "satisfied"


def test_any_node_may_fail_in_place_of_random_failures() -> None:
    def times(configuration: MapReduceConfiguration) -> set[int]:
        made = cut(jobs_of(2, 1), JobQueueTaskScheduler, configuration)
        assert explored(made).verdict == "satisfied"
        return {second for _, second in explored_ends(made.model, made.starts)}

    assert times(PLAIN) == {6000}
    assert times(MAY_FAIL) == {6000, 9000}


def test_brute_force_finds_the_same_with_a_failure() -> None:
    """A heartbeat comes when a node does that was taken for lost."""
    cluster = cut(jobs_of(2, 1), JobQueueTaskScheduler, FAILS, nodes=1)
    assert starts_of(cluster) == set(ends_of_every_order(cluster.model, cluster.starts))


def test_an_output_that_is_lost_and_not_made_again_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures = failing((0, 6, 12))
    configuration = replace(with_keys(FAILS, slow_start=1.0), failures=failures)
    made = cut(jobs_of(3, reduces=1), JobQueueTaskScheduler, configuration)
    assert explored(made).verdict == "satisfied"
    monkeypatch.setattr(JobTracker, "_run_missing_again", lambda self, run: None)
    assert explored(made).verdict == "deadlock"


def test_a_backup_beside_its_task_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = BackupRule.backup_for

    def anywhere(rule, job, kind, tracker, now):
        return right(rule, job, kind, TrackerSlots(9, 0, 0, 0), now)

    monkeypatch.setattr(BackupRule, "backup_for", anywhere)
    made = cut(jobs_of(2), FirstComeFirstServed, with_keys(BACKUPS, map_slots=2))
    result = explored(made)
    assert result.verdict == "assertion failed"
    assert result.path is not None
    assert result.path.breach is not None
    assert "as its backup" in result.path.breach.text


@pytest.mark.parametrize("rule", ["hadoop", "late"])
def test_a_whole_cluster_is_explored_as_it_is_simulated(rule: SpeculationRule) -> None:
    """With its devices and its network, a node that fails, and backups: all of it is state."""
    slow = EXACT.model_copy(update={"slow_tasks": 0.5, "task_slowdown": 8.0})
    configuration = replace(
        cluster(nodes=2, variation=slow, expiry=1),
        failures=failing((0, 20, 40)),
        speculation=Speculation(rule=rule, patience=1.0, cap=1.0, slow_task=1.0, slow_node=0.0),
    )
    jobs = [job(1, 3, 1, size=8 * MIB), job(2, 2, 1, size=8 * MIB)]
    finished = run_mapreduce(jobs, configuration, FirstComeFirstServed, 1)
    assert {each.outcome.name for each in finished.attempts} >= {"LOST", "KILLED"}
    assert any(each.is_backup for each in finished.attempts)
    model = cluster_model(ClusterPlan(configuration, 1), jobs, FirstComeFirstServed)
    assert explored_ends(model, "jobtracker.closed") == {True}


def test_too_few_nodes_are_refused() -> None:
    queues = {
        "a": CapacityQueueSettings(capacity=80),
        "b": CapacityQueueSettings(capacity=20, maximum_capacity=20),
    }
    scheduler = partial(CapacityTaskScheduler, settings=CapacitySettings(queues=queues))
    with pytest.raises(UserError, match=r"small, cut to 2 nodes: .*; leave more nodes"):
        cut(jobs_of(1), scheduler)
