"""TaskTrackers of small clusters: tasks take as long as on unshared devices."""

from __future__ import annotations

from rebecsim.actors import Rebec, StatePart, Unordered, known_rebec, require
from rebecsim.clusters.mapreduce.attempts import (
    AttemptKey,
    AttemptOutcome,
    MapOutput,
    ReduceFactors,
    StepProgress,
    TaskDraws,
    TaskOrder,
    map_only_steps,
    map_output,
    map_steps,
    merge_steps,
    reduce_start,
    reduce_steps,
)
from rebecsim.clusters.mapreduce.cluster_state import ClusterPlan
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, at_once, first_of_all
from rebecsim.clusters.mapreduce.job import MEBIBYTE, SECOND, SlotKind
from rebecsim.clusters.mapreduce.jobtracker import JobTracker

_ALIKE = ReduceFactors(1.0, 1.0, 1.0, 1.0, 1.0)


class Work(StatePart):
    """The work in the slots of a node.

    Attributes:
        orders: started and unfinished tasks.
        fetched: maps whose output a reduce can fetch, by its key.
        unwanted: tasks killed before their orders arrived.
        outages: number of failures of each node that has failed.
        down: nodes that are down.
    """

    def __init__(self) -> None:
        self.orders: dict[AttemptKey, TaskOrder] = {}
        self.fetched: dict[AttemptKey, list[int]] = {}
        self.unwanted: list[AttemptKey] = []
        self.outages: Unordered[int, int] = Unordered()
        self.down: Unordered[int, bool] = Unordered()


