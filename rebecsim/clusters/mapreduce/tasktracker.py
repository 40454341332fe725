"""TaskTrackers: they run attempts step by step on devices. Their nodes may fail."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from rebecsim.actors import Rebec, known_rebec
from rebecsim.clusters.mapreduce.attempts import (
    AttemptKey,
    AttemptOutcome,
    DeviceKind,
    MapOutput,
    Phase,
    TaskDraws,
    TaskOrder,
    map_only_steps,
    map_output,
    map_steps,
    merge_steps,
    reduce_start,
    reduce_steps,
)
from rebecsim.clusters.mapreduce.cluster_state import MapReduceCluster, WorkerNode, replica_for
from rebecsim.clusters.mapreduce.configuration import Outage
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, Switch, at_once
from rebecsim.clusters.mapreduce.executions import (
    BackgroundMerge,
    Demand,
    Execution,
    Fetch,
    Shuffle,
)

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.jobtracker import JobTracker

_LEAST_BYTES = 10.0
"""That a transfer has, however little there is to send."""


class TaskTracker(Rebec, queue_size=UNBOUNDED):
    """Runs attempts on its node, step by step.

    Attributes:
        node: where it is.
        executions: all attempts that it has run, by key.
        racks: the rack of each node.
    """

    jobtracker: JobTracker = known_rebec()
    switch: Switch = known_rebec()

    def __init__(self, node: WorkerNode, cluster: MapReduceCluster) -> None:
        self.node = node
        node.tracker = self
        self.executions: dict[AttemptKey, Execution] = {}
        configuration = cluster.plan.configuration
        self._hadoop = configuration.hadoop
        self._variation = configuration.variation
        self._latency = configuration.hardware.latency
        self._seed = cluster.plan.seed
        self.racks = cluster.plan.racks
        self._nodes = cluster.nodes
        self._running: dict[Execution, None] = {}  # in the order of their launch

    @at_once
    def launch(self, orders: tuple[TaskOrder, ...]) -> None:
        """Begin attempts, unless the node has failed just now."""
        if self.node.works:
            for order in orders:
                self._begin(order)

    def _begin(self, order: TaskOrder) -> None:
        """Begin an attempt."""
        draws = TaskDraws(
            self._seed, order.job.number, order.kind, order.number, order.earlier, self._variation
        )
        attempt = Execution(order, self.node, draws, self._now)
        if attempt.is_map:
            self._prepare_map(attempt)
        else:
            attempt.factors = draws.reduce_factors()
            attempt.steps = reduce_start(order.job.costs, attempt.factors)
            attempt.shuffle = Shuffle()
            attempt.shuffle.waiting.extend(order.outputs)
        self.executions[attempt.key] = attempt
        self._running[attempt] = None
        self._go_on(attempt)

    def _prepare_map(self, attempt: Execution) -> None:
        """Find out what a map is going to do, and which replica it reads."""
        order, draws, node = attempt.order, attempt.draws, self.node
        chosen = replica_for(order.hosts, node.number, self.racks, draws.source)
        assert chosen is not None
        attempt.source = attempt.first_source = self._nodes[chosen]
        job, is_local = order.job, attempt.source is node
        split, rates = job.splits[order.number], node.rates
        if not job.reduces:
            attempt.steps = map_only_steps(split, job.costs, is_local, rates, draws.jitter)
            return
        buffer = self._hadoop.sort_buffer
        attempt.steps = map_steps(split, job.costs, buffer, is_local, rates, draws.jitter)
        attempt.output = map_output(split, job.costs) / job.reduces
        attempt.read_factor = draws.jitter()

    @at_once
    def served(self, demand: Demand) -> None:
        """Go on with what a device has done something for."""
        if isinstance(demand, Fetch):
            if not demand.dropped and demand.attempt.end is None:
                self._read_or_arrived(demand)
        elif isinstance(demand, Execution):
            if demand.end is None:
                demand.times[demand.steps[demand.place - 1].phase] += self._now - demand.began
                self._go_on(demand)
        elif demand.attempt.end is None:
            self._merge_on(demand)

    @at_once
    def fetch(self, key: AttemptKey, of: MapOutput) -> None:
        """Take note that the output of a map can be fetched by a reduce."""
        attempt = self.executions.get(key)
        shuffle = None if attempt is None else attempt.shuffle
        if attempt is not None and shuffle is not None and not attempt.over:
            shuffle.waiting.append(of)
            if shuffle.is_open:
                self._copy(attempt, shuffle)

    def _go_on(self, attempt: Execution) -> None:
        """Begin the next step of an attempt; or what follows on the last one."""
        place = attempt.place
        if place == len(attempt.steps):
            self._step_out(attempt)
            return
        device, _, size = attempt.steps[place]
        attempt.place = place + 1
        attempt.began = self._now
        if device is DeviceKind.PROCESSOR:
            self.node.processor.serve(attempt, size)
        elif device is DeviceKind.DISK:
            self.node.disk.serve(attempt, size)
        elif device is DeviceKind.SOURCE_DISK:
            attempt.source.disk.serve(attempt, size, after=self._latency)
        else:
            self.switch.transfer(attempt, attempt.source, self.node, size)

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
        """Ask for as many outputs as may be fetched at a time."""
        waiting, flying = shuffle.waiting, shuffle.flying
        while waiting and len(flying) < self._hadoop.parallel_copies:
            of = waiting.popleft()
            there = self._nodes[of.node]
            if of.outage != there.outages or of.number in shuffle.got:
                continue
            fetch = Fetch(attempt, of)
            flying[fetch] = None
            latency = 0 if there is self.node else self._latency
            there.disk.serve(fetch, of.size * of.read_factor, after=latency)

    def _read_or_arrived(self, fetch: Fetch) -> None:
        """Send what has been read to here, or hold it, if it is here."""
        attempt, of = fetch.attempt, fetch.map
        there = self._nodes[of.node]
        if not fetch.is_read and there is not self.node:
            fetch.is_read = True
            self.switch.transfer(fetch, there, self.node, max(of.size, _LEAST_BYTES))
            return
        shuffle = attempt.shuffle
        assert shuffle is not None
        del shuffle.flying[fetch]
        if of.number not in shuffle.got:
            shuffle.got.add(of.number)
            shuffle.fetched += of.size
            shuffle.held += of.size
            shuffle.held_outputs += 1
        self._copy(attempt, shuffle)
        self._merge_or_reduce(attempt, shuffle)

    def _merge_or_reduce(self, attempt: Execution, shuffle: Shuffle) -> None:
        """Merge what has become too much to be held, or the rest; reduce if nothing is left."""
        has_all = len(shuffle.got) == attempt.order.job.maps
        if has_all and shuffle.is_open:
            attempt.times[Phase.SHUFFLE] = self._now - attempt.began
            attempt.began = self._now
            shuffle.is_open = False
        if shuffle.merge is not None:
            return
        hadoop = self._hadoop
        if (
            has_all
            or shuffle.held >= hadoop.merge_buffer
            or shuffle.held_outputs >= hadoop.merge_outputs
        ):
            costs, rates = attempt.order.job.costs, attempt.node.rates
            steps = merge_steps(shuffle.held, costs, rates, attempt.draws.jitter)
            if steps:
                shuffle.held, shuffle.held_outputs = 0.0, 0
                shuffle.merge = BackgroundMerge(attempt, steps)
                self._merge_on(shuffle.merge)
            elif has_all:
                self._reduce(attempt, shuffle)

    def _merge_on(self, merge: BackgroundMerge) -> None:
        """Begin the next step of a merge; look what follows on the last one."""
        if merge.place < len(merge.steps):
            device, _, size = merge.steps[merge.place]
            merge.place += 1
            serving = self.node.processor if device is DeviceKind.PROCESSOR else self.node.disk
            serving.serve(merge, size)
            return
        attempt = merge.attempt
        shuffle = attempt.shuffle
        assert shuffle is not None
        shuffle.merge = None
        self._merge_or_reduce(attempt, shuffle)

    def _reduce(self, attempt: Execution, shuffle: Shuffle) -> None:
        """Do what a reduce does that has everything."""
        assert attempt.factors is not None
        attempt.times[Phase.MERGE] += self._now - attempt.began
        costs, rates = attempt.order.job.costs, attempt.node.rates
        attempt.steps = reduce_steps(shuffle.fetched, costs, rates, attempt.factors)
        attempt.place = 0
        attempt.shuffle = None
        self._go_on(attempt)

    def _end(self, attempt: Execution, outcome: AttemptOutcome) -> None:
        """Write down that an attempt has ended, and tell the JobTracker."""
        attempt.end = self._now
        del self._running[attempt]
        output = None
        if outcome is AttemptOutcome.SUCCEEDED and attempt.is_map:
            node, number = self.node, attempt.order.number
            output = MapOutput(
                number, node.number, attempt.output, attempt.read_factor, node.outages
            )
        self.jobtracker.ended(attempt.key, outcome, output)

    def lacks(self, key: AttemptKey, number: int) -> bool:
        """Whether a reduce has yet to fetch the output of a map. The JobTracker looks, unasked."""
        attempt = self.executions.get(key)
        if attempt is None:
            return True
        return attempt.shuffle is not None and number not in attempt.shuffle.got

    # --- what goes wrong, or is not needed any more ----------------------------------------------

    @at_once
    def kill(self, key: AttemptKey) -> None:
        """End an attempt that is not needed any more."""
        attempt = self.executions.get(key)
        if attempt is not None and not attempt.over:
            self._drop(attempt)
            self._end(attempt, AttemptOutcome.KILLED)

    @at_once
    def refused(self, demand: Demand) -> None:
        """Go on without a node that has failed and had been asked for something."""
        if demand.over:
            return
        if isinstance(demand, Fetch):
            shuffle = demand.attempt.shuffle
            assert shuffle is not None
            del shuffle.flying[demand]
            demand.dropped = True
            if shuffle.is_open:
                self._copy(demand.attempt, shuffle)
        elif isinstance(demand, Execution):
            demand.times[Phase.READ] += self._now - demand.began
            self.read_elsewhere(demand.key)

    @at_once
    def read_elsewhere(self, key: AttemptKey) -> None:
        """Read a piece of a split again, from another replica, when there is one."""
        attempt = self.executions.get(key)
        if attempt is None or attempt.over:
            return
        nodes = self._nodes
        hosts = [host for host in attempt.order.replicas if nodes[host].works]
        chosen = replica_for(hosts, self.node.number, self.racks, attempt.draws.source)
        if chosen is None:
            attempt.began = self._now
            self.jobtracker.starve(key)
            return
        attempt.source = nodes[chosen]
        place = attempt.place - 1
        if attempt.steps[place].device is DeviceKind.NETWORK:
            place -= 1
        attempt.place = place
        self._go_on(attempt)

    @at_once
    def fail(self) -> None:
        """Lose all that runs here, and what maps have left."""
        node = self.node
        node.works = False
        node.outages += 1
        self.jobtracker.failed(node.number)
        for attempt in list(self._running):
            self._drop(attempt)
            attempt.end = self._now
        self._running.clear()
        node.processor.fail()
        node.disk.fail()
        self.switch.fail(node)
        self.jobtracker.expire(node.number, node.outages, after=self._hadoop.expiry)

    @at_once
    def recover(self) -> None:
        """Begin anew, with the blocks that were on the disks and nothing else."""
        self.node.works = True
        self.jobtracker.works_again(self.node.number)
        self.jobtracker.restarted(self.node.number)

    def _drop(self, attempt: Execution) -> None:
        """Take back what an attempt has asked for."""
        shuffle = attempt.shuffle
        node = self.node
        if shuffle is None or not (shuffle.is_open or shuffle.merge is not None):
            source = attempt.source if attempt.is_map else node
            self._drop_step(attempt, attempt.steps[attempt.place - 1].device, source)
            return
        for fetch in shuffle.flying:
            if fetch.is_read:
                self.switch.drop(fetch)
            else:
                self._nodes[fetch.map.node].disk.drop(fetch)
        merge = shuffle.merge
        if merge is not None:
            self._drop_step(merge, merge.steps[merge.place - 1].device, node)

    def _drop_step(self, demand: Demand, device: DeviceKind, source: WorkerNode) -> None:
        """Take back one demand."""
        if device is DeviceKind.PROCESSOR:
            self.node.processor.drop(demand)
        elif device is DeviceKind.DISK:
            self.node.disk.drop(demand)
        elif device is DeviceKind.SOURCE_DISK:
            source.disk.drop(demand)
        else:
            self.switch.drop(demand)


class Fate(Rebec, queue_size=UNBOUNDED):
    """Lets nodes fail, and work again. A node that has failed does not fail again before.

    What is drawn of a node depends on no other, nor on what runs.
    """

    def __init__(self, cluster: MapReduceCluster) -> None:
        failures = cluster.plan.configuration.failures
        self._cluster = cluster
        self._mean = failures.mean_time_between
        self._repair = failures.repair
        self._down: set[WorkerNode] = set()
        self._draws: dict[WorkerNode, Random] = {}
        for outage in failures.outages:
            repair = None if outage.end is None else outage.end - outage.start
            self.strike(cluster.nodes[outage.node], repair, after=outage.start)
        if self._mean is not None:
            for node in cluster.nodes:
                self._draws[node] = Random(f"{cluster.plan.seed} {node.number} failures")
                self._draw(node)

    @at_once
    def strike(self, node: WorkerNode, repair: int | None) -> None:
        """Let a node fail that works, and work again after some time; None: never."""
        if node in self._down:
            return
        now, cluster = self._now, self._cluster
        self._down.add(node)
        end = None if repair is None else now + repair
        cluster.outages.append(Outage(node.number, now, end))
        node.tracker.fail()
        if repair is not None:
            cluster.repairs += 1
            self.mend(node, after=repair)

    @at_once
    def strike_at_random(self, node: WorkerNode) -> None:
        """Let a node fail whose time has come, unless it has failed already."""
        if node in self._down:
            self._draw(node)
        else:
            self.strike(node, self._repair)

    @at_once
    def mend(self, node: WorkerNode) -> None:
        """Let a node work again."""
        self._down.remove(node)
        self._cluster.repairs -= 1
        node.tracker.recover()
        if self._mean is not None:
            self._draw(node)

    def _draw(self, node: WorkerNode) -> None:
        """Draw when a node fails that works now."""
        assert self._mean is not None
        after = self._draws[node].expovariate(1.0 / self._mean)
        self.strike_at_random(node, after=max(round(after), 1))
