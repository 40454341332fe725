"""TaskTrackers: they run attempts step by step on devices. Their nodes may fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebecsim.actors import Rebec, Unordered, known_rebec
from rebecsim.clusters.mapreduce.attempts import (
    AttemptKey,
    AttemptOutcome,
    DeviceKind,
    MapOutput,
    Phase,
    Rates,
    TaskDraws,
    TaskOrder,
    map_only_steps,
    map_output,
    map_steps,
    merge_steps,
    reduce_start,
    reduce_steps,
)
from rebecsim.clusters.mapreduce.cluster_state import ClusterPlan, replica_for
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, Device, Switch, at_once, first_of_all
from rebecsim.clusters.mapreduce.executions import (
    BackgroundMerge,
    Demand,
    Execution,
    Fetch,
    RunningTasks,
    Shuffle,
)
from rebecsim.clusters.mapreduce.job import MEBIBYTE, SECOND
from rebecsim.clusters.mapreduce.records import Outage

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.jobtracker import JobTracker

_LEAST_BYTES = 10.0
"""Smallest size of a transfer (bytes)."""


class TaskTracker(Rebec, queue_size=UNBOUNDED):
    """Runs attempts on its node, step by step.

    Attributes:
        number: of its node.
        tasks: what it has run, and what that waits for.
        works: whether its node does.
        outages: how often each node has failed, of those that have.
        down: nodes that do not work now.
    """

    jobtracker: JobTracker = known_rebec()
    switch: Switch = known_rebec()
    processor: Device = known_rebec()
    disk: Device = known_rebec()

    def __init__(self, number: int, plan: ClusterPlan) -> None:
        self.number = number
        self.plan = plan
        self.tasks = RunningTasks()
        self.works = True
        self.outages: Unordered[int, int] = Unordered()
        self.down: Unordered[int, bool] = Unordered()
        self._disks: Sequence[Device] = ()
        configuration = plan.configuration
        self._latency = configuration.cluster.latency
        self._copies = configuration.cluster.parallel_copies
        self._has_backups = configuration.speculation is not None
        self._tells_fetched = self._has_backups or configuration.failures.is_some

    @first_of_all
    def meet(self, disks: Sequence[Device]) -> None:
        """Learn where the disks of all nodes are."""
        self._disks = disks

    @at_once
    def launch(self, orders: tuple[TaskOrder, ...]) -> None:
        """Begin attempts, unless the node has failed just now."""
        if self.works:
            for order in orders:
                self._begin(order)

    def _begin(self, order: TaskOrder) -> None:
        """Begin an attempt."""
        plan, tasks = self.plan, self.tasks
        draws = TaskDraws(
            plan.seed,
            order.job.number,
            order.kind,
            order.number,
            order.earlier,
            plan.configuration.variation,
        )
        attempt = Execution(order, self.number, draws, self._now)
        if attempt.is_map:
            self._prepare_map(attempt)
        else:
            attempt.factors = draws.reduce_factors()
            attempt.steps = reduce_start(order.job.costs, attempt.factors)
            attempt.shuffle = Shuffle()
            attempt.shuffle.waiting.extend(order.outputs)
        tasks.executions[attempt.key] = tasks.running[attempt.key] = attempt
        self._go_on(attempt)

    def _prepare_map(self, attempt: Execution) -> None:
        """Determine the steps of a map, and the replica that it reads."""
        order, draws = attempt.order, attempt.draws
        chosen = replica_for(order.hosts, self.number, self.plan.racks, draws.source)
        assert chosen is not None
        attempt.source = attempt.first_source = chosen
        job, is_local, rates = order.job, chosen == self.number, self._rates
        split = job.splits[order.number]
        if not job.reduces:
            attempt.steps = map_only_steps(split, job.costs, is_local, rates, draws.jitter)
            return
        buffer = self.plan.configuration.cluster.sort_buffer * MEBIBYTE
        attempt.steps = map_steps(split, job.costs, buffer, is_local, rates, draws.jitter)
        attempt.output = map_output(split, job.costs) / job.reduces
        attempt.read_factor = draws.jitter()

    @property
    def _rates(self) -> Rates:
        return self.plan.rates[self.number]

    @at_once
    def served(self, number: int) -> None:
        """Continue after a device has served a demand, unless it was dropped."""
        demand, _ = self.tasks.demands.pop(number, (None, None))
        if isinstance(demand, Fetch):
            self._read_or_arrived(demand)
        elif isinstance(demand, Execution):
            demand.times[demand.steps[demand.place - 1].phase] += self._now - demand.began
            self._go_on(demand)
        elif demand is not None:
            self._merge_on(demand)

    @at_once
    def fetch(self, key: AttemptKey, of: MapOutput) -> None:
        """Take note that the output of a map can be fetched by a reduce."""
        attempt = self.tasks.running.get(key)
        shuffle = None if attempt is None else attempt.shuffle
        if attempt is not None and shuffle is not None:
            shuffle.waiting.append(of)
            if shuffle.is_open:
                self._copy(attempt, shuffle)

    def _go_on(self, attempt: Execution) -> None:
        """Start the next step of an attempt, or its next phase after the last step."""
        place = attempt.place
        if place == len(attempt.steps):
            self._step_out(attempt)
            return
        device, _, size = attempt.steps[place]
        attempt.place = place + 1
        attempt.began = self._now
        if device is DeviceKind.PROCESSOR:
            self._ask(self.processor, attempt, size)
        elif device is DeviceKind.DISK:
            self._ask(self.disk, attempt, size)
        elif device is DeviceKind.SOURCE_DISK:
            self._ask(self._disks[attempt.source], attempt, size, self._latency)
        else:
            self._ask_network(attempt, attempt.source, size)
        if self._has_backups:
            self._tell_progress(attempt)

    def _ask(self, device: Device, demand: Demand, size: float, latency: int = 0) -> None:
        """Send a demand to a device."""
        tasks = self.tasks
        tasks.asked = number = tasks.asked + 1
        tasks.demands[number] = demand, device
        device.serve(self, number, size, after=latency)

    def _ask_network(self, demand: Demand, source: int, size: float) -> None:
        """Start a transfer to this node."""
        tasks = self.tasks
        tasks.asked = number = tasks.asked + 1
        tasks.demands[number] = demand, self.switch
        self.switch.transfer(self, number, source, self.number, size)

    def _tell_progress(self, attempt: Execution) -> None:
        """Report the progress of an attempt to the JobTracker; for a reduce, after the shuffle."""
        if attempt.shuffle is None:
            self.jobtracker.progressed(attempt.key, attempt.progress(self._rates))

    def _step_out(self, attempt: Execution) -> None:
        """Begin to fetch, as a reduce that has started; or end."""
        shuffle = attempt.shuffle
        if shuffle is None:
            self._end(attempt, AttemptOutcome.SUCCEEDED)
            return
        shuffle.is_open = True
        attempt.began = self._now
        self._copy(attempt, shuffle)

    def _copy(self, attempt: Execution, shuffle: Shuffle) -> None:
        """Request outputs up to the limit of parallel copies."""
        waiting, outages, got = shuffle.waiting, self.outages, shuffle.got
        while waiting and shuffle.fetching < self._copies:
            of = waiting.popleft()
            if of.number in got or (outages and of.outage != outages.get(of.node, 0)):
                continue
            shuffle.fetching += 1
            latency = 0 if of.node == self.number else self._latency
            size = of.size * of.read_factor
            self._ask(self._disks[of.node], Fetch(attempt, of), size, latency)

    def _read_or_arrived(self, fetch: Fetch) -> None:
        """Transfer a read output to this node, or keep it if it is local."""
        attempt, of = fetch.attempt, fetch.map
        if not fetch.is_read and of.node != self.number:
            fetch.is_read = True
            self._ask_network(fetch, of.node, max(of.size, _LEAST_BYTES))
            return
        shuffle = attempt.shuffle
        assert shuffle is not None
        shuffle.fetching -= 1
        if of.number not in shuffle.got:
            shuffle.got[of.number] = True
            shuffle.fetched += of.size
            shuffle.held += of.size
            shuffle.held_outputs += 1
            if self._tells_fetched:
                self.jobtracker.fetched(attempt.key, of.number)
        self._copy(attempt, shuffle)
        self._merge_or_reduce(attempt, shuffle)

    def _merge_or_reduce(self, attempt: Execution, shuffle: Shuffle) -> None:
        """Merge full memory, or the rest; start to reduce if nothing is left."""
        has_all = len(shuffle.got) == attempt.order.job.maps
        if has_all and shuffle.is_open:
            attempt.times[Phase.SHUFFLE] = self._now - attempt.began
            attempt.began = self._now
            shuffle.is_open = False
        if shuffle.merges:
            return
        cluster = self.plan.configuration.cluster
        if (
            has_all
            or shuffle.held >= cluster.merge_buffer * MEBIBYTE
            or shuffle.held_outputs >= cluster.merge_outputs
        ):
            costs = attempt.order.job.costs
            steps = merge_steps(shuffle.held, costs, self._rates, attempt.jitter)
            if steps:
                shuffle.held, shuffle.held_outputs = 0.0, 0
                shuffle.merges = True
                self._merge_on(BackgroundMerge(attempt, steps))
            elif has_all:
                self._reduce(attempt, shuffle)

    def _merge_on(self, merge: BackgroundMerge) -> None:
        """Start the next step of a merge, or continue after the last one."""
        if merge.place < len(merge.steps):
            device, _, size = merge.steps[merge.place]
            merge.place += 1
            serving = self.processor if device is DeviceKind.PROCESSOR else self.disk
            self._ask(serving, merge, size)
            return
        attempt = merge.attempt
        shuffle = attempt.shuffle
        assert shuffle is not None
        shuffle.merges = False
        self._merge_or_reduce(attempt, shuffle)

    def _reduce(self, attempt: Execution, shuffle: Shuffle) -> None:
        """Start the last steps of a reduce that has all outputs."""
        assert attempt.factors is not None
        attempt.times[Phase.MERGE] += self._now - attempt.began
        costs = attempt.order.job.costs
        attempt.steps = reduce_steps(shuffle.fetched, costs, self._rates, attempt.factors)
        attempt.place = 0
        attempt.shuffle = None
        self._go_on(attempt)

    def _end(self, attempt: Execution, outcome: AttemptOutcome) -> None:
        """Record the end of an attempt, and report it to the JobTracker."""
        attempt.end = self._now
        del self.tasks.running[attempt.key]
        output = None
        if outcome is AttemptOutcome.SUCCEEDED and attempt.is_map:
            number, outage = self.number, self.outages.get(self.number, 0)
            output = MapOutput(
                attempt.order.number, number, attempt.output, attempt.read_factor, outage
            )
        self.jobtracker.ended(attempt.key, outcome, output)

    # --- what goes wrong, or is not needed any more ----------------------------------------------

    @at_once
    def kill(self, key: AttemptKey) -> None:
        """Kill an attempt."""
        attempt = self.tasks.running.get(key)
        if attempt is None:
            return
        demands = self.tasks.demands
        for number, (demand, device) in list(demands.items()):
            if demand is attempt or getattr(demand, "attempt", None) is attempt:
                del demands[number]
                device.drop(self, number)
        self._end(attempt, AttemptOutcome.KILLED)

    @at_once
    def refused(self, number: int) -> None:
        """Continue without data from a node that has failed."""
        demand, _ = self.tasks.demands.pop(number, (None, None))
        if isinstance(demand, Fetch):
            shuffle = demand.attempt.shuffle
            assert shuffle is not None
            shuffle.fetching -= 1
            if shuffle.is_open:
                self._copy(demand.attempt, shuffle)
        elif isinstance(demand, Execution):
            demand.times[Phase.READ] += self._now - demand.began
            self.read_elsewhere(demand.key)

    @at_once
    def read_elsewhere(self, key: AttemptKey) -> None:
        """Read a piece of a split again, from another replica, when there is one."""
        attempt = self.tasks.running.get(key)
        if attempt is None:
            return
        hosts = [host for host in attempt.order.replicas if host not in self.down]
        chosen = replica_for(hosts, self.number, self.plan.racks, attempt.draws.source)
        if chosen is None:
            attempt.began = self._now
            if self._has_backups:
                self._tell_progress(attempt)
            self.jobtracker.starve(key)
            return
        attempt.source = chosen
        place = attempt.place - 1
        if attempt.steps[place].device is DeviceKind.NETWORK:
            place -= 1
        attempt.place = place
        self._go_on(attempt)

    @first_of_all
    def node_failed(self, node: int, outages: int) -> None:
        """Record how often a node, this one or another, has failed."""
        self.down[node] = True
        self.outages[node] = outages

    @first_of_all
    def node_recovered(self, node: int) -> None:
        """Take note that a node works again."""
        del self.down[node]

    @at_once
    def fail(self) -> None:
        """Lose all running attempts, and outputs of maps."""
        number, tasks = self.number, self.tasks
        outages = self.outages.get(number, 0) + 1
        self.works = False
        self.jobtracker.failed(number)
        own = (self.processor, self.disk, self.switch)
        for each, (_, device) in tasks.demands.items():
            if device not in own:  # these fail themselves
                device.drop(self, each)
        tasks.demands.clear()
        for attempt in tasks.running.values():
            attempt.end = self._now
        tasks.running.clear()
        self.processor.fail()
        self.disk.fail()
        self.switch.fail(number, outages)
        expiry = round(self.plan.configuration.cluster.expiry * SECOND)
        self.jobtracker.expire(number, outages, after=expiry)

    @at_once
    def recover(self) -> None:
        """Restart, with only the blocks on the disks."""
        self.works = True
        self.processor.recover()
        self.disk.recover()
        self.switch.recover(self.number)
        self.jobtracker.restarted(self.number)


class FailureInjector(Rebec, queue_size=UNBOUNDED):
    """Makes nodes fail, and recover after repair. Only working nodes fail.

    Attributes:
        outages: outages so far.
        repairs: number of failed nodes that will recover.
    """

    def __init__(self, plan: ClusterPlan, *trackers: TaskTracker) -> None:
        self.plan = plan
        self.trackers = trackers
        self.outages: list[Outage] = []
        self.repairs = 0
        self._down: Unordered[int, bool] = Unordered()
        self._drawn = [0] * len(trackers)
        for outage in plan.configuration.failures.outages:
            start, end = outage.span
            self.fail(outage.node, None if end is None else end - start, after=start)
        if plan.configuration.failures.mean_time_between is not None:
            for node in range(len(trackers)):
                self._draw(node)

    @at_once
    def fail(self, node: int, repair: int | None) -> None:
        """Make a node fail, for some time or (None) for good."""
        if node not in self._down:
            self._fail(node, repair)

    def _fail(self, node: int, repair: int | None) -> None:
        now = self._now
        self._down[node] = True
        self.outages.append(Outage(node, now, None if repair is None else now + repair))
        self.trackers[node].fail()
        if repair is not None:
            self.repairs += 1
            self.recover(node, after=repair)

    @at_once
    def fail_at_random(self, node: int) -> None:
        """Make a node fail at its drawn time, unless it is down already."""
        if node in self._down:
            self._draw(node)
        else:
            self._fail(node, round(self.plan.configuration.failures.repair * SECOND))

    @at_once
    def recover(self, node: int) -> None:
        """Recover a node."""
        del self._down[node]
        self.repairs -= 1
        self.trackers[node].recover()
        if self.plan.configuration.failures.mean_time_between is not None:
            self._draw(node)

    def _draw(self, node: int) -> None:
        """Draw the next failure of a node."""
        lifetime = self.plan.lifetime(node, self._drawn[node])
        self._drawn[node] += 1
        self.fail_at_random(node, after=lifetime)
