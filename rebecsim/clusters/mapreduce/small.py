"""A small MapReduce cluster for exploration, which asserts the promises of its scheduler.

The JobTracker and its scheduler are those of the simulation. TaskTrackers have no devices: tasks
take as long as on unshared ones, and reduces fetch at once. Times are whole heartbeats. All nodes
send heartbeats at the same times, in any order; tasks end between two heartbeats. Instead of random
failures, any one node may fail once, when a task starts or its end is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    RebecNamed,
    known_rebec,
    require,
    state_variable,
)
from rebecsim.clusters.mapreduce.attempts import (
    Attempt,
    TaskOrder,
)
from rebecsim.clusters.mapreduce.cluster_state import ClusterPlan, TrackerStatus
from rebecsim.clusters.mapreduce.configuration import (
    ClusterTable,
    FailuresTable,
    MapReduceConfiguration,
    NodeClassTable,
)
from rebecsim.clusters.mapreduce.devices import at_once
from rebecsim.clusters.mapreduce.job import (
    MILLISECOND,
    SECOND,
    JobInProgress,
    Locality,
    MapReduceJob,
    SlotKind,
    TrackerSlots,
)
from rebecsim.clusters.mapreduce.jobtracker import Client, JobTracker
from rebecsim.clusters.mapreduce.jobtracker_state import tracker_statuses
from rebecsim.clusters.mapreduce.plain_tracker import PlainTracker
from rebecsim.clusters.mapreduce.schedulers.capacity import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import QueueOrder
from rebecsim.clusters.mapreduce.schedulers.fair import FairTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.fifo import JobQueueTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.scheduler import (
    Assignment,
    SchedulerFactory,
    TaskScheduler,
    by_priority,
)
from rebecsim.clusters.mapreduce.tasktracker import FailureInjector
from rebecsim.clusters.mapreduce.watch import patience_of
from rebecsim.errors import UserError
from rebecsim.studies.study import Cut, SmallCluster, in_any_order
from rebecsim.wording import counted

Given = tuple[JobInProgress, SlotKind]
"""A job that has been given a slot of a kind at this heartbeat."""

Breaches = Callable[[TaskScheduler, Sequence[Given], TrackerSlots], Iterator[str]]
"""Says which promises a scheduler has broken at the heartbeat of a node, in words."""


def promise_of(scheduler: TaskScheduler) -> tuple[str, Breaches] | None:
    """Return the promise of a scheduler, and the function that finds violations.

    Jobs that still wait after a heartbeat waited before it, since nothing happens in between.
    """
    match scheduler:
        case CapacityTaskScheduler():
            if scheduler.settings.queue_order is not QueueOrder.CAPACITY:
                return None
            return (
                "Capacity: no queue gets a slot above its capacity while one below its own asks",
                _passed_queues,
            )
        case FairTaskScheduler():
            return (
                "Fair: no pool gets a slot above its minimum share while one below its own asks",
                _passed_pools,
            )
        case JobQueueTaskScheduler():
            return "FIFO: no job gets a slot while an earlier one asks", _passed_jobs
    return None


def _asks(job: JobInProgress, kind: SlotKind, tracker: TrackerSlots, furthest: Locality) -> bool:
    """Whether a job has a task for a node: a reduce, or a map within a locality level."""
    if kind is SlotKind.REDUCE:
        return job.offers_reduce()
    return job.map_for(tracker, furthest) is not None


def _passed_queues(
    scheduler: TaskScheduler, given: Sequence[Given], tracker: TrackerSlots
) -> Iterator[str]:
    """Find queues below capacity that were passed over although the node has their data."""
    assert isinstance(scheduler, CapacityTaskScheduler)
    for job, kind in given:
        name = job.job.queue
        usage = scheduler.queues[name].usage[kind]
        if usage.occupied <= usage.limits.capacity:
            continue
        for other, queue in scheduler.queues.items():
            below = queue.usage[kind]
            if below.occupied >= below.limits.capacity or below.is_full():
                continue
            limit = below.user_limit()
            if any(
                below.by_user[each.job.user] < limit and _asks(each, kind, tracker, Locality.NODE)
                for each in below.offering.jobs
            ):
                yield (
                    f"queue {name} got a {kind.name.lower()} slot and has {usage.occupied} of "
                    f"{usage.limits.capacity}, while queue {other} asked and has "
                    f"{below.occupied} of {below.limits.capacity}"
                )


def _passed_pools(
    scheduler: TaskScheduler, given: Sequence[Given], tracker: TrackerSlots
) -> Iterator[str]:
    """Find pools below minimum share that were passed over although the node has their data."""
    assert isinstance(scheduler, FairTaskScheduler)
    for job, kind in given:
        name, pools = job.job.queue, scheduler.pools[kind]
        pool = pools[name]
        if pool.running <= pool.wanted_least:
            continue
        for below in pools.values():
            if below.running < below.wanted_least and any(
                _asks(each, kind, tracker, Locality.NODE) for each in below.offering.jobs
            ):
                yield (
                    f"pool {name} got a {kind.name.lower()} slot and has {pool.running}, while "
                    f"pool {below.name} asked and has {below.running} of {below.wanted_least}"
                )


def _passed_jobs(
    scheduler: TaskScheduler, given: Sequence[Given], tracker: TrackerSlots
) -> Iterator[str]:
    """Find jobs that were passed over by later ones."""
    assert isinstance(scheduler, JobQueueTaskScheduler)
    for job, kind in given:
        for other in scheduler.asking(kind):
            if by_priority(other) < by_priority(job) and _asks(
                other, kind, tracker, Locality.OFF_SWITCH
            ):
                yield f"{job.job} got a {kind.name.lower()} slot while {other.job} asked"


PROMISES = (
    "no more tasks run on a node than it has slots",
    "no task runs twice at a time, or again after it has ended",
    "no job that has ended is given a slot",
    "every job that is accepted starts and ends",
)

_JOBTRACKER = "jobtracker"
_ORDERED = ("ended", "progressed", "fetched", "failed", "node_failed", "node_recovered")
"""Messages that come first at equal times: they only inform the JobTracker."""


class AnyFailure(FailureInjector):
    """Makes any one node fail once, at any time."""

    @at_once
    def consider(self) -> None:
        """Make some node fail, or none."""
        if not self.outages:
            node = self.choose(-1, *range(len(self.trackers)))
            if node >= 0:
                self._fail(node, round(self.plan.configuration.failures.repair * SECOND))

    def _draw(self, node: int) -> None:
        """Draw nothing."""


class WatchedJobTracker(JobTracker):
    """A JobTracker that checks its promises.

    Attributes:
        starts: launch of each job's first task (milliseconds), or -1.
        given: jobs that got slots during the current message, by number and kind.
        node: node of the current heartbeat.
        heard: whether the heartbeat reported the end of an attempt.
    """

    failures: FailureInjector = known_rebec()
    unfinished: int = state_variable(Int)
    running_maps: int = state_variable(Int)
    running_reduces: int = state_variable(Int)
    waiting_maps: int = state_variable(Int)
    waiting_reduces: int = state_variable(Int)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.starts = [-1] * len(self.state.runs)
        self.given: list[tuple[int, SlotKind]] = []
        self.node = -1
        self.heard = False
        self._tell()

    def check_promises(self) -> None:
        """Raise AssertionFailedError for wrong counts of slots, or a job passed over or starved.

        A job is starved if nothing runs for long, and no event is to come.
        """
        state = self.state
        busy = sum(sum(node.slots.busy) for node in state.nodes)
        require(busy == state.live, f"{busy} slots are busy, and {state.live} tasks hold slots")
        promise = promise_of(state.scheduler)
        if self.given and promise is not None:
            _, breaches = promise
            given = [(state.runs[number].progress, kind) for number, kind in self.given]
            asked = [(job, kind) for job, kind in given if job is not None]
            for text in breaches(state.scheduler, asked, state.nodes[self.node].slots):
                require(False, text)
        failed = any(each.outages for each in state.nodes)
        if (self.given or self.heard) and not failed and isinstance(self.failures, AnyFailure):
            self.failures.consider()
        self.given = []
        self.node = -1
        self.heard = False
        state.tidy()
        idle = self._now - state.last
        waits = state.unfinished and not (state.live or state.to_come)
        waits = waits and any(each.works for each in state.nodes)
        if waits and idle > patience_of(state.scheduler):
            names = ", ".join(run.job.name for run in state.active.values())
            require(False, f"{names} waits, and nothing has run for {idle // 1_000_000} s")
        self._tell()

    def _tell(self) -> None:
        """Update the variables for properties."""
        state = self.state
        self.unfinished = state.unfinished
        busy = [sum(node.slots.busy[kind] for node in state.nodes) for kind in SlotKind]
        self.running_maps, self.running_reduces = busy
        self.waiting_maps, self.waiting_reduces = state.wanted

    def _launch(self, assignment: Assignment, node: TrackerStatus) -> TaskOrder:
        """Record a new attempt, if it is allowed."""
        state = self.state
        progress, kind, number = assignment.job, assignment.kind, assignment.number
        job, what = progress.job, kind.name.lower()
        require(progress in state.active, f"{job} has ended, and is given a {what} slot")
        slots = node.slots
        require(
            slots.free(kind) > 0,
            f"node {node.number} runs {slots.busy[kind]} {what}s in {slots.slots[kind]} slots, and "
            "is given one more",
        )
        run = state.active[progress]
        running = run.live[kind].get(number, ())
        again = (bool(running) and not assignment.speculative) or len(running) > 1
        again = again or run.done[kind][number]
        require(not again, f"{what} {number} of {job} runs or has ended, and is given a slot")
        beside = any(each.node is node for each in running)
        require(not beside, f"{what} {number} of {job} runs on node {node.number}, as its backup")
        place = list(state.runs).index(job.number)
        if self.starts[place] < 0:
            self.starts[place] = self._now // MILLISECOND
        self.given.append((job.number, kind))
        self.node = node.number
        return super()._launch(assignment, node)

    def _settle(self, attempt: Attempt) -> None:
        """Record the outcome of an attempt, and drop it."""
        super()._settle(attempt)
        del self.state.attempts[attempt.key]
        self.heard = True


def small_cluster(
    jobs: Sequence[MapReduceJob],
    configuration: MapReduceConfiguration,
    scheduler: SchedulerFactory,
    name: str,
    cut: Cut | None = None,
    *,
    seed: int = 1,
) -> SmallCluster:
    """Cut a cluster to the first submitted jobs and the first nodes.

    Nodes keep at most two slots of a kind, if the scheduler can share so few. A job keeps one
    reduce, and at most one map more than there are map slots, so that one must wait. Submissions
    move to the heartbeat before.

    Raises UserError if the cluster is too small for its scheduler.
    """
    cut = cut or Cut()
    chosen = _first_jobs(jobs, cut.jobs)
    first = min((job.submit for job in chosen if job.after is None), default=0)
    whole = _cut_configuration(configuration, cut.nodes, first)
    small = _with_few_slots(whole)
    if _refusal(small, scheduler, seed):
        small = whole
        if refusal := _refusal(whole, scheduler, seed):
            raise _too_small(configuration, scheduler, name, cut, refusal)
    kept = tuple(_cut_jobs(chosen, small, first))
    plan = ClusterPlan(small, seed)
    names = [f"node_{number}" for number in range(len(plan.classes))]
    trackers = [RebecNamed(each) for each in names]
    is_random = small.failures.mean_time_between is not None
    injector = AnyFailure if is_random else FailureInjector
    instances = [
        Instance(_JOBTRACKER, WatchedJobTracker, ("failures",), (plan, kept, scheduler, *trackers)),
        *(
            Instance(each, PlainTracker, (_JOBTRACKER,), (number, plan, *trackers))
            for number, each in enumerate(names)
        ),
        Instance("client", Client, (_JOBTRACKER,), (kept,)),
        Instance("failures", injector, (), (plan, *trackers)),
    ]
    promise = promise_of(scheduler([each.slots for each in tracker_statuses(plan)]))
    few = " with 2 slots of a kind" if small.cluster.slots != whole.cluster.slots else ""
    return SmallCluster(
        in_any_order(Model(name, tuple(instances)), _ORDERED),
        f"{_JOBTRACKER}.starts",
        f"{_JOBTRACKER}.unfinished == 0",
        tuple(map(str, kept)),
        "ms",
        PROMISES if promise is None else (*PROMISES, promise[0]),
        f"{counted(len(kept), 'job')} on {counted(len(names), 'node')}{few}",
    )


def _refusal(small: MapReduceConfiguration, scheduler: SchedulerFactory, seed: int = 1) -> str:
    """Say why a scheduler finds a cluster too small; empty: it does not."""
    try:
        scheduler([each.slots for each in tracker_statuses(ClusterPlan(small, seed))])
    except UserError as error:
        return str(error)
    return ""


def _too_small(
    configuration: MapReduceConfiguration,
    scheduler: SchedulerFactory,
    name: str,
    cut: Cut,
    refusal: str,
) -> UserError:
    """Make the error for a cut that is too small; it names the next one that is not."""
    most = configuration.cluster.nodes
    larger = (_cut_configuration(configuration, each, 0) for each in range(cut.nodes + 1, most + 1))
    enough = (each.cluster.nodes for each in larger if not _refusal(each, scheduler))
    what = counted(cut.nodes, "node")
    return UserError(f"{name}, cut to {what}: {refusal}; leave {next(enough, 'more')} nodes")


def _with_few_slots(configuration: MapReduceConfiguration) -> MapReduceConfiguration:
    """Leave two slots of a kind on each node: with each further one there are many more states."""
    cluster = configuration.cluster
    classes = tuple(each.model_copy(update=_two_slots(each)) for each in cluster.classes)
    few = {**_two_slots(cluster), "classes": classes}
    return replace(configuration, cluster=cluster.model_copy(update=few))


def _two_slots(given: ClusterTable | NodeClassTable) -> dict[str, int]:
    slots = {"map_slots": given.map_slots, "reduce_slots": given.reduce_slots}
    return {name: min(count, 2) for name, count in slots.items() if count is not None}


def _cut_configuration(
    configuration: MapReduceConfiguration, nodes: int, first: int
) -> MapReduceConfiguration:
    """Keep the first nodes, and what happens to them from the `first` submission on."""
    cluster = configuration.cluster
    nodes = min(nodes, cluster.nodes)
    classes: list[NodeClassTable] = []
    left = nodes
    for each in cluster.classes:
        count = min(left, each.count)
        if count:
            classes.append(each.model_copy(update={"count": count}))
            left -= count
    kept = {
        "nodes": nodes,
        "racks": min(cluster.racks, nodes),
        "first_heartbeats": 0,
        "replication": min(cluster.replication, nodes),
        "classes": tuple(classes),
    }
    return replace(
        configuration,
        cluster=cluster.model_copy(update=kept),
        variation=configuration.variation.model_copy(update={"jitter": 0.0, "reduce_jitter": 0.0}),
        failures=_cut_failures(configuration, nodes, first),
        sampling=0,
    )


def _cut_failures(configuration: MapReduceConfiguration, nodes: int, first: int) -> FailuresTable:
    """Keep the outages of the remaining nodes, rounded to heartbeats."""
    failures, beat = configuration.failures, configuration.cluster.beat
    outages = []
    for each in failures.outages:
        start, end = each.span
        if each.node < nodes and (end is None or end > first):
            kept = {"start": max(start - first, 0) // beat * beat / SECOND}
            if end is not None:
                kept["end"] = -(-(end - first) // beat) * beat / SECOND
            outages.append(each.model_copy(update=kept))
    repair = -(-round(failures.repair * SECOND) // beat) * beat / SECOND
    return failures.model_copy(update={"outages": tuple(outages), "repair": repair})


def _first_jobs(jobs: Sequence[MapReduceJob], count: int) -> list[MapReduceJob]:
    chosen: dict[int, MapReduceJob] = {}
    for job in sorted(jobs, key=lambda each: (each.after is not None, each.submit, each.number)):
        if len(chosen) < count and (job.after is None or job.after in chosen):
            chosen[job.number] = job
    return list(chosen.values())


def _cut_jobs(
    jobs: Sequence[MapReduceJob], small: MapReduceConfiguration, first: int
) -> Iterator[MapReduceJob]:
    beat = small.cluster.beat
    maps, reduces = small.cluster.slots
    for job in jobs:
        submit = job.submit if job.after is not None else job.submit - first
        if (job.maps and not maps) or (job.reduces and not reduces):
            raise UserError(f"{job} needs a kind of slot that the remaining nodes lack")
        yield replace(
            job,
            submit=submit // beat * beat,
            splits=job.splits[: maps + 1],
            reduces=min(job.reduces, 1),
        )
