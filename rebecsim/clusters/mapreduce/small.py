"""A MapReduce cluster of a few jobs and nodes, which asserts what its scheduler promises.

The JobTracker and its scheduler are those that are simulated. TaskTrackers have plain slots: tasks
take as long as they do alone, without devices that are shared. Times are whole heartbeats, and all
nodes send theirs at one time: whose comes first is left open. Tasks end between two heartbeats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    Rebec,
    RebecNamed,
    StatePart,
    known_rebec,
    require,
    state_variable,
)
from rebecsim.clusters.mapreduce.attempts import (
    Attempt,
    AttemptKey,
    AttemptOutcome,
    MapOutput,
    Rates,
    ReduceFactors,
    TaskOrder,
    map_only_steps,
    map_output,
    map_steps,
    merge_steps,
    reduce_start,
    reduce_steps,
)
from rebecsim.clusters.mapreduce.cluster_state import ClusterPlan, TrackerStatus
from rebecsim.clusters.mapreduce.configuration import (
    MapReduceConfiguration,
    NodeClass,
    VariationTable,
)
from rebecsim.clusters.mapreduce.desk import tracker_statuses
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, at_once
from rebecsim.clusters.mapreduce.job import MapReduceJob, SlotKind
from rebecsim.clusters.mapreduce.jobtracker import Client, JobTracker
from rebecsim.clusters.mapreduce.promises import promise_of
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment, SchedulerFactory
from rebecsim.clusters.mapreduce.watch import patience_of
from rebecsim.errors import UserError
from rebecsim.studies.small import Cut, SmallCluster, in_any_order
from rebecsim.wording import counted

PROMISES = (
    "no more tasks run on a node than it has slots",
    "no task runs twice at a time, or again after it has ended",
    "no job that has ended is given a slot",
    "every job that is accepted starts and ends",
)

_JOBTRACKER = "jobtracker"
_MILLISECOND = 1000
_EXACT = VariationTable(jitter=0.0, reduce_jitter=0.0)
_ALIKE = ReduceFactors(1.0, 1.0, 1.0, 1.0, 1.0)


class WatchedJobTracker(JobTracker):
    """A JobTracker that says when it breaks a promise.

    Attributes:
        starts: when each job had its first task launched (milliseconds); -1: it has not.
        given: jobs that were given slots while the message was served, by number and kind.
        node: at whose heartbeat.
    """

    unfinished: int = state_variable(Int)
    running_maps: int = state_variable(Int)
    running_reduces: int = state_variable(Int)
    waiting_maps: int = state_variable(Int)
    waiting_reduces: int = state_variable(Int)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.starts = [-1] * len(self.desk.runs)
        self.given: list[tuple[int, SlotKind]] = []
        self.node = -1
        self._tell()

    def check_promises(self) -> None:
        """Raise AssertionFailedError if slots are counted wrong, somebody is passed over or waits.

        A job waits for ever if for long nothing runs, and nothing is to come.
        """
        desk = self.desk
        busy = sum(sum(node.slots.busy) for node in desk.nodes)
        require(busy == desk.live, f"{busy} slots are busy, and {desk.live} tasks hold slots")
        promise = promise_of(desk.scheduler)
        if self.given and promise is not None:
            _, breaches = promise
            given = [(desk.runs[number].progress, kind) for number, kind in self.given]
            asked = [(job, kind) for job, kind in given if job is not None]
            for text in breaches(desk.scheduler, asked, desk.nodes[self.node].slots):
                require(False, text)
        self.given = []
        self.node = -1
        desk.tidy()
        idle = self._now - desk.last
        waits = desk.unfinished and not (desk.live or desk.to_come)
        if waits and idle > patience_of(desk.scheduler):
            names = ", ".join(run.job.name for run in desk.active.values())
            require(False, f"{names} waits, and nothing has run for {idle // 1_000_000} s")
        self._tell()

    def _tell(self) -> None:
        """Bring up to date what properties may be about."""
        desk = self.desk
        self.unfinished = desk.unfinished
        busy = [sum(node.slots.busy[kind] for node in desk.nodes) for kind in SlotKind]
        self.running_maps, self.running_reduces = busy
        self.waiting_maps, self.waiting_reduces = desk.wanted

    def _launch(self, assignment: Assignment, node: TrackerStatus) -> TaskOrder:
        """Take note of an attempt that begins, if that is allowed."""
        desk = self.desk
        progress, kind, number = assignment.job, assignment.kind, assignment.number
        job, what = progress.job, kind.name.lower()
        require(progress in desk.active, f"{job} has ended, and is given a {what} slot")
        slots = node.slots
        require(
            slots.free(kind) > 0,
            f"node {node.number} runs {slots.busy[kind]} {what}s in {slots.slots[kind]} slots, and "
            "is given one more",
        )
        run = desk.active[progress]
        again = run.done[kind][number] or number in run.live[kind]
        require(not again, f"{what} {number} of {job} runs or has ended, and is given a slot")
        place = list(desk.runs).index(job.number)
        if self.starts[place] < 0:
            self.starts[place] = self._now // _MILLISECOND
        self.given.append((job.number, kind))
        self.node = node.number
        return super()._launch(assignment, node)

    def _settle(self, attempt: Attempt) -> None:
        """Take note of how an attempt has ended, and forget it."""
        super()._settle(attempt)
        del self.desk.attempts[attempt.key]


class Work(StatePart):
    """What runs in the slots of a node.

    Attributes:
        orders: what it has begun and not ended.
        fetched: maps whose output a reduce can fetch, by its key.
        unwanted: what was killed before it was heard of.
    """

    def __init__(self) -> None:
        self.orders: dict[AttemptKey, TaskOrder] = {}
        self.fetched: dict[AttemptKey, list[int]] = {}
        self.unwanted: list[AttemptKey] = []


class PlainTracker(Rebec, queue_size=UNBOUNDED):
    """A TaskTracker whose tasks take as long as they would alone; its devices are not modelled.

    A reduce takes its time from when all maps of its job are reported to have ended.
    """

    jobtracker: JobTracker = known_rebec()

    def __init__(self, number: int, plan: ClusterPlan, of: NodeClass) -> None:
        self.number = number
        self.plan = plan
        self.slots = (of.map_slots, of.reduce_slots)
        self.work = Work()

    @at_once
    def launch(self, orders: tuple[TaskOrder, ...]) -> None:
        """Begin tasks."""
        for order in orders:
            self._begin(order)

    def _begin(self, order: TaskOrder) -> None:
        """Begin a task."""
        key, work = order.key, self.work
        work.orders = dict(sorted([*work.orders.items(), (key, order)]))
        for kind in SlotKind:
            running = sum(each.kind is kind for each in work.orders.values())
            text = f"node {self.number} runs {running} {kind.name.lower()}s in {self.slots[kind]}"
            require(running <= self.slots[kind], f"{text} slots")
        if key in work.unwanted:
            work.unwanted.remove(key)
            self._end(key, AttemptOutcome.KILLED)
        elif order.kind is SlotKind.MAP:
            self.finish(key, after=self._until(key, self._map_time(order)))
        else:
            for output in order.outputs:
                self._note(key, output.number)
            self._reduce(key)

    @at_once
    def fetch(self, key: AttemptKey, of: MapOutput) -> None:
        """Take note that the output of a map can be fetched by a reduce."""
        if self._note(key, of.number):
            self._reduce(key)

    @at_once
    def finish(self, key: AttemptKey) -> None:
        """End a task that was not killed meanwhile."""
        if key in self.work.orders:
            self._end(key, AttemptOutcome.SUCCEEDED)

    @at_once
    def kill(self, key: AttemptKey) -> None:
        """End a task that is not needed any more."""
        if key in self.work.orders:
            self._end(key, AttemptOutcome.KILLED)
        else:
            self.work.unwanted.append(key)

    def _note(self, key: AttemptKey, number: int) -> bool:
        """Take note of an output; say whether it is new."""
        fetched = self.work.fetched.setdefault(key, [])
        if number in fetched:
            return False
        fetched.append(number)
        fetched.sort()
        return True

    def _reduce(self, key: AttemptKey) -> None:
        """Begin to reduce, if nothing is missing."""
        order = self.work.orders.get(key)
        if order is not None and len(self.work.fetched.get(key, ())) == order.job.maps:
            self.finish(key, after=self._until(key, self._reduce_time(order.job)))

    def _end(self, key: AttemptKey, outcome: AttemptOutcome) -> None:
        order = self.work.orders.pop(key)
        self.work.fetched.pop(key, None)
        output = None
        if outcome is AttemptOutcome.SUCCEEDED and order.kind is SlotKind.MAP:
            output = MapOutput(order.number, self.number, 0.0, 1.0, 0)
        self.jobtracker.ended(key, outcome, output)

    def _until(self, key: AttemptKey, duration: float) -> int:
        """Give the time until a task ends: between two heartbeats, and no other ends then."""
        beat = self.plan.configuration.hadoop.heartbeat
        job, kind, number, _ = key
        apart = self.number * 10_000 + job % 10 * 1000 + kind * 500 + number % 500
        end = -(-(self._now + int(duration)) // beat) * beat - beat // 2 + apart % (beat // 2)
        return end - self._now if end > self._now else end - self._now + beat

    def _map_time(self, order: TaskOrder) -> float:
        """Give how long a map takes alone (microseconds)."""
        job, split, rates = order.job, order.job.splits[order.number], self._rates()
        is_local = self.number in order.hosts
        if not job.reduces:
            steps = map_only_steps(split, job.costs, is_local, rates, _alike)
        else:
            buffer = self.plan.configuration.hadoop.sort_buffer
            steps = map_steps(split, job.costs, buffer, is_local, rates, _alike)
        return sum(map(rates.alone, steps))

    def _reduce_time(self, job: MapReduceJob) -> float:
        """Give how long a reduce takes alone from when all maps have ended (microseconds)."""
        rates, costs = self._rates(), job.costs
        taken = sum(map_output(split, costs) for split in job.splits) / job.reduces
        steps = [
            *reduce_start(costs, _ALIKE),
            *merge_steps(taken, costs, rates, _alike),
            *reduce_steps(taken, costs, rates, _ALIKE),
        ]
        return taken / rates.link + sum(map(rates.alone, steps))

    def _rates(self) -> Rates:
        return Rates.of(self.plan.configuration.class_of_nodes[self.number].hardware)


def _alike() -> float:
    """Draw nothing: all demands are as large as they should be."""
    return 1.0


def small_cluster(
    jobs: Sequence[MapReduceJob],
    configuration: MapReduceConfiguration,
    scheduler: SchedulerFactory,
    name: str,
    cut: Cut | None = None,
    *,
    seed: int = 1,
) -> SmallCluster:
    """Cut a cluster to the first jobs that are submitted, and to its first nodes.

    A job keeps at most one map more than slots for maps are left, so that one has to wait, and one
    reduce. Submissions move to the heartbeat before.

    Raises UserError for failures and backups, which cannot be cut, and for what a scheduler finds
    too small.
    """
    cut = cut or Cut()
    _require_plain(configuration, name)
    small = _cut_configuration(configuration, cut.nodes)
    kept = tuple(_cut_jobs(jobs, small, cut.jobs))
    plan = ClusterPlan(small, seed)
    classes = small.class_of_nodes
    names = [f"node_{number}" for number in range(len(classes))]
    trackers = [RebecNamed(each) for each in names]
    instances = [
        Instance(_JOBTRACKER, WatchedJobTracker, (), (plan, kept, scheduler, *trackers)),
        *(
            Instance(each, PlainTracker, (_JOBTRACKER,), (number, plan, classes[number]))
            for number, each in enumerate(names)
        ),
        Instance("client", Client, (_JOBTRACKER,), (kept,)),
    ]
    try:
        promise = promise_of(scheduler([each.slots for each in tracker_statuses(plan)]))
    except UserError as error:
        what = counted(len(names), "node")
        raise UserError(f"{name}, cut to {what}: {error}; leave more nodes") from error
    return SmallCluster(
        in_any_order(Model(name, tuple(instances))),
        f"{_JOBTRACKER}.starts",
        f"{_JOBTRACKER}.unfinished == 0",
        tuple(map(str, kept)),
        "ms",
        PROMISES if promise is None else (*PROMISES, promise[0]),
        f"{counted(len(kept), 'job')} on {counted(len(names), 'node')}",
    )


def _require_plain(configuration: MapReduceConfiguration, name: str) -> None:
    """Raise UserError for what JobTrackers look into TaskTrackers for."""
    failures = configuration.failures
    for key, is_there in (
        ("failures", failures.outages or failures.mean_time_between is not None),
        ("speculation", configuration.speculation is not None),
    ):
        if is_there:
            raise UserError(
                f"{name}: a cluster with [{key}] cannot be cut small yet, as its JobTracker looks "
                f"into TaskTrackers; take [{key}] out of a copy of the scenario"
            )


def _cut_configuration(configuration: MapReduceConfiguration, nodes: int) -> MapReduceConfiguration:
    hardware = configuration.hardware
    nodes = min(nodes, hardware.nodes)
    classes: list[NodeClass] = []
    left = nodes
    for each in configuration.classes:
        count = min(left, each.count)
        if count:
            classes.append(replace(each, count=count))
            left -= count
    files = configuration.files
    return replace(
        configuration,
        hardware=replace(hardware, nodes=nodes, racks=min(hardware.racks, nodes)),
        hadoop=replace(configuration.hadoop, first_heartbeats=0),
        files=replace(files, replication=min(files.replication, nodes)),
        variation=_EXACT,
        classes=tuple(classes),
        sampling=0,
    )


def _cut_jobs(
    jobs: Sequence[MapReduceJob], small: MapReduceConfiguration, count: int
) -> Iterator[MapReduceJob]:
    beat = small.hadoop.heartbeat
    maps, reduces = small.slots
    chosen: dict[int, MapReduceJob] = {}
    for job in sorted(jobs, key=lambda each: (each.after is not None, each.submit, each.number)):
        if len(chosen) < count and (job.after is None or job.after in chosen):
            chosen[job.number] = job
    first = min((job.submit for job in chosen.values() if job.after is None), default=0)
    for job in chosen.values():
        submit = job.submit if job.after is not None else job.submit - first
        if (job.maps and not maps) or (job.reduces and not reduces):
            raise UserError(f"{job} needs a slot of a kind that the nodes left do not have")
        yield replace(
            job,
            submit=submit // beat * beat,
            splits=job.splits[: maps + 1],
            reduces=min(job.reduces, 1),
        )