class PlainTracker(Rebec, queue_size=UNBOUNDED):
    """A TaskTracker without devices: tasks take as long as on unshared ones.

    A reduce takes its time from when all maps of its job are reported to have ended.
    """

    jobtracker: JobTracker = known_rebec()

    def __init__(self, number: int, plan: ClusterPlan, *trackers: PlainTracker) -> None:
        self.number = number
        self.plan = plan
        self.trackers = trackers
        self.slots = (plan.classes[number].map_slots, plan.classes[number].reduce_slots)
        self.work = Work()
        configuration = plan.configuration
        self.has_backups = configuration.speculation is not None
        self.tells_fetched = self.has_backups or configuration.failures.is_some

    @at_once
    def launch(self, orders: tuple[TaskOrder, ...]) -> None:
        """Begin tasks, unless the node has failed just now."""
        for order in orders:
            if self.number not in self.work.down:
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
            self._map(order)
        else:
            for output in order.outputs:
                self._note(key, output)
            self._reduce(key)

    @at_once
    def fetch(self, key: AttemptKey, of: MapOutput) -> None:
        """Take note that the output of a map can be fetched by a reduce."""
        if self._note(key, of):
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
        elif self.number not in self.work.down:
            self.work.unwanted.append(key)

    @at_once
    def read_elsewhere(self, key: AttemptKey) -> None:
        """Begin a map that has waited for a node with its split."""
        if key in self.work.orders:
            self._map(self.work.orders[key])

    @at_once
    def fail(self) -> None:
        """Lose all running tasks, and outputs of maps."""
        number, work = self.number, self.work
        outages = work.outages.get(number, 0) + 1
        for each in (work.orders, work.fetched, work.unwanted):
            each.clear()
        self.jobtracker.failed(number)
        for tracker in self.trackers:
            tracker.node_failed(number, outages)
        expiry = round(self.plan.configuration.cluster.expiry * SECOND)
        self.jobtracker.expire(number, outages, after=expiry)

    @at_once
    def recover(self) -> None:
        """Restart, with only the blocks on the disks."""
        for tracker in self.trackers:
            tracker.node_recovered(self.number)
        self.jobtracker.restarted(self.number)

    @first_of_all
    def node_failed(self, node: int, outages: int) -> None:
        """Record how often a node, this one or another, has failed."""
        self.work.down[node] = True
        self.work.outages[node] = outages

    @first_of_all
    def node_recovered(self, node: int) -> None:
        """Take note that a node works again."""
        del self.work.down[node]

    def _map(self, order: TaskOrder) -> None:
        """Begin a map, if a node with its split works."""
        if all(host in self.work.down for host in order.replicas):
            self.jobtracker.starve(order.key)
        else:
            self._work(order.key, self._map_time(order))

    def _work(self, key: AttemptKey, duration: float) -> None:
        """Let a task end after some time (microseconds)."""
        after = self._until(key, duration)
        self.finish(key, after=after)
        if self.has_backups:
            progress = StepProgress(0.0, float(after), float(after), self._now)
            self.jobtracker.progressed(key, progress)

    def _note(self, key: AttemptKey, of: MapOutput) -> bool:
        """Record an output; return whether it is new and not lost."""
        fetched = self.work.fetched.setdefault(key, [])
        if of.number in fetched or of.outage != self.work.outages.get(of.node, 0):
            return False
        fetched.append(of.number)
        fetched.sort()
        if self.tells_fetched:
            self.jobtracker.fetched(key, of.number)
        return True

    def _reduce(self, key: AttemptKey) -> None:
        """Start the reduce function once all outputs are there."""
        order = self.work.orders.get(key)
        if order is not None and len(self.work.fetched.get(key, ())) == order.job.maps:
            self._work(key, self._reduce_time(order))

    def _end(self, key: AttemptKey, outcome: AttemptOutcome) -> None:
        order = self.work.orders.pop(key)
        self.work.fetched.pop(key, None)
        output = None
        if outcome is AttemptOutcome.SUCCEEDED and order.kind is SlotKind.MAP:
            outage = self.work.outages.get(self.number, 0)
            output = MapOutput(order.number, self.number, 0.0, 1.0, outage)
        self.jobtracker.ended(key, outcome, output)

    def _until(self, key: AttemptKey, duration: float) -> int:
        """Give the time until a task ends: between two heartbeats, and no other ends then."""
        beat = self.plan.configuration.cluster.beat
        job, kind, number, _ = key
        apart = self.number * 10_000 + job % 10 * 1000 + kind * 500 + number % 500
        end = -(-(self._now + int(duration)) // beat) * beat - beat // 2 + apart % (beat // 2)
        return end - self._now if end > self._now else end - self._now + beat

    def _map_time(self, order: TaskOrder) -> float:
        """Give how long a map takes alone (microseconds)."""
        job, split, rates = order.job, order.job.splits[order.number], self.plan.rates[self.number]
        is_local = self.number in order.hosts
        if not job.reduces:
            steps = map_only_steps(split, job.costs, is_local, rates, _alike)
        else:
            buffer = self.plan.configuration.cluster.sort_buffer * MEBIBYTE
            steps = map_steps(split, job.costs, buffer, is_local, rates, _alike)
        return sum(map(rates.alone, steps)) * self._slowdown(order)

    def _reduce_time(self, order: TaskOrder) -> float:
        """Give how long a reduce takes alone from when all maps have ended (microseconds)."""
        job, rates = order.job, self.plan.rates[self.number]
        costs = job.costs
        taken = sum(map_output(split, costs) for split in job.splits) / job.reduces
        steps = [
            *reduce_start(costs, _ALIKE),
            *merge_steps(taken, costs, rates, _alike),
            *reduce_steps(taken, costs, rates, _ALIKE),
        ]
        return taken / rates.link + sum(map(rates.alone, steps)) * self._slowdown(order)

    def _slowdown(self, order: TaskOrder) -> float:
        """Return the slowdown of a task, as in a simulation."""
        plan = self.plan
        draws = TaskDraws(plan.seed, *order.key, variation=plan.configuration.variation)
        return draws.slowdown * plan.slowdown(self.number)


def _alike() -> float:
    """Draws that make all factors 1."""
    return 1.0
