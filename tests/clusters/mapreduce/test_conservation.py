"""Nothing is lost or made of nothing: jobs, tasks and slot seconds of random scenarios add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from rebecsim.clusters.mapreduce.attempts import AttemptOutcome
from rebecsim.clusters.mapreduce.cluster import run_mapreduce
from rebecsim.clusters.mapreduce.columns import JobColumns
from rebecsim.clusters.mapreduce.inputs import RunSetup
from rebecsim.clusters.mapreduce.job import JobInProgress, TrackerSlots
from rebecsim.clusters.mapreduce.measures import MeasuredRun
from rebecsim.clusters.mapreduce.records import FinishedRun
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.tables import RecordedRun, recorded, tables_of
from rebecsim.errors import UserError

QUEUES = ("one", "two")


def cluster_of(random: Random) -> dict[str, Any]:
    nodes = random.randint(1, 6)
    found: dict[str, Any] = {
        "nodes": nodes,
        "racks": random.randint(1, min(nodes, 2)),
        "map_slots": random.randint(1, 3),
        "reduce_slots": random.randint(1, 2),
        "replication": random.randint(1, min(nodes, 3)),
        "placement": random.choice(["random", "hadoop"]),
        "heartbeat": random.choice([300, 1000]),
        "heartbeats_of": random.choice(["node", "slot"]),
        "reports": random.choice(["heartbeat", "at_once"]),
        "slow_start": random.choice([0.0, 0.05, 1.0]),
        "expiry": 20.0,
    }
    if nodes > 1 and random.random() < 0.4:
        found["classes"] = [
            {
                "count": random.randint(1, nodes - 1),
                "map_slots": random.randint(0, 4),
                "reduce_slots": random.randint(0, 3),
                "clock": random.choice([1.0, 5.0]),
                "disk_write": random.choice([20.0, 200.0]),
            }
        ]
    return found


def jobs_of(random: Random, place: int) -> dict[str, Any]:
    law = random.choice(["fixed", "poisson", "bursts", "at_once", "after"])
    user = random.choice(["ann", "bob", None])
    return {
        "family": f"family{place % 3}",
        "count": random.randint(1, 4),
        "maps": random.randint(1, 9),
        "reduces": random.choice([0, 1, 1, 3]),
        "queue": random.choice(QUEUES),
        "user": user or ("cid" if law == "after" else None),
        "priority": random.choice(["low", "normal", "high"]),
        "arrivals": {"law": law, "gap": random.choice([0.0, 3.0]), "first": 2.0},
        "costs": {"start": 1e9, "map_ratio": random.choice([0.1, 1.0, 2.0])},
    }


def variant_of(random: Random) -> dict[str, Any]:
    scheduler = random.choice(["CAPACITY", "CAPACITY", "FIFO", "FAIR"])
    found: dict[str, Any] = {"name": "one", "scheduler": scheduler}
    if scheduler != "CAPACITY":
        return found
    first = random.choice([30, 50, 80])
    limits: dict[str, Any] = {}
    for queue, capacity in zip(QUEUES, (first, 100 - first), strict=True):
        limits |= {
            f"queue.{queue}.capacity": capacity,
            f"queue.{queue}.maximum-capacity": random.choice([-1, -1, max(capacity, 70)]),
            f"queue.{queue}.minimum-user-limit-percent": random.choice([25, 100]),
            f"queue.{queue}.user-limit-factor": random.choice([1, 2]),
            f"queue.{queue}.supports-priority": random.random() < 0.5,
            f"queue.{queue}.maximum-initialized-active-tasks-per-user": random.choice([8, 100000]),
            f"queue.{queue}.init-accept-jobs-factor": random.choice([1, 10]),
        }
    found["settings"] = {**limits, "maximum-system-jobs": random.choice([4, 3000])}
    if random.random() < 0.3:
        changed = {"queue.one.user-limit-factor": 3}
        used = {"queue": "one", "below": 1}
        found["changes"] = [{"settings": changed, **random.choice([{"at": 10.0}, {"when": used}])}]
    return found


def scenario_of(seed: int) -> MapReduceScenario:
    """Draw a small scenario: any scheduler, with classes of nodes, failures and backups."""
    random = Random(seed)
    cluster = cluster_of(random)
    values: dict[str, Any] = {
        "name": "random",
        "replications": 1,
        "seed": seed,
        "warm_up": random.choice([0.0, 0.0, 0.3]),
        "cluster": cluster,
        "workload": {
            "block": random.choice([1, 16]),
            "jobs": [jobs_of(random, place) for place in range(random.randint(1, 4))],
        },
        "variation": {
            "slow_tasks": random.choice([0.0, 0.2]),
            "task_slowdown": 8.0,
            "slow_nodes": random.choice([0.0, 0.5]),
            "node_slowdown": 3.0,
        },
        "variants": [variant_of(random)],
    }
    if random.random() < 0.3:
        values["speculation"] = {
            "rule": random.choice(["hadoop", "late"]),
            "patience": 2.0,
            "cap": 0.5,
        }
    if random.random() < 0.3:
        start = random.uniform(0, 30)
        node = random.randrange(cluster["nodes"])
        outage = {"node": node, "start": start, "end": start + random.choice([5.0, 60.0])}
        values["failures"] = {"outages": [outage]}
    return MapReduceScenario.model_validate(values)


@dataclass(frozen=True)
class Conserved:
    """A run with what it was made from."""

    setup: RunSetup
    run: FinishedRun
    recorded: RecordedRun


def ran(seed: int) -> Conserved | None:
    """Run a random scenario; None where a maximum is below a slot, or a queue has no jobs."""
    setup = RunSetup(scenario_of(seed), Path(), "one")
    try:
        list(setup.require_sense())
    except UserError:
        return None
    scheduler = setup.scheduler
    run = run_mapreduce(setup.jobs(0), setup.configuration, scheduler.build, seed)
    return Conserved(setup, run, recorded(run, scheduler, setup.scenario.warm_up))


def require_jobs(each: Conserved) -> None:
    """Every job has ended or was rejected; tables of figures have those that count."""
    submitted = {job.number: job for job in each.setup.jobs(0)}
    ended = each.recorded.names["job"].tolist()
    rejected = [row[0] for row in each.recorded.rejections]
    assert sorted([*ended, *rejected]) == sorted(submitted)
    for job in each.run.jobs:
        assert (job.end is None) == (job.rejected is not None)
        if job.job.after is not None:
            before = next(other for other in each.run.jobs if other.job.number == job.job.after)
            assert before.end is None or job.job.submit >= before.end
    tables = tables_of(each.recorded)
    counted = len(each.recorded.measured.counted)
    assert counted == len(ended) - int(each.setup.scenario.warm_up * len(ended))
    for name in ("queues", "families"):
        assert sum(tables[name]["jobs"]) == counted


def require_tasks(each: Conserved) -> None:
    """Each task of a job that has ended succeeded once; those of others never began."""
    succeeded: Counter[tuple[int, int, int]] = Counter()
    begun = Counter(attempt.job for attempt in each.run.attempts)
    for attempt in each.run.attempts:
        assert attempt.start <= attempt.end
        assert attempt.outcome is not AttemptOutcome.RUNNING
        assert sum(attempt.times) <= attempt.end - attempt.start
        if attempt.outcome is AttemptOutcome.SUCCEEDED:
            succeeded[attempt.job, attempt.kind, attempt.number] += 1
    wanted: Counter[tuple[int, int, int]] = Counter()
    for record in each.run.jobs:
        job = record.job
        if record.rejected is not None:
            assert not begun[job.number]
            continue
        wanted.update((job.number, 0, number) for number in range(job.maps))
        wanted.update((job.number, 1, number) for number in range(job.reduces))
    assert succeeded == wanted
    jobs = each.recorded.measured.jobs
    assert (jobs.node_local + jobs.rack_local + jobs.remote == each.recorded.names["maps"]).all()
    assert (jobs.submit <= jobs.begin).all()
    assert (jobs.begin <= jobs.maps_end).all()
    assert (jobs.maps_end <= jobs.end).all()


def require_slots(each: Conserved) -> None:
    """No node holds more slots than it has, and what queues hold is what attempts hold."""
    attempts, measured = each.recorded.measured.attempts, each.recorded.measured
    classes = each.setup.configuration.cluster.class_of_nodes
    for node, of in enumerate(classes):
        for kind, slots in enumerate((of.map_slots, of.reduce_slots)):
            here = (attempts.node == node) & (attempts.kind == kind)
            starts, ends = np.sort(attempts.start[here]), np.sort(attempts.end[here])
            running = np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="right")
            assert running.max(initial=0) <= slots
    totals = sum(of.map_slots for of in classes), sum(of.reduce_slots for of in classes)
    assert measured.slots == totals
    if not len(measured.jobs):
        return
    shares = tables_of(each.recorded)["shares"]
    times = sorted(set(shares["time"]))
    width = (times[1] - times[0] if len(times) > 1 else int(attempts.end.max())) / 1e6
    for kind, name in enumerate(("maps", "reduces")):
        held = float((attempts.end - attempts.start)[attempts.kind == kind].sum()) / 1e6
        assert sum(shares[name]) * width == pytest.approx(held, rel=1e-6, abs=1e-6)
        span = float(measured.jobs.end.max()) / 1e6 - measured.begin / 1e6
        if span and not measured.warm_up:
            assert measured.slot_use(kind) == pytest.approx(100 * held / (totals[kind] * span))
        assert measured.slot_use(kind) <= 100 + 1e-6
    for use in measured.use.values():
        assert -1e-6 <= use <= 100 + 1e-3


def require_conservation(each: Conserved) -> None:
    require_jobs(each)
    require_tasks(each)
    require_slots(each)


@settings(max_examples=500)
@given(st.integers(0, 2**32))
def test_jobs_tasks_and_slot_seconds_are_conserved(seed: int) -> None:
    each = ran(seed)
    assume(each is not None)
    assert each is not None
    require_conservation(each)


def test_random_scenarios_have_what_could_break_the_laws() -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(120):
        each = ran(seed)
        if each is None:
            continue
        outcomes["runs"] += 1
        outcomes["rejected"] += bool(each.recorded.rejections)
        outcomes["after"] += any(job.job.after is not None for job in each.run.jobs)
        outcomes["classes"] += bool(each.setup.configuration.cluster.classes)
        outcomes["backups"] += each.recorded.measured.attempts.launched_backups > 0
        outcomes.update({attempt.outcome.name for attempt in each.run.attempts})
    assert outcomes["runs"] >= 90
    for name in ("rejected", "after", "classes", "backups", "KILLED", "LOST", "OUTPUT_LOST"):
        assert outcomes[name] >= 3, outcomes


def more_slots_than_there_are(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "rebecsim.clusters.mapreduce.jobtracker_state.TrackerSlots",
        lambda number, rack, *slots: TrackerSlots(number, rack, *(each + 1 for each in slots)),
    )


def reduces_that_are_skipped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(JobInProgress, "is_done", property(lambda job: job.finished[0] == job.job.maps))


def jobs_that_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(JobColumns, "after_warm_up", lambda jobs, _: np.arange(len(jobs)) > 0)
    patch.setattr(
        MeasuredRun, "counted", property(lambda run: run.jobs.only(np.arange(len(run.jobs)) > 0))
    )


@pytest.mark.parametrize(
    "wrong",
    [more_slots_than_there_are, reduces_that_are_skipped, jobs_that_are_forgotten],
    ids=lambda wrong: wrong.__name__,
)
def test_the_laws_find_what_is_broken(
    wrong: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong(monkeypatch)
    with pytest.raises((AssertionError, KeyError)):
        all_hold(range(40))


def all_hold(seeds: range) -> None:
    for seed in seeds:
        each = ran(seed)
        if each is not None:
            require_conservation(each)
